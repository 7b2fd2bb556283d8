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
 *
 * An example: vCPU 0 has CPU 3, loses it to the task make, and has it again in the end; meanwhile,
 * vCPU 1 had it, too. Samples have hit vCPU 0's program (u) and kernel (k), make (m), cc1 (c), and
 * vCPU 1's program (v).
 *
 *  events of vCPU 0   RUN         PREEMPTED, make is next                           RUN
 *  samples              u  u   k     m     c        c        v      v                  u
 *  occupants          [ vCPU 0   )                        [ vCPU 1    )             [ vCPU 0
 *  marks                          ^ to make                            ^ to make
 *  windows                        [----------------------)             [-----------)
 *  states of vCPU 0   |RUN        |PREEMPTED                                        |RUN
 *  ... labelled       |user  |kern|PREEMPTED                                        |user
 *  ... handed out     |user  |kern|make |cc1              |vCPU 1      |shared      |user
 *  CPU 3, handed out  |guest      |make |cc1              |guest       |cc1         |guest
 *
 * state: what a vCPU was at. Its events tell, or if there are none, its samples (states.c).
 * look: what a vCPU's thread was at when record looked at it, as it had not run for a while. It
 *	tells the state whose event has not come yet.
 * label: what ran in a state RUN, the time that a vCPU had a CPU in KVM_RUN: a program of the
 *	guest, its kernel, or the host (an exit). Its samples tell (labels.c).
 * cell: the time that a sample stands for, from the middle between it and the sample before to the
 *	middle between it and the one after.
 * piece: time in one part, which is cut by cells alone: a state RUN, or of a CPU, what is between
 *	guests. Cells take one piece after the other as if nothing were between them.
 * occupant: a vCPU that had the CPU in KVM_RUN, for the time of one interval of it.
 * mark: a switch of the CPU from a vCPU to a task.
 * window: from a mark until a vCPU has the CPU again, or the next mark. The task may have had the
 *	CPU for little of it. So the first sample in it that is near tells who had the CPU from
 *	the mark on (tracks.c); a window without one is shared.
 * share: what a task gets of shared windows when all is known, by time_axis__share(): in proportion
 *	to its samples in windows that begin with a switch to the same task (shares.c).
 * sign: what shows which task had the CPU: a mark, or a sample of the host's.
 * wait: the state PREEMPTED: a vCPU could run, and had no CPU. Occupants tell who had it meanwhile,
 *	and where there is none, signs (waits.c).
 * near: what is further from a moment than axis_span.near, 2 s or two periods, tells nothing of
 *	it. So no step waits for longer, and what is older is forgotten when no step needs it.
 *
 *  time_axis__add_event(), time_axis__add_sample(): at once, or later, in the thread of worker.c
 *    |                              |
 *    v                              v
 *  axis_vcpu.events, .samples     cpu_track.marks, .samples (the host's)
 *    |                              |
 *    | states.c: first step         |    time_axis__advance() makes all steps again and again, as
 *    v                              |    far as is known, and time_axis__finish() the last ones.
 *  axis_vcpu.states                 |
 *    | labels.c: second step        |
 *    v                 occupants    v
 *  axis_vcpu.labelled ----------> tracks.c: third step
 *    |                              |           |
 *    | waits: waits.c <-------------'           | host-walk.c
 *    v                                          v
 *  axis_sink.vcpu()                           axis_sink.cpu()
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
