/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_TRACKS_H
#define __PERF_KVM_UNIFIED_AXIS_TRACKS_H

#include <stddef.h>
#include <linux/types.h>

struct axis_cpu;
struct axis_gaps;
struct axis_sample;
struct axis_span;
struct axis_vcpu;
struct cpu_track;
struct vcpu_interval;
struct vcpu_intervals;

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

/**
 * struct cpu_tracks_input - what the tracks are made of
 * @vcpus: what they did must be known, but for who had the CPU in their waits
 * @cpus: by number; their samples, by time, are to be kept as long as the tracks
 */
struct cpu_tracks_input {
	const struct axis_vcpu *vcpus;
	u32	nr_vcpus;
	const struct axis_cpu *cpus;
	u32	nr_cpus;
};

struct cpu_tracks {
	struct cpu_track *cpus;
	u32	nr_cpus;
};

int cpu_tracks__init(struct cpu_tracks *tracks, const struct axis_span *span,
		     const struct cpu_tracks_input *in);
void cpu_tracks__exit(struct cpu_tracks *tracks);
int cpu_tracks__split_wait(const struct cpu_tracks *tracks, const struct axis_span *span,
			   const struct vcpu_interval *wait, u32 self,
			   struct vcpu_intervals *out);
int cpu_tracks__walk(const struct cpu_tracks *tracks, const struct axis_span *span,
		     const struct axis_gaps *gaps, u32 cpu, cpu_interval_cb cb, void *arg);

#endif /* __PERF_KVM_UNIFIED_AXIS_TRACKS_H */
