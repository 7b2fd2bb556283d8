// SPDX-License-Identifier: GPL-2.0
/*
 * What is read out of a guest's memory, with memory that is made up.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "kvm-unified/collector/tasks.h"
#include "kvm-unified/collector/walk.h"
#include "kvm-unified/format/spaces.h"
#include "kvm-unified/memory/instant.h"
#include "kvm-unified/memory/kallsyms.h"
#include "kvm-unified/memory/lives.h"
#include "kvm-unified/memory/paging.h"
#include "kvm-unified/memory/ram.h"
#include "made-up.h"
#include "memory.h"

static u64 page(int number)
{
	return (u64)number * GUEST_PAGE_SIZE;
}

/* Tables in pages 1..3 and, with 5 levels, 4 above them: page 9 at 2^47 * -1, and loops */
static int check_paging(struct made_up *m, struct guest_ram *ram, int levels)
{
	const u64 va = levels == 5 ? 0xff00000000000000ULL : 0xffff800000000000ULL;
	const int top = levels == 5 ? 4 : 1;
	struct guest_run runs[4];
	struct guest_paging p;
	char text[6];
	size_t nr;
	u64 pa;
	int ret;

	made_up__init(m, ram);
	if (levels == 5)
		m->pages[4][256] = page(1) | PRESENT | WRITABLE;
	m->pages[1][levels == 5 ? 0 : 256] = page(2) | PRESENT | WRITABLE;
	m->pages[2][0] = page(3) | PRESENT | WRITABLE;
	m->pages[2][1] = 0x40000000 | PRESENT | LARGE | NX;
	m->pages[3][0] = page(5) | PRESENT | WRITABLE;
	m->pages[3][1] = 0x200000 | PRESENT | LARGE;
	m->pages[5][0] = page(9) | PRESENT;
	m->pages[5][1] = page(7) | PRESENT | WRITABLE | NX;
	memcpy((char *)m->pages[9] + GUEST_PAGE_SIZE - 3, "abc", 3);
	memcpy(m->pages[7], "de", 3);
	guest_paging__init(&p, ram, page(top) | 0x18, levels);

	TEST_ASSERT_VAL("across two pages",
			!guest_paging__read(&p, va + GUEST_PAGE_SIZE - 3, text, 6) &&
			!strcmp(text, "abcde"));
	TEST_ASSERT_VAL("a page of 2 MiB", !guest_paging__translate(&p, va + 0x2abcde, &pa) &&
			pa == 0x2abcde);
	TEST_ASSERT_VAL("a page of 1 GiB", !guest_paging__translate(&p, va + 0x4abcdef0, &pa) &&
			pa == 0x4abcdef0);
	TEST_ASSERT_VAL("nothing there", guest_paging__translate(&p, va + page(2), &pa) == -EFAULT);
	TEST_ASSERT_VAL("no address", guest_paging__translate(&p, va ^ 1ULL << 62, &pa) == -EFAULT);
	TEST_ASSERT_VAL("over the end", guest_paging__read(&p, ~0ULL, text, 2) == -EFAULT);
	TEST_ASSERT_VAL("behind its memory",
			guest_paging__read(&p, va + 0x40000000, text, 1) == -EFAULT);

	TEST_ASSERT_VAL("runs", !guest_paging__runs(&p, va, va + 0x80000000, runs, 4, &nr));
	TEST_ASSERT_EQUAL("so many", (int)nr, 4);
	TEST_ASSERT_VAL("read-only code", runs[0].va == va && runs[0].size == GUEST_PAGE_SIZE &&
			runs[0].executable && !runs[0].writable);
	TEST_ASSERT_VAL("writable data", runs[1].va == va + GUEST_PAGE_SIZE && runs[1].writable &&
			!runs[1].executable);
	ret = guest_paging__runs(&p, va, va + 0x80000000, runs, 3, &nr);
	TEST_ASSERT_VAL("too many", ret == -E2BIG);

	/* A table that names itself: as many steps as levels, and no more */
	m->pages[top][256] = page(top) | PRESENT;
	m->pages[top][0] = page(top) | PRESENT;
	guest_paging__flush(&p);
	ram->left = 1ULL << 20;
	TEST_ASSERT_VAL("a loop is one of pages", !guest_paging__translate(&p, va, &pa) || pa);
	ret = guest_paging__runs(&p, va, va + 0x80000000, runs, 4, &nr);
	TEST_ASSERT_VAL("... and has an end", !ret || ret == -E2BIG || ret == -EDQUOT);

	ram->left = 100;
	guest_paging__flush(&p);
	TEST_ASSERT_VAL("it costs", guest_paging__translate(&p, va, &pa) == -EDQUOT);
	return TEST_OK;
}

