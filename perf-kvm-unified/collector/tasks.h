/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_TASKS_H
#define __PERF_KVM_UNIFIED_COLLECTOR_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

#include "layout.h"

/* include/linux/threads.h: no pid_max can be above it on 64-bit */
#define PID_MAX_LIMIT		(4 * 1024 * 1024)

/**
 * struct guest_task - one process (thread group) of the guest
 * @pid: thread group id in the guest's initial pid namespace; 0 is the kernel
 *	 itself, with the root that idle and early kernel code run on
 * @pt_root: bits 12..51 of the CR3 that the process's kernel half runs on, as
 *	 the CPU holds them: PCID (bits 0..11) and LAM (61, 62) are 0, KPTI's
 *	 user half is this with bit 12 set, memory encryption's C-bit is in.
 *	 0: none of its own (kernel thread, zombie) or @unread
 * @mm: address of the mm_struct that @pt_root is of, 0: none
 * @task: address of the task_struct of a thread that has it
 * @start_ns: start of the process, nanoseconds of the guest's CLOCK_BOOTTIME
 * @kthread: a kernel thread: runs on whatever address space was there before
 * @execed: has called execve() since it began: its address space may be younger than it
 * @unread: has an address space whose root could not be read
 * @ns_pid: the pid in the process's own pid namespace, if that is another one than
 *	 the guest's initial one, else 0
 * @cgroup: number of the cgroup that it is in, as from guest_cgroups__findnew(); 0: not known
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
	u64	mm;
	u64	task;
	u64	start_ns;
	u32	cgroup;
	bool	kthread;
	bool	execed;
	bool	unread;
	char	comm[GUEST_TASK_COMM_LEN];
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

/* include/linux/sched.h: of those, since 2.6.27, who has not called execve() since it was forked */
#define GUEST_PF_FORKNOEXEC	0x00000040

static inline bool guest_task__has_execed(u32 flags)
{
	return !(flags & GUEST_PF_FORKNOEXEC);
}

void guest_tasks__sort(struct guest_tasks *t);
struct guest_task *guest_tasks__find(const struct guest_tasks *t, pid_t pid);
int guest_tasks__merge(struct guest_tasks *t, struct guest_tasks *pass, bool complete);
size_t guest_tasks__count_unread(const struct guest_tasks *t,
				 const pid_t *before, size_t nr_before,
				 const pid_t *after, size_t nr_after);
void guest_tasks__exit(struct guest_tasks *t);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_TASKS_H */
