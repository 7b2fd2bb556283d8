/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_TASKS_H
#define __PERF_KVM_UNIFIED_COLLECTOR_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

/*
 * Which process owns which CR3, read inside a running guest: the kernel is
 * neither changed nor given a module. BTF says where the members are,
 * /proc/kallsyms where the list starts, /proc/kcore what is in it.
 *
 * The upper half (guest_tasks__read) touches the live system. The lower half
 * is pure: it sees memory only through struct guest_mem and can be driven with
 * literal input.
 */

struct btf;

#define GUEST_TASK_COMM_LEN	16

/**
 * struct guest_task - one process (thread group) of the guest
 * @pid: thread group id in the guest's initial pid namespace; 0 is the kernel
 *	 itself, with the root that idle and early kernel code run on
 * @pt_root: bits 12..51 of the CR3 that the process's kernel half runs on, as
 *	 the CPU holds them: PCID (bits 0..11) and LAM (61, 62) are 0, KPTI's
 *	 user half is this with bit 12 set, memory encryption's C-bit is in.
 *	 0: none of its own (kernel thread, zombie) or @unread
 * @start_ns: start of the process, nanoseconds of the guest's CLOCK_BOOTTIME
 * @kthread: a kernel thread: runs on whatever address space was there before
 * @unread: has an address space whose root could not be read
 * @ns_pid: the pid in the process's own pid namespace, if that is another one than
 *	 the guest's initial one, else 0
 * @comm: 0-terminated, as the guest set it: may hold control characters
 *
 * A kernel thread, and an idle CPU, run on the root of whoever ran before them
 * (lazy TLB): a sample in kernel mode with a process's root need not be of it.
 * vfork() children and other CLONE_VM processes share the parent's @pt_root:
 * it does not identify an entry.
 */
struct guest_task {
	pid_t	pid;
	pid_t	ns_pid;
	u64	pt_root;
	u64	start_ns;
	bool	kthread;
	bool	unread;
	char	comm[GUEST_TASK_COMM_LEN];
};

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

/**
 * struct guest_tasks - the processes of the guest
 * @entries: sorted by pid, each pid once
 * @nr: number of @entries
 * @nr_unread: processes whose root is not known though they have one: entries
 *	 with unread set, and pids that /proc lists and the walk never met
 * @passes: how often the task list was walked, 1 on a calm system
 * @layout: where things are in this kernel
 */
struct guest_tasks {
	struct guest_task *entries;
	size_t	nr;
	size_t	nr_unread;
	int	passes;
	struct guest_task_layout layout;
};

int guest_tasks__read(struct guest_tasks *t, char *err, size_t errlen);
void guest_tasks__exit(struct guest_tasks *t);

/*
 * The pure half.
 */

/**
 * struct guest_mem - the guest kernel's virtual memory
 * @read: copies @len bytes at kernel address @va; 0, or -errno and @buf is
 *	  undefined. Only called with addresses in the kernel half.
 */
struct guest_mem {
	int (*read)(struct guest_mem *mem, u64 va, void *buf, size_t len);
};

int guest_task_layout__from_btf(struct guest_task_layout *l, const struct btf *btf,
				const char **missing);

int guest_task_layout__root(const struct guest_task_layout *l, u64 pgd, u64 *root);

int guest_tasks__walk(struct guest_tasks *t, const struct guest_task_layout *l,
		      struct guest_mem *mem, size_t max_tasks);
int guest_tasks__merge(struct guest_tasks *t, struct guest_tasks *pass, bool complete);
size_t guest_tasks__count_unread(const struct guest_tasks *t,
				 const pid_t *before, size_t nr_before,
				 const pid_t *after, size_t nr_after);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_TASKS_H */
