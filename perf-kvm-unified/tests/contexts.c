// SPDX-License-Identifier: GPL-2.0
/*
 * Records of a BPF program and the samples that they are of, in the order in which they are read
 * and in the one in which samples are delivered.
 */
#include <stdbool.h>
#include <string.h>
#include <byteswap.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <perf/event.h>

#include "perf.h"
#include "tests/tests.h"
#include "util/debug.h"
#include "util/vcpu-sample.h"
#include "kvm-unified/format/vcpu-context.h"
#include "kvm-unified/format/vcpu-timeline.h"
#include "kvm-unified/guests/contexts.h"
#include "kvm-unified/guests/guest.h"
#include "kvm-unified/guests/resolve.h"
#include "contexts.h"

/* Two threads of vCPUs */
#define TID		100
#define OTHER_TID	101
#define CPU		3
/* arch/x86/include/uapi/asm/svm.h, vmx.h */
#define SVM_INTR	0x60
#define VMX_INTR	1

/* A record of vCPU @id at @time, 0: of an old kernel. 0 or -ENOMEM */
static int add(struct vcpu_contexts *contexts, u32 cpu, u32 tid, u64 time, u32 id)
{
	const struct vcpu_context context = {
		.magic = VCPU_CONTEXT_MAGIC,
		.flags = VCPU_CONTEXT_IN_GUEST,
		.time = time,
		.vcpu_id = id,
	};

	return vcpu_contexts__add(contexts, cpu, tid, &context, sizeof(context));
}

/* The vCPU of the sample that is delivered, or -1 */
static int take(struct vcpu_contexts *contexts, u32 cpu, u32 tid, u64 time)
{
	struct told_context told;

	return vcpu_contexts__take(contexts, cpu, tid, time, &told) ? (int)told.vcpu.vcpu_id : -1;
}

static int check_order(void)
{
	struct vcpu_contexts *contexts = vcpu_contexts__new();

	TEST_ASSERT_VAL("memory", contexts);
	TEST_ASSERT_EQUAL("no record", vcpu_contexts__read_sample(contexts, CPU, TID, 10), 0);
	TEST_ASSERT_EQUAL("first", add(contexts, CPU, TID, 10, 1), 0);
	TEST_ASSERT_EQUAL("another CPU's sample",
			  vcpu_contexts__read_sample(contexts, CPU - 1, TID, 10), 0);
	TEST_ASSERT_EQUAL("another thread's",
			  vcpu_contexts__read_sample(contexts, CPU, OTHER_TID, 10), 0);
	TEST_ASSERT_EQUAL("another one", vcpu_contexts__read_sample(contexts, CPU, TID, 11), 0);
	TEST_ASSERT_EQUAL("its own", vcpu_contexts__read_sample(contexts, CPU, TID, 10), 1);
	TEST_ASSERT_EQUAL("once", vcpu_contexts__read_sample(contexts, CPU, TID, 10), 0);
	TEST_ASSERT_EQUAL("second", add(contexts, CPU, OTHER_TID, 20, 2), 0);
	TEST_ASSERT_EQUAL("its own", vcpu_contexts__read_sample(contexts, CPU, OTHER_TID, 20), 1);

	TEST_ASSERT_EQUAL("not on another CPU", take(contexts, CPU + 1, TID, 10), -1);
	TEST_ASSERT_EQUAL("not to another thread", take(contexts, CPU, OTHER_TID, 10), -1);
	TEST_ASSERT_EQUAL("first", take(contexts, CPU, TID, 10), 1);
	TEST_ASSERT_EQUAL("once", take(contexts, CPU, TID, 10), -1);
	TEST_ASSERT_EQUAL("one that has none", take(contexts, CPU, TID, 15), -1);
	TEST_ASSERT_EQUAL("second", take(contexts, CPU, OTHER_TID, 20), 2);

	/* Whose sample is not delivered goes with the next one that is. */
	for (int i = 0; i < 100; i++) {
		TEST_ASSERT_EQUAL("many", add(contexts, CPU, TID, 100 + i, i), 0);
		TEST_ASSERT_EQUAL("many samples",
				  vcpu_contexts__read_sample(contexts, CPU, TID, 100 + i), 1);
	}
	TEST_ASSERT_EQUAL("the last one", take(contexts, CPU, TID, 199), 99);
	TEST_ASSERT_EQUAL("none before it", take(contexts, CPU, TID, 150), -1);
	vcpu_contexts__delete(contexts);
	return TEST_OK;
}

