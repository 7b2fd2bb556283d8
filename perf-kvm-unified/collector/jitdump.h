/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_JITDUMP_H
#define __PERF_KVM_UNIFIED_COLLECTOR_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <linux/types.h>

/* Of a process: more than any has functions; what there is besides is left out. */
#define JITDUMP_MAX_RECORDS	(1U << 22)

/* Returns 0, or not to be called again */
typedef int (*jitdump_fn)(u64 start, u64 size, const char *name, void *arg);

bool jitdump__is_marker(const char *maps_line, u64 *start, u64 *end);
int jitdump__each_symbol(FILE *file, u32 *left, jitdump_fn fn, void *arg);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_JITDUMP_H */
