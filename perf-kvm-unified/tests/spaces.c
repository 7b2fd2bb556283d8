// SPDX-License-Identifier: GPL-2.0
/*
 * Whose a CR3 was, and when: the parts of it that need no guest, with literal input.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/kernel.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "util/tsc.h"
#include "kvm-unified/collector/history.h"
#include "kvm-unified/collector/tasks.h"
#include "kvm-unified/format/clock.h"
#include "kvm-unified/format/spaces.h"

#define ALWAYS	0
#define NEVER	GUEST_TIME_NONE

static int add(struct guest_spaces *spaces, u64 pt_root, u64 from, u64 until, pid_t pid)
{
	const struct guest_space space = {
		.pt_root = pt_root, .from = from, .until = until, .pid = pid,
	};

	return guest_spaces__add(spaces, &space);
}

/* The pid that owns @cr3 at @time, -1: nobody, -2: it cannot be told */
static pid_t owner(struct guest_spaces *spaces, u64 cr3, u64 time)
{
	bool ambiguous;
	const struct guest_space *space = guest_spaces__find(spaces, cr3, time, &ambiguous);

	if (!space)
		return ambiguous ? -2 : -1;
	return space->pid;
}

static bool is_shared(struct guest_spaces *spaces, u64 cr3, u64 time)
{
	bool ambiguous;

	return guest_spaces__find(spaces, cr3, time, &ambiguous) && ambiguous;
}

static int test__cr3(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct guest_spaces spaces = { };

	TEST_ASSERT_EQUAL("empty", owner(&spaces, 0x1000, 0), -1);

	/* Not in order, and one root that two processes share */
	TEST_ASSERT_VAL("add", !add(&spaces, 0x7000000, ALWAYS, NEVER, 30));
	TEST_ASSERT_VAL("add", !add(&spaces, 0x3000000, ALWAYS, NEVER, 20));
	TEST_ASSERT_VAL("add", !add(&spaces, 0x3000000, ALWAYS, NEVER, 10));
	TEST_ASSERT_VAL("add", !add(&spaces, 0x5001000, ALWAYS, NEVER, 40));
	TEST_ASSERT_VAL("no root", !add(&spaces, 0, ALWAYS, NEVER, 50));
	TEST_ASSERT_VAL("no pid", !add(&spaces, 0x9000000, ALWAYS, NEVER, -1));
	TEST_ASSERT_VAL("no time", !add(&spaces, 0x9000000, 5, 5, 60));
	TEST_ASSERT_EQUAL("entries that name something", (int)spaces.nr, 4);

	for (int known = 0; known < 2; known++) {
		u64 time = known ? 1000 : GUEST_TIME_NONE;

		TEST_ASSERT_EQUAL("plain", owner(&spaces, 0x7000000, time), 30);
		TEST_ASSERT_EQUAL("shared: the lowest pid", owner(&spaces, 0x3000000, time), 10);
		TEST_ASSERT_VAL("shared", is_shared(&spaces, 0x3000000, time));
		TEST_ASSERT_VAL("not shared", !is_shared(&spaces, 0x7000000, time));
		TEST_ASSERT_EQUAL("PCID", owner(&spaces, 0x7000000 | 0x123, time), 30);
		TEST_ASSERT_EQUAL("LAM_U48 and LAM_U57",
				  owner(&spaces, 0x7000000 | (3ULL << 61), time), 30);
		TEST_ASSERT_EQUAL("no-flush", owner(&spaces, 0x7000000 | BIT_ULL(63), time), 30);
		TEST_ASSERT_EQUAL("bit 12 is part of the address",
				  owner(&spaces, 0x5001000, time), 40);
		TEST_ASSERT_EQUAL("not the other half", owner(&spaces, 0x5000000, time), -1);
		TEST_ASSERT_EQUAL("nor here", owner(&spaces, 0x7001000, time), -1);
		TEST_ASSERT_EQUAL("unknown", owner(&spaces, 0x7002000, time), -1);
		TEST_ASSERT_VAL("one that is not known",
				guest_spaces__root(&spaces, 0x9001000) == 0x9001000);
		TEST_ASSERT_EQUAL("bits above the address count",
				  owner(&spaces, 0x7000000 | (1ULL << 40), time), -1);
	}

	/* Adding after a search sorts again */
	TEST_ASSERT_VAL("add", !add(&spaces, 0x1000000, ALWAYS, NEVER, 60));
	TEST_ASSERT_EQUAL("late", owner(&spaces, 0x1000000, 0), 60);
	guest_spaces__exit(&spaces);

	/* Isolated page tables: the same processes, two tables each */
	spaces = (struct guest_spaces) { .pti = true };
	TEST_ASSERT_VAL("add", !add(&spaces, 0x7000000, ALWAYS, NEVER, 30));
	TEST_ASSERT_EQUAL("kernel's table", owner(&spaces, 0x7000000 | 0x4, 1), 30);
	TEST_ASSERT_EQUAL("user's table, user's PCID", owner(&spaces, 0x7001000 | 0x804, 1), 30);
	TEST_ASSERT_EQUAL("the next one", owner(&spaces, 0x7002000, 1), -1);
	TEST_ASSERT_VAL("both tables of one that is not known",
			guest_spaces__root(&spaces, 0x9001000 | 0x804) ==
			guest_spaces__root(&spaces, 0x9000000 | 0x4));
	guest_spaces__exit(&spaces);
	return TEST_OK;
}

