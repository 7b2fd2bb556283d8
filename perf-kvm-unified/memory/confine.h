/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_CONFINE_H
#define __PERF_KVM_UNIFIED_MEMORY_CONFINE_H

#include <stddef.h>

/* The descriptors that a confined process has, and no others */
#define CONFINED_CONTROL	0
#define CONFINED_OUT		1

/* What it may have besides the memory that it had as perf: bytes */
#define CONFINED_MEMORY		(64UL << 20)

int confine(int control, int out, unsigned int cpu_seconds);

#endif /* __PERF_KVM_UNIFIED_MEMORY_CONFINE_H */
