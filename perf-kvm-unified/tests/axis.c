// SPDX-License-Identifier: GPL-2.0
/*
 * The time axis with literal input, and with random input, of which it is known
 * that all time is there once.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "kvm-unified/axis/axis.h"
#include "kvm-unified/axis/causes.h"
#include "kvm-unified/axis/gaps.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/sort.h"

/* From arch/x86/include/uapi/asm/svm.h */
#define SVM_INTR	0x60
#define SVM_HLT		0x78
#define SVM_NPF		0x400

#define NONE		TIME_AXIS_NONE
#define IDLE_TASK	0
#define TASK		7

/* vCPUs are numbered as they come. */
#define VCPU_A		0
#define VCPU_B		1
#define VCPU_C		2
#define VCPU_D		3
#define VCPU_E		4

/* @hit, @vcpu, @task: what they have to be; TIME_AXIS_NONE where there is none */
struct expected {
	u64	end;
	enum vcpu_time_kind kind;
	u32	cpu;
	u32	hit;
	u32	vcpu;
	u32	task;
};

#define RAN(end, kind, hit, cpu)	{ end, VCPU_TIME_##kind, cpu, hit, NONE, NONE }
#define WAS(end, kind, cpu)		{ end, VCPU_TIME_##kind, cpu, NONE, NONE, NONE }
#define BY_VCPU(end, vcpu, cpu)		{ end, VCPU_TIME_PREEMPTED, cpu, NONE, vcpu, NONE }
#define BY_TASK(end, task, cpu)		{ end, VCPU_TIME_PREEMPTED, cpu, NONE, NONE, task }

/* What the vCPUs did, and what the CPUs did in sum, of the last axis */
#define MAX_VCPUS	8
#define MAX_CPUS	5

struct sum {
	u64	pos;
	u64	guest;
	u64	uncounted;
	bool	broken;
	bool	told;
};

static struct vcpu_intervals did[MAX_VCPUS];
static struct sum sums[MAX_CPUS];

static int collect_vcpu(u32 vcpu, const struct vcpu_interval *interval, void *arg __maybe_unused)
{
	return vcpu_intervals__add(&did[vcpu], interval);
}

static int collect_cpu(const struct cpu_interval *interval, void *arg)
{
	const struct time_axis *ta = arg;
	struct sum *sum = &sums[interval->cpu];

	if (!sum->told)
		sum->pos = ta->span.start;
	sum->told = true;
	sum->broken |= interval->start != sum->pos || interval->end <= interval->start ||
		       (interval->kind == CPU_TIME_SAMPLE) != !!interval->sample;
	sum->pos = interval->end;
	if (interval->kind == CPU_TIME_GUEST)
		sum->guest += interval->end - interval->start;
	if (interval->kind == CPU_TIME_UNCOUNTED)
		sum->uncounted += interval->end - interval->start;
	return 0;
}

static void forget(void)
{
	for (u32 i = 0; i < MAX_VCPUS; i++)
		vcpu_intervals__exit(&did[i]);
	memset(sums, 0, sizeof(sums));
}

static int build(struct time_axis *ta)
{
	forget();
	ta->sink = (struct axis_sink) { .vcpu = collect_vcpu, .cpu = collect_cpu, .arg = ta };
	return time_axis__finish(ta);
}

/* For the calls of time_axis__share(): the task, if there is only one */
static int only_task(u32 task, u64 time __maybe_unused, void *arg)
{
	u32 *only = arg;

	*only = *only == NONE ? task : ~1U;
	return 0;
}

static u32 interval__task(struct time_axis *ta, const struct vcpu_interval *interval)
{
	u32 task = NONE;

	if (interval->shared == NONE)
		return interval->task;
	if (time_axis__share(ta, interval->shared, interval->end - interval->start, only_task,
			     &task))
		return ~1U;
	return task;
}

static bool interval__is(struct time_axis *ta, const struct vcpu_interval *interval,
			 const struct expected *e)
{
	return interval->end == e->end && interval->kind == e->kind &&
	       interval->cpu == e->cpu && interval->hit == e->hit &&
	       interval->vcpu == e->vcpu && interval__task(ta, interval) == e->task;
}

/* Is what the vCPU did just @expected, from the start to the end? */
static bool vcpu_did(struct time_axis *ta, u32 vcpu, const struct expected *expected,
		     size_t nr)
{
	const struct vcpu_intervals *list = &did[vcpu];
	u64 pos = ta->span.start;
	bool same = list->nr == nr;

	for (size_t i = 0; i < list->nr; i++) {
		const struct vcpu_interval *interval = &list->entries[i];

		pr_debug("vcpu%u %" PRIu64 "-%" PRIu64 " kind %d cpu %u hit %u vcpu %u task %u\n",
			 vcpu, interval->start, interval->end, interval->kind, interval->cpu,
			 interval->hit, interval->vcpu, interval->task);
		same = same && interval->start == pos && interval__is(ta, interval, &expected[i]);
		pos = interval->end;
	}
	return same && pos == ta->span.end;
}

#define DID(ta, vcpu, expected) vcpu_did(ta, vcpu, expected, ARRAY_SIZE(expected))

static int axis__new(struct time_axis *ta, bool timeline, u64 end)
{
	if (time_axis__init(ta))
		return -ENOMEM;
	ta->span.timeline = timeline;
	ta->span.clock = true;
	ta->span.end = end;
	ta->span.period = 10;
	return 0;
}

/* A vCPU that was there all the time */
static int axis__vcpu(struct time_axis *ta, u32 vm, u32 id)
{
	int vcpu = time_axis__findnew_vcpu(ta, vm, id);

	if (vcpu >= 0) {
		ta->vcpus[vcpu].at_start = true;
		ta->vcpus[vcpu].at_end = true;
	}
	return vcpu;
}

static int event(struct time_axis *ta, u64 time, u32 vcpu, u32 cpu, enum vcpu_state state,
		 u32 next_task, u64 waited, u64 exit_reason)
{
	return time_axis__add_event(ta, &(struct axis_event) {
		.time = time, .vcpu = vcpu, .cpu = cpu, .state = state,
		.next_task = next_task, .waited = waited,
		.exit_reason = exit_reason, .isa = PERF_VCPU_ISA_SVM,
	});
}

static int sample(struct time_axis *ta, u64 time, u32 cpu, enum axis_sample_kind kind, u32 vcpu,
		  u32 task, u32 hit, u64 exit_reason)
{
	return time_axis__add_sample(ta, &(struct axis_sample) {
		.time = time, .cpu = cpu, .kind = kind, .vcpu = vcpu, .task = task, .hit = hit,
		.exit_reason = exit_reason, .isa = exit_reason ? PERF_VCPU_ISA_SVM : 0,
	});
}

static int gap(struct time_axis *ta, u32 cpu, u64 from, u64 until, bool samples_only)
{
	return time_axis__add_gap(ta, &(struct axis_gap) {
		.cpu = cpu, .from = from, .until = until, .samples_only = samples_only,
	});
}

static int test__states(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct time_axis ta;
	int v, err = 0;
	const struct expected did_v[] = {
		RAN(30, GUEST_USER, 1, 0),
		RAN(70, EXIT, 2, 0),
		RAN(100, GUEST_KERNEL, 3, 0),
		BY_TASK(300, TASK, 0),
		RAN(400, GUEST_KERNEL, 3, 0),
		WAS(450, HALT_POLL, 0),
		WAS(560, HALTED, 0),
		WAS(600, PREEMPTED, 1),
		RAN(700, GUEST_KERNEL, 3, 1),
		WAS(800, VMM, 1),
		RAN(900, GUEST_KERNEL, 3, 1),
		WAS(1000, BLOCKED, 1),
	};

	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 1000));
	v = axis__vcpu(&ta, 0, 0);
	/* In the guest until 100, exit handling around 50 */
	err |= sample(&ta, 10, 0, AXIS_SAMPLE_GUEST_USER, v, NONE, 1, SVM_INTR);
	err |= sample(&ta, 50, 0, AXIS_SAMPLE_EXIT, v, NONE, 2, SVM_NPF);
	err |= sample(&ta, 90, 0, AXIS_SAMPLE_GUEST_KERNEL, v, NONE, 3, SVM_INTR);
	/* Preempted until 300, by a task that is also sampled */
	err |= event(&ta, 100, v, 0, VCPU_STATE_PREEMPTED, TASK, 0, SVM_INTR);
	err |= sample(&ta, 200, 0, AXIS_SAMPLE_HOST, NONE, TASK, 9, 0);
	err |= event(&ta, 300, v, 0, VCPU_STATE_RUN, NONE, 200, SVM_INTR);
	/* Polls, halts, is woken up on another CPU and waits there for 40 */
	err |= event(&ta, 400, v, 0, VCPU_STATE_HALT_POLL, NONE, 0, SVM_HLT);
	err |= event(&ta, 450, v, 0, VCPU_STATE_HALTED, IDLE_TASK, 0, SVM_HLT);
	err |= event(&ta, 600, v, 1, VCPU_STATE_RUN, NONE, 40, SVM_HLT);
	err |= event(&ta, 700, v, 1, VCPU_STATE_USER, NONE, 0, SVM_NPF);
	err |= event(&ta, 800, v, 1, VCPU_STATE_RUN, NONE, 0, SVM_NPF);
	err |= event(&ta, 900, v, 1, VCPU_STATE_BLOCKED, IDLE_TASK, 0, SVM_NPF);
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	/* 100 ns on CPU 0, 100 and 100, 100 are one run for the samples: 90 is the last */
	TEST_ASSERT_VAL("states", DID(&ta, v, did_v));
	time_axis__exit(&ta);
	return TEST_OK;
}

/* What was before the first event: the last exit tells */
static int test__first(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const struct {
		u64 until;
		enum vcpu_state state;
		u64 exit_reason;
		enum vcpu_time_kind kind;
	} cases[] = {
		{ 40, VCPU_STATE_HALTED, SVM_HLT, VCPU_TIME_RUN },
		{ 40, VCPU_STATE_RUN, SVM_HLT, VCPU_TIME_HALTED },
		{ 20, VCPU_STATE_RUN, SVM_INTR, VCPU_TIME_PREEMPTED },
		{ 20, VCPU_STATE_RUN, SVM_NPF, VCPU_TIME_PREEMPTED },
		/* Or a limit has held it back. */
		{ 21, VCPU_STATE_RUN, SVM_INTR, VCPU_TIME_UNKNOWN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct time_axis ta;
		int v;

		TEST_ASSERT_VAL("init", !axis__new(&ta, true, 100));
		v = axis__vcpu(&ta, 0, 0);
		TEST_ASSERT_VAL("add", !event(&ta, cases[i].until, v, 0, cases[i].state, NONE, 0,
					      cases[i].exit_reason));
		TEST_ASSERT_VAL("build", !build(&ta));
		TEST_ASSERT_VAL("first", did[v].entries[0].end == cases[i].until &&
				did[v].entries[0].kind == cases[i].kind);
		time_axis__exit(&ta);
	}
	return TEST_OK;
}

/* It was in the VMM until its first event, which does not say since when. */
static int test__first_user(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	const struct expected did_v[] = { WAS(40, VMM, 0), WAS(100, RUN, 0) };
	struct time_axis ta;
	int v;

	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 100));
	v = axis__vcpu(&ta, 0, 0);
	TEST_ASSERT_VAL("add", !time_axis__add_event(&ta, &(struct axis_event) {
		.time = 40, .vcpu = v, .state = VCPU_STATE_RUN, .ended = VCPU_STATE_USER,
		.next_task = NONE, .exit_reason = SVM_INTR, .isa = PERF_VCPU_ISA_SVM,
	}));
	TEST_ASSERT_VAL("build", !build(&ta));
	TEST_ASSERT_VAL("first", DID(&ta, v, did_v));
	time_axis__exit(&ta);
	return TEST_OK;
}