static int test__reuse(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct guest_spaces spaces = { };

	TEST_ASSERT_VAL("add", !add(&spaces, 0x2000, 300, 400, 3));
	TEST_ASSERT_VAL("add", !add(&spaces, 0x2000, 100, 200, 1));
	TEST_ASSERT_VAL("add", !add(&spaces, 0x2000, 200, 300, 2));
	TEST_ASSERT_VAL("add", !add(&spaces, 0x2000, 500, NEVER, 5));
	TEST_ASSERT_VAL("add", !add(&spaces, 0x4000, 100, 200, 9));
	TEST_ASSERT_EQUAL("before all", owner(&spaces, 0x2000, 99), -1);
	TEST_ASSERT_EQUAL("from", owner(&spaces, 0x2000, 100), 1);
	TEST_ASSERT_EQUAL("until", owner(&spaces, 0x2000, 199), 1);
	TEST_ASSERT_EQUAL("handed on", owner(&spaces, 0x2000, 200), 2);
	TEST_ASSERT_EQUAL("again", owner(&spaces, 0x2000, 399), 3);
	TEST_ASSERT_EQUAL("in between", owner(&spaces, 0x2000, 450), -1);
	TEST_ASSERT_EQUAL("alive", owner(&spaces, 0x2000, 1ULL << 60), 5);
	TEST_ASSERT_VAL("one at a time", !is_shared(&spaces, 0x2000, 250));
	TEST_ASSERT_EQUAL("which of them is not known",
			  owner(&spaces, 0x2000, GUEST_TIME_NONE), -2);
	TEST_ASSERT_EQUAL("only one", owner(&spaces, 0x4000, GUEST_TIME_NONE), 9);

	/* A vfork() child, which has its parent's until it calls execve() */
	TEST_ASSERT_VAL("add", !add(&spaces, 0x6000, 100, 900, 20));
	TEST_ASSERT_VAL("add", !add(&spaces, 0x6000, 300, 310, 21));
	TEST_ASSERT_EQUAL("parent", owner(&spaces, 0x6000, 200), 20);
	TEST_ASSERT_VAL("alone", !is_shared(&spaces, 0x6000, 200));
	TEST_ASSERT_EQUAL("parent for both", owner(&spaces, 0x6000, 305), 20);
	TEST_ASSERT_VAL("both", is_shared(&spaces, 0x6000, 305));
	TEST_ASSERT_EQUAL("parent again", owner(&spaces, 0x6000, 310), 20);
	TEST_ASSERT_VAL("alone again", !is_shared(&spaces, 0x6000, 310));
	guest_spaces__exit(&spaces);

	/* A parent that does it all the time is still found, between them, too. */
	TEST_ASSERT_VAL("add", !add(&spaces, 0x2000, 1, NEVER, 7));
	for (int i = 1; i < 1000; i++)
		TEST_ASSERT_VAL("add", !add(&spaces, 0x2000, 10 * i, 10 * i + 5, i + 100));
	TEST_ASSERT_EQUAL("parent behind them", owner(&spaces, 0x2000, 50000), 7);
	TEST_ASSERT_VAL("alone", !is_shared(&spaces, 0x2000, 50000));
	TEST_ASSERT_EQUAL("parent between them", owner(&spaces, 0x2000, 4007), 7);
	TEST_ASSERT_VAL("alone", !is_shared(&spaces, 0x2000, 4007));
	TEST_ASSERT_EQUAL("parent with one of them", owner(&spaces, 0x2000, 4003), 7);
	TEST_ASSERT_VAL("shared", is_shared(&spaces, 0x2000, 4003));
	guest_spaces__exit(&spaces);

	/* A child that outlives the parent; clone(CLONE_VM) makes them */
	TEST_ASSERT_VAL("add", !add(&spaces, 0x2000, 100, 300, 7));
	TEST_ASSERT_VAL("add", !add(&spaces, 0x2000, 200, 400, 8));
	TEST_ASSERT_EQUAL("parent", owner(&spaces, 0x2000, 250), 7);
	TEST_ASSERT_VAL("shared", is_shared(&spaces, 0x2000, 250));
	TEST_ASSERT_EQUAL("orphan", owner(&spaces, 0x2000, 350), 8);
	TEST_ASSERT_VAL("alone", !is_shared(&spaces, 0x2000, 350));
	guest_spaces__exit(&spaces);

	/* Several children at a time, of which one outlives the parent */
	TEST_ASSERT_VAL("add", !add(&spaces, 0x2000, 1, 100, 7));
	TEST_ASSERT_VAL("add", !add(&spaces, 0x2000, 10, 95, 8));
	TEST_ASSERT_VAL("add", !add(&spaces, 0x2000, 20, 30, 9));
	TEST_ASSERT_VAL("add", !add(&spaces, 0x2000, 40, 200, 11));
	TEST_ASSERT_EQUAL("parent of all", owner(&spaces, 0x2000, 50), 7);
	TEST_ASSERT_VAL("shared", is_shared(&spaces, 0x2000, 50));
	TEST_ASSERT_EQUAL("of two", owner(&spaces, 0x2000, 97), 7);
	TEST_ASSERT_EQUAL("orphan", owner(&spaces, 0x2000, 150), 11);
	TEST_ASSERT_VAL("alone", !is_shared(&spaces, 0x2000, 150));
	guest_spaces__exit(&spaces);

	/* Hostile: each ends before the one around it, so that a search would take long */
	for (int i = 1; i < 1000; i++)
		TEST_ASSERT_VAL("add", !add(&spaces, 0x2000, i, 5000 - i, i));
	TEST_ASSERT_EQUAL("given up", owner(&spaces, 0x2000, 4900), -2);
	guest_spaces__exit(&spaces);
	return TEST_OK;
}

