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
#include "sink.h"
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

struct axis_worker;
struct hashmap;

/* Bytes between what one thread writes all the time and what another one reads: cache lines */
#define AXIS_APART		64

/**
 * struct time_axis
 * @span: @span.start, @period and the flags are to be set before the first call of
 *	time_axis__advance(), or of time_axis__finish(); @end before the latter;
 *	@near is set already
 * @sink: to be set before, too
 * @threads: make the steps in a thread of their own, if there can be one: may be set before, too.
 *	@vcpus are the caller's then only before the first step, and after time_axis__catch_up(),
 *	but for what they are called
 * @vcpu_idx: index of a vCPU by number of the VM and id
 * @worker: makes the steps, or NULL: the caller does
 * @begun: intervals have been handed out
 * @advanced: time that it has come to, ns
 * @nr_fresh: events and samples that have come since then
 * @nr_late: samples that came when their time had been handed out
 * @nr_gaps: all there were
 * @nr_cpus: more than any number of a CPU that has come
 * @causes: why the states of vCPUs have changed; this and what follows is of the steps
 * @work: as from time_axis__add_work()
 * @gaps: those that are of use still
 * @to: who gets the intervals of a step
 */
struct time_axis {
	struct axis_span span;
	struct axis_sink sink;
	struct axis_vcpu *vcpus;
	u32	nr_vcpus;
	size_t	allocated_vcpus;
	struct hashmap *vcpu_idx;
	bool	threads;
	struct axis_worker *worker;
	char	apart1[AXIS_APART];

	bool	begun;
	u64	advanced;
	u64	nr_fresh;
	u64	nr_late;
	u64	nr_gaps;
	u32	nr_cpus;
	char	apart2[AXIS_APART];

	struct axis_causes causes;
	struct cpu_tracks tracks;
	struct axis_work work;
	struct axis_gaps gaps;
	struct axis_sink to;
	char	apart3[AXIS_APART];
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
int time_axis__catch_up(struct time_axis *ta);
int time_axis__finish(struct time_axis *ta);
int time_axis__share(const struct time_axis *ta, u32 shared, u64 time, share_cb cb, void *arg);

#endif /* __PERF_KVM_UNIFIED_AXIS_AXIS_H */