/* The event of one state is lost: so is the longest time without a sample, and no other. */
static int test__lost_state(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	const struct expected did_v[] = {
		RAN(50, GUEST_USER, 1, 0),
		WAS(100, HALTED, 0),
		RAN(120, GUEST_USER, 1, 0),
		WAS(180, LOST, 0),
		RAN(200, GUEST_USER, 1, 0),
		WAS(250, HALTED, 0),
		RAN(300, GUEST_USER, 1, 0),
	};
	struct time_axis ta;
	int v, err = 0;

	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 300));
	v = axis__vcpu(&ta, 0, 0);
	for (u64 time = 10; time <= 300; time += 10) {
		if (time <= 50 || (time > 100 && time <= 120) ||
		    (time >= 180 && time <= 200) || time > 250)
			err |= sample(&ta, time, 0, AXIS_SAMPLE_GUEST_USER, v, NONE, 1, SVM_INTR);
	}
	err |= event(&ta, 50, v, 0, VCPU_STATE_HALTED, IDLE_TASK, 0, SVM_HLT);
	err |= event(&ta, 100, v, 0, VCPU_STATE_RUN, NONE, 0, SVM_HLT);
	err |= time_axis__add_event(&ta, &(struct axis_event) {
		.time = 200, .vcpu = v, .state = VCPU_STATE_HALTED, .after_lost = true,
		.next_task = IDLE_TASK, .exit_reason = SVM_HLT, .isa = PERF_VCPU_ISA_SVM,
	});
	err |= event(&ta, 250, v, 0, VCPU_STATE_RUN, NONE, 0, SVM_HLT);
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	TEST_ASSERT_VAL("one lost", DID(&ta, v, did_v));
	time_axis__exit(&ta);
	return TEST_OK;
}

/* A VM ends, and another has its pid and the number of its vCPU: what was between them? */
static int test__another(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	const struct expected did_v[] = {
		RAN(50, GUEST_USER, 1, 0), WAS(200, UNKNOWN, 0), WAS(250, HALTED, 0),
		RAN(300, GUEST_USER, 1, 0),
	};
	struct time_axis ta;
	int v, err = 0;

	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 300));
	v = axis__vcpu(&ta, 0, 0);
	err |= event(&ta, 0, v, 0, VCPU_STATE_RUN, NONE, 0, SVM_INTR);
	for (u64 time = 10; time <= 300; time += 10) {
		if (time <= 50 || time > 250)
			err |= sample(&ta, time, 0, AXIS_SAMPLE_GUEST_USER, v, NONE, 1, SVM_INTR);
	}
	err |= time_axis__add_event(&ta, &(struct axis_event) {
		.time = 200, .vcpu = v, .state = VCPU_STATE_HALTED, .first = true,
		.next_task = IDLE_TASK, .exit_reason = SVM_HLT, .isa = PERF_VCPU_ISA_SVM,
	});
	err |= event(&ta, 250, v, 0, VCPU_STATE_RUN, NONE, 0, SVM_HLT);
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	TEST_ASSERT_VAL("not known", DID(&ta, v, did_v));
	time_axis__exit(&ta);
	return TEST_OK;
}

static int look(struct time_axis *ta, u64 time, u32 vcpu, enum vcpu_time_kind kind)
{
	return time_axis__add_look(ta, &(struct axis_look) {
		.time = time, .vcpu = vcpu, .kind = kind,
	});
}

static int guest_samples(struct time_axis *ta, u32 vcpu, u64 first, u64 last)
{
	int err = 0;

	for (u64 time = first; time <= last; time += 10)
		err |= sample(ta, time, vcpu, AXIS_SAMPLE_GUEST_USER, vcpu, NONE, 1, SVM_INTR);
	return err;
}

/*
 * A state that a look has seen, and that has no event: as it goes on, as its event was lost; and
 * looks that say no more than is known.
 */
static int test__looks(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	const struct expected did_a[] = { RAN(50, GUEST_USER, 1, 0), WAS(1300, HALTED, 0) };
	const struct expected did_b[] = {
		RAN(50, GUEST_USER, 1, 1),
		WAS(1000, BLOCKED, 1),
		WAS(1100, LOST, 1),
		RAN(1200, GUEST_USER, 1, 1),
		WAS(1250, HALTED, 1),
		RAN(1300, GUEST_USER, 1, 1),
	};
	const struct expected did_c[] = {
		RAN(50, GUEST_USER, 1, 2),
		WAS(1100, HALTED, 2),
		RAN(1300, GUEST_USER, 1, 2),
	};
	/* It is awake by the time that the VMs are looked for. */
	const struct expected did_d[] = { RAN(50, GUEST_USER, 1, 3), WAS(1300, BLOCKED, 3) };
	/* What it is at later is not what it was at. */
	const struct expected did_e[] = { RAN(50, GUEST_USER, 1, 4), WAS(1300, UNKNOWN, 4) };
	struct time_axis ta;
	int err = 0;

	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 1300));
	for (u32 v = VCPU_A; v <= VCPU_E; v++) {
		TEST_ASSERT_VAL("vcpu", axis__vcpu(&ta, 0, v) == (int)v);
		err |= event(&ta, 0, v, v, VCPU_STATE_RUN, NONE, 0, SVM_INTR);
		err |= guest_samples(&ta, v, 10, 50);
	}
	err |= look(&ta, 1000, VCPU_A, VCPU_TIME_HALTED);

	err |= look(&ta, 1000, VCPU_B, VCPU_TIME_BLOCKED);
	err |= guest_samples(&ta, VCPU_B, 1100, 1200);
	err |= time_axis__add_event(&ta, &(struct axis_event) {
		.time = 1200, .vcpu = VCPU_B, .cpu = 1, .state = VCPU_STATE_HALTED,
		.after_lost = true, .next_task = IDLE_TASK, .exit_reason = SVM_HLT,
		.isa = PERF_VCPU_ISA_SVM,
	});
	err |= event(&ta, 1250, VCPU_B, 1, VCPU_STATE_RUN, NONE, 0, SVM_HLT);
	err |= guest_samples(&ta, VCPU_B, 1260, 1300);

	err |= event(&ta, 50, VCPU_C, 2, VCPU_STATE_HALTED, IDLE_TASK, 0, SVM_HLT);
	err |= look(&ta, 1000, VCPU_C, VCPU_TIME_BLOCKED);
	err |= event(&ta, 1100, VCPU_C, 2, VCPU_STATE_RUN, NONE, 0, SVM_HLT);
	err |= guest_samples(&ta, VCPU_C, 1110, 1300);
	err |= look(&ta, 1205, VCPU_C, VCPU_TIME_PREEMPTED);

	err |= look(&ta, 1304, VCPU_D, VCPU_TIME_HALTED);
	err |= time_axis__add_look(&ta, &(struct axis_look) {
		.time = 1305, .vcpu = VCPU_D, .kind = VCPU_TIME_BLOCKED, .at_pause = true,
	});
	ta.vcpus[VCPU_D].last = VCPU_TIME_RUN;
	ta.vcpus[VCPU_E].last = VCPU_TIME_RUN;
	err |= look(&ta, 1305, VCPU_E, VCPU_TIME_BLOCKED);

	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	TEST_ASSERT_VAL("goes on", DID(&ta, VCPU_A, did_a));
	TEST_ASSERT_VAL("its event was lost", DID(&ta, VCPU_B, did_b));
	TEST_ASSERT_VAL("nothing new", DID(&ta, VCPU_C, did_c));
	TEST_ASSERT_VAL("until the pause", DID(&ta, VCPU_D, did_d));
	TEST_ASSERT_VAL("after the pause", DID(&ta, VCPU_E, did_e));
	time_axis__exit(&ta);
	return TEST_OK;
}

/*
 * Out of KVM_RUN, the scheduler's wait may be for a CPU, or for the end of a limit: of a vCPU that
 * has one, a long wait is neither.
 */
static int test__limited(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	/* What a wait out of KVM_RUN is, and one after a halt: without a limit, and with some */
	const struct {
		bool limited, deadline;
		enum vcpu_time_kind out, woken;
	} limits[] = {
		{ false, false, VCPU_TIME_PREEMPTED, VCPU_TIME_PREEMPTED },
		{ true, false, VCPU_TIME_UNKNOWN, VCPU_TIME_PREEMPTED },
		{ true, true, VCPU_TIME_UNKNOWN, VCPU_TIME_UNKNOWN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		const struct expected did_v[] = {
			RAN(100, GUEST_USER, 1, 0), WAS(120, VMM, 0),
			{ .end = 200, .kind = limits[i].out, .cpu = 0, .hit = NONE, .vcpu = NONE,
			  .task = NONE },
			RAN(300, GUEST_USER, 1, 0), WAS(350, HALTED, 0),
			{ .end = 400, .kind = limits[i].woken, .cpu = 0, .hit = NONE, .vcpu = NONE,
			  .task = NONE },
			RAN(500, GUEST_USER, 1, 0),
		};
		struct time_axis ta;
		int v, err = 0;

		TEST_ASSERT_VAL("init", !axis__new(&ta, true, 500));
		v = axis__vcpu(&ta, 0, 0);
		ta.vcpus[v].limited = limits[i].limited;
		ta.vcpus[v].deadline = limits[i].deadline;
		err |= event(&ta, 0, v, 0, VCPU_STATE_RUN, NONE, 0, SVM_INTR);
		err |= guest_samples(&ta, v, 10, 100);
		err |= event(&ta, 100, v, 0, VCPU_STATE_USER, NONE, 0, SVM_NPF);
		err |= event(&ta, 200, v, 0, VCPU_STATE_RUN, NONE, 80, SVM_NPF);
		err |= guest_samples(&ta, v, 210, 300);
		err |= event(&ta, 300, v, 0, VCPU_STATE_HALTED, IDLE_TASK, 0, SVM_HLT);
		err |= event(&ta, 400, v, 0, VCPU_STATE_RUN, NONE, 50, SVM_HLT);
		err |= guest_samples(&ta, v, 410, 500);
		TEST_ASSERT_VAL("add and build", !err && !build(&ta));
		TEST_ASSERT_VAL("the long one", DID(&ta, v, did_v));
		time_axis__exit(&ta);
	}
	return TEST_OK;
}

/* A thread ends that runs a vCPU, or has run it; one is stopped for good. */
static int test__gone(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	/* In two, as the last of the steps to the end is one of its own */
	const struct expected did_killed[] = {
		RAN(105, GUEST_USER, 1, 0), WAS(896, ABSENT, NONE), WAS(900, ABSENT, NONE),
	};
	const struct expected did_again[] = {
		RAN(105, GUEST_USER, 1, 1), WAS(300, ABSENT, NONE), WAS(400, VMM, 1),
		RAN(900, GUEST_USER, 1, 1),
	};
	const struct expected did_moved[] = {
		RAN(100, GUEST_USER, 1, 2), WAS(400, VMM, 2), RAN(900, GUEST_USER, 1, 2),
	};
	const struct expected did_stopped[] = { RAN(100, GUEST_USER, 1, 3), WAS(900, STOPPED, 3) };
	const struct expected did_both[] = {
		RAN(100, GUEST_USER, 1, 4), WAS(500, STOPPED, 4), WAS(896, ABSENT, NONE),
		WAS(900, ABSENT, NONE),
	};
	struct time_axis ta;
	int killed, again, moved, stopped, both, err = 0;

	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 900));
	ta.span.near = 100;
	killed = axis__vcpu(&ta, 0, 0);
	again = axis__vcpu(&ta, 0, 1);
	moved = axis__vcpu(&ta, 0, 2);
	stopped = axis__vcpu(&ta, 1, 0);
	both = axis__vcpu(&ta, 1, 1);
	ta.vcpus[killed].at_end = false;
	ta.vcpus[both].at_end = false;
	ta.vcpus[stopped].last = VCPU_TIME_STOPPED;
	for (int v = killed; v <= both; v++) {
		err |= event(&ta, 0, v, v, VCPU_STATE_RUN, NONE, 0, SVM_INTR);
		err |= guest_samples(&ta, v, 10, 100);
	}
	err |= look(&ta, 150, stopped, VCPU_TIME_STOPPED);
	err |= look(&ta, 150, both, VCPU_TIME_STOPPED);
	err |= event(&ta, 500, both, both, VCPU_STATE_GONE, NONE, 0, 0);
	err |= event(&ta, 105, killed, killed, VCPU_STATE_GONE, NONE, 0, 0);
	err |= event(&ta, 105, again, again, VCPU_STATE_GONE, NONE, 0, 0);
	err |= event(&ta, 100, moved, moved, VCPU_STATE_USER, NONE, 0, SVM_INTR);
	err |= event(&ta, 105, moved, moved, VCPU_STATE_GONE, NONE, 0, 0);
	forget();
	ta.sink = (struct axis_sink) { .vcpu = collect_vcpu, .cpu = collect_cpu, .arg = &ta };
	TEST_ASSERT_VAL("as it comes", !err && !time_axis__advance(&ta, 290));
	err |= event(&ta, 300, again, again, VCPU_STATE_USER, NONE, 0, SVM_INTR);
	for (int v = again; v <= moved; v++) {
		err |= event(&ta, 400, v, v, VCPU_STATE_RUN, NONE, 0, SVM_INTR);
		err |= guest_samples(&ta, v, 410, 890);
	}
	TEST_ASSERT_VAL("add and build", !err && !time_axis__finish(&ta));
	TEST_ASSERT_VAL("killed", DID(&ta, killed, did_killed));
	TEST_ASSERT_VAL("it comes back", DID(&ta, again, did_again));
	TEST_ASSERT_VAL("another thread goes on", DID(&ta, moved, did_moved));
	TEST_ASSERT_VAL("stopped", DID(&ta, stopped, did_stopped));
	TEST_ASSERT_VAL("killed when it was stopped", DID(&ta, both, did_both));
	time_axis__exit(&ta);
	return TEST_OK;
}