int test__guest_paging(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct made_up *m = malloc(sizeof(*m));
	struct guest_ram ram;
	int ret;

	TEST_ASSERT_VAL("memory", m);
	ret = check_paging(m, &ram, 4) ?: check_paging(m, &ram, 5);
	free(m);
	return ret;
}

/* --- kallsyms ---------------------------------------------------------------------------- */

#define SYMBOLS		4500U
#define IMAGE_SIZE	(512U << 10)
#define IMAGE_VA	0xffffffff82000000ULL
#define TEXT_VA		0xffffffff81000000ULL
#define PERCPU		16U

/* What scripts/kallsyms.c would write, if no token was worth more than its character */
struct image {
	u8	bytes[IMAGE_SIZE];
	size_t	len;
	size_t	markers;
	size_t	num;
	size_t	offsets;
};

static size_t put(struct image *image, const void *data, size_t size, size_t align)
{
	size_t at = (image->len + align - 1) & ~(align - 1);

	memcpy(image->bytes + at, data, size);
	image->len = at + size;
	return at;
}

static u64 address(u32 i)
{
	return i < PERCPU ? i * 8 : TEXT_VA + i * 1024;
}

static void put_offsets(struct image *image, enum kallsyms_encoding encoding)
{
	static u32 offsets[SYMBOLS];
	size_t at = (image->len + 7) & ~7UL;
	u64 base = TEXT_VA;

	for (u32 i = 0; i < SYMBOLS; i++) {
		u64 addr = address(i);

		switch (encoding) {
		case KALLSYMS_ABSOLUTE_PERCPU:
			offsets[i] = i < PERCPU ? addr : base - 1 - addr;
			break;
		case KALLSYMS_BASE_RELATIVE:
			offsets[i] = i < PERCPU ? 0 : addr - base;
			break;
		case KALLSYMS_PLACE_RELATIVE:
			offsets[i] = (i < PERCPU ? TEXT_VA : addr) - (IMAGE_VA + at + i * 4);
			break;
		case KALLSYMS_NONE:
		default:
			break;
		}
	}
	image->offsets = put(image, offsets, sizeof(offsets), 8);
	if (encoding != KALLSYMS_PLACE_RELATIVE)
		put(image, &base, sizeof(base), 8);
}

static void put_names(struct image *image)
{
	u32 markers[SYMBOLS / 256 + 1], nr = SYMBOLS, start, at = 0;
	char name[32];

	image->num = put(image, &nr, sizeof(nr), 8);
	image->len = (image->len + 7) & ~7UL;
	start = image->len;
	for (u32 i = 0; i < SYMBOLS; i++) {
		u8 n = snprintf(name, sizeof(name), "tsymbol_%u", i);

		if (i % 256 == 0)
			markers[i / 256] = at;
		put(image, &n, 1, 1);
		put(image, name, n, 1);
		at = image->len - start;
	}
	image->markers = put(image, markers, sizeof(markers), 8);
}

static void put_tokens(struct image *image)
{
	u16 index[256];
	size_t start = (image->len + 7) & ~7UL;

	image->len = start;
	for (int i = 0; i < 256; i++) {
		char token[2] = { i > ' ' && i < 0x7f ? i : 0, 0 };

		index[i] = image->len - start;
		put(image, token, strlen(token) + 1, 1);
	}
	put(image, index, sizeof(index), 8);
}

