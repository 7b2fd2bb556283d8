// SPDX-License-Identifier: GPL-2.0
/*
 * The times that users ask for, and what is told of parts of the time and of single waits.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/zalloc.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "util/strbuf.h"
#include "util/time-utils.h"
#include "kvm-unified/measure/measurement.h"
#include "kvm-unified/measure/who.h"
#include "kvm-unified/report/messages.h"
#include "kvm-unified/report/over-time.h"
#include "kvm-unified/report/overview.h"
#include "kvm-unified/report/print.h"
#include "kvm-unified/report/sections.h"
#include "kvm-unified/report/stalls.h"
#include "kvm-unified/report/takers.h"
#include "kvm-unified/report/thieves.h"
#include "kvm-unified/report/times.h"

#define SEC(s)	((u64)((s) * NSEC_PER_SEC))

static int check_durations(void)
{
	static const struct {
		const char	*str;
		u64		ns;	/* 0: is refused */
	} durations[] = {
		{ "1s", NSEC_PER_SEC }, { "1", NSEC_PER_SEC }, { "1.5s", SEC(1.5) },
		{ "500ms", SEC(0.5) }, { "0.25ms", 250000 }, { "100us", 100000 }, { "7ns", 7 },
		{ "", 0 }, { "s", 0 }, { "1m", 0 }, { "1 s", 0 }, { "-1s", 0 }, { "+1s", 0 },
		{ "1e3s", 0 }, { "0x10s", 0 }, { "1.2.3s", 0 }, { "nan", 0 }, { "inf", 0 },
		{ "99999999999999999999", 0 }, { ".", 0 }, { "1sx", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(durations); i++) {
		u64 ns = 0;
		int ret = parse_duration(durations[i].str, &ns);

		pr_debug("%s\n", durations[i].str);
		TEST_ASSERT_VAL("taken or refused", !ret == !!durations[i].ns);
		TEST_ASSERT_VAL("ns", ns == durations[i].ns);
	}
	return TEST_OK;
}

static int check_relative(void)
{
	const struct recorded rec = { .first = SEC(100), .last = SEC(110) }, none = { };
	static const struct {
		const char	*str;
		int		nr;
		struct perf_time_interval times[2];
	} parts[] = {
		{ "+2,", 1, { { SEC(102), 0 } } },
		{ "+2,+3.5", 1, { { SEC(102), SEC(103.5) } } },
		{ ",+3", 1, { { 0, SEC(103) } } },
		{ "-3s,", 1, { { SEC(107), 0 } } },
		{ "-3,-500ms", 1, { { SEC(107), SEC(109.5) } } },
		{ "+1,-1", 1, { { SEC(101), SEC(109) } } },
		{ "101.25,+3", 1, { { SEC(101.25), SEC(103) } } },
		{ " +1,+2  -2s, ", 2, { { SEC(101), SEC(102) }, { SEC(108), 0 } } },
		/* What is outside of the recording is for others to say. */
		{ "+20,", 1, { { SEC(120), 0 } } },
		{ "-20s,", 1, { { SEC(90), 0 } } },
		{ "-2000s,", 1, { { 1, 0 } } },
		/* The period before the first sample belongs to the start. */
		{ "+0,", 1, { { 0, 0 } } },
		{ ",-0", 1, { { 0, 0 } } },
	};
	static const char *const refused[] = {
		",+0", "-0,", "+2", "+,", "+2,x", "+-2,", "+1,+2,+3", "+1,+2 +3", "",
		"+0000000000000000000000000000000000000000000000000000000000000001,",
	};
	struct perf_time_interval *times = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		int nr = times__parse_relative(parts[i].str, &rec, &times);

		pr_debug("'%s'\n", parts[i].str);
		TEST_ASSERT_EQUAL("number", nr, parts[i].nr);
		for (int part = 0; part < nr; part++) {
			TEST_ASSERT_VAL("start", times[part].start == parts[i].times[part].start);
			TEST_ASSERT_VAL("end", times[part].end == parts[i].times[part].end);
		}
		zfree(&times);
	}
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		TEST_ASSERT_EQUAL(refused[i], times__parse_relative(refused[i], &rec, &times),
				  -EINVAL);
		zfree(&times);
	}
	TEST_ASSERT_EQUAL("when it was is not known", times__parse_relative("+1,", &none, &times),
			  -ENODATA);
	return TEST_OK;
}