/*
 * A limit holds a vCPU back: nobody has taken the CPU, whoever has it meanwhile. That its thread
 * could run at the end may be the limit, or not.
 */
static int test__throttled(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct time_axis ta;
	int v, err = 0;
	const struct expected did_v[] = {
		RAN(100, GUEST_USER, 1, 0),
		WAS(300, THROTTLED, 0),
		RAN(400, GUEST_USER, 1, 0),
		BY_TASK(450, TASK, 0),
		RAN(500, GUEST_USER, 1, 0),
		WAS(550, UNKNOWN, 0),
	};

	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 550));
	v = axis__vcpu(&ta, 0, 0);
	ta.vcpus[v].last = VCPU_TIME_RUN;
	err |= event(&ta, 0, v, 0, VCPU_STATE_RUN, NONE, 0, SVM_INTR);
	err |= guest_samples(&ta, v, 10, 100);
	err |= event(&ta, 100, v, 0, VCPU_STATE_THROTTLED, TASK, 0, SVM_INTR);
	err |= sample(&ta, 200, 0, AXIS_SAMPLE_HOST, NONE, TASK, 9, 0);
	err |= event(&ta, 300, v, 0, VCPU_STATE_RUN, NONE, 200, SVM_INTR);
	err |= guest_samples(&ta, v, 310, 400);
	err |= event(&ta, 400, v, 0, VCPU_STATE_PREEMPTED, TASK, 0, SVM_INTR);
	err |= event(&ta, 450, v, 0, VCPU_STATE_RUN, NONE, 50, SVM_INTR);
	err |= guest_samples(&ta, v, 460, 500);
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	TEST_ASSERT_VAL("states", DID(&ta, v, did_v));
	time_axis__exit(&ta);
	return TEST_OK;
}

/* What goes on at the end has no event: what was seen then tells, and the last sample. */
static int test__open(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const struct {
		enum vcpu_time_kind seen, kind;
		u64 waited, end;
	} cases[] = {
		{ VCPU_TIME_HALTED, VCPU_TIME_HALTED, 5, 55 },
		{ VCPU_TIME_BLOCKED, VCPU_TIME_BLOCKED, 5, 55 },
		{ VCPU_TIME_VMM, VCPU_TIME_VMM, 5, 55 },
		/* It has waited that long before, or it may have been halted. */
		{ VCPU_TIME_RUN, VCPU_TIME_PREEMPTED, 50, 100 },
		{ VCPU_TIME_RUN, VCPU_TIME_UNKNOWN, 49, 99 },
		/* Nobody has looked */
		{ VCPU_TIME_UNKNOWN, VCPU_TIME_GUEST_USER, 5, 105 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		u64 waited = cases[i].waited, end = waited + 100;
		const struct vcpu_interval *last;
		struct time_axis ta;
		int v, err = 0;

		TEST_ASSERT_VAL("init", !axis__new(&ta, true, end));
		v = axis__vcpu(&ta, 0, 0);
		ta.vcpus[v].last = cases[i].seen;
		err |= event(&ta, 0, v, 0, VCPU_STATE_PREEMPTED, NONE, 0, SVM_INTR);
		err |= event(&ta, waited, v, 0, VCPU_STATE_RUN, NONE, 0, SVM_INTR);
		for (u64 time = 10; time <= 50; time += 10)
			err |= sample(&ta, waited + time, 0, AXIS_SAMPLE_GUEST_USER, v, NONE, 1,
				      SVM_INTR);
		TEST_ASSERT_VAL("add and build", !err && !build(&ta));
		last = &did[v].entries[did[v].nr - 1];
		TEST_ASSERT_VAL("what it is", last->kind == cases[i].kind && last->end == end);
		TEST_ASSERT_VAL("since when", cases[i].end == end || last->start == cases[i].end);
		time_axis__exit(&ta);
	}
	return TEST_OK;
}

/* Two vCPUs of a VM and one of another take turns on a CPU. */
static int test__who(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct time_axis ta;
	int a, b, c, err = 0;
	const struct expected did_a[] = {
		WAS(100, RUN, 0),
		BY_TASK(105, 51, 0),
		BY_VCPU(200, VCPU_B, 0),
		BY_VCPU(300, VCPU_C, 0),
		BY_TASK(350, TASK, 0),
		WAS(400, RUN, 0),
	};
	const struct expected did_b[] = {
		BY_VCPU(100, VCPU_A, 0),
		BY_TASK(105, 51, 0),
		WAS(200, RUN, 0),
		BY_VCPU(300, VCPU_C, 0),
		BY_TASK(350, TASK, 0),
		BY_VCPU(400, VCPU_A, 0),
	};
	const struct expected did_c[] = {
		WAS(150, HALTED, 0),
		BY_VCPU(200, VCPU_B, 0),
		WAS(300, RUN, 0),
		WAS(400, HALTED, 0),
	};

	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 400));
	a = axis__vcpu(&ta, 0, 0);
	b = axis__vcpu(&ta, 0, 1);
	c = axis__vcpu(&ta, 1, 0);
	err |= event(&ta, 0, a, 0, VCPU_STATE_RUN, NONE, 0, SVM_INTR);
	err |= event(&ta, 0, b, 0, VCPU_STATE_PREEMPTED, NONE, 0, SVM_INTR);
	err |= event(&ta, 0, c, 0, VCPU_STATE_HALTED, NONE, 0, SVM_HLT);
	err |= event(&ta, 100, a, 0, VCPU_STATE_PREEMPTED, 51, 0, SVM_INTR);
	err |= event(&ta, 105, b, 0, VCPU_STATE_RUN, NONE, 105, SVM_INTR);
	/* c was woken up at 150 */
	err |= event(&ta, 200, b, 0, VCPU_STATE_PREEMPTED, 52, 0, SVM_INTR);
	err |= event(&ta, 200, c, 0, VCPU_STATE_RUN, NONE, 50, SVM_HLT);
	err |= event(&ta, 300, c, 0, VCPU_STATE_HALTED, TASK, 0, SVM_HLT);
	err |= event(&ta, 350, a, 0, VCPU_STATE_RUN, NONE, 250, SVM_INTR);
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	TEST_ASSERT_VAL("a", DID(&ta, a, did_a));
	TEST_ASSERT_VAL("b", DID(&ta, b, did_b));
	TEST_ASSERT_VAL("c", DID(&ta, c, did_c));
	time_axis__exit(&ta);
	return TEST_OK;
}

/* Many vCPUs take turns on one CPU, and each time another task has it in between. */
#define NR_TURNS	400
#define NR_TAKING_TURNS	16
#define TURN_NS		100
#define BETWEEN_NS	10

/* ns that each vCPU had the CPU while another waited, and others while it did */
struct turns {
	u64	by_vcpu[NR_TAKING_TURNS][NR_TAKING_TURNS];
	u64	by_task[NR_TAKING_TURNS];
	size_t	nr_parts;
};

static int add_turn(u32 vcpu, const struct vcpu_interval *interval, void *arg)
{
	struct turns *turns = arg;
	u64 time = interval->end - interval->start;

	if (interval->kind != VCPU_TIME_PREEMPTED)
		return 0;
	turns->nr_parts++;
	if (interval->vcpu == NONE)
		turns->by_task[vcpu] += time;
	else
		turns->by_vcpu[vcpu][interval->vcpu] += time;
	return 0;
}

static int ignore_cpu(const struct cpu_interval *interval __maybe_unused,
		      void *arg __maybe_unused)
{
	return 0;
}

/* The first of them, who has the CPU from the start, has no task before it. */
static bool turns__are_whole(const struct turns *turns)
{
	for (u32 v = 0; v < NR_TAKING_TURNS; v++) {
		if (turns->by_task[v] != (NR_TURNS - 1) * BETWEEN_NS)
			return false;
		for (u32 other = 0; other < NR_TAKING_TURNS; other++) {
			u64 had = NR_TURNS / NR_TAKING_TURNS * (TURN_NS - BETWEEN_NS) +
				  (other ? 0 : BETWEEN_NS);

			if (turns->by_vcpu[v][other] != (other == v ? 0 : had))
				return false;
		}
	}
	return true;
}

static int test__turns(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	u64 stopped[NR_TAKING_TURNS] = { };
	struct turns turns = { };
	struct time_axis ta;
	int err = 0;

	TEST_ASSERT_VAL("init", !axis__new(&ta, true, NR_TURNS * TURN_NS));
	ta.sink = (struct axis_sink) { .vcpu = add_turn, .cpu = ignore_cpu, .arg = &turns };
	for (u32 v = 0; v < NR_TAKING_TURNS; v++) {
		TEST_ASSERT_EQUAL("vCPU", axis__vcpu(&ta, 0, v), (int)v);
		err |= event(&ta, 0, v, 0, v ? VCPU_STATE_PREEMPTED : VCPU_STATE_RUN, NONE, 0,
			     SVM_INTR);
	}
	for (u32 turn = 1; turn < NR_TURNS; turn++) {
		u32 before = (turn - 1) % NR_TAKING_TURNS, v = turn % NR_TAKING_TURNS;
		u64 time = turn * TURN_NS;

		err |= event(&ta, time, before, 0, VCPU_STATE_PREEMPTED, TASK + v, 0, SVM_INTR);
		stopped[before] = time;
		time += BETWEEN_NS;
		err |= event(&ta, time, v, 0, VCPU_STATE_RUN, NONE, time - stopped[v], SVM_INTR);
	}
	TEST_ASSERT_VAL("add and build", !err && !time_axis__finish(&ta));
	TEST_ASSERT_VAL("each had its turns", turns__are_whole(&turns));
	/* Each turn, and what is before it, has at most one part for each task that waits. */
	TEST_ASSERT_VAL("no more parts", turns.nr_parts <= 2 * NR_TURNS * NR_TAKING_TURNS);
	time_axis__exit(&ta);
	return TEST_OK;
}

/* For the calls of time_axis__share(): the time of each task */
static int add_task(u32 task, u64 time, void *arg)
{
	u64 *times = arg;

	times[task] += time;
	return 0;
}

/*
 * Eight waits begin with a switch to the same task, and three of the four with a sample
 * show that it had let another one have the CPU.
 */
