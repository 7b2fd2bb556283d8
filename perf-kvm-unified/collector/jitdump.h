/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_JITDUMP_H
#define __PERF_KVM_UNIFIED_COLLECTOR_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <linux/types.h>

/* No process has so many functions; records after these are left out. */
#define JITDUMP_MAX_RECORDS	(1U << 22)

/**
 * struct jitdump_process - whose code is wanted: who is forked has its parent's dump mapped, too,
 *	and may go on to write to it
 * @pid: in its own pid namespace, as is that of its parent
 * @parent: whose code it has, too, if that was loaded before @forked
 * @forked: ns of CLOCK_MONOTONIC: it was not there before; 0: it is not known
 */
struct jitdump_process {
	pid_t	pid;
	pid_t	parent;
	u64	forked;
};

/* Returns 0, or not to be called again */
typedef int (*jitdump_fn)(u64 start, u64 size, const char *name, void *arg);

bool jitdump__is_marker(const char *maps_line, u64 *start, u64 *end, pid_t *pid);
int jitdump__each_symbol(FILE *file, const struct jitdump_process *process, u32 *left,
			 jitdump_fn fn, void *arg);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_JITDUMP_H */
