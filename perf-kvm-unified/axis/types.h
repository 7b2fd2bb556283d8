/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_TYPES_H
#define __PERF_KVM_UNIFIED_AXIS_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/types.h>

#include "kvm-unified/lib/queue.h"
#include "kvm-unified/lib/sort.h"
#include "causes.h"

/*
 * Times are ns of the clock of the profile. Hits and tasks are numbers of the
 * caller's: what a sample hit, and which thread of the host.
 */

#define TIME_AXIS_NONE	(~0U)

/* CPU numbers and vCPU ids must be below: more than any machine has. */
#define TIME_AXIS_MAX_CPUS	65536
#define TIME_AXIS_CPU_BITS	16
static_assert(TIME_AXIS_MAX_CPUS <= 1 << TIME_AXIS_CPU_BITS);
/* PERF_VCPU_ISA_* fit into so many bits. */
#define TIME_AXIS_ISA_BITS	8

/* As kvm:kvm_vcpu_timeline has them: enum kvm_vcpu_timeline_state of the kernel */
enum vcpu_state {
	VCPU_STATE_RUN,
	VCPU_STATE_USER,
	VCPU_STATE_PREEMPTED,
	VCPU_STATE_BLOCKED,
	VCPU_STATE_HALTED,
	VCPU_STATE_HALT_POLL,
	VCPU_STATE_THROTTLED,
	VCPU_STATE_NR,
	/* No event has that: the thread that ran the vCPU has ended. */
	VCPU_STATE_GONE = VCPU_STATE_NR
};

#define VCPU_STATE_BITS	3
static_assert(VCPU_STATE_NR < 1 << VCPU_STATE_BITS);

enum vcpu_time_kind {
	VCPU_TIME_GUEST_USER,
	VCPU_TIME_GUEST_KERNEL,
	VCPU_TIME_EXIT,		/* KVM, or an interrupt of the host, had the CPU */
	VCPU_TIME_VMM,		/* out of KVM_RUN */
	VCPU_TIME_STOPPED,	/* its thread was stopped or frozen when it was looked at */
	VCPU_TIME_HALT_POLL,
	VCPU_TIME_HALTED,
	VCPU_TIME_PREEMPTED,	/* wanted to run, and something else did */
	VCPU_TIME_THROTTLED,	/* wanted to run, and a limit of its own forbade it */
	VCPU_TIME_BLOCKED,	/* in KVM_RUN, waited for the host */
	VCPU_TIME_RUN,		/* in KVM_RUN, with the CPU, but never sampled */
	VCPU_TIME_LOST,		/* records or samples are missing */
	VCPU_TIME_ABSENT,	/* there was no such vCPU */
	VCPU_TIME_UNKNOWN,
	VCPU_TIME_NR
};

/**
 * struct axis_span - the measurement that the axis is of
 * @start: @end: when it was
 * @period: ns that a sample stands for, LLONG_MAX at most
 * @clock: the event samples the time of whole CPUs, so that each gets a sample in
 *	each period, busy or not: where there is none near, some are missing. Else
 *	nothing need have run there that the event counts.
 * @per_task: only some tasks are sampled, so that samples do not tell how much of a
 *	CPU's time another had
 * @timeline: what vCPUs did comes from events, and not from samples alone
 * @near: ns; what is further away from a moment says nothing of it, so that it need not
 *	be waited for
 */
struct axis_span {
	u64	start;
	u64	end;
	u64	period;
	bool	clock;
	bool	per_task;
	bool	timeline;
	u64	near;
};

/**
 * struct axis_event - a change of a vCPU's state, from kvm:kvm_vcpu_timeline
 * @vcpu: index of the vCPU, as from time_axis__findnew_vcpu()
 * @next_task: who gets the CPU, or TIME_AXIS_NONE
 * @exit_reason: @isa: of the last exit before, if @isa is one of PERF_VCPU_ISA_*
 * @why: VCPU_STATE_USER: what KVM_RUN returned if negative, else a KVM_EXIT_* code
 * @waited: @ended: @after_lost: @first: and all else: as in struct vcpu_change
 */
struct axis_event {
	u64	time;
	u64	waited;
	u64	exit_reason;
	u32	vcpu;
	u32	cpu;
	u32	next_task;
	u32	isa;
	s32	why;
	enum vcpu_state state;
	enum vcpu_state ended;
	bool	after_lost;
	bool	first;
};

