/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_TRACKS_H
#define __PERF_KVM_UNIFIED_AXIS_TRACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "shares.h"
#include "types.h"

struct cpu_track;
struct vcpu_interval;

/* Windows without samples that begin with a switch to task @first on @cpu */
struct shared_windows {
	u32	cpu;
	u32	first;
};

/**
 * struct cpu_tracks - who had which CPU
 * @cpus: by number, @nr_cpus of them
 * @start: of the axis
 * @shared: by number, as in struct vcpu_interval
 */
struct cpu_tracks {
	struct cpu_track **cpus;
	u32	nr_cpus;
	size_t	allocated_cpus;
	u64	start;
	struct shared_windows *shared;
	u32	nr_shared;
	size_t	allocated_shared;
};

/**
 * struct tracks_until - how far to go
 * @occupied: who had the CPUs is known until then
 * @time: the same, less axis_span.near: what is to be told by what comes next can be
 * @final: there is no more, and both are the end
 */
struct tracks_until {
	u64	occupied;
	u64	time;
	bool	final;
};

void cpu_tracks__exit(struct cpu_tracks *tracks);
int cpu_tracks__add_sample(struct cpu_tracks *tracks, const struct axis_sample *sample);
int cpu_tracks__add_switch(struct cpu_tracks *tracks, const struct axis_event *event);
int cpu_tracks__add_vcpu(struct cpu_tracks *tracks, u32 vcpu,
			 const struct vcpu_interval *interval);
void cpu_tracks__begin(struct cpu_tracks *tracks, u64 start);
int cpu_tracks__settle(struct cpu_tracks *tracks, const struct axis_span *span,
		       const struct tracks_until *until);
void cpu_tracks__forget(struct cpu_tracks *tracks, u64 time);
u64 cpu_tracks__samples_after(const struct cpu_tracks *tracks, u64 time);
int cpu_tracks__share(const struct cpu_tracks *tracks, u32 shared, u64 time, share_cb cb,
		      void *arg);

#endif /* __PERF_KVM_UNIFIED_AXIS_TRACKS_H */
