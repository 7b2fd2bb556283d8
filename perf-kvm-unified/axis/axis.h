/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_AXIS_H
#define __PERF_KVM_UNIFIED_AXIS_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "causes.h"
#include "gaps.h"
#include "intervals.h"
#include "shares.h"
#include "tracks.h"
#include "types.h"
#include "vcpu.h"
#include "work.h"

/*
 * What every vCPU did, and what every CPU of the host did for whom, on one axis:
 * the host's time. Events and samples go in, in the order of time but for little;
 * intervals come out as soon as nothing that comes later can change them. So what is
 * kept is of the last few seconds. No session, no I/O.
 */

/*
 * ns; events come at the end of a state, and say when it began: those that take longer
 * must be added when they begin, or are heard of late. Two samples further from each
 * other than that say nothing of the time between them.
 */
#define TIME_AXIS_NEAR		2000000000ULL

struct hashmap;

/**
 * struct axis_sink - who gets the intervals
 * @vcpu: what a vCPU did, in order and without a gap, from the start to the end of the axis
 * @cpu: the same of a CPU of the host
 *
 * Of several vCPUs and CPUs, one after the other's come in any order. What is not 0
 * ends all, and is returned.
 */
struct axis_sink {
	int	(*vcpu)(u32 vcpu, const struct vcpu_interval *interval, void *arg);
	cpu_interval_cb cpu;
	void	*arg;
};

/**
 * struct time_axis
 * @span: @span.start, @period and the flags are to be set before the first call of
 *	time_axis__advance(), or of time_axis__finish(); @end before the latter;
 *	@near is set already
 * @sink: to be set before, too
 * @vcpu_idx: index of a vCPU by number of the VM and id
 * @causes: why the states of vCPUs have changed
 * @begun: intervals have been handed out
 * @advanced: time that it has come to, ns
 * @nr_fresh: events and samples that have come since then
 * @nr_late: samples that came when their time had been handed out
 * @work: as from time_axis__add_work()
 * @gaps: those that are of use still
 * @nr_gaps: all there were
 */
struct time_axis {
	struct axis_span span;
	struct axis_sink sink;
	struct axis_vcpu *vcpus;
	u32	nr_vcpus;
	size_t	allocated_vcpus;
	struct hashmap *vcpu_idx;
	struct axis_causes causes;
	struct cpu_tracks tracks;
	struct axis_work work;
	struct axis_gaps gaps;
	bool	begun;
	u64	advanced;
	u64	nr_fresh;
	u64	nr_late;
	u64	nr_gaps;
};

int time_axis__init(struct time_axis *ta);
void time_axis__exit(struct time_axis *ta);

int time_axis__findnew_vcpu(struct time_axis *ta, u32 vm, u32 id);
int time_axis__find_vcpu(const struct time_axis *ta, u32 vm, u32 id);
int time_axis__add_event(struct time_axis *ta, const struct axis_event *event);
int time_axis__add_sample(struct time_axis *ta, const struct axis_sample *sample);
int time_axis__add_work(struct time_axis *ta, u32 vm, u64 time);
int time_axis__add_gap(struct time_axis *ta, const struct axis_gap *gap);
int time_axis__add_look(struct time_axis *ta, const struct axis_look *look);
u64 time_axis__samples_after(const struct time_axis *ta, u64 time);
u64 time_axis__events_after(const struct time_axis *ta, u64 time);
bool time_axis__is_due(const struct time_axis *ta, u64 now);
int time_axis__advance(struct time_axis *ta, u64 now);
int time_axis__finish(struct time_axis *ta);
int time_axis__share(struct time_axis *ta, u32 shared, u64 time, share_cb cb, void *arg);

#endif /* __PERF_KVM_UNIFIED_AXIS_AXIS_H */
