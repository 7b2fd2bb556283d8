// SPDX-License-Identifier: GPL-2.0
/*
 * One walk over the task list of a running kernel: which process owns which CR3. Pure: it
 * sees memory only through struct guest_mem, and can be driven with literal input.
 *
 * The task list changes while it is read, and there is no lock to take from
 * user space: a task_struct can be freed and reused between two reads. So no
 * pointer is believed because it was found in memory. A list entry counts only
 * if it points back to the entry that led to it; an address space counts only
 * if the task still owns it after its root was read. What fails is read again,
 * a bounded number of times, and what cannot be read is counted, not guessed.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "kvm-unified/lib/array.h"
#include "guest-mem.h"
#include "layout.h"
#include "tasks.h"
#include "walk.h"

/* include/linux/sched.h: never renumbered since 2.6.27 */
#define PF_KTHREAD		0x00200000

/*
 * A retry happens when a process is created or exits within the microseconds
 * that the walk spends at that place of the list, a few per pass at most. More
 * than this means that the list is broken, not busy.
 */
#define MAX_RETRIES		128
#define MAX_ROOT_TRIES		3

/* struct task_struct has about 10 KiB, with every debug option 20 */
#define MAX_TASK_SPAN		(64 * 1024)

struct list_view {
	u64	next;
	u64	prev;
};

/* What one read of a task_struct gives */
struct task_view {
	struct list_view tasks;
	struct list_view threads;
	u64	mm;
	u64	signal;
	u64	leader;
	u64	start;
	u32	pid;
	u32	tgid;
	u32	flags;
	char	comm[GUEST_TASK_COMM_LEN];
};

struct walk {
	const struct guest_task_layout *l;
	struct guest_mem *mem;
	size_t	max_tasks;
	u8	*buf;		/* the bytes [lo, lo + span) of a task_struct */
	u32	lo;
	u32	span;
	int	retries;
	u64	*path;		/* the list entry of each task that is in the result */
	size_t	path_allocated;
	size_t	tasks_allocated;
};

static int read_mem(struct walk *w, u64 va, void *buf, size_t len)
{
	if (!kernel_ptr(va) || va + len < va)
		return -EFAULT;

	return w->mem->read(w->mem, va, buf, len);
}

#define TASK_GET(_w, _dst, _member)						\
	memcpy(&(_dst), (_w)->buf + (_w)->l->task_##_member - (_w)->lo, sizeof(_dst))

/* All members in one read: it is the system calls that cost, not the bytes. */
static int read_task(struct walk *w, u64 task, struct task_view *v)
{
	int err;

	if (!kernel_ptr(task))
		return -EFAULT;

	/* a span starts at the lowest member, which need not be 8-aligned */
	if (task + w->lo + w->span < task)
		return -EFAULT;

	err = w->mem->read(w->mem, task + w->lo, w->buf, w->span);
	if (err)
		return err;

	TASK_GET(w, v->tasks, tasks);
	TASK_GET(w, v->threads, thread_node);
	TASK_GET(w, v->mm, mm);
	TASK_GET(w, v->signal, signal);
	TASK_GET(w, v->leader, group_leader);
	TASK_GET(w, v->start, start);
	TASK_GET(w, v->pid, pid);
	TASK_GET(w, v->tgid, tgid);
	TASK_GET(w, v->flags, flags);
	TASK_GET(w, v->comm, comm);
	v->comm[sizeof(v->comm) - 1] = '\0';
	return 0;
}

static int walk__init(struct walk *w, const struct guest_task_layout *l,
		      struct guest_mem *mem, size_t max_tasks)
{
	const struct {
		u32 offset, size;
	} members[] = {
		{ l->task_tasks,	sizeof(struct list_view) },
		{ l->task_thread_node,	sizeof(struct list_view) },
		{ l->task_mm,		sizeof(u64) },
		{ l->task_signal,	sizeof(u64) },
		{ l->task_group_leader,	sizeof(u64) },
		{ l->task_start,	sizeof(u64) },
		{ l->task_pid,		sizeof(u32) },
		{ l->task_tgid,		sizeof(u32) },
		{ l->task_flags,	sizeof(u32) },
		{ l->task_comm,		GUEST_TASK_COMM_LEN },
	};
	u64 lo = UINT32_MAX, hi = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(members); i++) {
		lo = min_t(u64, lo, members[i].offset);
		hi = max_t(u64, hi, (u64)members[i].offset + members[i].size);
	}

	if (hi - lo > MAX_TASK_SPAN)
		return -EINVAL;

	*w = (struct walk) {
		.l = l, .mem = mem, .max_tasks = max_tasks,
		.lo = lo, .span = hi - lo,
		.buf = malloc(hi - lo),
	};

	return w->buf ? 0 : -ENOMEM;
}