static int check_shares(bool per_task)
{
	static const u32 sampled[] = { TASK, TASK, 51, TASK };
	u64 times[52] = { }, shared = 0;
	struct time_axis ta;
	int v, err = 0;

	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 900));
	ta.span.per_task = per_task;
	v = axis__vcpu(&ta, 0, 0);
	err |= event(&ta, 0, v, 0, VCPU_STATE_RUN, NONE, 0, SVM_INTR);
	for (u32 i = 0; i < 8; i++) {
		u64 start = 100 + 100 * i;

		err |= event(&ta, start, v, 0, VCPU_STATE_PREEMPTED, 51, 0, SVM_INTR);
		if (i % 2)
			err |= sample(&ta, start + 4, 0, AXIS_SAMPLE_HOST, NONE, sampled[i / 2],
				      9, 0);
		err |= event(&ta, start + 8, v, 0, VCPU_STATE_RUN, NONE, 8, SVM_INTR);
	}
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	for (size_t i = 0; i < did[v].nr; i++) {
		const struct vcpu_interval *interval = &did[v].entries[i];

		if (interval->kind != VCPU_TIME_PREEMPTED)
			continue;
		if (per_task) {
			/* Every second one has a sample. */
			TEST_ASSERT_VAL("who was switched to",
					interval->start / 100 % 2 == 0 || interval->task == 51);
			continue;
		}
		if (interval->start % 200 == 0)
			TEST_ASSERT_VAL("as the sample says", interval->shared == NONE &&
					interval->task == sampled[interval->start / 200 - 1]);
		else
			TEST_ASSERT_VAL("shared", interval->shared == 0 && interval->task == 51);
		shared += interval->start % 200 ? interval->end - interval->start : 0;
	}
	TEST_ASSERT_VAL("half of them", per_task || shared == 4 * 8);
	TEST_ASSERT_VAL("share", per_task || !time_axis__share(&ta, 0, shared, add_task, times));
	TEST_ASSERT_VAL("in proportion", per_task || (times[TASK] == 24 && times[51] == 8));
	TEST_ASSERT_VAL("share the rest, too", per_task ||
			!time_axis__share(&ta, 0, 3, add_task, times));
	TEST_ASSERT_VAL("all of it", per_task || times[TASK] + times[51] == 35);
	time_axis__exit(&ta);
	return TEST_OK;
}

static int test__shares(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return check_shares(false) == TEST_OK ? check_shares(true) : TEST_FAIL;
}

/*
 * 200,000 waits begin with a switch to the same task, and 20,000 tasks have five samples
 * each in every second one of them: of those without a sample, each of them gets as much. It
 * takes a fraction of a second; if each wait cost a look at each task, or at what comes after
 * it, it would take many. The limit has room for sanitizers and busy machines.
 */
#define NR_SHARED_WAITS		200000
#define NR_SHARING_TASKS	20000
/* Sharing may take so many times the CPU time of building, which grows with the waits. */
#define SHARING_MOST_TIMES	10

static int test__many_shares(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	u64 *times = calloc(NR_SHARING_TASKS, sizeof(*times)), shared = 0;
	clock_t start_clock = clock(), build_clock;
	struct time_axis ta;
	int v, err = 0;

	TEST_ASSERT_VAL("memory", times);
	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 100 * (NR_SHARED_WAITS + 1)));
	v = axis__vcpu(&ta, 0, 0);
	err |= event(&ta, 0, v, 0, VCPU_STATE_RUN, NONE, 0, SVM_INTR);
	for (u32 i = 0; !err && i < NR_SHARED_WAITS; i++) {
		u64 start = 100 + 100 * i;

		err |= event(&ta, start, v, 0, VCPU_STATE_PREEMPTED, NR_SHARING_TASKS, 0,
			     SVM_INTR);
		if (i % 2)
			err |= sample(&ta, start + 4, 0, AXIS_SAMPLE_HOST, NONE,
				      i / 2 % NR_SHARING_TASKS, 9, 0);
		err |= event(&ta, start + 8, v, 0, VCPU_STATE_RUN, NONE, 8, SVM_INTR);
	}
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	build_clock = clock() - start_clock;
	for (size_t i = 0; i < did[v].nr; i++) {
		const struct vcpu_interval *interval = &did[v].entries[i];

		if (interval->kind == VCPU_TIME_PREEMPTED && interval->shared != NONE)
			shared += interval->end - interval->start;
	}
	TEST_ASSERT_VAL("half of them", shared == NR_SHARED_WAITS / 2 * 8);
	TEST_ASSERT_VAL("share", !time_axis__share(&ta, 0, shared, add_task, times));
	for (u32 i = 0; i < NR_SHARING_TASKS; i++)
		TEST_ASSERT_EQUAL("as much with samples as without",
				  (int)times[i], NR_SHARED_WAITS / 2 * 8 / NR_SHARING_TASKS);
	TEST_ASSERT_VAL("not in the square of them",
			clock() - start_clock < (1 + SHARING_MOST_TIMES) * build_clock);
	time_axis__exit(&ta);
	free(times);
	return TEST_OK;
}

static int test__lifetime(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct time_axis ta;
	int v, never, err = 0;
	const struct expected did_v[] = {
		WAS(300, ABSENT, NONE),
		WAS(600, RUN, 0),
		WAS(1000, ABSENT, NONE),
	};
	const struct expected did_never[] = {
		WAS(1000, ABSENT, NONE),
	};
	const struct expected did_v2[] = {
		RAN(100, GUEST_USER, 4, 2),
	};
	const struct expected did_never2[] = {
		WAS(100, UNKNOWN, NONE),
	};

	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 1000));
	v = time_axis__findnew_vcpu(&ta, 0, 0);
	never = time_axis__findnew_vcpu(&ta, 0, 1);
	TEST_ASSERT_VAL("two", v >= 0 && never >= 0 && v != never);
	TEST_ASSERT_VAL("again", time_axis__findnew_vcpu(&ta, 0, 0) == v);
	err |= event(&ta, 300, v, 0, VCPU_STATE_RUN, NONE, 0, 0);
	err |= event(&ta, 600, v, 0, VCPU_STATE_USER, NONE, 0, SVM_INTR);
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	TEST_ASSERT_VAL("came and went", DID(&ta, v, did_v));
	TEST_ASSERT_VAL("never seen", DID(&ta, never, did_never));
	time_axis__exit(&ta);

	/* Running all the time without one change of state, and nothing known at all */
	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 100));
	v = axis__vcpu(&ta, 0, 0);
	never = axis__vcpu(&ta, 0, 1);
	err |= sample(&ta, 50, 2, AXIS_SAMPLE_GUEST_USER, v, NONE, 4, SVM_INTR);
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	TEST_ASSERT_VAL("all the time", DID(&ta, v, did_v2));
	TEST_ASSERT_VAL("nothing known", DID(&ta, never, did_never2));
	time_axis__exit(&ta);

	/* Halted all the time */
	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 100));
	v = axis__vcpu(&ta, 0, 0);
	ta.vcpus[v].halted = true;
	TEST_ASSERT_VAL("build", !build(&ta));
	TEST_ASSERT_VAL("known to be halted", did[v].nr == 1 &&
			did[v].entries[0].kind == VCPU_TIME_HALTED);
	time_axis__exit(&ta);
	return TEST_OK;
}

/* Is it so for all of its halts? @ends: when each begins or ceases to be one with work for it */
static bool worked_until(u32 vcpu, const u64 *ends, size_t nr)
{
	bool same = true;
	size_t at = 0;

	for (size_t i = 0; i < did[vcpu].nr; i++) {
		const struct vcpu_interval *interval = &did[vcpu].entries[i];

		if (interval->kind != VCPU_TIME_HALTED)
			continue;
		pr_debug("%" PRIu64 "-%" PRIu64 " %d\n", interval->start, interval->end,
			 interval->vmm_works);
		same = same && at < nr && interval->end == ends[at] &&
		       interval->vmm_works == at % 2;
		at++;
	}
	return same && at == nr;
}

/* A vCPU is halted, and meanwhile a thread of its VMM, or the kernel, works for it. */
static int test__work(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	/* Samples stand for 10 ns, 5 of them before themselves: two that touch are one. */
	static const u64 times[] = { 95, 300, 310, 395, 405, 700 };
	static const u64 ends[] = { 295, 315, 390, 400 }, others[] = { 1000 };
	const struct expected did_v[] = {
		RAN(100, GUEST_USER, 1, 0),
		WAS(295, HALTED, 0),
		WAS(315, HALTED, 0),
		WAS(390, HALTED, 0),
		WAS(400, HALTED, 0),
		RAN(1000, GUEST_USER, 1, 0),
	};
	struct time_axis ta;
	int v, other, err = 0;

	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 1000));
	v = axis__vcpu(&ta, 0, 0);
	other = axis__vcpu(&ta, 1, 0);
	err |= sample(&ta, 50, 0, AXIS_SAMPLE_GUEST_USER, v, NONE, 1, SVM_INTR);
	err |= event(&ta, 100, v, 0, VCPU_STATE_HALTED, IDLE_TASK, 0, SVM_HLT);
	err |= event(&ta, 0, other, 1, VCPU_STATE_HALTED, IDLE_TASK, 0, SVM_HLT);
	err |= event(&ta, 400, v, 0, VCPU_STATE_RUN, NONE, 0, SVM_HLT);
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		err |= time_axis__add_work(&ta, 0, times[i]);
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	TEST_ASSERT_VAL("the vCPU", DID(&ta, v, did_v));
	TEST_ASSERT_VAL("with work for it", worked_until(v, ends, ARRAY_SIZE(ends)));
	TEST_ASSERT_VAL("not for another VM", worked_until(other, others, ARRAY_SIZE(others)));
	time_axis__exit(&ta);
	return TEST_OK;
}

static int test__lost(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct time_axis ta;
	int v, other, err = 0;
	const struct expected did_v[] = {
		RAN(100, GUEST_USER, 1, 0),
		WAS(500, LOST, 0),
		RAN(600, GUEST_USER, 2, 0),
		WAS(650, LOST, 0),
		BY_TASK(750, TASK, 0),
		RAN(900, GUEST_USER, 2, 0),
		WAS(1000, LOST, 0),
	};
	const struct expected did_other[] = {
		WAS(1000, HALTED, 1),
	};

	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 1000));
	v = axis__vcpu(&ta, 0, 0);
	other = axis__vcpu(&ta, 0, 1);
	err |= event(&ta, 0, v, 0, VCPU_STATE_RUN, NONE, 0, SVM_INTR);
	err |= event(&ta, 0, other, 1, VCPU_STATE_HALTED, IDLE_TASK, 0, SVM_HLT);
	err |= sample(&ta, 100, 0, AXIS_SAMPLE_GUEST_USER, v, NONE, 1, SVM_INTR);
	/* It is not seen again before 500, so what it did until then is not known. */
	err |= gap(&ta, 0, 100, 400, false);
	err |= sample(&ta, 500, 0, AXIS_SAMPLE_GUEST_USER, v, NONE, 2, SVM_INTR);
	/* Only the sampling stops */
	err |= gap(&ta, 0, 600, 700, true);
	err |= event(&ta, 650, v, 0, VCPU_STATE_PREEMPTED, TASK, 0, SVM_INTR);
	err |= event(&ta, 750, v, 0, VCPU_STATE_RUN, NONE, 100, SVM_INTR);
	err |= gap(&ta, 0, 900, 950, false);
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	TEST_ASSERT_VAL("lost", DID(&ta, v, did_v));
	TEST_ASSERT_VAL("another CPU's", DID(&ta, other, did_other));
	time_axis__exit(&ta);
	return TEST_OK;
}

/* Are the gaps of @cpu from @start to @end those that begin at @from? */
static bool has_gaps(const struct time_axis *ta, u32 cpu, u64 start, u64 end,
		     const u64 *from, size_t nr)
{
	const struct axis_gap *g = NULL;

	for (size_t i = 0; i < nr; i++) {
		g = axis_gaps__next(&ta->gaps, g, cpu, start, end);
		if (!g || g->cpu != cpu || g->from != from[i])
			return false;
	}
	return !axis_gaps__next(&ta->gaps, g, cpu, start, end);
}

#define HAS_GAPS(ta, cpu, start, end, ...)						\
	has_gaps(ta, cpu, start, end, (const u64 []){ __VA_ARGS__ },			\
		 ARRAY_SIZE(((const u64 []){ __VA_ARGS__ })))

