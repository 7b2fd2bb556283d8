/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_LAYOUT_H
#define __PERF_KVM_UNIFIED_COLLECTOR_LAYOUT_H

#include <stddef.h>
#include <linux/types.h>

struct btf;

/* TASK_COMM_LEN of include/linux/sched.h */
#define GUEST_TASK_COMM_LEN	16

/**
 * struct guest_task_layout - where things are in this kernel
 *
 * The task_*, mm_* and signal_* members are byte offsets into the struct of
 * that name; the others are described one by one.
 */
struct guest_task_layout {
	u32	task_tasks;
	u32	task_thread_node;
	u32	task_pid;
	u32	task_tgid;
	u32	task_flags;
	u32	task_mm;
	u32	task_signal;
	u32	task_group_leader;
	u32	task_start;		/* start_boottime */
	u32	task_comm;
	u32	mm_pgd;
	u32	signal_thread_head;

	u64	init_task;		/* virtual address */
	u64	init_mm;		/* virtual address, 0: not known */
	u64	page_offset;		/* virtual address of physical 0 in the direct map */
	u64	phys_base;		/* physical address of __START_KERNEL_map, modulo 2^64 */
	u64	me_mask;		/* C-bit of memory encryption, 0: none */
};

int guest_btf__member(const struct btf *btf, const char *type, const char *path, u32 size,
		      u32 *offset);
int guest_task_layout__from_btf(struct guest_task_layout *l, const struct btf *btf,
				const char **missing);
int guest_task_layout__read_btf(struct guest_task_layout *l, char *err, size_t errlen);
int guest_task_layout__root(const struct guest_task_layout *l, u64 pgd, u64 *root);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_LAYOUT_H */