static int happen(struct guest_history *history, u64 time, enum guest_task_event_kind kind,
		  pid_t pid, u64 pt_root)
{
	const struct guest_task_event event = {
		.time = time, .kind = kind, .pid = pid, .pt_root = pt_root, .ns_pid = pid == 70,
		/* Only these fork by vfork(). */
		.shared = kind == GUEST_TASK_FORK &&
			  ((pid == 70 && pt_root == 0x10000) || pid == 91),
	};

	return guest_history__add(history, &event);
}

static int test__history(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct guest_task seen[] = {
		/*
		 * the kernel's own; there all the time, and one that ends; one that was
		 * seen after its execve()
		 */
		{ .pid = 0, .pt_root = 0x8000, .kthread = true },
		{ .pid = 10, .pt_root = 0x10000, .start_ns = 5 },
		{ .pid = 20, .pt_root = 0x20000, .start_ns = 6 },
		{ .pid = 30, .pt_root = 0x31000, .start_ns = 7 },
		/* a kernel thread; and one that had begun when it was seen */
		{ .pid = 40, .kthread = true, .start_ns = 8 },
		{ .pid = 50, .pt_root = 0x50000, .start_ns = 1000 },
	};
	const struct guest_tasks tasks = { .entries = seen, .nr = ARRAY_SIZE(seen) };
	struct guest_history history = { };
	struct guest_spaces spaces = { };
	int bad = 0;

	/* Not in order, as from several CPUs */
	bad |= happen(&history, 2000, GUEST_TASK_EXIT, 20, 0);
	bad |= happen(&history, 1500, GUEST_TASK_EXEC, 30, 0x31000);
	bad |= happen(&history, 1000, GUEST_TASK_FORK, 50, 0x50000);
	/* fork, execve, exit; the root of the second life is that of pid 20 */
	bad |= happen(&history, 3000, GUEST_TASK_FORK, 60, 0x60000);
	bad |= happen(&history, 3500, GUEST_TASK_EXEC, 60, 0x20000);
	bad |= happen(&history, 4000, GUEST_TASK_EXIT, 60, 0);
	/* vfork: the parent's root until execve */
	bad |= happen(&history, 5000, GUEST_TASK_FORK, 70, 0x10000);
	bad |= happen(&history, 5500, GUEST_TASK_EXEC, 70, 0x70000);
	/* the pid again, without having seen the end */
	bad |= happen(&history, 7000, GUEST_TASK_FORK, 70, 0x60000);
	/* onto a root of an owner that had a vfork() child: not before the owner's end */
	bad |= happen(&history, 7100, GUEST_TASK_FORK, 90, 0x90000);
	bad |= happen(&history, 7200, GUEST_TASK_FORK, 91, 0x90000);
	bad |= happen(&history, 7300, GUEST_TASK_EXEC, 91, 0x91000);
	bad |= happen(&history, 7400, GUEST_TASK_EXIT, 90, 0);
	bad |= happen(&history, 7450, GUEST_TASK_EXEC, 10, 0x90000);
	/* execve() lets go of the old root before it is known of: pid 81 gets it */
	bad |= happen(&history, 8000, GUEST_TASK_FORK, 80, 0x80000);
	bad |= happen(&history, 8500, GUEST_TASK_EXEC, 81, 0x80000);
	bad |= happen(&history, 8900, GUEST_TASK_EXEC, 80, 0x88000);
	/* an end of something never seen */
	bad |= happen(&history, 7500, GUEST_TASK_EXIT, 99, 0);
	TEST_ASSERT_VAL("events", !bad);
	TEST_ASSERT_VAL("history", !guest_history__spaces(&history, &tasks, &spaces));

	TEST_ASSERT_EQUAL("init_mm", owner(&spaces, 0x8000, 1), 0);
	TEST_ASSERT_EQUAL("for a long time", owner(&spaces, 0x10000, 7449), 10);
	TEST_ASSERT_EQUAL("its next one", owner(&spaces, 0x90000, 7450), 10);
	TEST_ASSERT_EQUAL("before it is known of", owner(&spaces, 0x90000, 7420), 10);
	TEST_ASSERT_EQUAL("not while it had an owner", owner(&spaces, 0x90000, 7350), 90);
	TEST_ASSERT_EQUAL("not before it began", owner(&spaces, 0x10000, 4), -1);
	TEST_ASSERT_EQUAL("until its end", owner(&spaces, 0x20000, 1999), 20);
	TEST_ASSERT_EQUAL("its root is free", owner(&spaces, 0x20000, 2000), -1);
	TEST_ASSERT_EQUAL("before execve() is known of", owner(&spaces, 0x20000, 3499), 60);
	TEST_ASSERT_EQUAL("not before the process", owner(&spaces, 0x20000, 2999), -1);
	TEST_ASSERT_EQUAL("execve()", owner(&spaces, 0x20000, 3999), 60);
	TEST_ASSERT_EQUAL("gone", owner(&spaces, 0x20000, 4000), -1);
	TEST_ASSERT_EQUAL("before execve()", owner(&spaces, 0x60000, 3400), 60);
	TEST_ASSERT_EQUAL("what it ran on is free", owner(&spaces, 0x60000, 3500), -1);
	TEST_ASSERT_EQUAL("seen after execve()", owner(&spaces, 0x31000, 1500), 30);
	TEST_ASSERT_EQUAL("begun", owner(&spaces, 0x50000, 1000), 50);
	TEST_ASSERT_EQUAL("not earlier", owner(&spaces, 0x50000, 999), -1);
	TEST_ASSERT_EQUAL("vfork", owner(&spaces, 0x10000, 5100), 10);
	TEST_ASSERT_VAL("shared", is_shared(&spaces, 0x10000, 5100));
	TEST_ASSERT_VAL("not any more", !is_shared(&spaces, 0x10000, 5500));
	TEST_ASSERT_EQUAL("after vfork", owner(&spaces, 0x70000, 6999), 70);
	TEST_ASSERT_EQUAL("its end was missed", owner(&spaces, 0x70000, 7000), -1);
	TEST_ASSERT_EQUAL("its successor", owner(&spaces, 0x60000, 8000), 70);
	TEST_ASSERT_EQUAL("until it was handed on", owner(&spaces, 0x80000, 8499), 80);
	TEST_ASSERT_EQUAL("handed on", owner(&spaces, 0x80000, 8500), 81);
	TEST_ASSERT_VAL("not shared", !is_shared(&spaces, 0x80000, 8600));
	TEST_ASSERT_EQUAL("the new one", owner(&spaces, 0x88000, 8900), 80);
	for (size_t i = 0; i < spaces.nr; i++)
		TEST_ASSERT_VAL("pid in its namespace",
				spaces.entries[i].ns_pid == (spaces.entries[i].pid == 70 ? 1 : 0));

	guest_spaces__exit(&spaces);
	guest_history__exit(&history);
	return TEST_OK;
}