static int test__gaps(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct time_axis ta;
	int err = 0;

	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 1000));
	TEST_ASSERT_VAL("none", has_gaps(&ta, 0, 0, 1000, NULL, 0));
	/* Not in order, and a long one with short ones in it */
	err |= gap(&ta, 2, 0, 1000, false);
	err |= gap(&ta, 1, 900, 950, false);
	err |= gap(&ta, 1, 300, 310, false);
	err |= gap(&ta, 1, 100, 800, true);
	err |= gap(&ta, 1, 200, 210, false);
	err |= gap(&ta, 0, 0, 1000, false);
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	TEST_ASSERT_VAL("all", HAS_GAPS(&ta, 1, 0, 1000, 100, 200, 300, 900));
	TEST_ASSERT_VAL("the long one, behind the short ones", HAS_GAPS(&ta, 1, 400, 900, 100));
	TEST_ASSERT_VAL("without those that are over", HAS_GAPS(&ta, 1, 210, 301, 100, 300));
	TEST_ASSERT_VAL("between them", has_gaps(&ta, 1, 800, 900, NULL, 0));
	TEST_ASSERT_VAL("before", has_gaps(&ta, 1, 0, 100, NULL, 0));
	TEST_ASSERT_VAL("after", has_gaps(&ta, 1, 950, 1000, NULL, 0));
	TEST_ASSERT_VAL("another CPU's", HAS_GAPS(&ta, 0, 10, 20, 0));
	TEST_ASSERT_VAL("no such CPU", has_gaps(&ta, 3, 0, 1000, NULL, 0));
	time_axis__exit(&ta);
	return TEST_OK;
}

static bool number__is_before(const void *number, const void *key)
{
	return *(const u64 *)number < *(const u64 *)key;
}

/* From wherever the search begins, it finds the same. */
static int test__find(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const u64 numbers[] = { 1, 2, 2, 2, 3, 5, 8, 13, 21 };
	const size_t nr = ARRAY_SIZE(numbers), size = sizeof(*numbers);

	for (u64 key = 0; key <= numbers[nr - 1] + 1; key++) {
		size_t found = sort_find(numbers, nr, size, &key, number__is_before);

		for (size_t from = 0; from <= found; from++)
			TEST_ASSERT_EQUAL("find", (int)sort_find_from(numbers, nr, size, from, &key,
								      number__is_before),
					  (int)found);
	}
	return TEST_OK;
}

/* If as many come as go, a queue is not much larger than what is in it. */
#define QUEUE_LEN	10000
#define QUEUE_MOST	(QUEUE_LEN + QUEUE_LEN / 3)

static int test__queue(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct { DECLARE_QUEUE(u64); } queue = { };
	u64 number = 0;

	for (; number < QUEUE_LEN; number++)
		TEST_ASSERT_VAL("add", !queue_add(&queue, &number));
	TEST_ASSERT_VAL("grows by little", queue.allocated <= QUEUE_MOST);
	for (; number < 10 * QUEUE_LEN; number++) {
		queue_drop(&queue, 1);
		TEST_ASSERT_VAL("add another", !queue_add(&queue, &number));
		TEST_ASSERT_VAL("first", *queue_first(&queue) == number + 1 - QUEUE_LEN);
		TEST_ASSERT_VAL("last", *queue_last(&queue) == number);
	}
	TEST_ASSERT_VAL("does not grow", queue.allocated <= QUEUE_MOST);
	queue_drop(&queue, QUEUE_LEN / 2);
	queue_trim(&queue);
	TEST_ASSERT_VAL("half", queue_len(&queue) == QUEUE_LEN / 2 &&
			queue.allocated == QUEUE_LEN / 2 &&
			*queue_first(&queue) == number - QUEUE_LEN / 2);
	queue_drop(&queue, 1);
	queue_trim(&queue);
	TEST_ASSERT_VAL("not for one", queue.allocated == QUEUE_LEN / 2);
	queue_drop(&queue, QUEUE_LEN / 16);
	queue_trim(&queue);
	TEST_ASSERT_VAL("not for what the next step needs", queue.allocated == QUEUE_LEN / 2);
	queue_drop(&queue, QUEUE_LEN / 8);
	queue_trim(&queue);
	TEST_ASSERT_VAL("for many", queue.allocated == queue_len(&queue));
	queue_drop(&queue, queue_len(&queue));
	queue_trim(&queue);
	TEST_ASSERT_VAL("nothing", !queue.entries && !queue.allocated);
	return TEST_OK;
}

/* Not in order, and a long one with a short one in it, which ends after one that begins later */
static int test__silent_gaps(struct test_suite *test __maybe_unused,
			     int subtest __maybe_unused)
{
	static const struct axis_gap added[] = {
		{ .cpu = 0, .from = 600, .until = 700, .silent = true },
		{ .cpu = 2, .from = 200, .until = 210, .silent = true },
		{ .cpu = 1, .from = 100, .until = 300, .silent = true },
		{ .cpu = 1, .from = 400, .until = 500 },
	};
	struct axis_gaps gaps = { };
	int err = 0;

	TEST_ASSERT_VAL("none", !axis_gaps__is_silent(&gaps, 0, ~0ULL));
	for (size_t i = 0; i < ARRAY_SIZE(added); i++)
		err |= axis_gaps__add(&gaps, &added[i]);
	TEST_ASSERT_VAL("add", !err);
	axis_gaps__sort(&gaps);
	TEST_ASSERT_VAL("before", !axis_gaps__is_silent(&gaps, 0, 100));
	TEST_ASSERT_VAL("into the first", axis_gaps__is_silent(&gaps, 0, 101));
	TEST_ASSERT_VAL("in the long one, behind the short one",
			axis_gaps__is_silent(&gaps, 210, 220));
	TEST_ASSERT_VAL("its end", axis_gaps__is_silent(&gaps, 299, 600));
	TEST_ASSERT_VAL("between them, and no event is lost",
			!axis_gaps__is_silent(&gaps, 300, 600));
	TEST_ASSERT_VAL("over several", axis_gaps__is_silent(&gaps, 0, 1000));
	TEST_ASSERT_VAL("after", !axis_gaps__is_silent(&gaps, 700, 1000));
	axis_gaps__forget(&gaps, 300);
	TEST_ASSERT_VAL("what is over is forgotten", gaps.nr == 3 && gaps.nr_silent == 2);
	TEST_ASSERT_VAL("and no more", axis_gaps__is_silent(&gaps, 210, 220) &&
			axis_gaps__is_silent(&gaps, 600, 601));
	axis_gaps__exit(&gaps);
	return TEST_OK;
}

/* CPU 1 goes offline at 500, and is not recorded when it is back. */
static int test__silent(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	const struct axis_gap silent = {
		.cpu = 1, .from = 500, .until = 1000, .samples_only = true, .silent = true,
	};
	const struct expected did_goes[] = {
		RAN(500, GUEST_USER, 1, 0),
		WAS(1000, LOST, NONE),
	};
	const struct expected did_sleeps[] = {
		RAN(500, GUEST_USER, 2, 1),
		WAS(1000, LOST, 1),
	};
	const struct expected did_known[] = {
		WAS(900, HALTED, 1),
		RAN(1000, GUEST_USER, 3, 0),
	};
	int goes, sleeps, known, err = 0;
	struct time_axis ta;

	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 1000));
	goes = axis__vcpu(&ta, 0, 0);
	sleeps = axis__vcpu(&ta, 1, 0);
	known = axis__vcpu(&ta, 2, 0);
	/* It has no event and no sample where it goes. */
	err |= event(&ta, 0, goes, 0, VCPU_STATE_RUN, NONE, 0, SVM_INTR);
	err |= event(&ta, 0, sleeps, 1, VCPU_STATE_RUN, NONE, 0, SVM_INTR);
	for (u64 time = 10; time <= 500; time += 10) {
		err |= sample(&ta, time, 0, AXIS_SAMPLE_GUEST_USER, goes, NONE, 1, SVM_INTR);
		err |= sample(&ta, time, 1, AXIS_SAMPLE_GUEST_USER, sleeps, NONE, 2, SVM_INTR);
	}
	/* What it is at in the end says nothing of before. */
	ta.vcpus[sleeps].last = VCPU_TIME_HALTED;
	/* An event tells of all of this halt, though it began on CPU 1. */
	err |= event(&ta, 0, known, 1, VCPU_STATE_HALTED, NONE, 0, SVM_HLT);
	err |= event(&ta, 900, known, 0, VCPU_STATE_RUN, NONE, 0, SVM_HLT);
	for (u64 time = 910; time <= 1000; time += 10)
		err |= sample(&ta, time, 0, AXIS_SAMPLE_GUEST_USER, known, NONE, 3, SVM_INTR);
	err |= time_axis__add_gap(&ta, &silent);
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	TEST_ASSERT_VAL("goes there", DID(&ta, goes, did_goes));
	TEST_ASSERT_VAL("stays there", DID(&ta, sleeps, did_sleeps));
	TEST_ASSERT_VAL("comes from there", DID(&ta, known, did_known));
	time_axis__exit(&ta);
	return TEST_OK;
}

/* The same by samples alone: what is no sample is no halt, and was not taken away. */
static int test__silent_samples(struct test_suite *test __maybe_unused,
				int subtest __maybe_unused)
{
	const struct axis_gap silent = {
		.cpu = 1, .from = 500, .until = 1000, .samples_only = true, .silent = true,
	};
	const struct expected did_v[] = {
		RAN(500, GUEST_USER, 1, 0),
		WAS(1000, LOST, NONE),
	};
	struct time_axis ta;
	int v, err = 0;

	TEST_ASSERT_VAL("init", !axis__new(&ta, false, 1000));
	v = axis__vcpu(&ta, 0, 0);
	for (u64 time = 10; time <= 500; time += 10)
		err |= sample(&ta, time, 0, AXIS_SAMPLE_GUEST_USER, v, NONE, 1, SVM_HLT);
	err |= time_axis__add_gap(&ta, &silent);
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	TEST_ASSERT_VAL("samples alone", DID(&ta, v, did_v));
	time_axis__exit(&ta);
	return TEST_OK;
}

static int test__lost_return(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	const struct expected did_a[] = {
		RAN(100, GUEST_USER, 1, 0),
		WAS(200, HALTED, 0),
		WAS(310, LOST, 0),
		RAN(1000, GUEST_USER, 1, 0),
	};
	const struct expected did_b[] = {
		WAS(100, RUN, 1),
		WAS(200, PREEMPTED, 1),
		WAS(500, LOST, 0),
		WAS(1000, HALTED, 0),
	};
	const struct expected did_c[] = {
		RAN(400, GUEST_USER, 3, 2),
		WAS(500, LOST, 2),
		RAN(1000, GUEST_USER, 3, 2),
	};
	const struct expected did_d[] = {
		RAN(400, GUEST_USER, 3, 2),
		WAS(500, LOST, 2),
		RAN(800, GUEST_USER, 3, 2),
		WAS(1000, LOST, 2),
	};
	struct time_axis ta;
	int a, b, c, err = 0;

	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 1000));
	a = axis__vcpu(&ta, 0, 0);
	b = axis__vcpu(&ta, 0, 1);
	err |= event(&ta, 100, a, 0, VCPU_STATE_HALTED, IDLE_TASK, 0, SVM_HLT);
	/* This one goes to CPU 0, and that it did is lost. */
	err |= event(&ta, 100, b, 1, VCPU_STATE_PREEMPTED, NONE, 0, SVM_INTR);
	err |= gap(&ta, 0, 200, 300, false);
	err |= event(&ta, 500, b, 0, VCPU_STATE_HALTED, IDLE_TASK, 0, SVM_HLT);
	err |= sample(&ta, 50, 0, AXIS_SAMPLE_GUEST_USER, a, NONE, 1, SVM_INTR);
	for (u64 t = 310; t < 490; t += 10)
		err |= sample(&ta, t, 0, AXIS_SAMPLE_GUEST_USER, a, NONE, 1, SVM_INTR);
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	TEST_ASSERT_VAL("halted, lost, and seen again", DID(&ta, a, did_a));
	TEST_ASSERT_VAL("lost on another CPU", DID(&ta, b, did_b));
	time_axis__exit(&ta);

	/* No record of a loss, but a state that cannot be */
	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 1000));
	c = axis__vcpu(&ta, 0, 0);
	err |= event(&ta, 400, c, 2, VCPU_STATE_HALTED, IDLE_TASK, 0, SVM_HLT);
	err |= sample(&ta, 10, 2, AXIS_SAMPLE_GUEST_USER, c, NONE, 3, SVM_INTR);
	err |= sample(&ta, 500, 2, AXIS_SAMPLE_GUEST_USER, c, NONE, 3, SVM_INTR);
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	TEST_ASSERT_VAL("halted and in the guest", DID(&ta, c, did_c));
	time_axis__exit(&ta);

	/* The same, and losses that have nothing to do with it */
	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 1000));
	c = axis__vcpu(&ta, 0, 0);
	err |= event(&ta, 400, c, 2, VCPU_STATE_HALTED, IDLE_TASK, 0, SVM_HLT);
	err |= sample(&ta, 10, 2, AXIS_SAMPLE_GUEST_USER, c, NONE, 3, SVM_INTR);
	err |= sample(&ta, 500, 2, AXIS_SAMPLE_GUEST_USER, c, NONE, 3, SVM_INTR);
	/* Gaps of another CPU, of samples alone, and later */
	err |= gap(&ta, 1, 420, 480, false);
	err |= gap(&ta, 2, 420, 480, true);
	err |= gap(&ta, 2, 800, 850, false);
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	TEST_ASSERT_VAL("records of others are lost", DID(&ta, c, did_d));
	time_axis__exit(&ta);

	/* It comes back on CPU 1, and a record is lost there, or where it was. */
	for (u32 cpu = 1; cpu <= 2; cpu++) {
		const struct expected did_e[] = {
			RAN(400, GUEST_USER, 3, 2),
			WAS(420, HALTED, 2),
			WAS(500, LOST, cpu),
			RAN(1000, GUEST_USER, 3, 1),
		};

		TEST_ASSERT_VAL("init", !axis__new(&ta, true, 1000));
		c = axis__vcpu(&ta, 0, 0);
		err |= event(&ta, 400, c, 2, VCPU_STATE_HALTED, IDLE_TASK, 0, SVM_HLT);
		err |= sample(&ta, 10, 2, AXIS_SAMPLE_GUEST_USER, c, NONE, 3, SVM_INTR);
		err |= sample(&ta, 500, 1, AXIS_SAMPLE_GUEST_USER, c, NONE, 3, SVM_INTR);
		err |= gap(&ta, cpu, 420, 480, false);
		TEST_ASSERT_VAL("add and build", !err && !build(&ta));
		TEST_ASSERT_VAL("halted until records are lost", DID(&ta, c, did_e));
		time_axis__exit(&ta);
	}
	return TEST_OK;
}

