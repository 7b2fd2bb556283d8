/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_CURRENT_TASKS_OF_H
#define __PERF_KVM_UNIFIED_RECORD_CURRENT_TASKS_OF_H

#include <linux/types.h>

struct current_tasks;
struct guest_current;
struct kvm_memory;

void current_tasks__init(struct current_tasks *tasks, const struct guest_current *current,
			 const struct kvm_memory *mem);
u64 current_tasks__pointer(const struct kvm_memory *mem, u64 gpa);

#endif /* __PERF_KVM_UNIFIED_RECORD_CURRENT_TASKS_OF_H */
