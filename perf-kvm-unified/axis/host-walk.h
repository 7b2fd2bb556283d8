/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_HOST_WALK_H
#define __PERF_KVM_UNIFIED_AXIS_HOST_WALK_H

#include <linux/types.h>

struct axis_gaps;
struct axis_sample;
struct axis_span;
struct cpu_tracks;
struct tracks_until;

/* What the host says a CPU did */
enum cpu_time_kind {
	CPU_TIME_GUEST,		/* ran @vcpu's guest */
	CPU_TIME_SAMPLE,	/* what @sample hit */
	CPU_TIME_LOST,
	CPU_TIME_UNCOUNTED,	/* no sample near */
};

/* @sample: for the time of the call that it is handed to */
struct cpu_interval {
	u64	start;
	u64	end;
	enum cpu_time_kind kind;
	u32	cpu;
	u32	vcpu;
	const struct axis_sample *sample;
};

typedef int (*cpu_interval_cb)(const struct cpu_interval *interval, void *arg);

int cpu_tracks__walk(struct cpu_tracks *tracks, const struct axis_span *span,
		     const struct axis_gaps *gaps, const struct tracks_until *until,
		     cpu_interval_cb cb, void *arg);

#endif /* __PERF_KVM_UNIFIED_AXIS_HOST_WALK_H */
