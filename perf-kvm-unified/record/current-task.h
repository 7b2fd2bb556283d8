/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_CURRENT_TASK_OF_H
#define __PERF_KVM_UNIFIED_RECORD_CURRENT_TASK_OF_H

#include <linux/types.h>

struct current_task;
struct guest_current;
struct kvm_memory;

void current_task__init(struct current_task *task, const struct guest_current *current,
			const struct kvm_memory *mem);
int current_task__set_pointer(struct current_task *task, const struct kvm_memory *mem, u64 gpa);

#endif /* __PERF_KVM_UNIFIED_RECORD_CURRENT_TASK_OF_H */
