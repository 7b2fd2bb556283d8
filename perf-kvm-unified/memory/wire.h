/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_WIRE_H
#define __PERF_KVM_UNIFIED_MEMORY_WIRE_H

#include <stdbool.h>
#include <linux/types.h>

#include "host-mem.h"
#include "look.h"

/*
 * What perf and the confined process that looks at a guest say to each other, on a socket: an
 * order; then requests for memory, each with its reply; then that it is done. Maps come by a pipe.
 * After LOOK_CURRENT, if it is done without an error, struct guest_current follows.
 */

/* CR3s to be tried; the first ones will do. */
#define LOOK_ROOTS_MAX	64U

enum look_order_kind {
	LOOK_FIND_KERNEL,
	LOOK_ALL,		/* processes, modules and BPF programs */
	LOOK_TASKS,		/* processes */
	LOOK_WRITE,
	LOOK_CURRENT,		/* where it has its current tasks */
};

/**
 * struct look_order
 * @kind: enum look_order_kind
 * @orc: LOOK_WRITE: with what callchains of its kernel take
 * @nr_roots: @roots: LOOK_FIND_KERNEL: CR3s that were seen
 */
struct look_order {
	u32	kind;
	bool	orc;
	u32	nr_roots;
	u64	roots[LOOK_ROOTS_MAX];
};

enum look_message_kind {
	LOOK_WANTS_MEMORY,
	LOOK_IS_DONE,
};

/**
 * struct look_message - of the confined process, which is not to be trusted
 * @kind: enum look_message_kind
 * @gpa: @nr: pages that are wanted
 * @ret: how an order ended, 0 or -errno
 * @stats: what has been found up to then
 * @err: the rest of a sentence, if it failed
 */
struct look_message {
	u32	kind;
	u32	nr;
	u64	gpa;
	s32	ret;
	struct guest_look_stats stats;
	char	err[192];
};

/* Behind it: those pages whose status is 0 */
struct look_reply {
	s32	ret;
	s32	status[HOST_MEM_BATCH];
};

#endif /* __PERF_KVM_UNIFIED_MEMORY_WIRE_H */