/* Three days */
#define VCPU_CHANGE_WAIT_BITS	48
#define VCPU_CHANGE_MOST_WAIT	((1ULL << VCPU_CHANGE_WAIT_BITS) - 1)

/**
 * struct vcpu_change - what is kept of an event with its vCPU, in little: it is of seconds
 * @waited: ns of the state before, until this, that the thread has waited for a CPU; more than
 *	VCPU_CHANGE_MOST_WAIT is that
 * @cause: number of what the event says of it, as from axis_causes__findnew()
 * @ended: VCPU_STATE_RUN: what the state before was, if that has no event; else
 *	VCPU_STATE_RUN
 * @after_lost: a state before this one is missing: its event was lost
 * @first: of a vCPU that was made meanwhile, with the number of one that was there before
 */
struct vcpu_change {
	u64	time;
	u64	waited:VCPU_CHANGE_WAIT_BITS;
	u64	cpu:TIME_AXIS_CPU_BITS;
	u32	cause:AXIS_CAUSE_BITS;
	enum vcpu_state state:VCPU_STATE_BITS;
	enum vcpu_state ended:VCPU_STATE_BITS;
	bool	after_lost:1;
	bool	first:1;
} __packed __aligned(4);
static_assert(sizeof(struct vcpu_change) == 20);

/**
 * struct axis_look - a look at a vCPU's thread that had not run for a while
 * @vcpu: index of the vCPU
 * @kind: what it was at: HALTED, BLOCKED, VMM, STOPPED, or PREEMPTED: it could run
 * @at_pause: all events until @time are there, so if it is past the last record, @kind is what it
 *	was at until then
 */
struct axis_look {
	u64	time;
	u32	vcpu;
	enum vcpu_time_kind kind:8;
	bool	at_pause;
};

enum axis_sample_kind {
	AXIS_SAMPLE_GUEST_USER,
	AXIS_SAMPLE_GUEST_KERNEL,
	AXIS_SAMPLE_EXIT,	/* in KVM_RUN, and in the host */
	AXIS_SAMPLE_VMM,	/* the vCPU's thread, out of KVM_RUN */
	AXIS_SAMPLE_HOST,	/* another task of the host */
	AXIS_SAMPLE_IDLE,	/* none */
};

/**
 * struct axis_sample - a sample
 * @vcpu: index of the vCPU whose thread it is of, or TIME_AXIS_NONE
 */
struct axis_sample {
	u64	time;
	u64	exit_reason;
	u32	vcpu;
	u32	task;
	u32	hit;
	/* Small, as those of seconds are kept. */
	u32	cpu:TIME_AXIS_CPU_BITS;
	u32	isa:TIME_AXIS_ISA_BITS;
	enum axis_sample_kind kind:8;
};

struct vcpu_changes	{ DECLARE_QUEUE(struct vcpu_change); };
struct axis_samples	{ DECLARE_QUEUE(struct axis_sample); };
struct axis_looks	{ DECLARE_QUEUE(struct axis_look); };

/* Does the sample show that the vCPU was in KVM_RUN, with the CPU? */
static inline bool axis_sample__in_run(const struct axis_sample *sample)
{
	return sample->kind == AXIS_SAMPLE_GUEST_USER ||
	       sample->kind == AXIS_SAMPLE_GUEST_KERNEL || sample->kind == AXIS_SAMPLE_EXIT;
}

static inline bool axis_sample__is_guest(const struct axis_sample *sample)
{
	return sample->kind == AXIS_SAMPLE_GUEST_USER ||
	       sample->kind == AXIS_SAMPLE_GUEST_KERNEL;
}

/*
 * By time. What has the same time is put in an order of its own, so that the result does
 * not depend on the one in which it came.
 */
static inline int axis_sample__cmp(const struct axis_sample *a, const struct axis_sample *b)
{
	return sort_cmp(a->time, b->time) ?:
	       sort_cmp(a->kind, b->kind) ?:
	       sort_cmp(a->task, b->task) ?:
	       sort_cmp(a->hit, b->hit) ?:
	       sort_cmp(a->vcpu, b->vcpu) ?:
	       sort_cmp(a->exit_reason, b->exit_reason) ?:
	       sort_cmp(a->isa, b->isa) ?:
	       sort_cmp(a->cpu, b->cpu);
}

#endif /* __PERF_KVM_UNIFIED_AXIS_TYPES_H */
