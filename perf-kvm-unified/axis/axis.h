/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_AXIS_H
#define __PERF_KVM_UNIFIED_AXIS_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

/*
 * What every vCPU did, and what every CPU of the host did for whom, on one axis:
 * the host's time. Filled with events and samples in any order, then built once.
 * No session, no I/O.
 *
 * Times are ns of the clock of the profile. Hits and tasks are numbers of the
 * caller's: what a sample hit, and which thread of the host.
 */

#define TIME_AXIS_NONE	(~0U)

/* CPU numbers and vCPU ids must be below: more than any machine has */
#define TIME_AXIS_MAX_CPUS	65536

struct cpu_track;
struct hashmap;

/* As kvm:kvm_vcpu_timeline has them: enum kvm_vcpu_timeline_state of the kernel */
enum vcpu_state {
	VCPU_STATE_RUN,
	VCPU_STATE_USER,
	VCPU_STATE_PREEMPTED,
	VCPU_STATE_BLOCKED,
	VCPU_STATE_HALTED,
	VCPU_STATE_HALT_POLL,
	VCPU_STATE_NR
};

enum vcpu_time_kind {
	VCPU_TIME_GUEST_USER,
	VCPU_TIME_GUEST_KERNEL,
	VCPU_TIME_EXIT,		/* KVM, or an interrupt of the host, had the CPU */
	VCPU_TIME_VMM,		/* out of KVM_RUN */
	VCPU_TIME_HALT_POLL,
	VCPU_TIME_HALTED,
	VCPU_TIME_PREEMPTED,	/* wanted to run, and something else did */
	VCPU_TIME_BLOCKED,	/* in KVM_RUN, waited for the host */
	VCPU_TIME_RUN,		/* in KVM_RUN, with the CPU, but never sampled */
	VCPU_TIME_LOST,		/* records or samples are missing */
	VCPU_TIME_ABSENT,	/* there was no such vCPU */
	VCPU_TIME_UNKNOWN,
	VCPU_TIME_NR
};

/**
 * struct vcpu_interval - what a vCPU did from @start to before @end
 * @cpu: the host's CPU that it was on, or was on last
 * @hit: GUEST_USER, GUEST_KERNEL, EXIT: what the sample nearby hit
 * @exit_reason: @isa: of the last exit before, if @isa is one of PERF_VCPU_ISA_*
 * @why: VMM: what KVM_RUN returned if negative, else a KVM_EXIT_* code
 * @woken: PREEMPTED: it had slept, and was not on a CPU before
 * @vcpu: PREEMPTED: the vCPU (an index) that had the CPU, or TIME_AXIS_NONE
 * @task: PREEMPTED: the task that had the CPU, or TIME_AXIS_NONE
 */
struct vcpu_interval {
	u64	start;
	u64	end;
	u64	exit_reason;
	enum vcpu_time_kind kind;
	u32	cpu;
	u32	hit;
	u32	isa;
	s32	why;
	u32	vcpu;
	u32	task;
	bool	woken;
};

struct vcpu_intervals {
	struct vcpu_interval *entries;
	size_t	nr;
	size_t	allocated;
};

/**
 * struct axis_event - a change of a vCPU's state, from kvm:kvm_vcpu_timeline
 * @vcpu: index of the vCPU, as from time_axis__findnew_vcpu()
 * @waited: ns of the state before, until this, that the thread has waited for a CPU
 * @ended: VCPU_STATE_RUN: what the state before was, if that has no event; else
 *	VCPU_STATE_RUN
 * @after_lost: a state before this one is missing: its event was lost
 * @next_task: who gets the CPU, or TIME_AXIS_NONE
 */
struct axis_event {
	u64	time;
	u64	waited;
	u64	exit_reason;
	u32	vcpu;
	u32	cpu;
	enum vcpu_state state;
	enum vcpu_state ended;
	bool	after_lost;
	s32	why;
	u32	next_task;
	u32	isa;
};

/**
 * struct axis_look - a look at a vCPU's thread that had not run for a while
 * @vcpu: index of the vCPU
 * @kind: what it was at: HALTED, BLOCKED, VMM, or PREEMPTED: it could run
 */
struct axis_look {
	u64	time;
	u32	vcpu;
	enum vcpu_time_kind kind;
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
	u32	cpu;
	u32	vcpu;
	u32	task;
	u32	hit;
	enum axis_sample_kind kind;
	u32	isa;
};

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