/*
 * The root of a task that was just read as @v and has an mm. An mm_struct is
 * freed by exit and execve and goes to the next process: what was read belongs
 * to @task only if it has the same mm before and after, each read anew.
 *
 * Return: 0, -EAGAIN: changed while being read, -EFAULT: not a page table
 */
static int task_root(struct walk *w, u64 task, const struct task_view *v, u64 *root)
{
	struct task_view again;
	u64 pgd;

	guest_mem__forget(w->mem);
	if (!kernel_ptr(v->mm) || read_mem(w, v->mm + w->l->mm_pgd, &pgd, sizeof(pgd)))
		return -EFAULT;

	guest_mem__forget(w->mem);
	if (read_task(w, task, &again) || again.mm != v->mm ||
	    again.pid != v->pid || again.tgid != v->tgid || again.start != v->start)
		return -EAGAIN;

	return guest_task_layout__root(w->l, pgd, root);
}

/*
 * A leader that called pthread_exit() has no mm while its threads run on: ask
 * them. All threads of a group share the mm (CLONE_THREAD needs CLONE_VM), so
 * the first that still has one speaks for all; none has one in a zombie.
 *
 * Return: as task_root(); 0 with *@root 0 if no thread has an mm
 */
static int group_root(struct walk *w, const struct task_view *leader, u64 *root, u64 *mm,
		      u64 *owner)
{
	u64 head = leader->signal + w->l->signal_thread_head;
	struct list_view list;
	struct task_view v;
	u64 from, node;
	size_t n;

	*root = 0;

	/* reaped: __exit_signal() took it */
	if (!leader->signal)
		return 0;

	if (read_mem(w, head, &list, sizeof(list)))
		return -EAGAIN;

	for (n = 0, from = head, node = list.next; node != head; n++) {
		u64 task = node - w->l->task_thread_node;

		if (n >= w->max_tasks || read_task(w, task, &v) ||
		    v.threads.prev != from || v.tgid != leader->pid ||
		    v.signal != leader->signal)
			return -EAGAIN;

		if (v.mm) {
			*mm = v.mm;
			*owner = task;
			return task_root(w, task, &v, root);
		}

		from = node;
		node = v.threads.next;
	}

	return 0;
}

/*
 * Read the thread group leader whose list entry is @node, found in the entry
 * @from.
 *
 * Return: 0, or -errno: @node is not a leader that follows @from (any more)
 */
static int read_leader(struct walk *w, u64 from, u64 node, struct list_view *link,
		       struct guest_task *e)
{
	u64 task = node - w->l->task_tasks;
	struct task_view v;
	u64 root = 0, mm = 0, owner = 0;
	int try, err = 0;

	for (try = 0; try < MAX_ROOT_TRIES; try++) {
		err = read_task(w, task, &v);
		if (err)
			return err;

		/*
		 * Memory that was freed and reused fails here; so does, for a
		 * moment, a thread that is taking over its group in execve().
		 */
		if (v.tasks.prev != from || v.pid != v.tgid || v.leader != task ||
		    !v.pid || v.pid > PID_MAX_LIMIT)
			return -EAGAIN;

		/*
		 * A kernel thread with an mm borrowed it (kthread_use_mm(), as
		 * vhost does before 6.4): the owner has its own entry.
		 */
		root = 0;
		mm = v.mm;
		owner = task;
		if (v.flags & PF_KTHREAD)
			err = 0;
		else if (v.mm)
			err = task_root(w, task, &v, &root);
		else
			err = group_root(w, &v, &root, &mm, &owner);
		if (!err)
			break;
	}

