/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEASURE_MEASUREMENT_H
#define __PERF_KVM_UNIFIED_MEASURE_MEASUREMENT_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>

#include "util/tool.h"
#include "kvm-unified/axis/axis.h"
#include "kvm-unified/format/vms.h"
#include "kvm-unified/lib/queue.h"
#include "chains.h"
#include "hits.h"
#include "long-states.h"
#include "memo.h"
#include "wants.h"

struct evsel;
struct hashmap;
struct kvm_guest;
struct machine;
struct perf_session;
struct profile_stream;
struct tep_format_field;

/* So many distances of samples are enough to know the usual one. */
#define NR_DISTANCES		4096

/* The fields of kvm:kvm_vcpu_timeline; TIMELINE_RUN_DELAY: of its first version alone */
enum timeline_field {
	TIMELINE_STATE,
	TIMELINE_VCPU_ID,
	TIMELINE_WHY,
	TIMELINE_EXIT_REASON,
	TIMELINE_ISA,
	TIMELINE_NEXT_PID,
	TIMELINE_NS,
	TIMELINE_SEQ,
	TIMELINE_CPU,
	TIMELINE_WAIT,
	TIMELINE_RUN_DELAY,
	TIMELINE_NR_FIELDS
};

/* A VM of the measurement */
struct measured_vm {
	struct kvm_guest *guest;
	const char	*name;
	pid_t		pid;		/* of the VMM */
	bool		left_out;	/* of the recording, which is of others */
	bool		names_kernel;	/* it is known whom its kernel worked for, of some time */
};

/*
 * A thread of the host, from its fork on. A program is called as its parent until it calls
 * execve(): its name is the last one that is known.
 */
struct measured_task {
	pid_t		tid;
	pid_t		pid;
	const char	*comm;		/* "": none is known */
	u64		cgroup;		/* id of the last one that is known; 0: none is */
	u32		vcpu;		/* that it runs, or TIME_AXIS_NONE */
	bool		kthread;	/* of the kernel, and no program's */
	bool		ended;
	u32		name;		/* number of its comm */
	u64		lost;		/* records, by when it was looked at last */
};

/* It is not known which process a thread is of. */
#define NO_PID	-1

/*
 * A thread that has ended, and was no task by then, is asked for within a moment. By the low bits
 * of the tid
 */
#define NR_ENDED_THREADS	1024

/* A look at vCPU @vcpu of the VMM @pid */
struct measured_look {
	u64	time;
	pid_t	pid;
	u32	vcpu;
	enum vcpu_time_kind kind:8;
	bool	at_pause;
};

/* What is known of a CPU of the host; times in ns, 0: none yet */
struct measured_cpu {
	u64	last_record;
	u64	last_sample;
	u64	nr_samples;
	u64	throttled;	/* since when; 0: it is not */
	u64	silent;		/* until when it had no samples */
};

struct measured_looks { DECLARE_QUEUE(struct measured_look); };

/**
 * enum vcpus_by - what tells the vCPU of a sample
 * @VCPUS_BY_KERNEL: the sample itself, by PERF_SAMPLE_VCPU
 * @VCPUS_BY_BPF: a record of a BPF program
 */
enum vcpus_by {
	VCPUS_BY_NOTHING,
	VCPUS_BY_KERNEL,
	VCPUS_BY_BPF,
};

