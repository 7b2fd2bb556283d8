/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_WALK_H
#define __PERF_KVM_UNIFIED_COLLECTOR_WALK_H

#include <stddef.h>

struct guest_mem;
struct guest_task_layout;
struct guest_tasks;

int guest_tasks__walk(struct guest_tasks *t, const struct guest_task_layout *l,
		      struct guest_mem *mem, size_t max_tasks);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_WALK_H */