/* An NMI after the record of an IRQ's sample: its own sample comes first, and is later. */
static int check_nmi(u64 irq_time, u64 nmi_time)
{
	struct vcpu_contexts *contexts = vcpu_contexts__new();

	TEST_ASSERT_VAL("memory", contexts);
	TEST_ASSERT_EQUAL("IRQ", add(contexts, CPU, TID, irq_time, 1), 0);
	TEST_ASSERT_EQUAL("NMI", add(contexts, CPU, TID, nmi_time, 2), 0);
	TEST_ASSERT_EQUAL("NMI's sample", vcpu_contexts__read_sample(contexts, CPU, TID, 20), 1);
	TEST_ASSERT_EQUAL("IRQ's sample", vcpu_contexts__read_sample(contexts, CPU, TID, 10), 1);
	TEST_ASSERT_EQUAL("IRQ's vCPU", take(contexts, CPU, TID, 10), 1);
	TEST_ASSERT_EQUAL("NMI's vCPU", take(contexts, CPU, TID, 20), 2);
	vcpu_contexts__delete(contexts);
	return TEST_OK;
}

static int check_lost(void)
{
	struct vcpu_contexts *contexts = vcpu_contexts__new();

	TEST_ASSERT_VAL("memory", contexts);
	vcpu_contexts__lost(contexts, CPU);
	/* The sample is lost, and so is the next record: its sample is not to get the first. */
	TEST_ASSERT_EQUAL("record", add(contexts, CPU, TID, 0, 1), 0);
	vcpu_contexts__lost(contexts, CPU - 1);
	vcpu_contexts__lost(contexts, CPU);
	TEST_ASSERT_EQUAL("next sample", vcpu_contexts__read_sample(contexts, CPU, TID, 20), 0);
	/* With a time, that is so without a word of it. */
	TEST_ASSERT_EQUAL("record", add(contexts, CPU, TID, 30, 1), 0);
	TEST_ASSERT_EQUAL("next sample", vcpu_contexts__read_sample(contexts, CPU, TID, 40), 0);
	/* More than can wait: the first ones are given up. */
	for (int i = 0; i < 20; i++)
		TEST_ASSERT_EQUAL("many", add(contexts, CPU, TID, 100 + i, i), 0);
	TEST_ASSERT_EQUAL("too old", vcpu_contexts__read_sample(contexts, CPU, TID, 30), 0);
	TEST_ASSERT_EQUAL("first", vcpu_contexts__read_sample(contexts, CPU, TID, 100), 0);
	TEST_ASSERT_EQUAL("last", vcpu_contexts__read_sample(contexts, CPU, TID, 119), 1);
	TEST_ASSERT_EQUAL("last's vCPU", take(contexts, CPU, TID, 119), 19);
	vcpu_contexts__delete(contexts);
	return TEST_OK;
}

/* What @context becomes, to *@told */
static int tell(const void *context, size_t size, struct told_context *told)
{
	struct vcpu_contexts *contexts = vcpu_contexts__new();
	bool taken;

	TEST_ASSERT_VAL("memory", contexts);
	TEST_ASSERT_EQUAL("added", vcpu_contexts__add(contexts, 0, TID, context, size), 0);
	vcpu_contexts__read_sample(contexts, 0, TID, 10);
	taken = vcpu_contexts__take(contexts, 0, TID, 10, told);
	vcpu_contexts__delete(contexts);
	return taken ? TEST_OK : TEST_FAIL;
}