/**
 * struct axis_gap - records of a CPU that are missing
 * @samples_only: the sampling event was throttled, all others were not
 * @reach: the latest end of this one and of those of the CPU that begin before it;
 *	set by time_axis__build()
 */
struct axis_gap {
	u64	from;
	u64	until;
	u64	reach;
	u32	cpu;
	bool	samples_only;
};

/**
 * struct axis_vcpu - a vCPU
 * @vm: number of the VM, the caller's
 * @id: as in KVM_CREATE_VCPU
 * @at_start: @at_end: whether it was there then
 * @halted: it is known to have been halted when the measurement started
 * @last: what it was seen at, at the end: HALTED, BLOCKED, VMM; RUN: it could run; any
 *	other: nobody has looked
 * @events: @samples: @looks: its own, in the order of time after time_axis__build()
 * @intervals: the result, without a gap from the axis' start to its end
 */
struct axis_vcpu {
	u32	vm;
	u32	id;
	bool	at_start;
	bool	at_end;
	bool	halted;
	enum vcpu_time_kind last;
	const struct axis_event *events;
	size_t	nr_events;
	const struct axis_sample **samples;
	size_t	nr_samples;
	const struct axis_look *looks;
	size_t	nr_looks;
	struct vcpu_intervals intervals;
};

/**
 * struct time_axis
 * @start: @end: the measurement
 * @period: ns that a sample stands for; time_axis__build() makes it LLONG_MAX at most
 * @clock: the event samples the time of whole CPUs, so that each gets a sample in
 *	each period, busy or not: where there is none near, some are missing. Else
 *	nothing need have run there that the event counts.
 * @per_task: only some tasks are sampled, so that samples do not tell how much of a
 *	CPU's time another had
 * @timeline: what vCPUs did comes from events, and not from samples alone
 * @vcpu_idx: index of a vCPU by number of the VM and id
 * @samples: @gaps: sorted by CPU and time by time_axis__build()
 * @by_vcpu: those samples that are of a vCPU, by vCPU and time
 */
struct time_axis {
	u64	start;
	u64	end;
	u64	period;
	bool	clock;
	bool	per_task;
	bool	timeline;
	struct axis_vcpu *vcpus;
	u32	nr_vcpus, allocated_vcpus;
	struct hashmap *vcpu_idx;
	struct axis_event *events;
	size_t	nr_events, allocated_events;
	struct axis_sample *samples;
	size_t	nr_samples, allocated_samples;
	struct axis_gap *gaps;
	size_t	nr_gaps, allocated_gaps;
	struct axis_look *looks;
	size_t	nr_looks, allocated_looks;
	const struct axis_sample **by_vcpu;
	struct cpu_track *cpus;
	u32	nr_cpus;
};

/* What the host says a CPU did */
enum cpu_time_kind {
	CPU_TIME_GUEST,		/* ran @vcpu's guest */
	CPU_TIME_SAMPLE,	/* what @sample hit */
	CPU_TIME_LOST,
	CPU_TIME_UNCOUNTED,	/* no sample near */
};

struct cpu_interval {
	u64	start;
	u64	end;
	enum cpu_time_kind kind;
	u32	vcpu;
	const struct axis_sample *sample;
};

typedef int (*cpu_interval_cb)(const struct cpu_interval *interval, void *arg);

int time_axis__init(struct time_axis *ta);
void time_axis__exit(struct time_axis *ta);

int time_axis__findnew_vcpu(struct time_axis *ta, u32 vm, u32 id);
int time_axis__find_vcpu(const struct time_axis *ta, u32 vm, u32 id);
int time_axis__add_event(struct time_axis *ta, const struct axis_event *event);
int time_axis__add_sample(struct time_axis *ta, const struct axis_sample *sample);
int time_axis__add_gap(struct time_axis *ta, const struct axis_gap *gap);
int time_axis__add_look(struct time_axis *ta, const struct axis_look *look);
int time_axis__build(struct time_axis *ta);
const struct axis_gap *time_axis__next_gap(const struct time_axis *ta,
					   const struct axis_gap *prev, u32 cpu,
					   u64 start, u64 end);
int time_axis__walk_cpu(struct time_axis *ta, u32 cpu, cpu_interval_cb cb, void *arg);

#endif /* __PERF_KVM_UNIFIED_AXIS_AXIS_H */
