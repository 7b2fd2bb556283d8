/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_CPU_TRACK_H
#define __PERF_KVM_UNIFIED_AXIS_CPU_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "kvm-unified/lib/queue.h"
#include "kvm-unified/lib/sort.h"
#include "cells.h"
#include "shares.h"
#include "types.h"

/*
 * What is known of one CPU of the host, and how to find the part of it that is of a time. For
 * tracks.c, which fills it in, and for those that read it: waits.c and host-walk.c.
 */

struct hashmap;

/* A vCPU that had a CPU */
struct occupant {
	u64	start;
	u64	end;
	u32	vcpu;
	bool	guest;	/* ... and was in the guest */
};

/**
 * struct mark - a task got a CPU from @vcpu
 * @who: the task. Others may have had the CPU from that one before a vCPU did again: then, it is
 *	what samples say, or if there are none, the number of the windows that are shared
 */
struct mark {
	u64	time;
	u32	who;
	u32	vcpu:31;
	bool	is_shared:1;
};

struct occupants	{ DECLARE_QUEUE(struct occupant); };
struct marks		{ DECLARE_QUEUE(struct mark); };

/**
 * struct mark_window - the time from a mark until a vCPU has the CPU again, or the next mark
 * @first: @vcpu: of the mark
 * @pos: samples before it are in
 * @nr: so many samples of others than @vcpu
 * @tasks: so many of each task
 */
struct mark_window {
	u64	start;
	u64	pos;
	u64	nr;
	u32	first;
	u32	vcpu;
	bool	open;
	struct hashmap *tasks;
};

/**
 * struct cpu_track - all that is known of a CPU, and needed still, in the order of time
 * @fresh: occupants that others may come before
 * @occupied: the last of @occupants ends there
 * @nr_named: so many marks have their names
 * @last: the last record of the CPU
 * @done: what the CPU did has been told until then
 * @carry: the last sample before
 * @is_sampled: there is a sample of it
 */
struct cpu_track {
	u32	cpu;
	struct occupants fresh;
	struct occupants occupants;
	u64	occupied;
	struct marks marks;
	size_t	nr_named;
	struct mark_window window;
	struct shares shares;
	struct hashmap *shared;		/* numbers, by the window's first task */
	struct axis_samples samples;
	bool	unsorted;
	bool	unsorted_marks;
	bool	is_sampled;
	u64	last;
	u64	done;
	struct cells_carry carry;
};

static inline bool sample__is_before(const void *sample, const void *time)
{
	return ((const struct axis_sample *)sample)->time < *(const u64 *)time;
}

/* The first sample that is not before @time */
static inline size_t first_sample(const struct cpu_track *track, u64 time)
{
	return sort_find(queue_first(&track->samples), queue_len(&track->samples),
			 sizeof(struct axis_sample), &time, sample__is_before);
}

static inline bool occupant__is_gone(const void *occupant, const void *time)
{
	return ((const struct occupant *)occupant)->end <= *(const u64 *)time;
}

static inline size_t find_occupant(const struct cpu_track *track, u64 time,
				   bool (*is_before)(const void *occupant, const void *time))
{
	return sort_find(queue_first(&track->occupants), queue_len(&track->occupants),
			 sizeof(struct occupant), &time, is_before);
}

/* Did a task, or another vCPU's thread, have the CPU when @sample was taken? */
static inline bool sample__is_of_other(const struct axis_sample *sample, u32 vcpu)
{
	return !axis_sample__is_guest(sample) && sample->vcpu != vcpu;
}

#endif /* __PERF_KVM_UNIFIED_AXIS_CPU_TRACK_H */