/**
 * struct measurement - what a session holds, made ready for the report
 * @wants: what is to be found out, as from measurement__open()
 * @stream: where it comes from, if it is a stream
 * @evsel: the event that time is told by
 * @columns: the events whose counts are wanted, from number 1 on: all others, and @evsel if it
 *	does not just count time; @nr_columns with that of the time
 * @axis: at its end when measurement__finish() has returned
 * @hits: the rows are what the samples of the axis have hit, by their number;
 *	those of guests as the guest sees them
 * @chains: who called it, if that is wanted
 * @memo: what samples have hit, to be found by where they were taken
 * @nr_changes: records that changed processes or maps
 * @period: ns that a sample stands for
 * @period_exact: it was asked for in ns
 * @has_timeline: there are events of kvm:kvm_vcpu_timeline, or what stands for them
 * @nr_lost: records, from PERF_RECORD_LOST
 * @nr_lost_samples: samples of @evsel, if the kernel counts them
 * @nr_timeline_lost: events of the time line that are missing, by their numbers
 * @mixed_vcpu: one whose events are those of several VMs' vCPUs, or TIME_AXIS_NONE
 * @nr_states: events of the time line, by the state that they tell of
 * @looks: those that are not on the axis yet
 * @long_states: those that are known before their ends
 * @nr_looks: vCPU threads that were seen not to have run for long
 * @silent_cpu: the last CPU that had no samples for @silent_ns, or TIME_AXIS_NONE
 * @nr_other: samples of other events
 * @nr_host_kernel: samples of that, of which @nr_host_kernel_named have a symbol
 * @nr_idle_task: samples of the idle task, of which @nr_idle are where it waits
 * @nr_unplaced: ... with a time, CPU or vCPU number that cannot be
 * @nr_bad_events: events of the time line that make no sense
 */
struct measurement {
	struct perf_tool tool;
	struct measure_wants wants;
	struct perf_session *session;
	struct profile_stream *stream;
	struct evsel	*evsel;
	struct evsel	*columns[PROFILE_MAX_COLUMNS];
	u32		nr_columns;
	struct time_axis axis;
	struct hits	hits;
	struct chains	chains;
	struct memo	memo;
	u64		nr_changes;
	struct measured_vm *vms;
	u32		nr_vms;
	struct measured_task **tasks;
	u32		nr_tasks;
	u32		allocated_tasks;
	struct hashmap	*task_by_tid;	/* the one that it is now, its number */
	char		**names;	/* all that tasks were called */
	u32		nr_names;
	u32		allocated_names;
	struct hashmap	*name_idx;
	struct measured_task ended[NR_ENDED_THREADS];
	struct hashmap	*vcpu_by_tid;
	struct evsel	*timeline_evsel;	/* the last one */
	struct tep_format_field *timeline_fields[TIMELINE_NR_FIELDS];	/* NULL: has it not */
	bool	timeline_by_bpf;
	struct timeline_last *timeline_last;	/* by vCPU */
	u32		nr_timeline_last;
	u32		allocated_timeline_last;
	struct measured_looks looks;
	struct long_states long_states;
	struct hashmap	*vm_by_pid;
	struct measured_cpu *cpus;
	u32		nr_cpus;
	u64		*distances;	/* ns between samples of a CPU, the first ones */
	u32		nr_distances;
	u64		period;
	bool		period_exact;
	bool		has_timeline;
	u64		now;		/* ns, the last record */
	u64		first, last;	/* ns, samples */
	u64		first_event, last_event;
	u64		nr_samples;
	u64		nr_guest_samples;
	u64		nr_relabelled;
	u64		nr_lost;
	u64		nr_lost_samples;
	u64		nr_timeline;
	u64		nr_timeline_lost;
	u32		mixed_vcpu;
	u32		silent_cpu;
	u64		silent_ns;
	u64		nr_states[VCPU_STATE_NR];
	u64		nr_looks;
	u64		nr_other;
	u64		nr_host_kernel;
	u64		nr_host_kernel_named;
	u64		nr_idle_task;
	u64		nr_idle;
	u64		nr_unplaced;
	u64		nr_bad_events;
	u64		nr_throttled;
};

int measurement__init(struct measurement *m);
void measurement__exit(struct measurement *m);

bool measurement__is_counted(const struct measurement *m, const struct evsel *evsel);
u32 measurement__column(const struct measurement *m, const struct evsel *evsel);
bool measurement__has_column(const struct measurement *m, const struct evsel *evsel);
bool measurement__uses_timeline(const struct measurement *m);
bool measurement__knows_idle(const struct measurement *m);
u32 measurement__nr_cpus(const struct measurement *m);
enum vcpus_by measurement__vcpus_by(const struct measurement *m);
u64 measurement__lost(const struct measurement *m);
u64 measurement__duration(const struct measurement *m);
u32 measurement__nr_vcpus(const struct measurement *m, u32 vm);

#endif /* __PERF_KVM_UNIFIED_MEASURE_MEASUREMENT_H */