static int check_early_ends(void)
{
	const struct recorded rec = { .first = SEC(100), .last = SEC(110) }, none = { };
	static const char *const early[] = {
		"5,3", "5,5", "101.5,101.25", "+5,+3", "+5,+5", "-1,-2", "105,+3", "1,2 4,3",
	};
	static const char *const others[] = {
		"3,5", "5,", ",5", "+3,+5", "-2,-1", "-2000s,-1000s", "10%-20%", "x,y", "5", "",
	};

	for (size_t i = 0; i < ARRAY_SIZE(early); i++)
		TEST_ASSERT_VAL(early[i], times__end_too_early(early[i], &rec));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		TEST_ASSERT_VAL(others[i], !times__end_too_early(others[i], &rec));
	TEST_ASSERT_VAL("when it was is not known", !times__end_too_early("-2,-1", &none) &&
			times__end_too_early("5,3", &none));
	return TEST_OK;
}

/* What is said of times that are outside of the measurement */
static int check_outside(void)
{
	const struct perf_time_interval time = { .start = SEC(3), .end = SEC(4) };
	const struct axis_span span = { .start = SEC(37.5), .end = SEC(47.5) };
	struct messages messages;
	char text[512] = "";
	int ret;

	messages__keep(&messages);
	ret = times__check("", &time, 1, &span, span.start);
	messages__peek(&messages, text, sizeof(text));
	messages__release(&messages, NULL);
	TEST_ASSERT_EQUAL("none of it", ret, -ENOENT);
	TEST_ASSERT_VAL("when it is", strstr(text, "from 37.500000 to 47.500000"));
	TEST_ASSERT_VAL("how to say it", strstr(text, "+3,+4"));
	return TEST_OK;
}