static int test__clock(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	/* 2 GHz: half a ns for a cycle, from cycle 1000 on */
	const struct perf_tsc_conversion tc = {
		.time_mult = 1, .time_shift = 1, .time_zero = 7, .cap_user_time_zero = true,
	};
	struct guest_tsc tsc = { .known = true, .offset = -4000ULL };
	struct guest_clock clock = { };
	u64 host;

	TEST_ASSERT_VAL("no clock", guest_clock__time(&clock, 5) == GUEST_TIME_NONE);
	TEST_ASSERT_EQUAL("none of the guest's", guest_clock__set(&clock, &tsc, &tc), -ENODATA);
	/* The host's cycles 10000 and 30000: 5007 and 15007 ns */
	TEST_ASSERT_VAL("add", !guest_clock__add(&clock, 6000, 100000));
	TEST_ASSERT_VAL("add", !guest_clock__add(&clock, 26000, 110010));
	/* It was stopped for 1 us. */
	TEST_ASSERT_VAL("add", !guest_clock__add(&clock, 46000, 121010));
	TEST_ASSERT_EQUAL("backwards", guest_clock__add(&clock, 45000, 130000), -EINVAL);
	TEST_ASSERT_EQUAL("backwards", guest_clock__add(&clock, 47000, 100000), -EINVAL);
	TEST_ASSERT_VAL("not set", guest_clock__time(&clock, 5007) == GUEST_TIME_NONE);
	TEST_ASSERT_VAL("set", !guest_clock__set(&clock, &tsc, &tc));
	TEST_ASSERT_VAL("at the first", guest_clock__time(&clock, 5007) == 100000);
	TEST_ASSERT_VAL("before it", guest_clock__time(&clock, 5000) == 99993);
	TEST_ASSERT_VAL("at the second", guest_clock__time(&clock, 15007) == 110010);
	TEST_ASSERT_VAL("between them", guest_clock__time(&clock, 10007) == 105005);
	TEST_ASSERT_VAL("not known", guest_clock__time(&clock, 15107) == GUEST_TIME_NONE);
	TEST_ASSERT_VAL("at the third", guest_clock__time(&clock, 25007) == 121010);
	TEST_ASSERT_VAL("behind it", guest_clock__time(&clock, 25107) == 121110);

	tsc.known = false;
	TEST_ASSERT_EQUAL("KVM says nothing", guest_clock__set(&clock, &tsc, &tc), -ENODATA);
	guest_clock__exit(&clock);

	/* What a guest may say: half of all time from the host's, and then on the other side */
	tsc.known = true;
	TEST_ASSERT_VAL("add", !guest_clock__add(&clock, 6000, BIT_ULL(63) + 5107));
	TEST_ASSERT_VAL("add", !guest_clock__add(&clock, 26000, BIT_ULL(63) + 5107));
	TEST_ASSERT_VAL("set", !guest_clock__set(&clock, &tsc, &tc));
	TEST_ASSERT_VAL("far off", guest_clock__time(&clock, 5017) == GUEST_TIME_NONE);
	guest_clock__exit(&clock);

	/* As on VMX, 48 bits: the guest's TSC is half as fast */
	tsc = (struct guest_tsc) {
		.known = true, .frac_bits = 48, .ratio = BIT_ULL(47), .offset = 50,
	};
	TEST_ASSERT_VAL("scaled", guest_tsc__to_host(&tsc, 1050, &host) && host == 2000);
	tsc.ratio = BIT_ULL(48);
	TEST_ASSERT_VAL("by one", guest_tsc__to_host(&tsc, 1050, &host) && host == 1000);
	tsc.ratio = 0;
	TEST_ASSERT_VAL("by nothing", !guest_tsc__to_host(&tsc, 1050, &host));
	tsc.ratio = 1;
	TEST_ASSERT_VAL("too much", !guest_tsc__to_host(&tsc, ~0ULL, &host));
	tsc.frac_bits = 77;
	TEST_ASSERT_VAL("nonsense", !guest_tsc__to_host(&tsc, 1050, &host));
	return TEST_OK;
}

