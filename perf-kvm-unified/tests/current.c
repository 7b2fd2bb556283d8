// SPDX-License-Identifier: GPL-2.0
/*
 * Where a guest has the tasks that run: in memory that is made up, and for the BPF program.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/zalloc.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "kvm-unified/memory/current.h"
#include "kvm-unified/memory/kernel.h"
#include "kvm-unified/memory/slots.h"
#include "kvm-unified/record/bpf_skel/current_task.h"
#include "kvm-unified/record/current-task.h"
#include "current.h"
#include "made-up.h"

/* The kernel's variables are in the direct map, too. */
#define VAR_AREAS	0x5000ULL
#define VAR_NR_CPUS	0x5100ULL
/* Values of the symbols of variables that each CPU has */
#define CURRENT		0x40ULL
#define CPU_INFO	0x80ULL
#define APIC_ID		0x8ULL
/* A symbol's name, with the zero byte, has room in it. */
#define NAME_SIZE	32

/* A guest, and a kernel that was found in it */
struct found {
	struct made_up mem;
	struct guest_ram ram;
	struct guest_kernel kernel;
	struct guest_current current;
};

static void put(struct found *m, u64 gpa, u64 value)
{
	made_up__put(&m->mem, gpa, value);
}

static void found__init(struct found *m)
{
	memset(m, 0, sizeof(*m));
	made_up__init_kernel(&m->mem, &m->ram, &m->kernel);
	m->kernel.layout.task_mm = 0x30;
	m->kernel.layout.mm_pgd = 0x50;
	m->kernel.layout.task_pid = 0x60;
	m->kernel.layout.task_tgid = 0x64;
	m->kernel.offsets.cpu_apic_id_u16 = APIC_ID;
	put(m, VAR_NR_CPUS, 4);
	/* CPU 2 has an area that is not there, and CPU 3 never came up. */
	put(m, VAR_AREAS, DIRECT_MAP + 0x6000);
	put(m, VAR_AREAS + 8, DIRECT_MAP + 0x7000);
	put(m, VAR_AREAS + 16, 0xffffc90000000000ULL);
	put(m, VAR_AREAS + 24, DIRECT_MAP + 0x8000);
	put(m, 0x7000 + CPU_INFO + APIC_ID, 5);
}

struct symbol {
	const char *name;
	u64	addr;
};

/* As guest_current__find(), with these symbols; -ENOMEM */
static int find(struct found *m, const struct symbol *symbols, size_t nr)
{
	struct kernel_symbols *s = &m->kernel.symbols;
	int ret = -ENOMEM;

	s->entries = calloc(nr, sizeof(*s->entries));
	s->names = zalloc(nr * NAME_SIZE);
	for (size_t i = 0; s->entries && s->names && i < nr; i++) {
		s->entries[i] = (struct kernel_symbol) { symbols[i].addr, i * NAME_SIZE, 'D' };
		strlcpy(s->names + i * NAME_SIZE, symbols[i].name, NAME_SIZE);
		s->nr++;
	}
	if (s->nr == nr)
		ret = guest_current__find(&m->current, &m->kernel);
	kernel_symbols__exit(s);
	return ret;
}

static bool has_cpu(const struct guest_current *current, u32 i, u32 apic_id, u64 gpa)
{
	return current->cpus[i].apic_id == apic_id && current->cpus[i].gpa == gpa;
}