/* The time that is shown: what there is of what was asked for */
static int check_chosen(void)
{
	const struct axis_span span = { .start = SEC(10), .end = SEC(20) };
	static const struct {
		struct perf_time_interval times[2];
		int	nr;
		struct chosen_time chosen;
	} cases[] = {
		{ { }, 0, { SEC(10), SEC(10) } },
		{ { { 0, SEC(12) } }, 1, { SEC(10), SEC(2) } },
		{ { { SEC(12), 0 } }, 1, { SEC(12), SEC(8) } },
		{ { { SEC(5), SEC(25) } }, 1, { SEC(10), SEC(10) } },
		{ { { SEC(1), SEC(2) }, { SEC(19), SEC(30) } }, 2, { SEC(19), SEC(1) } },
		{ { { SEC(11), SEC(12) }, { SEC(14), SEC(17) } }, 2, { SEC(11), SEC(4) } },
		{ { { SEC(30), 0 } }, 1, { SEC(10), 0 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct chosen_time chosen = times__chosen(cases[i].times, cases[i].nr, &span);

		pr_debug("case %zu\n", i);
		TEST_ASSERT_VAL("start", chosen.start == cases[i].chosen.start);
		TEST_ASSERT_VAL("duration", chosen.duration == cases[i].chosen.duration);
	}
	return TEST_OK;
}

/* What perf's own --time reads as the same times */
static int check_text(void)
{
	static const struct perf_time_interval times[] = {
		{ 0, SEC(101.5) }, { SEC(102), SEC(103) + 7 }, { SEC(104), 0 },
		{ ULLONG_MAX, ULLONG_MAX },
	};
	struct strbuf text = STRBUF_INIT;
	bool right;

	TEST_ASSERT_EQUAL("three parts", times__to_text(times, 3, &text), 0);
	right = !strcmp(text.buf, ",101.499999999 102.000000000,103.000000006 104.000000000,");
	strbuf_setlen(&text, 0);
	TEST_ASSERT_EQUAL("the longest one", times__to_text(&times[3], 1, &text), 0);
	right = right && !strcmp(text.buf, "18446744073.709551615,18446744073.709551614") &&
		text.len < TIMES_TEXT_LEN;
	strbuf_release(&text);
	TEST_ASSERT_VAL("as text", right);
	return TEST_OK;
}

static int test__times(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const char *const own[] = {
		"+1,", "1,+2", ",-2s", "1,2 +3,", "-1,", "10%/1 10%/2", "10%-20%,\t50%-60%",
	};
	static const char *const others[] = {
		"1,2", "10%-20%", "10%/2", "10%/1,10%/2", "1.5,", "", "1-2,", "1+2,", "1,2 3,4",
	};

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		TEST_ASSERT_VAL(own[i], times__are_own(own[i]));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		TEST_ASSERT_VAL(others[i], !times__are_own(others[i]));
	TEST_ASSERT_EQUAL("durations", check_durations(), TEST_OK);
	TEST_ASSERT_EQUAL("early ends", check_early_ends(), TEST_OK);
	TEST_ASSERT_EQUAL("outside", check_outside(), TEST_OK);
	TEST_ASSERT_EQUAL("as text", check_text(), TEST_OK);
	TEST_ASSERT_EQUAL("what is shown", check_chosen(), TEST_OK);
	return check_relative();
}

/* A wait of a vCPU, of which vCPU number @by had the CPU */
static struct vcpu_interval wait_by(u64 start, u64 end, u32 by)
{
	return (struct vcpu_interval) {
		.start = start,
		.end = end,
		.kind = VCPU_TIME_PREEMPTED,
		.vcpu = by,
		.task = TIME_AXIS_NONE,
		.shared = TIME_AXIS_NONE,
	};
}

static u64 class_of(const struct over_time *over, u32 vm, size_t nr, enum profile_class class)
{
	const struct time_part *part = over_time__part(over, vm, nr);

	return part ? part->profile.classes[class] : 0;
}

static int check_intervals(struct over_time *over)
{
	const struct taker taker = { .kind = TAKER_VCPU, .who = 7, .self = 3 };
	struct time_piece piece = {
		.vm = 2,
		.taker = &taker,
		.class = PROFILE_STEAL,
		.start = 990,
		.end = 1250,
	};

	/* The first ns are before the start, and the last are of the third interval. */
	TEST_ASSERT_EQUAL("steal", over_time__add(over, &piece), 0);
	piece = (struct time_piece) {
		.vm = 2, .class = PROFILE_USER, .start = 1250, .end = 1300,
	};
	TEST_ASSERT_EQUAL("user", over_time__add(over, &piece), 0);
	piece.class = PROFILE_IDLE;
	piece.start = 1450;
	piece.end = 1451;
	TEST_ASSERT_EQUAL("idle", over_time__add(over, &piece), 0);

	TEST_ASSERT_EQUAL("intervals", (int)over->end, 5);
	TEST_ASSERT_EQUAL("of all VMs", (int)over->nr_parts, 5);
	TEST_ASSERT_EQUAL("first", (int)class_of(over, 2, 0, PROFILE_STEAL), 110);
	TEST_ASSERT_EQUAL("second", (int)class_of(over, 2, 1, PROFILE_STEAL), 100);
	TEST_ASSERT_EQUAL("third", (int)class_of(over, 2, 2, PROFILE_STEAL), 50);
	TEST_ASSERT_EQUAL("third, another class", (int)class_of(over, 2, 2, PROFILE_USER), 50);
	TEST_ASSERT_VAL("one without time", !over_time__part(over, 2, 3));
	TEST_ASSERT_EQUAL("fifth", (int)class_of(over, 2, 4, PROFILE_IDLE), 1);
	TEST_ASSERT_VAL("beyond", !over_time__part(over, 2, 5));
	TEST_ASSERT_VAL("another VM", !over_time__part(over, 1, 0));
	TEST_ASSERT_VAL("no such VM", !over_time__part(over, 3, 0));
	TEST_ASSERT_VAL("there is idle time", over_time__has(over, PROFILE_IDLE));
	TEST_ASSERT_VAL("and none that is lost", !over_time__has(over, PROFILE_LOST));

	TEST_ASSERT_EQUAL("takers", (int)over_time__part(over, 2, 1)->takers.nr, 1);
	TEST_ASSERT_EQUAL("whose", (int)over_time__part(over, 2, 1)->takers.entries[0].who, 7);
	TEST_ASSERT_EQUAL("of whom", (int)over_time__part(over, 2, 1)->takers.entries[0].self, 3);
	TEST_ASSERT_EQUAL("none of what is not stolen",
			  (int)over_time__part(over, 2, 4)->takers.nr, 0);
	return TEST_OK;
}

/* Memory is bounded, whatever the times are. */
static int check_too_many(struct over_time *over)
{
	const u64 most = OVER_TIME_MAX - over->nr_parts;
	struct time_piece piece = {
		.class = PROFILE_IDLE,
		.start = over->zero,
		.end = over->zero + most * over->interval,
	};

	TEST_ASSERT_EQUAL("as many as there may be", over_time__add(over, &piece), 0);
	TEST_ASSERT_EQUAL("all of them", (int)over->nr_parts, (int)OVER_TIME_MAX);
	piece.end++;
	TEST_ASSERT_EQUAL("one more", over_time__add(over, &piece), -E2BIG);
	piece.vm = 1;
	piece.start = LLONG_MAX - 1;
	piece.end = LLONG_MAX;
	TEST_ASSERT_EQUAL("the last time that there is", over_time__add(over, &piece), -E2BIG);
	return TEST_OK;
}

/* Far from the start, and not the first one first: no more than there is needs memory. */
static int check_late(struct over_time *over)
{
	const u64 late = over->zero + 1000000000000ULL * over->interval;
	static const u64 order[] = { 5, 7, 2, 9 };

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		struct time_piece piece = {
			.vm = i == 1,
			.class = PROFILE_IDLE,
			.start = late + order[i] * over->interval,
		};

		piece.end = piece.start + order[i];
		TEST_ASSERT_EQUAL("add", over_time__add(over, &piece), 0);
	}
	TEST_ASSERT_EQUAL("from 2 to 9, and another VM's", (int)over->nr_parts, 8 + 1);
	TEST_ASSERT_VAL("the first", over->first == 1000000000002ULL);
	TEST_ASSERT_VAL("the last", over->end == 1000000000010ULL);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		TEST_ASSERT_EQUAL("what is in it", (int)order[i],
				  (int)class_of(over, i == 1, 1000000000000ULL + order[i],
						PROFILE_IDLE));
	TEST_ASSERT_VAL("before", !over_time__part(over, 0, 1000000000001ULL));
	TEST_ASSERT_VAL("before another VM's", !over_time__part(over, 1, 1000000000002ULL));
	return TEST_OK;
}

/* A scale that does not end below the peak that is said */
static int check_scale(void)
{
	struct measured_vm vm = { .name = "alpha" };
	struct measurement m = { .vms = &vm, .nr_vms = 1 };
	struct overview_vm line = { };
	struct overview overview = { .vms = &line, .nr = 1 };
	const struct print_opts opts = { .overview = &overview };
	const struct section_opts section_opts = { .interval = 100000 };
	struct sections sections = {
		.opts = &section_opts, .moments.over_time.interval = 100000,
	};
	struct time_piece piece = { .class = PROFILE_USER, .start = 91987, .end = 100000 };
	struct taker taker = { };
	char text[4096] = "";
	FILE *fp = fmemopen(text, sizeof(text), "w");
	int ret = over_time__add(&sections.moments.over_time, &piece);

	TEST_ASSERT_VAL("memory", fp);
	piece = (struct time_piece) { .class = PROFILE_STEAL, .taker = &taker, .end = 91987 };
	ret = ret ?: over_time__add(&sections.moments.over_time, &piece);
	print_over_time(&m, &sections, &opts, fp);
	fclose(fp);
	over_time__exit(&sections.moments.over_time);
	TEST_ASSERT_EQUAL("add", ret, 0);
	TEST_ASSERT_VAL("scale", strstr(text, "from 0 to 91.99 %"));
	TEST_ASSERT_VAL("peak", strstr(text, "   91.99  "));
	return TEST_OK;
}

static int test__over_time(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct over_time over = { .interval = 100, .zero = 1000 };
	int ret = check_intervals(&over);

	if (ret == TEST_OK)
		ret = check_too_many(&over);
	over_time__exit(&over);
	if (ret == TEST_OK)
		ret = check_late(&over);
	over_time__exit(&over);
	return ret ?: check_scale();
}

static int check_resolution(void)
{
	struct stall_hist hist = { };
	int ret = TEST_OK;

	for (u64 ns = 1; ret == TEST_OK && ns; ns = ns > ~0ULL / 3 * 2 ? 0 : ns + ns / 2 + 1) {
		u64 error;

		/* A longer one, so that it is not the maximum that is given back */
		if (stall_hist__add(&hist, ns) || stall_hist__add(&hist, ~0ULL))
			return TEST_FAIL;
		error = stall_hist__quantile(&hist, 0.5);
		error = error > ns ? error - ns : ns - error;
		if (error > ns / 32)
			ret = TEST_FAIL;
		if (stall_hist__quantile(&hist, 1) != ~0ULL)
			ret = TEST_FAIL;
		stall_hist__exit(&hist);
	}
	return ret;
}

/* ns of a quantile, in ms */
static int quantile_ms(const struct stall_hist *hist, double quantile)
{
	return stall_hist__quantile(hist, quantile) / NSEC_PER_MSEC;
}

static int check_quantiles(struct stall_hist *hist, struct stall_hist *sum)
{
	TEST_ASSERT_VAL("of none", !stall_hist__quantile(hist, 0.5));
	for (u64 ns = 1; ns <= 100; ns++)
		TEST_ASSERT_EQUAL("add", stall_hist__add(hist, ns * NSEC_PER_MSEC), 0);
	TEST_ASSERT_EQUAL("number", (int)hist->nr, 100);
	TEST_ASSERT_VAL("sum", hist->ns == 5050ULL * NSEC_PER_MSEC);
	TEST_ASSERT_VAL("longest", hist->max == 100 * NSEC_PER_MSEC);
	TEST_ASSERT_VAL("p50", abs(quantile_ms(hist, 0.5) - 50) <= 2);
	TEST_ASSERT_VAL("p99", abs(quantile_ms(hist, 0.99) - 99) <= 3);

	TEST_ASSERT_EQUAL("one more", stall_hist__add(sum, SEC(1)), 0);
	TEST_ASSERT_EQUAL("add all", stall_hist__merge(sum, hist), 0);
	TEST_ASSERT_EQUAL("number of all", (int)sum->nr, 101);
	TEST_ASSERT_VAL("sum of all", sum->ns == hist->ns + SEC(1));
	TEST_ASSERT_VAL("longest of all", sum->max == SEC(1));
	return TEST_OK;
}

/* 0 or -ENOMEM */
static int add_stalls(struct stalls *stalls)
{
	const struct {
		struct vcpu_interval interval;
		u64	ns;
	} steps[] = {
		/* One wait: by two vCPUs, and by one of them in two pieces */
		{ wait_by(100, 110, 1), 10 },
		{ wait_by(110, 130, 1), 20 },
		{ wait_by(130, 140, 2), 10 },
		{ { .start = 140, .end = 150, .kind = VCPU_TIME_GUEST_USER }, 10 },
		{ wait_by(150, 155, 2), 5 },
		{ { .start = 155, .end = 200, .kind = VCPU_TIME_HALTED }, 45 },
		{ wait_by(200, 260, 3), 60 },	/* woken up, see below */
		/* Ran for less than a ns, and lost the CPU again */
		{ wait_by(260, 261, 3), 1 },
		{ { .start = 261, .end = 300, .kind = VCPU_TIME_EXIT }, 39 },
		/* A part of the first is asked for, and none of the next. */
		{ wait_by(300, 350, 4), 0 },
		{ wait_by(350, 400, 5), 15 },
		{ { .start = 400, .end = 500, .kind = VCPU_TIME_HALTED }, 0 },
		{ wait_by(500, 600, 6), 0 },
		{ { .start = 600, .end = 610, .kind = VCPU_TIME_VMM }, 10 },
		/* Stopped in the middle of a wait, and twice in a row for the axis */
		{ wait_by(610, 700, 7), 90 },
		{ { .start = 700, .end = 750, .kind = VCPU_TIME_STOPPED }, 50 },
		{ { .start = 750, .end = 770, .kind = VCPU_TIME_STOPPED }, 20 },
		/* The end comes first. */
		{ wait_by(770, 780, 7), 10 },
	};
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(steps); i++) {
		struct vcpu_interval interval = steps[i].interval;
		const struct taker taker = { .kind = TAKER_VCPU, .who = interval.vcpu };
		enum stall_kind kind = STALL_NR;

		if (interval.kind == VCPU_TIME_PREEMPTED)
			kind = interval.start == 200 ? STALL_WAKE_UP : STALL_STOLEN;
		else if (interval.kind == VCPU_TIME_STOPPED)
			kind = STALL_STOPPED;
		ret = stalls__add(stalls, 2, &interval, kind, &taker, steps[i].ns);
	}
	return ret ?: stalls__finish(stalls);
}