/* Documentation/arch/x86/x86_64/mm.rst: where the direct map and the kernel are */
static int test__roots(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct guest_task_layout layout = {
		.page_offset = 0xff11000000000000ULL, .phys_base = 0x5000000,
	};
	u64 root = 0;

	TEST_ASSERT_VAL("5-level paging", !guest_task_layout__root(&layout, 0xff11000012345000ULL,
								   &root) && root == 0x12345000);
	TEST_ASSERT_VAL("init_mm's, in the kernel's image",
			!guest_task_layout__root(&layout, 0xffffffff82a10000ULL, &root) &&
			root == 0x7a10000);
	TEST_ASSERT_VAL("below the direct map",
			guest_task_layout__root(&layout, 0xff10fffffffff000ULL, &root));
	TEST_ASSERT_VAL("no table", guest_task_layout__root(&layout, 0xff11000012345008ULL, &root));
	TEST_ASSERT_VAL("a user's", guest_task_layout__root(&layout, 0x7f0012345000ULL, &root));

	layout.page_offset = 0xffff888000000000ULL;
	layout.me_mask = BIT_ULL(51);
	TEST_ASSERT_VAL("4-level paging, memory encryption",
			!guest_task_layout__root(&layout, 0xffff888012345000ULL, &root) &&
			root == (BIT_ULL(51) | 0x12345000));
	return TEST_OK;
}

static struct test_case kvm_unified_spaces_tests[] = {
	TEST_CASE("kvm unified: page tables to CR3", roots),
	TEST_CASE("kvm unified: CR3 to process", cr3),
	TEST_CASE("kvm unified: CR3 that is used again", reuse),
	TEST_CASE("kvm unified: processes that come and go", history),
	TEST_CASE("kvm unified: the guest's clock", clock),
	{ .name = NULL, }
};

struct test_suite suite__kvm_unified_spaces = {
	.desc = "kvm unified: address spaces",
	.test_cases = kvm_unified_spaces_tests,
};