int test__guest_current(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const struct symbol old[] = {
		{ "__per_cpu_offset", DIRECT_MAP + VAR_AREAS },
		{ "nr_cpu_ids", DIRECT_MAP + VAR_NR_CPUS },
		{ "cpu_info", CPU_INFO },
		{ "current_task", CURRENT },
	};
	static const struct symbol hot[] = {
		{ "__per_cpu_offset", DIRECT_MAP + VAR_AREAS },
		{ "cpu_info", CPU_INFO },
		{ "pcpu_hot", CURRENT },
	};
	static const struct symbol one_cpu[] = {
		{ "boot_cpu_data", DIRECT_MAP + 0x7000 + CPU_INFO },
		{ "current_task", DIRECT_MAP + 0x7000 + CURRENT },
	};
	struct found *m = malloc(sizeof(*m));

	TEST_ASSERT_VAL("memory", m);
	found__init(m);
	TEST_ASSERT_VAL("up to 6.1", !find(m, old, ARRAY_SIZE(old)));
	TEST_ASSERT_EQUAL("CPUs", (int)m->current.nr_cpus, 2);
	TEST_ASSERT_VAL("the first", has_cpu(&m->current, 0, 0, 0x6000 + CURRENT));
	TEST_ASSERT_VAL("the second", has_cpu(&m->current, 1, 5, 0x7000 + CURRENT));
	TEST_ASSERT_VAL("layout", m->current.page_offset == DIRECT_MAP &&
			m->current.task_mm == 0x30 && m->current.mm_pgd == 0x50 &&
			m->current.task_ids == 0x60);

	put(m, VAR_NR_CPUS, 1);
	TEST_ASSERT_VAL("fewer numbers", !find(m, old, ARRAY_SIZE(old)));
	TEST_ASSERT_EQUAL("... CPUs", (int)m->current.nr_cpus, 1);
	TEST_ASSERT_EQUAL("no pointer", find(m, old, ARRAY_SIZE(old) - 1), -ENOENT);

	/* In a struct, and an APIC ID of 32 bits; how many CPUs there can be is not known. */
	m->kernel.offsets.hot_current = 8;
	m->kernel.offsets.cpu_apic_id_u16 = GUEST_NO_MEMBER;
	m->kernel.offsets.cpu_apic_id = APIC_ID;
	put(m, 0x7000 + CPU_INFO + APIC_ID, 0x10005);
	TEST_ASSERT_VAL("from 6.7", !find(m, hot, ARRAY_SIZE(hot)));
	TEST_ASSERT_EQUAL("... CPUs", (int)m->current.nr_cpus, 2);
	TEST_ASSERT_VAL("... the second", has_cpu(&m->current, 1, 0x10005, 0x7000 + CURRENT + 8));

	TEST_ASSERT_VAL("without SMP", !find(m, one_cpu, ARRAY_SIZE(one_cpu)));
	TEST_ASSERT_EQUAL("... CPUs", (int)m->current.nr_cpus, 1);
	TEST_ASSERT_VAL("... that one", has_cpu(&m->current, 0, 0x10005, 0x7000 + CURRENT));

	/* A pointer has a whole word, or it is none. */
	m->kernel.offsets.hot_current = 4;
	TEST_ASSERT_EQUAL("not aligned", find(m, hot, ARRAY_SIZE(hot)), -ENOENT);
	m->kernel.offsets.cpu_apic_id = GUEST_NO_MEMBER;
	TEST_ASSERT_EQUAL("no APIC ID", find(m, hot, ARRAY_SIZE(hot)), -ENOENT);
	free(m);
	return TEST_OK;
}

/* More pieces than the program takes: the small ones are left out. */
int test__current_tasks(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const struct guest_current current = {
		.page_offset = DIRECT_MAP, .task_mm = 1, .mm_pgd = 2, .task_ids = 3, .task_comm = 4,
	};
	struct kvm_slot slots[CURRENT_TASK_SLOTS + 4];
	const size_t half = ARRAY_SIZE(slots) / 2;
	struct current_task task;
	struct kvm_memory mem = { };
	u64 gpa = 0;

	/* Two pages, one, two, one, ... */
	for (size_t i = 0; i < ARRAY_SIZE(slots); i++) {
		slots[i] = (struct kvm_slot) {
			.gpa = gpa,
			.size = (2 - i % 2) * GUEST_PAGE_SIZE,
			.hva = 0x7f0000000000ULL + 2 * gpa,
		};
		gpa += slots[i].size;
	}
	TEST_ASSERT_VAL("memory", !kvm_memory__set(&mem, slots, ARRAY_SIZE(slots)));
	current_task__init(&task, &current, &mem);
	TEST_ASSERT_EQUAL("slots", (int)task.nr_slots, (int)CURRENT_TASK_SLOTS);
	for (size_t i = 0; i < task.nr_slots; i++) {
		const struct kvm_slot *slot = i < half ? &slots[2 * i] :
							 &slots[2 * (i - half) + 1];

		TEST_ASSERT_VAL("largest first, and each once",
				task.slots[i].gpa == slot->gpa &&
				task.slots[i].size == slot->size &&
				task.slots[i].hva == slot->hva);
	}
	TEST_ASSERT_VAL("layout", task.page_offset == DIRECT_MAP && task.task_mm == 1 &&
			task.mm_pgd == 2 && task.task_ids == 3 && task.task_comm == 4);
	TEST_ASSERT_VAL("a pointer",
			!current_task__set_pointer(&task, &mem, slots[1].gpa + 8) &&
			task.pointer == slots[1].hva + 8);
	TEST_ASSERT_EQUAL("none", current_task__set_pointer(&task, &mem, gpa), -EFAULT);
	kvm_memory__exit(&mem);

	mem = (struct kvm_memory) { };
	TEST_ASSERT_VAL("memory", !kvm_memory__set(&mem, slots, 3));
	current_task__init(&task, &current, &mem);
	TEST_ASSERT_EQUAL("few slots", (int)task.nr_slots, 3);
	kvm_memory__exit(&mem);
	return TEST_OK;
}