static int check_stalls(const struct stalls *stalls)
{
	const struct vcpu_stalls *vcpu = &stalls->vcpus[2];
	const struct stall *longest = &vcpu->longest[STALL_STOLEN];

	TEST_ASSERT_EQUAL("vCPUs", (int)stalls->nr_vcpus, 3);
	TEST_ASSERT_EQUAL("none of another", (int)stalls->vcpus[0].hists[STALL_STOLEN].nr, 0);
	TEST_ASSERT_EQUAL("stolen", (int)vcpu->hists[STALL_STOLEN].nr, 6);
	TEST_ASSERT_EQUAL("all of it", (int)vcpu->hists[STALL_STOLEN].ns,
			  40 + 5 + 1 + 15 + 90 + 10);
	TEST_ASSERT_EQUAL("the longest", (int)longest->ns, 90);
	TEST_ASSERT_EQUAL("when", (int)longest->start, 610);
	TEST_ASSERT_EQUAL("its takers", (int)longest->takers.nr, 1);
	TEST_ASSERT_EQUAL("who", (int)longest->takers.entries[0].who, 7);

	longest = &vcpu->longest[STALL_WAKE_UP];
	TEST_ASSERT_EQUAL("woken up", (int)vcpu->hists[STALL_WAKE_UP].nr, 1);
	TEST_ASSERT_EQUAL("for so long", (int)longest->ns, 60);
	TEST_ASSERT_EQUAL("by", (int)longest->takers.entries[0].who, 3);

	longest = &vcpu->longest[STALL_STOPPED];
	TEST_ASSERT_EQUAL("stopped", (int)vcpu->hists[STALL_STOPPED].nr, 1);
	TEST_ASSERT_EQUAL("so long", (int)longest->ns, 70);
	TEST_ASSERT_EQUAL("since", (int)longest->start, 700);
	TEST_ASSERT_EQUAL("by no thief", (int)longest->takers.nr, 0);
	return TEST_OK;
}