static int check_content(void)
{
	struct vcpu_context context = {
		.magic = VCPU_CONTEXT_MAGIC,
		.flags = VCPU_CONTEXT_IN_GUEST | VCPU_CONTEXT_PT_ROOT | VCPU_CONTEXT_EXIT |
			 VCPU_CONTEXT_SVM | VCPU_CONTEXT_CPL | VCPU_CONTEXT_USER,
		.time = 10,
		.pt_root = 0x12345000,
		.exit_reason = SVM_INTR,
		.vcpu_id = 7,
		.vpid = 9,
	};
	struct vcpu_context swapped = {
		.magic = bswap_32(context.magic),
		.flags = bswap_32(context.flags),
		.time = bswap_64(context.time),
		.pt_root = bswap_64(context.pt_root),
		.exit_reason = bswap_64(context.exit_reason),
		.vcpu_id = bswap_32(context.vcpu_id),
		.vpid = bswap_32(context.vpid),
	};
	const void *const same[] = { &context, &swapped };
	struct told_context told;

	for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
		TEST_ASSERT_EQUAL("whole", tell(same[i], sizeof(context), &told), TEST_OK);
		TEST_ASSERT_VAL("flags", told.vcpu.flags ==
				(PERF_VCPU_LOADED | PERF_VCPU_IN_GUEST | PERF_VCPU_PT_ROOT_VALID |
				 PERF_VCPU_EXIT_REASON_VALID |
				 PERF_VCPU_ISA_SVM << PERF_VCPU_ISA_SHIFT |
				 3ULL << PERF_VCPU_WORDS_SHIFT));
		TEST_ASSERT_VAL("CR3", told.vcpu.pt_root == 0x12345000);
		TEST_ASSERT_VAL("exit reason", told.vcpu.exit_reason == SVM_INTR);
		TEST_ASSERT_EQUAL("vCPU", told.vcpu.vcpu_id, 7);
		TEST_ASSERT_EQUAL("ASID", told.vcpu.vpid, 9);
		TEST_ASSERT_EQUAL("mode", told.cpumode, PERF_RECORD_MISC_GUEST_USER);
		TEST_ASSERT_VAL("the guest's", vcpu_sample__interrupted_guest(&told.vcpu));
	}
	context.flags &= ~VCPU_CONTEXT_USER;
	TEST_ASSERT_EQUAL("kernel", tell(&context, sizeof(context), &told), TEST_OK);
	TEST_ASSERT_EQUAL("its mode", told.cpumode, PERF_RECORD_MISC_GUEST_KERNEL);

	/* As on VMX: what is not known is not told. */
	context.flags = VCPU_CONTEXT_NESTED | VCPU_CONTEXT_PROTECTED | VCPU_CONTEXT_EXIT;
	context.exit_reason = VMX_INTR;
	TEST_ASSERT_EQUAL("less", tell(&context, sizeof(context), &told), TEST_OK);
	TEST_ASSERT_VAL("fewer flags", told.vcpu.flags ==
			(PERF_VCPU_LOADED | PERF_VCPU_NESTED | PERF_VCPU_PROTECTED |
			 PERF_VCPU_EXIT_REASON_VALID | PERF_VCPU_ISA_VMX << PERF_VCPU_ISA_SHIFT |
			 3ULL << PERF_VCPU_WORDS_SHIFT));
	TEST_ASSERT_VAL("no CR3", !told.vcpu.pt_root);
	TEST_ASSERT_EQUAL("no mode", told.cpumode, 0);
	TEST_ASSERT_VAL("the host's", !vcpu_sample__interrupted_guest(&told.vcpu));
	return TEST_OK;
}

