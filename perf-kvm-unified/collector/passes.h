/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_PASSES_H
#define __PERF_KVM_UNIFIED_COLLECTOR_PASSES_H

#include <stdbool.h>
#include <stddef.h>

struct guest_tasks;

bool guest_tasks__may_do_without(int err);
size_t guest_tasks__count_programs(void);
int guest_tasks__read(struct guest_tasks *t, char *err, size_t errlen);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_PASSES_H */