/* The longest keeps who had most of it, also if a shorter one comes next. */
static int check_longest(struct stalls *stalls)
{
	const struct vcpu_interval waits[] = {
		wait_by(0, 100, 1), wait_by(100, 150, 2), wait_by(200, 240, 3),
	};
	const struct stall *longest;

	for (size_t i = 0; i < ARRAY_SIZE(waits); i++) {
		const struct taker taker = { .kind = TAKER_VCPU, .who = waits[i].vcpu };
		u64 ns = waits[i].end - waits[i].start;
		int ret = stalls__add(stalls, 0, &waits[i], STALL_STOLEN, &taker, ns);

		TEST_ASSERT_EQUAL("add", ret, 0);
	}
	TEST_ASSERT_EQUAL("finish", stalls__finish(stalls), 0);
	longest = &stalls->vcpus[0].longest[STALL_STOLEN];
	TEST_ASSERT_EQUAL("the longest", (int)longest->ns, 150);
	TEST_ASSERT_EQUAL("its takers", (int)longest->takers.nr, 2);
	TEST_ASSERT_EQUAL("one of them", (int)longest->takers.entries[0].ns, 100);
	return TEST_OK;
}

static int test__stalls(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct stall_hist hist = { }, sum = { };
	struct stalls stalls = { };
	int ret = check_resolution();

	if (ret == TEST_OK)
		ret = check_quantiles(&hist, &sum);
	stall_hist__exit(&hist);
	stall_hist__exit(&sum);
	if (ret == TEST_OK)
		ret = add_stalls(&stalls) ? TEST_FAIL : check_stalls(&stalls);
	stalls__exit(&stalls);
	if (ret == TEST_OK)
		ret = check_longest(&stalls);
	stalls__exit(&stalls);
	return ret;
}

