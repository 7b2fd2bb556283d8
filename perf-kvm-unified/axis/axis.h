/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_AXIS_H
#define __PERF_KVM_UNIFIED_AXIS_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "gaps.h"
#include "intervals.h"
#include "tracks.h"
#include "types.h"
#include "vcpu.h"

/*
 * What every vCPU did, and what every CPU of the host did for whom, on one axis:
 * the host's time. Filled with events and samples in any order, then built once.
 * No session, no I/O.
 */

/* CPU numbers and vCPU ids must be below: more than any machine has */
#define TIME_AXIS_MAX_CPUS	65536

struct hashmap;

/**
 * struct time_axis
 * @start: @end: @period: @clock: @per_task: @timeline: as in struct axis_span;
 *	time_axis__build() makes @period LLONG_MAX at most
 * @vcpu_idx: index of a vCPU by number of the VM and id
 * @cpus: by number, with their samples, @nr_cpus of them
 * @gaps: sorted by CPU and time by time_axis__build()
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
	u32	nr_vcpus;
	size_t	allocated_vcpus;
	struct hashmap *vcpu_idx;
	struct axis_cpu *cpus;
	u32	nr_cpus;
	size_t	allocated_cpus;
	struct axis_gap *gaps;
	size_t	nr_gaps, allocated_gaps;
	struct axis_look *looks;
	size_t	nr_looks, allocated_looks;
	const struct axis_sample **by_vcpu;
	struct cpu_tracks tracks;
};

int time_axis__init(struct time_axis *ta);
void time_axis__exit(struct time_axis *ta);

int time_axis__findnew_vcpu(struct time_axis *ta, u32 vm, u32 id);
int time_axis__find_vcpu(const struct time_axis *ta, u32 vm, u32 id);
int time_axis__add_event(struct time_axis *ta, const struct axis_event *event);
int time_axis__add_sample(struct time_axis *ta, const struct axis_sample *sample);
int time_axis__add_gap(struct time_axis *ta, const struct axis_gap *gap);
int time_axis__add_look(struct time_axis *ta, const struct axis_look *look);
u64 time_axis__samples_after(const struct time_axis *ta, u64 time);
u64 time_axis__events_after(const struct time_axis *ta, u64 time);
int time_axis__build(struct time_axis *ta);
int time_axis__walk_cpu(struct time_axis *ta, u32 cpu, cpu_interval_cb cb, void *arg);

#endif /* __PERF_KVM_UNIFIED_AXIS_AXIS_H */