static int test__samples_only(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct time_axis ta;
	int v, other, err = 0;
	const struct expected did_v[] = {
		RAN(24, GUEST_USER, 1, 0),
		BY_VCPU(60, VCPU_B, 0),
		{ 80, VCPU_TIME_HALTED, 0, NONE, NONE, IDLE_TASK },
		BY_TASK(100, TASK, 0),
		RAN(110, EXIT, 5, 0),
		WAS(170, HALTED, 0),
		WAS(180, VMM, 0),
		RAN(200, GUEST_USER, 1, 0),
	};
	const struct expected did_v2[] = {
		RAN(10, GUEST_USER, 1, 0),
		BY_VCPU(30, VCPU_B, 0),
		BY_TASK(35, TASK, 0),
		RAN(45, GUEST_USER, 1, 0),
	};

	TEST_ASSERT_VAL("init", !axis__new(&ta, false, 200));
	v = axis__vcpu(&ta, 0, 0);
	other = axis__vcpu(&ta, 1, 0);
	err |= sample(&ta, 10, 0, AXIS_SAMPLE_GUEST_USER, v, NONE, 1, SVM_INTR);
	/* A late one: no blank before it */
	err |= sample(&ta, 24, 0, AXIS_SAMPLE_GUEST_USER, v, NONE, 1, SVM_INTR);
	/* Somebody else, and then nobody */
	for (u64 t = 40; t <= 60; t += 10)
		err |= sample(&ta, t, 0, AXIS_SAMPLE_GUEST_KERNEL, other, NONE, 2, SVM_INTR);
	err |= sample(&ta, 70, 0, AXIS_SAMPLE_IDLE, NONE, IDLE_TASK, 3, 0);
	err |= sample(&ta, 90, 0, AXIS_SAMPLE_HOST, NONE, TASK, 4, 0);
	/* Exit handling of a halt: blank until the next sample is halt, whoever ran */
	err |= sample(&ta, 110, 0, AXIS_SAMPLE_EXIT, v, NONE, 5, SVM_HLT);
	err |= sample(&ta, 130, 0, AXIS_SAMPLE_HOST, NONE, TASK, 4, 0);
	err |= sample(&ta, 180, 0, AXIS_SAMPLE_VMM, v, NONE, 6, 0);
	err |= sample(&ta, 192, 0, AXIS_SAMPLE_GUEST_USER, v, NONE, 1, SVM_INTR);
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	TEST_ASSERT_VAL("samples alone", DID(&ta, v, did_v));
	time_axis__exit(&ta);

	/* The other one stops less than a period before the end, and a task is seen. */
	TEST_ASSERT_VAL("init", !axis__new(&ta, false, 45));
	v = axis__vcpu(&ta, 0, 0);
	other = axis__vcpu(&ta, 1, 0);
	err |= sample(&ta, 10, 0, AXIS_SAMPLE_GUEST_USER, v, NONE, 1, SVM_INTR);
	err |= sample(&ta, 30, 0, AXIS_SAMPLE_GUEST_KERNEL, other, NONE, 2, SVM_INTR);
	err |= sample(&ta, 33, 0, AXIS_SAMPLE_HOST, NONE, TASK, 4, 0);
	err |= sample(&ta, 45, 0, AXIS_SAMPLE_GUEST_USER, v, NONE, 1, SVM_INTR);
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	TEST_ASSERT_VAL("a task after a vCPU", DID(&ta, v, did_v2));
	time_axis__exit(&ta);
	return TEST_OK;
}

/* What the guests had is what the host gave, and the rest is the host's. */
static int test__host(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct time_axis ta;
	int v, err = 0;

	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 100));
	ta.span.clock = false;
	v = axis__vcpu(&ta, 0, 0);
	err |= event(&ta, 0, v, 0, VCPU_STATE_RUN, NONE, 0, SVM_INTR);
	err |= sample(&ta, 5, 0, AXIS_SAMPLE_GUEST_USER, v, NONE, 1, SVM_INTR);
	err |= event(&ta, 20, v, 0, VCPU_STATE_HALTED, IDLE_TASK, 0, SVM_HLT);
	err |= sample(&ta, 50, 0, AXIS_SAMPLE_HOST, NONE, TASK, 2, 0);
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	TEST_ASSERT_VAL("no gap", !sums[0].broken && sums[0].pos == 100);
	TEST_ASSERT_VAL("guest", sums[0].guest == 20);
	/* A sample reaches two periods of 10 far: 30 to 70. */
	TEST_ASSERT_VAL("not counted", sums[0].uncounted == 40);
	TEST_ASSERT_VAL("no such CPU", !sums[1].told);
	time_axis__exit(&ta);
	return TEST_OK;
}

#define MAX_TIME	(~0ULL)

/* Samples at both ends of all the time there can be, by the host and by a vCPU */
static int check_whole_time(void)
{
	static const u64 times[] = { 0, 1, MAX_TIME - 1, MAX_TIME };
	const struct expected did_v[] = {
		RAN(MAX_TIME - 1 - TIME_AXIS_NEAR, GUEST_USER, 1, 1),
		RAN(MAX_TIME - 1, GUEST_USER, 2, 1),
		RAN(MAX_TIME, GUEST_USER, 3, 1),
	};
	struct time_axis ta;
	int v, err = 0;

	TEST_ASSERT_VAL("init", !axis__new(&ta, true, MAX_TIME));
	v = axis__vcpu(&ta, 0, 0);
	err |= event(&ta, 0, v, 1, VCPU_STATE_RUN, NONE, 0, SVM_INTR);
	err |= event(&ta, MAX_TIME, v, 1, VCPU_STATE_HALTED, IDLE_TASK, 0, SVM_HLT);
	for (u32 i = 0; i < ARRAY_SIZE(times); i++) {
		err |= sample(&ta, times[i], 0, AXIS_SAMPLE_HOST, NONE, TASK, i, 0);
		err |= sample(&ta, times[i], 1, AXIS_SAMPLE_GUEST_USER, v, NONE, i, SVM_INTR);
	}
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	TEST_ASSERT_VAL("a run of all time", DID(&ta, v, did_v));
	TEST_ASSERT_VAL("no gap", !sums[0].broken && sums[0].pos == MAX_TIME);
	/* The two at each end are one period of 10 and another far, and 1 between them. */
	TEST_ASSERT_VAL("not counted", sums[0].uncounted == MAX_TIME - 2 * 21);
	time_axis__exit(&ta);
	return TEST_OK;
}

/* No period but 0 is longer than one of these, so that nothing is out of its reach. */
static int check_periods(void)
{
	static const u64 periods[] = {
		0, LLONG_MAX, LLONG_MAX + 1ULL, LLONG_MAX + 2ULL, 3ULL << 62, MAX_TIME
	};

	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		const struct expected did_v[] = {
			RAN(1000, GUEST_USER, 1, 0),
		};
		struct time_axis ta;
		int v, err = 0;

		TEST_ASSERT_VAL("init", !axis__new(&ta, false, 1000));
		ta.span.period = periods[i];
		v = axis__vcpu(&ta, 0, 0);
		err |= sample(&ta, 900, 0, AXIS_SAMPLE_GUEST_USER, v, NONE, 1, SVM_INTR);
		err |= sample(&ta, 100, 1, AXIS_SAMPLE_HOST, NONE, TASK, 2, 0);
		err |= sample(&ta, 900, 1, AXIS_SAMPLE_HOST, NONE, TASK, 2, 0);
		TEST_ASSERT_VAL("add and build", !err && !build(&ta));
		TEST_ASSERT_VAL("a vCPU's", !periods[i] || DID(&ta, v, did_v));
		TEST_ASSERT_VAL("a CPU's", !sums[1].broken && sums[1].pos == 1000 &&
				!sums[1].uncounted);
		time_axis__exit(&ta);
	}
	return TEST_OK;
}

/*
 * A quarter of the samples in waits has almost all of their time: that task has more
 * than its part by more than a s64 can say.
 */
static int check_long_wait(void)
{
	const struct expected did_v[] = {
		WAS(100, RUN, 0),
		BY_TASK(MAX_TIME - 1000, TASK, 0),
		WAS(MAX_TIME - 900, RUN, 0),
		BY_TASK(MAX_TIME - 800, 51, 0),
		WAS(MAX_TIME - 700, RUN, 0),
		BY_TASK(MAX_TIME - 690, 51, 0),
		WAS(MAX_TIME, RUN, 0),
	};
	struct time_axis ta;
	int v, err = 0;

	TEST_ASSERT_VAL("init", !axis__new(&ta, true, MAX_TIME));
	v = axis__vcpu(&ta, 0, 0);
	err |= event(&ta, 0, v, 0, VCPU_STATE_RUN, NONE, 0, SVM_INTR);
	err |= event(&ta, 100, v, 0, VCPU_STATE_PREEMPTED, 51, 0, SVM_INTR);
	err |= sample(&ta, 200, 0, AXIS_SAMPLE_HOST, NONE, TASK, 9, 0);
	err |= event(&ta, MAX_TIME - 1000, v, 0, VCPU_STATE_RUN, NONE, 0, SVM_INTR);
	err |= event(&ta, MAX_TIME - 900, v, 0, VCPU_STATE_PREEMPTED, 51, 0, SVM_INTR);
	for (u64 i = 0; i < 3; i++)
		err |= sample(&ta, MAX_TIME - 890 + i, 0, AXIS_SAMPLE_HOST, NONE, 51, 9, 0);
	err |= event(&ta, MAX_TIME - 800, v, 0, VCPU_STATE_RUN, NONE, 0, SVM_INTR);
	err |= event(&ta, MAX_TIME - 700, v, 0, VCPU_STATE_PREEMPTED, 51, 0, SVM_INTR);
	err |= event(&ta, MAX_TIME - 690, v, 0, VCPU_STATE_RUN, NONE, 0, SVM_INTR);
	TEST_ASSERT_VAL("add and build", !err && !build(&ta));
	TEST_ASSERT_VAL("the last wait is whose part is missing", DID(&ta, v, did_v));
	time_axis__exit(&ta);
	return TEST_OK;
}

static int test__extremes(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	int ret = check_whole_time();

	if (ret == TEST_OK)
		ret = check_periods();
	return ret == TEST_OK ? check_long_wait() : ret;
}

/* Random, and the same every time: a linear congruential generator (Knuth's MMIX) */
static u64 random_below(u64 *seed, u64 limit)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (*seed >> 33) % limit;
}