static u64 sum_of(const struct takers *takers)
{
	u64 sum = 0;

	for (u32 i = 0; i < takers->nr; i++)
		sum += takers->entries[i].ns;
	return sum;
}

/* Tasks number 0 and up of the same name; more of them than there is room for */
static struct taker task_of_name(u32 task, u32 self)
{
	return (struct taker) {
		.kind = TAKER_TASK, .who = task, .name = 0, .by_name = true, .self = self,
	};
}

static int check_joined_takers(struct takers *takers)
{
	struct taker taker;

	/* As many as there is room for: twice as many vCPUs have waited as have had CPUs. */
	for (u32 i = 0; i < TAKERS_MAX; i++) {
		taker = (struct taker) {
			.kind = TAKER_VCPU, .who = i / 2, .name = i / 2, .self = i,
			.own = i == 1,
		};
		TEST_ASSERT_EQUAL("add", takers__add(takers, &taker, i + 10), 0);
	}
	TEST_ASSERT_EQUAL("all are kept", (int)takers->nr, TAKERS_MAX);
	taker = task_of_name(5, 0);
	TEST_ASSERT_EQUAL("add", takers__add(takers, &taker, 1), 0);
	TEST_ASSERT_EQUAL("there is room", (int)takers->nr, TAKERS_MAX / 2 + 2);
	TEST_ASSERT_VAL("all is there", sum_of(takers) == takers->ns);
	TEST_ASSERT_EQUAL("not the one that had it itself", (int)takers->entries[0].ns, 10);
	TEST_ASSERT_EQUAL("of two", (int)takers->entries[2].ns, 12 + 13);

	/* It stays one, whoever waits. */
	taker = (struct taker) { .kind = TAKER_VCPU, .who = 1, .name = 1, .self = 99 };
	TEST_ASSERT_EQUAL("add", takers__add(takers, &taker, 5), 0);
	TEST_ASSERT_EQUAL("none more", (int)takers->nr, TAKERS_MAX / 2 + 2);
	TEST_ASSERT_EQUAL("of three", (int)takers->entries[2].ns, 12 + 13 + 5);
	return TEST_OK;
}