static void make_image(struct image *image, enum kallsyms_encoding encoding, bool offsets_first)
{
	memset(image, 0, sizeof(*image));
	/* Something else of the kernel */
	memset(image->bytes, 0xc3, 4096);
	image->len = 4096;
	if (offsets_first)
		put_offsets(image, encoding);
	put_names(image);
	put_tokens(image);
	if (!offsets_first)
		put_offsets(image, encoding);
}

static int decode(struct image *image, struct kernel_symbols *s)
{
	return kernel_symbols__decode(s, image->bytes, sizeof(image->bytes), IMAGE_VA);
}

static int check_symbols(struct image *image, enum kallsyms_encoding encoding, bool offsets_first)
{
	struct kernel_symbols s;
	u32 bad;

	make_image(image, encoding, offsets_first);
	TEST_ASSERT_VAL("found", !decode(image, &s));
	TEST_ASSERT_EQUAL("all of them", (u32)s.nr, SYMBOLS);
	TEST_ASSERT_EQUAL("in this encoding", (int)s.encoding, (int)encoding);
	TEST_ASSERT_VAL("with their addresses",
			kernel_symbols__find(&s, "symbol_4499") == address(4499) &&
			kernel_symbols__find(&s, "symbol_17") == address(17));
	TEST_ASSERT_VAL("no other", !kernel_symbols__find(&s, "symbol_4500"));
	kernel_symbols__exit(&s);

	bad = 0x12345678;
	memcpy(image->bytes + image->markers + 8, &bad, sizeof(bad));
	TEST_ASSERT_EQUAL("a marker that is none", decode(image, &s), -ENOENT);
	make_image(image, encoding, offsets_first);
	bad = ~0U;
	memcpy(image->bytes + image->num, &bad, sizeof(bad));
	TEST_ASSERT_EQUAL("2^32 symbols", decode(image, &s), -ENOENT);
	make_image(image, encoding, offsets_first);
	memcpy(image->bytes + image->offsets + 4 * 2000, &bad, sizeof(bad));
	bad = 0x7fffffff;
	memcpy(image->bytes + image->offsets + 4 * 2001, &bad, sizeof(bad));
	TEST_ASSERT_EQUAL("addresses that descend", decode(image, &s), -ENOENT);
	return TEST_OK;
}

int test__guest_kallsyms(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct image *image = malloc(sizeof(*image));
	struct kernel_symbols s;
	int ret;

	TEST_ASSERT_VAL("memory", image);
	ret = check_symbols(image, KALLSYMS_ABSOLUTE_PERCPU, true) ?:
	      check_symbols(image, KALLSYMS_ABSOLUTE_PERCPU, false) ?:
	      check_symbols(image, KALLSYMS_BASE_RELATIVE, false) ?:
	      check_symbols(image, KALLSYMS_PLACE_RELATIVE, false);
	memset(image, 0, sizeof(*image));
	if (!ret && decode(image, &s) != -ENOENT)
		ret = TEST_FAIL;
	free(image);
	return ret;
}

/* --- time and lives ------------------------------------------------------------------------ */

int test__guest_instant(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	/* 2 GHz */
	const struct guest_instant instant = {
		.time = 1000, .tsc = 500, .rate = 1ULL << 31, .has_tsc = true,
	};
	struct guest_instant without = instant;

	without.has_tsc = false;
	TEST_ASSERT_VAL("later", guest_instant__time_at(&instant, 2500) == 2000);
	TEST_ASSERT_VAL("days later",
			guest_instant__time_at(&instant, 500 + BIT_ULL(52)) == 1000 + BIT_ULL(51));
	TEST_ASSERT_VAL("not earlier", guest_instant__time_at(&instant, 100) == 1000);
	TEST_ASSERT_VAL("not known", guest_instant__time_at(&instant, 0) == 1000);
	TEST_ASSERT_VAL("no TSC", guest_instant__time_at(&without, 2500) == 1000);
	return TEST_OK;
}