	*link = v.tasks;
	*e = (struct guest_task) {
		.pid	  = v.pid,
		.pt_root  = err ? 0 : root,
		.mm	  = !err && root ? mm : 0,
		.task	  = owner,
		.start_ns = v.start,
		.kthread  = v.flags & PF_KTHREAD,
		.execed	  = guest_task__has_execed(v.flags),
		.unread	  = err != 0,
	};
	memcpy(e->comm, v.comm, sizeof(e->comm));
	return 0;
}

/*
 * The kernel's own address space: init_task is the head of the list, not a
 * member, and has no mm; what it runs on at boot is init_mm.
 */
static int read_kernel(struct walk *w, struct list_view *link, struct guest_task *e)
{
	struct task_view v;
	u64 pgd, root = 0;
	int err;

	err = read_task(w, w->l->init_task, &v);
	if (err)
		return err;

	if (v.pid || v.tgid)
		return -EBADMSG;

	if (w->l->init_mm &&
	    !read_mem(w, w->l->init_mm + w->l->mm_pgd, &pgd, sizeof(pgd)) &&
	    guest_task_layout__root(w->l, pgd, &root))
		root = 0;

	*link = v.tasks;
	*e = (struct guest_task) { .pt_root = root, .kthread = true, .unread = !root };
	memcpy(e->comm, v.comm, sizeof(e->comm));
	return 0;
}

/*
 * The entry after the last of the @nr in the path could not be read: find the last
 * one that is still in the list, drop those after it and give its links in @link.
 */
static int step_back(struct walk *w, size_t *nr, struct list_view *link)
{
	const u64 *path = w->path;
	struct task_view v;

	while (w->retries++ < MAX_RETRIES) {
		size_t last = *nr - 1;

		guest_mem__forget(w->mem);
		if (!read_task(w, path[last] - w->l->task_tasks, &v) &&
		    (!last || v.tasks.prev == path[last - 1])) {
			*link = v.tasks;
			return 0;
		}

		/* list_del_rcu() poisoned its prev, or it is something else by now */
		if (last)
			--*nr;
	}

	return -EAGAIN;
}

/* Room for one more in both arrays */
static int grow(struct walk *w, struct guest_tasks *t)
{
	return grow_array(t->entries, t->nr, w->tasks_allocated) ?:
	       grow_array(w->path, t->nr, w->path_allocated);
}

/**
 * guest_tasks__walk - walk the task list once
 * @t: result; overwritten, to be released with guest_tasks__exit() also after
 *     an error, when it holds what was read until then
 * @l: layout of the running kernel
 * @mem: its memory
 * @max_tasks: upper bound for the number of processes, and of threads in one:
 *     the guest's pid_max
 *
 * An entry that does not point back to where the walk came from was unlinked,
 * inserted or freed in between: the walk goes back to the last entry that is
 * still in the list and reads on from there. As every step is checked that
 * way, a cycle without the head in it cannot be followed: the entry where it
 * closes would need two predecessors.
 *
 * Return: 0: the whole list was read; -EAGAIN: a part of it could not be
 * read; -ELOOP: it has more than @max_tasks entries; -EBADMSG: @l does not
 * describe this kernel; -EFAULT: init_task cannot be read; -EINVAL: @l is
 * impossible; -ENOMEM
 */
int guest_tasks__walk(struct guest_tasks *t, const struct guest_task_layout *l,
		      struct guest_mem *mem, size_t max_tasks)
{
	const u64 head = l->init_task + l->task_tasks;
	struct list_view link;
	struct walk w = { };
	int err;

	*t = (struct guest_tasks) { .passes = 1 };

	err = walk__init(&w, l, mem, max_tasks);
	if (!err)
		err = grow(&w, t);
	if (!err)
		err = read_kernel(&w, &link, &t->entries[0]);
	if (err)
		goto out;
	w.path[0] = head;
	t->nr = 1;

	while (link.next != head) {
		u64 node = link.next;

		/* the head is an entry too, and not a process */
		if (t->nr > max_tasks) {
			err = -ELOOP;
			break;
		}

		err = grow(&w, t);
		if (err)
			break;

		if (!read_leader(&w, w.path[t->nr - 1], node, &link, &t->entries[t->nr])) {
			w.path[t->nr++] = node;
			continue;
		}

		err = step_back(&w, &t->nr, &link);
		if (err)
			break;
	}

	guest_tasks__sort(t);
out:
	free(w.path);
	free(w.buf);
	return err;
}