/* One name of many short-lived tasks, among others that have as much together, and little each */
static int check_many_tasks(struct takers *takers)
{
	for (u32 i = 0; i < 900; i++) {
		struct taker task = task_of_name(i, 0), other = {
			.kind = TAKER_VCPU, .who = i % 100, .name = i % 100,
		};

		TEST_ASSERT_EQUAL("add", takers__add(takers, &task, 10), 0);
		TEST_ASSERT_EQUAL("add", takers__add(takers, &other, 10), 0);
	}
	TEST_ASSERT_EQUAL("so many are kept", (int)takers->nr, TAKERS_MAX);
	TEST_ASSERT_VAL("nothing gets lost", sum_of(takers) == takers->ns);
	for (u32 i = 0; i < takers->nr; i++) {
		const struct taker *taker = &takers->entries[i];

		if (!taker->by_name)
			continue;
		TEST_ASSERT_EQUAL("those of a name are one", (int)taker->ns, 9000);
		TEST_ASSERT_VAL("all of it theirs", taker->several && !taker->foreign);
		return TEST_OK;
	}
	return TEST_FAIL;
}

/* A task of the host; measurement__exit() frees it. 0 or -ENOMEM */
static int add_task(struct measurement *m, pid_t pid, const char *comm)
{
	struct measured_task *task = zalloc(sizeof(*task));

	if (!task)
		return -ENOMEM;
	task->pid = pid;
	task->tid = pid;
	task->vcpu = TIME_AXIS_NONE;
	m->tasks[m->nr_tasks++] = task;
	return measured_task__rename(task, m, comm);
}

static bool shared_wait_is_by_name(const struct measurement *m)
{
	struct vcpu_interval wait = wait_by(0, 0, TIME_AXIS_NONE);

	wait.task = 0;
	wait.shared = 1;
	return taker__of(m, 0, &wait).by_name;
}

/* Who had the CPU while vCPU number 0 waited for @ns, of which @i-th is task number @i's */
static int add_waits(struct measurement *m, struct takers *takers, const u64 *ns, u32 nr)
{
	int ret = 0;

	for (u32 task = 0; !ret && task < nr; task++) {
		struct vcpu_interval wait = wait_by(0, 0, TIME_AXIS_NONE);
		struct taker taker;

		wait.task = task;
		taker = taker__of(m, 0, &wait);
		ret = takers__add(takers, &taker, ns[task]);
	}
	return ret;
}

static int check_top(struct measurement *m, struct takers *takers)
{
	static const u64 ns[] = { 30, 50, 31 };
	struct thief_sum top;

	TEST_ASSERT_EQUAL("of none", takers__top(takers, m, /*exact=*/false, &top), 0);
	TEST_ASSERT_VAL("nobody", !top.owner && !top.ns);
	TEST_ASSERT_EQUAL("add", add_waits(m, takers, ns, ARRAY_SIZE(ns)), 0);
	TEST_ASSERT_EQUAL("top", takers__top(takers, m, /*exact=*/false, &top), 0);
	TEST_ASSERT_VAL("those of a name together", !strcmp(top.owner, "task cc1"));
	TEST_ASSERT_EQUAL("have so much", (int)top.ns, 61);
	zfree(&top.owner);
	TEST_ASSERT_EQUAL("top", takers__top(takers, m, /*exact=*/true, &top), 0);
	TEST_ASSERT_VAL("a task", !strcmp(top.owner, "on task rsync, pid 11"));
	TEST_ASSERT_EQUAL("has so much", (int)top.ns, 50);
	zfree(&top.owner);
	return TEST_OK;
}