static int see(struct guest_lives *lives, pid_t pid, u64 root, u64 start, bool execed, u64 mm_ctx,
	       u64 now)
{
	const struct guest_task task = {
		.pid = pid, .pt_root = root, .mm = root, .start_ns = start, .execed = execed,
		.comm = "test",
	};
	struct guest_codes none = { };

	return guest_lives__see(lives, &task, mm_ctx, now, &none);
}

static const struct guest_life *life_of(const struct guest_lives *lives, pid_t pid, u64 root)
{
	for (size_t i = 0; i < lives->nr; i++) {
		if (lives->entries[i].task.pid == pid && lives->entries[i].task.pt_root == root)
			return &lives->entries[i];
	}
	return NULL;
}

/* Looks at 1000, 2000 and 3000. Address space 50 is the youngest at the first, 60 at the second. */
static int see_all(struct guest_lives *lives)
{
	int ret = guest_lives__begin_look(lives, 1000, 50);

	/* It was there when all began. */
	ret = ret ?: see(lives, 1, 0x1000, 100, true, 2, 1001);
	ret = ret ?: see(lives, 2, 0x2000, 900, true, 50, 1002);
	if (!ret)
		guest_lives__end_look(lives, true);

	ret = ret ?: guest_lives__begin_look(lives, 2000, 60);
	ret = ret ?: see(lives, 1, 0x1000, 100, true, 2, 2001);
	/* Has not called execve(), and so has had it from its beginning */
	ret = ret ?: see(lives, 3, 0x3000, 1500, false, 55, 2002);
	/* Has, and its address space is older than this look, but none was before it. */
	ret = ret ?: see(lives, 4, 0x2000, 1600, true, 58, 2003);
	/* Has, and during this look */
	ret = ret ?: see(lives, 5, 0x5000, 1700, true, 61, 2004);
	if (!ret)
		guest_lives__end_look(lives, true);

	ret = ret ?: guest_lives__begin_look(lives, 3000, 70);
	ret = ret ?: see(lives, 1, 0x1000, 100, true, 2, 3001);
	/* Another program in the same process */
	ret = ret ?: see(lives, 3, 0x6000, 1500, true, 65, 3002);
	/* Its number is younger than it looks: it was there at the second look. */
	ret = ret ?: see(lives, 7, 0x7000, 1650, true, 59, 3003);
	return ret;
}

int test__guest_lives(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct guest_lives lives = { };

	TEST_ASSERT_VAL("seen", !see_all(&lives));
	/* That was not the whole list: nobody is gone by it. */
	guest_lives__end_look(&lives, false);
	TEST_ASSERT_VAL("for ever", life_of(&lives, 1, 0x1000)->until == GUEST_TIME_NONE);
	TEST_ASSERT_VAL("from its beginning", life_of(&lives, 1, 0x1000)->from == 100);
	TEST_ASSERT_VAL("gone", life_of(&lives, 2, 0x2000)->until == 1001);
	TEST_ASSERT_VAL("no execve()", life_of(&lives, 3, 0x3000)->from == 1500);
	TEST_ASSERT_VAL("... and then one", life_of(&lives, 3, 0x3000)->until == 2001 &&
			life_of(&lives, 3, 0x6000)->from == 3000);
	TEST_ASSERT_VAL("an address space that another process had before",
			life_of(&lives, 4, 0x2000)->from == 2000);
	TEST_ASSERT_VAL("a very new one", life_of(&lives, 5, 0x5000)->from == 2004);
	TEST_ASSERT_VAL("who was not seen may be there", life_of(&lives, 4, 0x2000)->until ==
			GUEST_TIME_NONE);
	TEST_ASSERT_VAL("one that was missed", life_of(&lives, 7, 0x7000)->from == 2000);
	guest_lives__exit(&lives);
	return TEST_OK;
}

/* --- memory that changes while it is read ---------------------------------------------------- */

#define BASE		0xffff888000000000ULL
#define TASK_SIZE	0x100