/* A guest's current task, with a comm that does not end; and what a guest may make of it */
static int check_task(void)
{
	struct vcpu_context context = {
		.magic = VCPU_CONTEXT_MAGIC,
		.flags = VCPU_CONTEXT_IN_GUEST | VCPU_CONTEXT_TASK,
		.time = 10,
		.task_root = 0x54321000,
		.tgid = 12,
		.tid = 13,
		.comm = "sixteen\nletters",
	};
	struct vcpu_context swapped = context;
	struct told_context told;

	context.comm[VCPU_CONTEXT_COMM - 1] = '!';
	TEST_ASSERT_EQUAL("VMX", tell(&context, sizeof(context), &told), TEST_OK);
	TEST_ASSERT_VAL("CR3 is the task's", told.vcpu.flags & PERF_VCPU_PT_ROOT_VALID &&
			told.vcpu.pt_root == 0x54321000);
	TEST_ASSERT_VAL("ids", told.task.pt_root == 0x54321000 && told.task.tgid == 12 &&
			told.task.tid == 13);
	TEST_ASSERT_VAL("comm", !strcmp(told.task.comm, "sixteen?letters"));

	swapped.magic = bswap_32(swapped.magic);
	swapped.flags = bswap_32(swapped.flags);
	swapped.time = bswap_64(swapped.time);
	swapped.task_root = bswap_64(swapped.task_root);
	swapped.tgid = bswap_32(swapped.tgid);
	swapped.tid = bswap_32(swapped.tid);
	TEST_ASSERT_EQUAL("swapped", tell(&swapped, sizeof(swapped), &told), TEST_OK);
	TEST_ASSERT_VAL("its ids", told.task.pt_root == 0x54321000 && told.task.tgid == 12 &&
			told.task.tid == 13);

	context.flags |= VCPU_CONTEXT_SVM | VCPU_CONTEXT_PT_ROOT;
	context.pt_root = 0x12345000;
	TEST_ASSERT_EQUAL("SVM", tell(&context, sizeof(context), &told), TEST_OK);
	TEST_ASSERT_VAL("CR3 is KVM's", told.vcpu.pt_root == 0x12345000 && told.task.tgid == 12);
	TEST_ASSERT_EQUAL("cut off", tell(&context, sizeof(context) - 1, &told), TEST_OK);
	TEST_ASSERT_EQUAL("no task", told.task.tgid, 0);

	context.tgid = KVM_GUEST_PSEUDO_PID;
	TEST_ASSERT_EQUAL("no pid", tell(&context, sizeof(context), &told), TEST_OK);
	TEST_ASSERT_EQUAL("... no task", told.task.tgid, 0);
	context.tgid = 12;
	context.flags &= ~(VCPU_CONTEXT_SVM | VCPU_CONTEXT_PT_ROOT);
	context.task_root = 0;
	TEST_ASSERT_EQUAL("kernel thread", tell(&context, sizeof(context), &told), TEST_OK);
	TEST_ASSERT_VAL("no CR3", !(told.vcpu.flags & PERF_VCPU_PT_ROOT_VALID));
	TEST_ASSERT_EQUAL("its task", told.task.tgid, 12);
	return TEST_OK;
}

static int check_bad(void)
{
	struct vcpu_context context = { .magic = VCPU_CONTEXT_MAGIC, .time = 10 };
	struct vcpu_contexts *contexts = vcpu_contexts__new();
	struct told_context told;

	TEST_ASSERT_VAL("memory", contexts);
	TEST_ASSERT_EQUAL("no data", tell(NULL, 0, &told), TEST_FAIL);
	TEST_ASSERT_EQUAL("cut off",
			  tell(&context, offsetof(struct vcpu_context, task_root) - 1, &told),
			  TEST_FAIL);
	context.magic++;
	TEST_ASSERT_EQUAL("of another kind", tell(&context, sizeof(context), &told), TEST_FAIL);
	TEST_ASSERT_EQUAL("no such CPU", add(contexts, MAX_NR_CPUS, TID, 10, 1), 0);
	TEST_ASSERT_EQUAL("nor its sample",
			  vcpu_contexts__read_sample(contexts, MAX_NR_CPUS, TID, 10), 0);
	TEST_ASSERT_EQUAL("nor any", take(contexts, (u32)-1, TID, 10), -1);
	vcpu_contexts__lost(contexts, (u32)-1);
	vcpu_contexts__delete(contexts);
	return TEST_OK;
}