/* Each with a name of its own, from number 3 on, and more of them than are kept */
static int check_others(struct measurement *m, struct takers *takers)
{
	u64 ns[3 + 2 * TAKERS_MAX] = { };
	struct thief_sum top;

	for (u32 task = 3; task < ARRAY_SIZE(ns); task++)
		ns[task] = 10;
	TEST_ASSERT_EQUAL("add", add_waits(m, takers, ns, ARRAY_SIZE(ns)), 0);
	TEST_ASSERT_EQUAL("top", takers__top(takers, m, /*exact=*/false, &top), 0);
	TEST_ASSERT_VAL("it is not known who", !strcmp(top.owner, "many others"));
	zfree(&top.owner);
	ns[0] = 500;
	TEST_ASSERT_EQUAL("add", add_waits(m, takers, ns, 1), 0);
	TEST_ASSERT_EQUAL("top", takers__top(takers, m, /*exact=*/true, &top), 0);
	TEST_ASSERT_VAL("it is", !strcmp(top.owner, "on task cc1, pid 10"));
	TEST_ASSERT_EQUAL("for sure", (int)top.ns, 500);
	zfree(&top.owner);

	/* Which of that name is not known any more. */
	TEST_ASSERT_VAL("told apart", !takers__are_joined(takers));
	ns[2] = 500;
	TEST_ASSERT_EQUAL("add", add_waits(m, takers, ns, 3), 0);
	TEST_ASSERT_VAL("not told apart", takers__are_joined(takers));
	TEST_ASSERT_EQUAL("top", takers__top(takers, m, /*exact=*/true, &top), 0);
	TEST_ASSERT_VAL("several", !strcmp(top.owner, "on task cc1"));
	TEST_ASSERT_EQUAL("together", (int)top.ns, 1500);
	zfree(&top.owner);

	/* Nor are those that a wait is shared among called by the first of them. */
	TEST_ASSERT_VAL("shared", !shared_wait_is_by_name(m));

	/* What one of them calls itself later does not name the others' time. */
	TEST_ASSERT_EQUAL("rename", measured_task__rename(m->tasks[0], m, "ld"), 0);
	TEST_ASSERT_EQUAL("top", takers__top(takers, m, /*exact=*/true, &top), 0);
	TEST_ASSERT_VAL("as they were called then", !strcmp(top.owner, "on task cc1"));
	zfree(&top.owner);
	return TEST_OK;
}

/* Two are called the same, and all others by their numbers. 0 or -ENOMEM */
static int add_tasks(struct measurement *m, u32 nr)
{
	char comm[16];
	int ret = 0;

	m->tasks = calloc(nr, sizeof(*m->tasks));
	if (!m->tasks)
		return -ENOMEM;
	for (u32 i = 0; !ret && i < nr; i++) {
		scnprintf(comm, sizeof(comm), "%u", i);
		ret = add_task(m, 10 + i, i == 1 ? "rsync" : i < 3 ? "cc1" : comm);
	}
	return ret ?: time_axis__findnew_vcpu(&m->axis, 0, 0);
}

static int check_named_takers(struct measurement *m)
{
	struct takers takers = { };
	int ret;

	if (measurement__init(m) || add_tasks(m, 3 + 2 * TAKERS_MAX))
		return TEST_FAIL;
	ret = check_top(m, &takers);
	takers__clear(&takers);
	if (ret == TEST_OK)
		ret = check_others(m, &takers);
	takers__exit(&takers);
	return ret;
}

static int test__takers(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct takers takers = { };
	struct measurement m = { };
	int ret = check_joined_takers(&takers);

	takers__clear(&takers);
	if (ret == TEST_OK)
		ret = check_many_tasks(&takers);
	takers__exit(&takers);
	if (ret == TEST_OK)
		ret = check_named_takers(&m);
	measurement__exit(&m);
	return ret;
}

static struct test_case kvm_unified_moments_tests[] = {
	TEST_CASE("kvm unified: times that are asked for", times),
	TEST_CASE("kvm unified: time in intervals", over_time),
	TEST_CASE("kvm unified: how long vCPUs wait", stalls),
	TEST_CASE("kvm unified: who had the CPU meanwhile", takers),
	{ .name = NULL, }
};

struct test_suite suite__kvm_unified_moments = {
	.desc = "kvm unified: moments",
	.test_cases = kvm_unified_moments_tests,
};