#define NR_RANDOM	400
#define RANDOM_VCPUS	3
#define RANDOM_CPUS	3
#define RANDOM_TIME	2000

/* As the tools may give it: not in order, at and beyond the ends, contradictory */
static int fill_random(struct time_axis *ta, u64 seed, bool backwards)
{
	struct axis_event events[60];
	struct axis_sample samples[200];
	struct axis_gap gaps[6];
	size_t nr_events = random_below(&seed, ARRAY_SIZE(events) + 1);
	size_t nr_samples = random_below(&seed, ARRAY_SIZE(samples) + 1);
	size_t nr_gaps = random_below(&seed, 4) ? 0 : random_below(&seed, ARRAY_SIZE(gaps) + 1);
	int err = 0;

	err = axis__new(ta, random_below(&seed, 2), 100 + RANDOM_TIME);
	if (err)
		return err;
	ta->span.start = 100;
	ta->span.clock = random_below(&seed, 2);
	ta->span.period = random_below(&seed, 4) ? 10 : random_below(&seed, 50);
	for (u32 i = 0; i < RANDOM_VCPUS; i++) {
		int v = time_axis__findnew_vcpu(ta, i / 2, i);

		if (v < 0)
			return v;
		ta->vcpus[v].at_start = random_below(&seed, 4);
		ta->vcpus[v].at_end = random_below(&seed, 4);
	}

	for (size_t i = 0; i < nr_events; i++)
		events[i] = (struct axis_event) {
			.time = random_below(&seed, RANDOM_TIME + 200),
			.waited = random_below(&seed, 300),
			.vcpu = random_below(&seed, RANDOM_VCPUS),
			.cpu = random_below(&seed, RANDOM_CPUS),
			.state = random_below(&seed, VCPU_STATE_GONE + 1),
			.next_task = random_below(&seed, 2) ? NONE : random_below(&seed, 4),
			.exit_reason = random_below(&seed, 2) ? SVM_INTR : SVM_HLT,
			.isa = PERF_VCPU_ISA_SVM,
		};
	for (size_t i = 0; i < nr_samples; i++)
		samples[i] = (struct axis_sample) {
			.time = random_below(&seed, RANDOM_TIME + 200),
			.cpu = random_below(&seed, RANDOM_CPUS),
			.vcpu = random_below(&seed, 3) ? random_below(&seed, RANDOM_VCPUS) : NONE,
			.task = random_below(&seed, 5),
			.hit = random_below(&seed, 5),
			.kind = random_below(&seed, AXIS_SAMPLE_IDLE + 1),
			.exit_reason = random_below(&seed, 2) ? SVM_INTR : SVM_HLT,
			.isa = PERF_VCPU_ISA_SVM,
		};
	for (size_t i = 0; i < nr_gaps; i++) {
		gaps[i].from = random_below(&seed, RANDOM_TIME + 200);
		gaps[i].until = gaps[i].from + random_below(&seed, 300);
		gaps[i].cpu = random_below(&seed, RANDOM_CPUS);
		gaps[i].samples_only = random_below(&seed, 2);
		gaps[i].silent = gaps[i].samples_only && random_below(&seed, 2);
	}

	for (size_t i = 0; i < nr_events; i++)
		err |= time_axis__add_event(ta, &events[backwards ? nr_events - 1 - i : i]);
	for (size_t i = 0; i < nr_samples; i++)
		err |= time_axis__add_sample(ta, &samples[backwards ? nr_samples - 1 - i : i]);
	for (size_t i = 0; i < nr_samples; i++)
		err |= time_axis__add_work(ta, 0, samples[backwards ? nr_samples - 1 - i : i].time);
	for (size_t i = 0; i < nr_gaps; i++)
		err |= time_axis__add_gap(ta, &gaps[backwards ? nr_gaps - 1 - i : i]);
	return err ?: build(ta);
}

static bool vcpu__is_whole(const struct time_axis *ta, const struct vcpu_intervals *list)
{
	u64 pos = ta->span.start;

	for (size_t i = 0; i < list->nr; i++) {
		const struct vcpu_interval *interval = &list->entries[i];

		if (interval->start != pos || interval->end <= pos ||
		    interval->kind >= VCPU_TIME_NR)
			return false;
		pos = interval->end;
	}
	return pos == ta->span.end;
}

static bool axis__is_whole(const struct time_axis *ta)
{
	for (u32 v = 0; v < RANDOM_VCPUS; v++) {
		if (!vcpu__is_whole(ta, &did[v]))
			return false;
	}
	for (u32 cpu = 0; cpu < RANDOM_CPUS; cpu++) {
		if (sums[cpu].told && (sums[cpu].broken || sums[cpu].pos != ta->span.end))
			return false;
	}
	return true;
}

static bool intervals__same(const struct vcpu_interval *a, const struct vcpu_interval *b)
{
	bool same = a->start == b->start && a->end == b->end && a->kind == b->kind &&
		    a->cpu == b->cpu && a->hit == b->hit && a->vcpu == b->vcpu &&
		    a->task == b->task && a->exit_reason == b->exit_reason &&
		    a->vmm_works == b->vmm_works &&
		    (a->shared == NONE) == (b->shared == NONE);

	if (!same)
		pr_debug("%" PRIu64 "-%" PRIu64 " kind %d cpu %u hit %u vcpu %u task %u, but %"
			 PRIu64 "-%" PRIu64 " kind %d cpu %u hit %u vcpu %u task %u\n",
			 a->start, a->end, a->kind, a->cpu, a->hit, a->vcpu, a->task,
			 b->start, b->end, b->kind, b->cpu, b->hit, b->vcpu, b->task);
	return same;
}

/* Is what the vCPUs did the same as @before, which is freed, and what the CPUs did? */
static bool same_as(struct vcpu_intervals *before, const struct sum *sums_before)
{
	bool same = true;

	for (u32 v = 0; v < RANDOM_VCPUS; v++) {
		for (size_t i = 0; i < min(did[v].nr, before[v].nr); i++)
			same = same && intervals__same(&did[v].entries[i], &before[v].entries[i]);
		same = same && did[v].nr == before[v].nr;
		vcpu_intervals__exit(&before[v]);
	}
	for (u32 cpu = 0; cpu < RANDOM_CPUS; cpu++)
		same = same && sums[cpu].guest == sums_before[cpu].guest &&
		       sums[cpu].uncounted == sums_before[cpu].uncounted;
	return same;
}

/* Keeps what was collected, and forgets it. */
static void keep(struct vcpu_intervals *before, struct sum *sums_before)
{
	memcpy(before, did, sizeof(did));
	memset(did, 0, sizeof(did));
	memcpy(sums_before, sums, sizeof(sums));
}

static int test__random(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	for (u64 seed = 0; seed < NR_RANDOM; seed++) {
		struct vcpu_intervals before[MAX_VCPUS];
		struct sum sums_before[MAX_CPUS];
		struct time_axis ta, backwards;

		pr_debug2("seed %" PRIu64 "\n", seed);
		TEST_ASSERT_VAL("build", !fill_random(&ta, seed, false));
		TEST_ASSERT_VAL("all time, once", axis__is_whole(&ta));
		keep(before, sums_before);
		TEST_ASSERT_VAL("build", !fill_random(&backwards, seed, true));
		TEST_ASSERT_VAL("the order of adding", same_as(before, sums_before));
		time_axis__exit(&ta);
		time_axis__exit(&backwards);
	}
	return TEST_OK;
}

#define NR_STREAMS	20
#define STREAM_TIME	20000
#define STREAM_NEAR	200
#define STREAM_PERIOD	10

/* What is added at @at, in the order of that: an event, or else a sample */
struct stream_record {
	u64	at;
	bool	is_event;
	struct axis_event event;
	struct axis_sample sample;
};

/* A host that works, so that it does not contradict itself; one step is 1 ns. */
struct stream {
	struct stream_record *records;
	size_t	nr, allocated;
	struct axis_event stopped[RANDOM_VCPUS];	/* how each vCPU stopped last */
	u32	cpu[RANDOM_VCPUS];			/* that it has, or NONE */
	u32	on_cpu[RANDOM_CPUS];			/* the vCPU that has it, or NONE */
	u64	seed;
	u64	time;
};

static int stream__add(struct stream *s, const struct stream_record *record)
{
	int err = grow_array(s->records, s->nr, s->allocated);

	if (!err)
		s->records[s->nr++] = *record;
	return err;
}

/* A state ends: it is said now when it began, or was said then if it is long. */
static int stream__run(struct stream *s, u32 v, u32 cpu)
{
	struct stream_record begin = { .is_event = true, .event = s->stopped[v] }, end = begin;

	begin.at = s->time - begin.event.time > STREAM_NEAR ? begin.event.time : s->time;
	end.at = begin.at;
	end.event.time = s->time;
	end.event.state = VCPU_STATE_RUN;
	end.event.cpu = cpu;
	end.event.next_task = NONE;
	if (begin.event.state == VCPU_STATE_HALTED)
		end.event.waited = random_below(&s->seed, 5);
	s->cpu[v] = cpu;
	s->on_cpu[cpu] = v;
	return stream__add(s, &begin) ?: stream__add(s, &end);
}

static void stream__stop(struct stream *s, u32 v)
{
	bool halts = random_below(&s->seed, 2);

	s->stopped[v] = (struct axis_event) {
		.time = s->time,
		.vcpu = v,
		.cpu = s->cpu[v],
		.state = halts ? VCPU_STATE_HALTED : VCPU_STATE_PREEMPTED,
		.next_task = random_below(&s->seed, 4),
		.exit_reason = halts ? SVM_HLT : SVM_INTR,
		.isa = PERF_VCPU_ISA_SVM,
	};
	s->on_cpu[s->cpu[v]] = NONE;
	s->cpu[v] = NONE;
}

static int stream__sample(struct stream *s, u32 cpu)
{
	struct stream_record record = {
		.at = s->time,
		.sample = {
			.time = s->time,
			.cpu = cpu,
			.vcpu = s->on_cpu[cpu],
			.task = random_below(&s->seed, 4),
			.hit = random_below(&s->seed, 5),
			.kind = AXIS_SAMPLE_HOST,
		},
	};

	if (s->on_cpu[cpu] != NONE) {
		record.sample.kind = random_below(&s->seed, AXIS_SAMPLE_EXIT + 1);
		record.sample.exit_reason = SVM_INTR;
		record.sample.isa = PERF_VCPU_ISA_SVM;
	} else if (random_below(&s->seed, 2)) {
		record.sample.kind = AXIS_SAMPLE_IDLE;
	}
	return stream__add(s, &record);
}

static int stream__step(struct stream *s)
{
	u32 v = random_below(&s->seed, RANDOM_VCPUS), cpu = random_below(&s->seed, RANDOM_CPUS);
	u64 what = random_below(&s->seed, 1000);
	int err = 0;

	/* CPU 2 is quiet now and then, for longer than what is near. */
	for (u32 i = 0; !err && i < RANDOM_CPUS; i++) {
		if (s->time % STREAM_PERIOD == i && (i < 2 || s->time / 1000 % 2 == 0))
			err = stream__sample(s, i);
	}
	if (what < 10 && s->cpu[v] != NONE)
		stream__stop(s, v);
	else if (!err && what < 20 && s->cpu[v] == NONE && s->on_cpu[cpu] == NONE)
		err = stream__run(s, v, cpu);
	return err;
}

static int record__cmp(const void *_a, const void *_b)
{
	const struct stream_record *a = _a, *b = _b;

	return sort_cmp(a->at, b->at) ?:
	       sort_cmp(a->event.time, b->event.time) ?:
	       sort_cmp(a->sample.cpu, b->sample.cpu);
}

static int stream__make(struct stream *s, u64 seed)
{
	int err = 0;

	*s = (struct stream) { .seed = seed };
	for (u32 v = 0; v < RANDOM_VCPUS; v++) {
		s->cpu[v] = v;
		s->on_cpu[v] = v;
	}
	for (; !err && s->time < STREAM_TIME; s->time++)
		err = stream__step(s);
	/* Each state has an end. */
	for (u32 v = 0; !err && v < RANDOM_VCPUS; v++)
		err = s->cpu[v] == NONE ? stream__run(s, v, v) : 0;
	sort_array(s->records, s->nr, sizeof(*s->records), record__cmp);
	return err;
}

