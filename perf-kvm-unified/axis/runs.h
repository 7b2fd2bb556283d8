/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_RUNS_H
#define __PERF_KVM_UNIFIED_AXIS_RUNS_H

#include <stddef.h>

int sort_runs(void *array, size_t nr, size_t size, int (*cmp)(const void *a, const void *b));

#endif /* __PERF_KVM_UNIFIED_AXIS_RUNS_H */