/* A state, as it is written on this machine and on one of the other byte order */
static int check_state(void)
{
	const struct vcpu_timeline record = {
		.magic = VCPU_TIMELINE_MAGIC,
		.state = 4,
		.isa = 2,
		.ns = 1ULL << 40,
		.wait = 3,
		.exit_reason = 0x78,
		.vcpu_id = 5,
		.seq = 6,
		.why = -4,
		.next_pid = 7,
		.cpu = 8,
	};
	struct vcpu_timeline swapped = {
		.magic = bswap_32(record.magic),
		.state = record.state,
		.isa = record.isa,
		.ns = bswap_64(record.ns),
		.wait = bswap_64(record.wait),
		.exit_reason = bswap_64(record.exit_reason),
		.vcpu_id = bswap_32(record.vcpu_id),
		.seq = bswap_32(record.seq),
		.why = bswap_32(record.why),
		.next_pid = bswap_32(record.next_pid),
		.cpu = bswap_32(record.cpu),
	}, read;

	TEST_ASSERT_VAL("read", vcpu_timeline__read(&read, &record, sizeof(record)));
	TEST_ASSERT_VAL("as it is", !memcmp(&read, &record, sizeof(record)));
	TEST_ASSERT_VAL("the other order", vcpu_timeline__read(&read, &swapped, sizeof(swapped)));
	TEST_ASSERT_VAL("is the same", !memcmp(&read, &record, sizeof(record)));
	TEST_ASSERT_VAL("more than that", vcpu_timeline__read(&read, &record, sizeof(record) + 4));
	TEST_ASSERT_VAL("cut off", !vcpu_timeline__read(&read, &record, sizeof(record) - 1));
	TEST_ASSERT_VAL("nothing", !vcpu_timeline__read(&read, NULL, 0));
	swapped.magic++;
	TEST_ASSERT_VAL("of another kind", !vcpu_timeline__read(&read, &swapped, sizeof(swapped)));
	return TEST_OK;
}

/* A sample is the task's that was told, or the owner's of the CR3. */
static int check_choice(void)
{
	static const struct guest_space owner = { .pid = 7 };
	static const struct told_task same = { .tgid = 7, .tid = 9 }, other = { .tgid = 8 };
	static const struct {
		const char *what;
		const struct told_task *task;
		const struct guest_space *owner;
		bool user;
		bool ambiguous;
		bool takes;
	} cases[] = {
		{ "nothing is known", NULL, NULL, true, false, false },
		{ "nothing was told", NULL, &owner, true, false, false },
		{ "a CR3 of nobody", &other, NULL, true, false, true },
		{ "a CR3 of several in turn", &other, NULL, true, true, true },
		{ "the same by both", &same, &owner, true, false, false },
		{ "in user mode, a CR3 that is used again", &other, &owner, true, false, true },
		{ "in user mode, a shared CR3: it has the functions", &other, &owner, true, true,
		  false },
		{ "in the kernel, one that has borrowed the CR3", &other, &owner, false, false,
		  true },
		{ "in the kernel, one that shares it", &other, &owner, false, true, true },
		{ "in the kernel, the same by both", &same, &owner, false, true, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		TEST_ASSERT_VAL(cases[i].what,
				told_task__takes(cases[i].task, cases[i].owner, cases[i].user,
						 cases[i].ambiguous) == cases[i].takes);
	return TEST_OK;
}

int test__vcpu_contexts(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return check_order() ?: check_nmi(10, 20) ?: check_nmi(0, 0) ?: check_lost() ?:
	       check_content() ?: check_task() ?: check_bad() ?: check_state() ?:
	       check_choice();
}