/* Tasks of the host whose numbers are those of VMs work for these. */
static int stream__feed_sample(struct time_axis *ta, const struct axis_sample *sample)
{
	int err = time_axis__add_sample(ta, sample);

	if (!err && sample->kind == AXIS_SAMPLE_HOST && sample->task < RANDOM_VCPUS / 2)
		err = time_axis__add_work(ta, sample->task, sample->time);
	return err;
}

enum feed { FEED_AT_ONCE, FEED_BIT_BY_BIT, FEED_THREAD };

/* In a thread, a vCPU that is new comes now and then, too. All but the end: 0 or what failed */
static int stream__feed(const struct stream *s, struct time_axis *ta, bool timeline, enum feed feed,
			const struct axis_sink *sink)
{
	int err = axis__new(ta, timeline, STREAM_TIME);

	ta->threads = feed == FEED_THREAD;
	ta->sink = *sink;
	ta->span.near = STREAM_NEAR;
	ta->span.period = STREAM_PERIOD;
	for (u32 v = 0; v < RANDOM_VCPUS; v++)
		axis__vcpu(ta, v / 2, v);
	for (size_t i = 0; !err && i < s->nr; i++) {
		const struct stream_record *record = &s->records[i];

		err = record->is_event ? time_axis__add_event(ta, &record->event) :
					 stream__feed_sample(ta, &record->sample);
		if (!err && feed != FEED_AT_ONCE)
			err = time_axis__advance(ta, record->at);
		if (ta->worker && i % 1000 == 0 && time_axis__findnew_vcpu(ta, RANDOM_VCPUS, i) < 0)
			err = -ENOMEM;
	}
	return err;
}

/* ... and what comes out is kept */
static int stream__collect(const struct stream *s, struct time_axis *ta, bool timeline,
			   enum feed feed)
{
	const struct axis_sink sink = { .vcpu = collect_vcpu, .cpu = collect_cpu, .arg = ta };
	int err;

	forget();
	err = stream__feed(s, ta, timeline, feed, &sink);
	if (!err && (feed == FEED_THREAD ? !ta->worker : !!ta->worker))
		err = -EINVAL;
	return err ?: time_axis__finish(ta);
}

static int check_stream(const struct stream *s, bool timeline)
{
	struct vcpu_intervals before[MAX_VCPUS];
	struct sum sums_before[MAX_CPUS];
	struct time_axis ta;

	TEST_ASSERT_VAL("at once", !stream__collect(s, &ta, timeline, FEED_AT_ONCE));
	TEST_ASSERT_VAL("all time, once", axis__is_whole(&ta));
	time_axis__exit(&ta);
	for (enum feed feed = FEED_BIT_BY_BIT; feed <= FEED_THREAD; feed++) {
		keep(before, sums_before);
		TEST_ASSERT_VAL("bit by bit", !stream__collect(s, &ta, timeline, feed));
		TEST_ASSERT_VAL("all time, once", axis__is_whole(&ta));
		TEST_ASSERT_VAL("the same", same_as(before, sums_before));
		time_axis__exit(&ta);
	}
	return TEST_OK;
}

/* What comes out does not depend on when. */
static int test__stream(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	int ret = TEST_OK;

	for (u64 seed = 0; ret == TEST_OK && seed < NR_STREAMS; seed++) {
		struct stream s;

		pr_debug2("seed %" PRIu64 "\n", seed);
		TEST_ASSERT_VAL("make", !stream__make(&s, seed));
		ret = check_stream(&s, true);
		if (ret == TEST_OK)
			ret = check_stream(&s, false);
		free(s.records);
	}
	return ret;
}

/* What a sink of the test below gets */
struct failing_sink {
	u64	nr;
	u64	most;
	pthread_t caller;
	bool	elsewhere;
};

static int fail_late(struct failing_sink *sink)
{
	sink->elsewhere |= !pthread_equal(pthread_self(), sink->caller);
	return ++sink->nr > sink->most ? -EXDEV : 0;
}

static int fail_late_vcpu(u32 vcpu __maybe_unused,
			  const struct vcpu_interval *interval __maybe_unused, void *arg)
{
	return fail_late(arg);
}

static int fail_late_cpu(const struct cpu_interval *interval __maybe_unused, void *arg)
{
	return fail_late(arg);
}

/* 0 or what failed */
static int feed_thread(const struct stream *s, struct time_axis *ta, struct failing_sink *failing)
{
	const struct axis_sink sink = {
		.vcpu = fail_late_vcpu,
		.cpu = fail_late_cpu,
		.arg = failing,
	};

	return stream__feed(s, ta, true, FEED_THREAD, &sink);
}

/* The sink is called by who adds, and what it returns ends all; a thread ends with the axis. */
static int test__thread(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct failing_sink sink = { .most = ~0ULL, .caller = pthread_self() };
	struct stream s;
	struct time_axis ta;
	u64 all;
	int err;

	TEST_ASSERT_VAL("make", !stream__make(&s, 0));
	err = feed_thread(&s, &ta, &sink);
	TEST_ASSERT_VAL("to the end", !err && ta.worker && !time_axis__finish(&ta) && !ta.worker);
	TEST_ASSERT_VAL("by who adds", sink.nr && !sink.elsewhere);
	time_axis__exit(&ta);

	all = sink.nr;
	for (u64 most = 0; most < all; most += all / 4) {
		sink.nr = 0;
		sink.most = most;
		err = feed_thread(&s, &ta, &sink) ?: time_axis__finish(&ta);
		TEST_ASSERT_EQUAL("what the sink returns", err, -EXDEV);
		TEST_ASSERT_VAL("and it is not called again", sink.nr == most + 1);
		time_axis__exit(&ta);
	}

	sink.most = ~0ULL;
	TEST_ASSERT_VAL("not to the end", !feed_thread(&s, &ta, &sink) && ta.worker);
	time_axis__exit(&ta);
	free(s.records);
	return TEST_OK;
}

/* The vCPU leaves KVM_RUN all the time. */
#define SHORT_NEAR	1000
#define SHORT_STATE	5
/* Those of a step, twice, as one may be behind by one */
#define MOST_SHORT	(2 * SHORT_NEAR / 8 / SHORT_STATE)

static size_t most_labelled;

static int count_labelled(u32 vcpu, const struct vcpu_interval *interval __maybe_unused, void *arg)
{
	const struct time_axis *ta = arg;

	most_labelled = max(most_labelled, queue_len(&ta->vcpus[vcpu].labelled));
	return 0;
}

/* What is made of the time that is near is never kept all at once, in the end neither. */
static int test__short_states(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct time_axis ta;
	int v, err = 0;

	TEST_ASSERT_VAL("init", !axis__new(&ta, true, 4 * SHORT_NEAR));
	ta.span.near = SHORT_NEAR;
	ta.sink = (struct axis_sink) { .vcpu = count_labelled, .cpu = collect_cpu, .arg = &ta };
	forget();
	most_labelled = 0;
	v = axis__vcpu(&ta, 0, 0);
	for (u64 time = 0; !err && time < ta.span.end; time += 2 * SHORT_STATE)
		err = event(&ta, time, v, 0, VCPU_STATE_USER, NONE, 0, SVM_NPF) ?:
		      event(&ta, time + SHORT_STATE, v, 0, VCPU_STATE_RUN, NONE, 0, SVM_NPF) ?:
		      guest_samples(&ta, v, time + SHORT_STATE, time + SHORT_STATE + 1) ?:
		      time_axis__advance(&ta, time + SHORT_STATE);
	TEST_ASSERT_VAL("as it comes", !err && most_labelled && most_labelled <= MOST_SHORT);
	TEST_ASSERT_VAL("the rest", !time_axis__finish(&ta));
	TEST_ASSERT_VAL("step by step", most_labelled <= MOST_SHORT);
	time_axis__exit(&ta);
	return TEST_OK;
}

/* Each cause has a number, which is the same for the same. */
static int test__causes(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const struct axis_cause all[] = {
		{ },
		{ .exit_reason = SVM_HLT, .isa = PERF_VCPU_ISA_SVM },
		{ .exit_reason = ~0ULL, .isa = PERF_VCPU_ISA_SVM },
		{ .exit_reason = ~0ULL, .isa = PERF_VCPU_ISA_VMX },
		{ .exit_reason = ~0ULL, .isa = PERF_VCPU_ISA_VMX, .why = -1 },
		{ .why = -1 },
		{ .exit_reason = 1ULL << 32 },
	};
	struct axis_causes causes;

	TEST_ASSERT_VAL("init", !axis_causes__init(&causes));
	for (int again = 0; again < 2; again++) {
		for (int i = 0; i < (int)ARRAY_SIZE(all); i++) {
			TEST_ASSERT_EQUAL("number", axis_causes__findnew(&causes, &all[i]), i);
			TEST_ASSERT_EQUAL("the last", axis_causes__findnew(&causes, &all[i]), i);
			TEST_ASSERT_VAL("what it is", !memcmp(axis_causes__at(&causes, i), &all[i],
							      sizeof(all[i])));
		}
	}
	TEST_ASSERT_EQUAL("no more", (int)causes.nr, (int)ARRAY_SIZE(all));
	for (u32 i = 0; i < 1000; i++)
		TEST_ASSERT_VAL("many", axis_causes__findnew(&causes, &(struct axis_cause) {
			.exit_reason = 1 + i, .why = 1 }) == (int)(ARRAY_SIZE(all) + i));
	TEST_ASSERT_EQUAL("still", axis_causes__findnew(&causes, &all[3]), 3);
	axis_causes__exit(&causes);
	return TEST_OK;
}

static struct test_case time_axis_tests[] = {
	TEST_CASE("kvm unified: time axis: states", states),
	TEST_CASE("kvm unified: time axis: a limit of its own", throttled),
	TEST_CASE("kvm unified: time axis: before the first event", first),
	TEST_CASE("kvm unified: time axis: threads of vCPUs that end", gone),
	TEST_CASE("kvm unified: time axis: waits of a vCPU that has a limit", limited),
	TEST_CASE("kvm unified: time axis: in the VMM before the first event", first_user),
	TEST_CASE("kvm unified: time axis: one state that is lost", lost_state),
	TEST_CASE("kvm unified: time axis: another vCPU of that number", another),
	TEST_CASE("kvm unified: time axis: long states that were seen", looks),
	TEST_CASE("kvm unified: time axis: what goes on at the end", open),
	TEST_CASE("kvm unified: time axis: who had the CPU", who),
	TEST_CASE("kvm unified: time axis: who had the CPU in turns", turns),
	TEST_CASE("kvm unified: time axis: who had the CPU in short waits", shares),
	TEST_CASE("kvm unified: time axis: many short waits and many tasks", many_shares),
	TEST_CASE("kvm unified: time axis: vCPUs that come and go", lifetime),
	TEST_CASE("kvm unified: time axis: halts with work for the VM", work),
	TEST_CASE("kvm unified: time axis: lost records", lost),
	TEST_CASE("kvm unified: time axis: gaps of a CPU", gaps),
	TEST_CASE("kvm unified: time axis: what is kept of the time that is near", queue),
	TEST_CASE("kvm unified: time axis: a search that goes on", find),
	TEST_CASE("kvm unified: time axis: gaps of CPUs that are not recorded", silent_gaps),
	TEST_CASE("kvm unified: time axis: a CPU that is not recorded", silent),
	TEST_CASE("kvm unified: time axis: the same from samples", silent_samples),
	TEST_CASE("kvm unified: time axis: lost events", lost_return),
	TEST_CASE("kvm unified: time axis: samples only", samples_only),
	TEST_CASE("kvm unified: time axis: host", host),
	TEST_CASE("kvm unified: time axis: extremes", extremes),
	TEST_CASE("kvm unified: time axis: random", random),
	TEST_CASE("kvm unified: time axis: what comes in as a stream", stream),
	TEST_CASE("kvm unified: time axis: in a thread of its own", thread),
	TEST_CASE("kvm unified: time axis: short states to the end", short_states),
	TEST_CASE("kvm unified: time axis: causes", causes),
	{ .name = NULL, }
};

struct test_suite suite__kvm_unified_time_axis = {
	.desc = "kvm unified: time axis",
	.test_cases = time_axis_tests,
};