static const struct guest_task_layout layout = {
	.task_tasks = 0x00, .task_thread_node = 0x10, .task_pid = 0x20, .task_tgid = 0x24,
	.task_flags = 0x28, .task_mm = 0x30, .task_signal = 0x38, .task_group_leader = 0x40,
	.task_start = 0x48, .task_comm = 0x50, .mm_pgd = 0x08, .signal_thread_head = 0x00,
	.init_task = BASE, .page_offset = BASE,
};

struct made_up_mem {
	struct guest_mem mem;
	char	now[2 * GUEST_PAGE_SIZE];
	char	kept[2 * GUEST_PAGE_SIZE];
	int	forgotten;
	bool	reused;
};

static void write_task(struct made_up_mem *m, int i, int nr, pid_t pid, u64 mm)
{
	char *task = m->now + i * TASK_SIZE;
	u64 links[] = { BASE + (i + 1) % nr * TASK_SIZE, BASE + (i + nr - 1) % nr * TASK_SIZE };
	u64 self = BASE + i * TASK_SIZE;

	memcpy(task + layout.task_tasks, links, sizeof(links));
	memcpy(task + layout.task_pid, &pid, sizeof(pid));
	memcpy(task + layout.task_tgid, &pid, sizeof(pid));
	memcpy(task + layout.task_mm, &mm, sizeof(mm));
	memcpy(task + layout.task_group_leader, &self, sizeof(self));
	memcpy(task + layout.task_comm, "task", sizeof("task"));
}

/* As it was when it was kept. The first time that it is to be forgotten, something happens. */
static int made_up_mem__read(struct guest_mem *mem, u64 va, void *buf, size_t len)
{
	struct made_up_mem *m = container_of(mem, struct made_up_mem, mem);

	if (va < BASE || va - BASE >= sizeof(m->kept) || len > sizeof(m->kept) - (va - BASE))
		return -EFAULT;
	memcpy(buf, m->kept + (va - BASE), len);
	return 0;
}

/* Process 7 has ended; its mm_struct is process 8's, and its place in the list, too. */
static void made_up_mem__forget(struct guest_mem *mem)
{
	struct made_up_mem *m = container_of(mem, struct made_up_mem, mem);

	if (m->reused && ++m->forgotten == 2) {
		u64 pgd = BASE + 0x5000;

		write_task(m, 1, 2, 8, BASE + GUEST_PAGE_SIZE);
		memcpy(m->now + GUEST_PAGE_SIZE + layout.mm_pgd, &pgd, sizeof(pgd));
	}
	memcpy(m->kept, m->now, sizeof(m->kept));
}

static int walk_made_up(bool reused, pid_t pid, u64 root)
{
	struct made_up_mem *m = calloc(1, sizeof(*m));
	struct guest_tasks tasks;
	u64 pgd = BASE + 0x4000;
	int ret = TEST_FAIL;

	if (!m)
		return TEST_FAIL;
	m->mem = (struct guest_mem) { made_up_mem__read, made_up_mem__forget };
	m->reused = reused;
	write_task(m, 0, 2, 0, 0);
	write_task(m, 1, 2, 7, BASE + GUEST_PAGE_SIZE);
	memcpy(m->now + GUEST_PAGE_SIZE + layout.mm_pgd, &pgd, sizeof(pgd));
	memcpy(m->kept, m->now, sizeof(m->kept));
	if (!guest_tasks__walk(&tasks, &layout, &m->mem, 10) && tasks.nr == 2 &&
	    tasks.entries[1].pid == pid && tasks.entries[1].pt_root == root)
		ret = TEST_OK;
	guest_tasks__exit(&tasks);
	free(m);
	return ret;
}

int test__guest_torn(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	TEST_ASSERT_VAL("what does not change", !walk_made_up(false, 7, 0x4000));
	TEST_ASSERT_VAL("what is another process's meanwhile is not the first one's",
			!walk_made_up(true, 8, 0x5000));
	return TEST_OK;
}
