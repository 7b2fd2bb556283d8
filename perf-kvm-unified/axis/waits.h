/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_WAITS_H
#define __PERF_KVM_UNIFIED_AXIS_WAITS_H

#include <stdbool.h>
#include <linux/types.h>

struct axis_span;
struct cpu_tracks;
struct tracks_until;
struct vcpu_interval;

/* What shows which task had the CPU: a switch to it, or a sample of it */
struct sign {
	u64	time;
	u32	task;
	u32	shared;
	bool	exact;	/* it got the CPU just then */
	bool	idle;
};

/* A part of a wait, which may be changed. What is not 0 ends the splitting, and is returned. */
typedef int (*wait_part_cb)(struct vcpu_interval *part, void *arg);

/**
 * struct wait_walk - how far a wait has been split by who had the CPU
 * @pos: until then
 * @prev: the vCPU that had the CPU last in it, or TIME_AXIS_NONE
 * @sign: of who has had it since, if @has_sign
 */
struct wait_walk {
	u64	pos;
	u32	prev;
	struct sign sign;
	bool	has_sign;
};

int cpu_tracks__split_wait(const struct cpu_tracks *tracks, const struct axis_span *span,
			   const struct tracks_until *until, const struct vcpu_interval *wait,
			   u32 self, struct wait_walk *walk, wait_part_cb cb, void *arg);

#endif /* __PERF_KVM_UNIFIED_AXIS_WAITS_H */
