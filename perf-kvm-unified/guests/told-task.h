/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_TOLD_TASK_H
#define __PERF_KVM_UNIFIED_GUESTS_TOLD_TASK_H

#include <linux/types.h>

/* As long as TASK_COMM_LEN of include/linux/sched.h */
#define TOLD_TASK_COMM_LEN	16

/**
 * struct told_task - what a guest's kernel has in its memory as the current task; may be forged
 * @pt_root: its page table, 0: a kernel thread
 * @tgid: its process, 0: it is not known; @tid: its thread
 */
struct told_task {
	u64	pt_root;
	u32	tgid;
	u32	tid;
	char	comm[TOLD_TASK_COMM_LEN];
};

#endif /* __PERF_KVM_UNIFIED_GUESTS_TOLD_TASK_H */
