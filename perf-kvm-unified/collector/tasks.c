// SPDX-License-Identifier: GPL-2.0
/*
 * Which process owns which CR3, read inside a running guest.
 *
 * The task list changes while it is read, and there is no lock to take from
 * user space: a task_struct can be freed and reused between two reads. So no
 * pointer is believed because it was found in memory. A list entry counts only
 * if it points back to the entry that led to it; an address space counts only
 * if the task still owns it after its root was read. What fails is read again,
 * a bounded number of times, and what cannot be read is counted, not guessed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#ifdef HAVE_LIBBPF_SUPPORT
#include <bpf/btf.h>
#endif
#ifdef HAVE_LIBELF_SUPPORT
#include <gelf.h>
#endif
#include <api/fs/fs.h>
#include <symbol/kallsyms.h>
#include "kvm-unified/lib/array.h"
#include "tasks.h"

/* include/linux/sched.h: never renumbered since 2.6.27 */
#define PF_KTHREAD		0x00200000

/* include/linux/threads.h: no pid_max can be above it on 64-bit */
#define PID_MAX_LIMIT		(4 * 1024 * 1024)

/* Base of the kernel image mapping: Documentation/arch/x86/x86_64/mm.rst */
#define START_KERNEL_MAP	0xffffffff80000000ULL

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
};

/*
 * True for an aligned address in the kernel half. With 4-level paging bits
 * 63..47 of a canonical address are equal, with 5-level paging 63..56 (Intel
 * SDM vol. 1, 3.3.7.1 "Canonical Addressing"; AMD APM vol. 2, 5.3.1): the
 * weaker test is enough to keep LIST_POISON, NULL and user addresses out, the
 * memory behind says the rest.
 */
static bool kernel_ptr(u64 va)
{
	return va >> 56 == 0xff && !(va & 7);
}

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

/**
 * guest_task_layout__root - the CR3 field that selects the page table at @pgd
 * @pgd: a kernel address, as in mm_struct's pgd
 *
 * CR3 holds bits 12..51 of the physical address of the top table (Intel SDM
 * vol. 3A, 4.5 "4-Level Paging and 5-Level Paging"; AMD APM vol. 2, 5.3.2
 * "CR3"). The table is in the direct map, but init_mm's is part of the kernel
 * image. With memory encryption the C-bit is a part of the address that CR3
 * holds (AMD APM vol. 2, 7.10.4 "Page Table Support").
 *
 * Return: 0, or -EFAULT: no such page can be in use
 */
int guest_task_layout__root(const struct guest_task_layout *l, u64 pgd, u64 *root)
{
	u64 pa;

	if (!kernel_ptr(pgd))
		return -EFAULT;

	if (pgd >= START_KERNEL_MAP)
		pa = pgd - START_KERNEL_MAP + l->phys_base;
	else
		pa = pgd - l->page_offset;

	/* below the direct map it has wrapped to far above 52 bits */
	if (!pa || pa & 0xfff || pa >> 52)
		return -EFAULT;

	*root = pa | l->me_mask;
	return 0;
}

/*
 * The root of a task that was just read as @v and has an mm. An mm_struct is
 * freed by exit and execve and goes to the next process: what was read belongs
 * to @task only if it has the same mm before and after.
 *
 * Return: 0, -EAGAIN: changed while being read, -EFAULT: not a page table
 */
static int task_root(struct walk *w, u64 task, const struct task_view *v, u64 *root)
{
	struct task_view again;
	u64 pgd;

	if (!kernel_ptr(v->mm) || read_mem(w, v->mm + w->l->mm_pgd, &pgd, sizeof(pgd)))
		return -EFAULT;

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
static int group_root(struct walk *w, const struct task_view *leader, u64 *root)
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

		if (v.mm)
			return task_root(w, task, &v, root);

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
	int try, err = 0;
	u64 root = 0;

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
		if (v.flags & PF_KTHREAD)
			err = 0;
		else if (v.mm)
			err = task_root(w, task, &v, &root);
		else
			err = group_root(w, &v, &root);
		if (!err)
			break;
	}

	*link = v.tasks;
	*e = (struct guest_task) {
		.pid	  = v.pid,
		.pt_root  = err ? 0 : root,
		.start_ns = v.start,
		.kthread  = v.flags & PF_KTHREAD,
		.unread	  = err != 0,
	};
	memcpy(e->comm, v.comm, sizeof(e->comm));
	return 0;
}

static int cmp_task(const void *va, const void *vb)
{
	const struct guest_task *a = va, *b = vb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;

	/* the youngest user of a pid first */
	return a->start_ns > b->start_ns ? -1 : a->start_ns < b->start_ns;
}

static int cmp_pid(const void *va, const void *vb)
{
	const struct guest_task *a = va, *b = vb;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static void sort_unique(struct guest_tasks *t)
{
	size_t i, nr = 0;

	if (!t->nr)
		return;

	qsort(t->entries, t->nr, sizeof(*t->entries), cmp_task);
	for (i = 1; i < t->nr; i++) {
		if (t->entries[i].pid != t->entries[nr].pid)
			t->entries[++nr] = t->entries[i];
	}
	t->nr = nr + 1;
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
 * The entry after path[nr - 1] could not be read: find the last entry of @path
 * that is still in the list, drop those behind it and give its links in @link.
 */
static int step_back(struct walk *w, const u64 *path, size_t *nr, struct list_view *link)
{
	struct task_view v;

	while (w->retries++ < MAX_RETRIES) {
		size_t last = *nr - 1;

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

/* Room for one more entry in both arrays, which grow together. */
static int grow(struct guest_tasks *t, u64 **path, size_t nr, size_t *alloc)
{
	size_t want = *alloc ? *alloc * 2 : 256;
	struct guest_task *entries;
	u64 *p;

	if (nr < *alloc)
		return 0;

	entries = realloc(t->entries, want * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	t->entries = entries;

	p = realloc(*path, want * sizeof(*p));
	if (!p)
		return -ENOMEM;
	*path = p;

	*alloc = want;
	return 0;
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
	u64 *path = NULL;	/* the list entry of each of t->entries */
	struct list_view link;
	size_t alloc = 0;
	struct walk w = { .buf = NULL };
	int err;

	*t = (struct guest_tasks) { .passes = 1 };

	err = walk__init(&w, l, mem, max_tasks);
	if (!err)
		err = grow(t, &path, 0, &alloc);
	if (!err)
		err = read_kernel(&w, &link, &t->entries[0]);
	if (err)
		goto out;
	path[0] = head;
	t->nr = 1;

	while (link.next != head) {
		u64 node = link.next;

		/* the head is an entry too, and not a process */
		if (t->nr > max_tasks) {
			err = -ELOOP;
			break;
		}

		err = grow(t, &path, t->nr, &alloc);
		if (err)
			break;

		if (!read_leader(&w, path[t->nr - 1], node, &link, &t->entries[t->nr])) {
			path[t->nr++] = node;
			continue;
		}

		err = step_back(&w, path, &t->nr, &link);
		if (err)
			break;
	}

	sort_unique(t);
out:
	free(path);
	free(w.buf);
	return err;
}

/**
 * guest_tasks__merge - take the result of one more pass into the whole
 * @t: the result so far, zeroed before the first pass
 * @pass: result of one walk; emptied
 * @complete: the walk saw the whole list
 *
 * A complete pass replaces what was known: entries from before may be of
 * processes that are gone, and whose page table is another's by now. An
 * incomplete one adds the processes that were not known, and roots that
 * could not be read.
 *
 * Return: 0 or -ENOMEM, @t and @pass are then as before
 */
int guest_tasks__merge(struct guest_tasks *t, struct guest_tasks *pass, bool complete)
{
	struct guest_task *entries;
	size_t i, nr;

	if (complete) {
		free(t->entries);
		t->entries = pass->entries;
		t->nr = pass->nr;
		t->passes += pass->passes;
		*pass = (struct guest_tasks) { 0 };
		return 0;
	}

	if (pass->nr) {
		entries = realloc(t->entries, (t->nr + pass->nr) * sizeof(*entries));
		if (!entries)
			return -ENOMEM;
		t->entries = entries;

		for (i = 0, nr = t->nr; i < pass->nr; i++) {
			struct guest_task *new = &pass->entries[i], *old;

			old = bsearch(new, t->entries, t->nr, sizeof(*old), cmp_pid);
			if (!old)
				t->entries[nr++] = *new;
			else if (old->unread || old->start_ns != new->start_ns)
				*old = *new;
		}
		t->nr = nr;
		sort_unique(t);
	}

	t->passes += pass->passes;
	guest_tasks__exit(pass);
	return 0;
}

/**
 * guest_tasks__count_unread - how many processes with a root have none in @t
 * @t: result so far, or of one pass
 * @before: pids that /proc listed before the walk, ascending
 * @nr_before: number of pids in @before
 * @after: the same after the walk
 * @nr_after: number of pids in @after
 *
 * A pid that was there before and after was there during the walk. What came
 * or went in between may be missing: no list of it can be complete.
 *
 * Return: the number, for guest_tasks.nr_unread
 */
size_t guest_tasks__count_unread(const struct guest_tasks *t,
				 const pid_t *before, size_t nr_before,
				 const pid_t *after, size_t nr_after)
{
	size_t i, j = 0, k = 0, nr = 0;

	for (i = 0; i < t->nr; i++)
		nr += t->entries[i].unread;

	for (i = 0; i < nr_before; i++) {
		while (j < nr_after && after[j] < before[i])
			j++;
		if (j == nr_after || after[j] != before[i])
			continue;
		while (k < t->nr && t->entries[k].pid < before[i])
			k++;
		if (k == t->nr || t->entries[k].pid != before[i])
			nr++;
	}

	return nr;
}

/**
 * guest_tasks__exit - release what a walk or guest_tasks__read() allocated
 * @t: may be zeroed or released already
 */
void guest_tasks__exit(struct guest_tasks *t)
{
	zfree(&t->entries);
	t->nr = 0;
}

#ifdef HAVE_LIBBPF_SUPPORT

/* Anonymous members nest two or three deep in real kernels */
#define MAX_ANON_DEPTH		8

/*
 * Byte offset of member @name of the struct or union @id, which must be @size
 * bytes long. Anonymous members are searched too: mm_struct and, with
 * CONFIG_RANDSTRUCT, task_struct keep nearly all of theirs in one.
 *
 * Return: 0; -ENOENT: no such member; -EPROTO: it is of another kind
 */
static int member_offset(const struct btf *btf, u32 id, const char *name, u32 size,
			 int depth, u32 *offset)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	const struct btf_member *m;
	u32 i, bits, sub;
	int err;

	while (t && btf_is_mod(t))
		t = btf__type_by_id(btf, t->type);

	if (!t || !btf_is_composite(t) || depth > MAX_ANON_DEPTH)
		return -ENOENT;

	for (i = 0, m = btf_members(t); i < btf_vlen(t); i++, m++) {
		const char *mname = btf__name_by_offset(btf, m->name_off);

		bits = btf_member_bit_offset(t, i);
		if (mname && *mname) {
			if (strcmp(mname, name))
				continue;
			if (bits % 8 || btf_member_bitfield_size(t, i) ||
			    btf__resolve_size(btf, m->type) != size)
				return -EPROTO;
			*offset = bits / 8;
		} else {
			err = member_offset(btf, m->type, name, size, depth + 1, &sub);
			if (err == -ENOENT)
				continue;
			if (err)
				return err;
			*offset = bits / 8 + sub;
		}

		return (u64)*offset + size <= t->size ? 0 : -EPROTO;
	}

	return -ENOENT;
}

static int struct_member(const struct btf *btf, const char *type, const char *name,
			 u32 size, u32 *offset)
{
	s32 id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);

	return id < 0 ? -ENOENT : member_offset(btf, id, name, size, 0, offset);
}

/**
 * guest_task_layout__from_btf - fill in the offsets
 * @l: the offsets are set, the addresses are left alone
 * @btf: that of the running kernel
 * @missing: on error, "struct.member" that was not found or not as expected
 *
 * Return: 0; -ENOENT: not there; -EPROTO: there, but of another size
 */
int guest_task_layout__from_btf(struct guest_task_layout *l, const struct btf *btf,
				const char **missing)
{
	const struct {
		const char *type, *member, *both;
		u32 size;
		u32 *offset;
	} wanted[] = {
#define WANT(_type, _member, _size, _dst)	\
	{ #_type, #_member, #_type "." #_member, _size, &l->_dst }
		WANT(task_struct, tasks, 16, task_tasks),
		WANT(task_struct, thread_node, 16, task_thread_node),
		WANT(task_struct, pid, 4, task_pid),
		WANT(task_struct, tgid, 4, task_tgid),
		WANT(task_struct, flags, 4, task_flags),
		WANT(task_struct, mm, 8, task_mm),
		WANT(task_struct, signal, 8, task_signal),
		WANT(task_struct, group_leader, 8, task_group_leader),
		WANT(task_struct, comm, GUEST_TASK_COMM_LEN, task_comm),
		WANT(mm_struct, pgd, 8, mm_pgd),
		WANT(signal_struct, thread_head, 16, signal_thread_head),
		WANT(task_struct, start_boottime, 8, task_start),
#undef WANT
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		int err = struct_member(btf, wanted[i].type, wanted[i].member,
					wanted[i].size, wanted[i].offset);

		/* its name before 5.5 */
		if (err == -ENOENT && wanted[i].offset == &l->task_start)
			err = struct_member(btf, "task_struct", "real_start_time", 8,
					    &l->task_start);
		if (err) {
			*missing = wanted[i].both;
			return err;
		}
	}

	return 0;
}

#endif /* HAVE_LIBBPF_SUPPORT */

static int __printf(4, 5) fail(char *err, size_t errlen, int code, const char *fmt, ...)
{
	va_list ap;

	if (err && errlen) {
		va_start(ap, fmt);
		vsnprintf(err, errlen, fmt, ap);
		va_end(ap);
	}

	return code;
}

#if defined(__x86_64__) && defined(HAVE_LIBELF_SUPPORT) && defined(HAVE_LIBBPF_SUPPORT)

#define MAX_PASSES	5

/* include/linux/proc_ns.h: PROC_PID_INIT_INO */
#define INIT_PID_NS_INO	0xeffffffcU

/* One PT_LOAD of /proc/kcore */
struct kcore_load {
	u64	start;		/* virtual addresses [start, end) */
	u64	end;
	u64	offset;		/* of start in the file, fits off_t up to end */
	u64	paddr;		/* of start, UINT64_MAX: not linearly mapped */
};

struct kcore {
	struct guest_mem mem;
	int	fd;
	struct kcore_load *loads;
	size_t	nr;
};

static const struct kcore_load *kcore__find(const struct kcore *k, u64 va)
{
	size_t i;

	for (i = 0; i < k->nr; i++) {
		if (va >= k->loads[i].start && va < k->loads[i].end)
			return &k->loads[i];
	}

	return NULL;
}

static int kcore__read(struct guest_mem *mem, u64 va, void *buf, size_t len)
{
	struct kcore *k = container_of(mem, struct kcore, mem);
	const struct kcore_load *load = kcore__find(k, va);
	size_t done = 0;

	if (!load || len > load->end - va)
		return -EFAULT;

	while (done < len) {
		ssize_t n = pread(k->fd, (char *)buf + done, len - done,
				  load->offset + (va - load->start) + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EFAULT;
		done += n;
	}

	return 0;
}

static void kcore__close(struct kcore *k)
{
	zfree(&k->loads);
	k->nr = 0;
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
}

/*
 * Take over the program headers that make sense: kernel addresses, file
 * offsets that pread() can take.
 */
static int kcore__parse(struct kcore *k)
{
	Elf *elf = elf_begin(k->fd, ELF_C_READ, NULL);
	GElf_Ehdr ehdr;
	GElf_Phdr ph;
	size_t i, nr;
	int err = -ENOEXEC;

	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr) ||
	    ehdr.e_ident[EI_CLASS] != ELFCLASS64 || ehdr.e_machine != EM_X86_64 ||
	    ehdr.e_type != ET_CORE || elf_getphdrnum(elf, &nr))
		goto out;

	/* e_phnum has 16 bits, and the kernel has no use for the escape */
	if (!nr || nr > USHRT_MAX)
		goto out;

	k->loads = calloc(nr, sizeof(*k->loads));
	if (!k->loads) {
		err = -ENOMEM;
		goto out;
	}

	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf, i, &ph))
			goto out;
		if (ph.p_type != PT_LOAD || ph.p_vaddr >> 56 != 0xff || !ph.p_filesz ||
		    ph.p_filesz > UINT64_MAX - ph.p_vaddr || ph.p_offset > LLONG_MAX ||
		    ph.p_filesz > LLONG_MAX - ph.p_offset)
			continue;
		k->loads[k->nr++] = (struct kcore_load) {
			.start	= ph.p_vaddr,
			.end	= ph.p_vaddr + ph.p_filesz,
			.offset = ph.p_offset,
			.paddr	= ph.p_paddr,
		};
	}

	if (k->nr)
		err = 0;
out:
	elf_end(elf);
	return err;
}

/* Only the kernel's own word tells lockdown from a missing capability. */
static bool kernel_locked_down(void)
{
	char buf[64] = "";
	ssize_t n;
	int fd = open("/sys/kernel/security/lockdown", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	return n > 0 && strstr(buf, "[confidentiality]");
}

static int kcore__open(struct kcore *k, char *err, size_t errlen)
{
	int ret;

	*k = (struct kcore) { .mem.read = kcore__read };
	k->fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	if (k->fd < 0) {
		ret = -errno;
		if (ret == -ENOENT)
			return fail(err, errlen, ret,
				    "the guest kernel has no /proc/kcore: it needs CONFIG_PROC_KCORE=y");
		if (ret == -EPERM && kernel_locked_down())
			return fail(err, errlen, ret,
				    "/proc/kcore: the guest kernel is locked down: boot it without lockdown=confidentiality");
		if (ret == -EPERM || ret == -EACCES)
			return fail(err, errlen, ret,
				    "/proc/kcore: not permitted: run this as root with CAP_SYS_RAWIO, outside of containers, in a guest without kernel lockdown");
		return fail(err, errlen, ret, "/proc/kcore: %s", strerror(-ret));
	}

	ret = kcore__parse(k);
	if (ret) {
		kcore__close(k);
		return ret == -ENOMEM ? fail(err, errlen, ret, "out of memory") :
			fail(err, errlen, ret,
			     "/proc/kcore is not an x86-64 core file: is it hidden by a container runtime?");
	}

	return 0;
}

/* Addresses of the kernel's symbols, 0: not found */
struct ksyms {
	u64	init_task;
	u64	init_mm;
	u64	page_offset_base;
	u64	phys_base;
	u64	sme_me_mask;
	size_t	nr_seen;
	bool	any_address;
};

static int ksyms__add(void *arg, const char *name, char type, u64 start)
{
	struct ksyms *s = arg;
	const struct {
		const char *name;
		u64 *addr;
	} wanted[] = {
		{ "init_task",		&s->init_task },
		{ "init_mm",		&s->init_mm },
		{ "page_offset_base",	&s->page_offset_base },
		{ "phys_base",		&s->phys_base },
		{ "sme_me_mask",	&s->sme_me_mask },
	};
	size_t i, found = 0;

	s->nr_seen++;
	s->any_address |= start != 0;

	/*
	 * A static symbol, or one of a module (whose name would have a tab and
	 * the module behind it), may have the same name.
	 */
	if (kallsyms2elf_binding(type) != STB_GLOBAL)
		return 0;

	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		if (!*wanted[i].addr && !strcmp(name, wanted[i].name))
			*wanted[i].addr = start;
		found += *wanted[i].addr != 0;
	}

	/* modules make it long: stop when there is nothing left to find */
	return found == ARRAY_SIZE(wanted);
}

static int ksyms__read(struct ksyms *s, char *err, size_t errlen)
{
	*s = (struct ksyms) { 0 };

	if (kallsyms__parse("/proc/kallsyms", s, ksyms__add) < 0 || !s->nr_seen)
		return fail(err, errlen, -ENOKEY,
			    "/proc/kallsyms cannot be read: the guest kernel needs CONFIG_KALLSYMS=y");

	if (!s->any_address)
		return fail(err, errlen, -EACCES,
			    "/proc/kallsyms shows no addresses: run this as root with CAP_SYSLOG, and sysctl kernel.kptr_restrict=1 (or 0)");

	if (!kernel_ptr(s->init_task))
		return fail(err, errlen, -ENOKEY,
			    "/proc/kallsyms does not know init_task: the guest kernel needs CONFIG_KALLSYMS_ALL=y");

	return 0;
}

/*
 * Where physical memory is mapped. The kernel has variables for it when the
 * place is chosen at boot, and /proc/kcore tells it in p_paddr since 4.11; on
 * a kernel that has both, both must say the same.
 *
 * Return: 0, -ENODATA: neither, -EBADMSG: they differ
 */
static int linear_base(const struct kcore *k, u64 sym, u64 lo, u64 hi, bool image, u64 *base)
{
	struct guest_mem *mem = (struct guest_mem *)&k->mem;
	bool found = false;
	u64 val;
	size_t i;

	if (kernel_ptr(sym) && !mem->read(mem, sym, base, sizeof(*base)))
		found = true;

	for (i = 0; i < k->nr; i++) {
		const struct kcore_load *load = &k->loads[i];

		if (load->paddr == UINT64_MAX || load->start < lo || load->start > hi)
			continue;

		/* 0 for all is what the field had before 4.11 */
		if (!load->paddr)
			continue;

		val = image ? load->paddr - (load->start - START_KERNEL_MAP) :
			      load->start - load->paddr;
		if (found && val != *base)
			return -EBADMSG;
		*base = val;
		found = true;
	}

	return found ? 0 : -ENODATA;
}

static int layout__locate(struct guest_task_layout *l, const struct ksyms *s,
			  struct kcore *k, char *err, size_t errlen)
{
	int ret;

	l->init_task = s->init_task;
	l->init_mm = s->init_mm;

	ret = linear_base(k, s->page_offset_base, 0, START_KERNEL_MAP - 1, false,
			  &l->page_offset);
	if (!ret)
		ret = linear_base(k, s->phys_base, START_KERNEL_MAP, UINT64_MAX, true,
				  &l->phys_base);
	if (ret)
		return fail(err, errlen, ret, ret == -ENODATA ?
			    "where physical memory is mapped is neither in kallsyms nor in kcore" :
			    "kallsyms and kcore contradict each other about the map of physical memory");

	l->me_mask = 0;
	if (kernel_ptr(s->sme_me_mask) &&
	    k->mem.read(&k->mem, s->sme_me_mask, &l->me_mask, sizeof(l->me_mask)))
		l->me_mask = 0;

	return 0;
}

static int layout__read_btf(struct guest_task_layout *l, char *err, size_t errlen)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const char *missing = "";
	int ret;

	if (!btf)
		return fail(err, errlen, -ENODATA,
			    "no type information in /sys/kernel/btf/vmlinux: the guest kernel needs CONFIG_DEBUG_INFO_BTF=y");

	ret = guest_task_layout__from_btf(l, btf, &missing);
	btf__free(btf);
	if (ret)
		return fail(err, errlen, -EPROTO,
			    "the guest kernel's type information has no %s of the known form: this kernel is not supported",
			    missing);

	return 0;
}

struct pid_list {
	pid_t	*pids;		/* ascending */
	size_t	nr;
};

static int cmp_pid_t(const void *va, const void *vb)
{
	const pid_t *a = va, *b = vb;

	return *a < *b ? -1 : *a > *b;
}

static int pid_list__read(struct pid_list *list)
{
	size_t alloc = 0;
	struct dirent *d;
	DIR *dir;

	*list = (struct pid_list) { 0 };

	dir = opendir("/proc");
	if (!dir)
		return -errno;

	while ((d = readdir(dir)) != NULL) {
		char *end;
		long pid = strtol(d->d_name, &end, 10);

		if (*end || pid <= 0 || pid > PID_MAX_LIMIT)
			continue;

		if (grow_array(list->pids, list->nr, alloc)) {
			closedir(dir);
			zfree(&list->pids);
			return -ENOMEM;
		}
		list->pids[list->nr++] = pid;
	}

	closedir(dir);
	if (list->nr)
		qsort(list->pids, list->nr, sizeof(*list->pids), cmp_pid_t);
	return 0;
}

/* Pids of another namespace would silently be taken for the guest's. */
static bool in_init_pid_ns(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) || st.st_ino == INIT_PID_NS_INO;
}

/* One pass with fresh program headers: memory hotplug moves all of kcore. */
static int read_pass(struct guest_tasks *pass, struct guest_task_layout *l,
		     const struct ksyms *syms, size_t max_tasks, char *err, size_t errlen)
{
	struct kcore k;
	int ret;

	*pass = (struct guest_tasks) { 0 };

	ret = kcore__open(&k, err, errlen);
	if (ret)
		return ret;

	ret = layout__locate(l, syms, &k, err, errlen);
	if (!ret) {
		ret = guest_tasks__walk(pass, l, &k.mem, max_tasks);
		if (ret == -EFAULT || ret == -EINVAL || ret == -EBADMSG)
			ret = fail(err, errlen, -EBADMSG,
				   "/proc/kcore has no init_task where BTF and /proc/kallsyms say: they are not of the running kernel");
		else if (ret)
			fail(err, errlen, ret,
			     "the guest's task list cannot be read: %s", strerror(-ret));
	}

	kcore__close(&k);
	return ret;
}

/**
 * guest_tasks__read - list the processes of the running kernel with their roots
 * @t: result; overwritten, to be released with guest_tasks__exit()
 * @err: on error, one sentence that tells the user what to do; may be NULL
 * @errlen: bytes at @err
 *
 * Needs root in the initial pid namespace. Walks the list until a pass saw all
 * of it and everything that /proc lists, at most 5 times.
 *
 * Return: 0 (look at @t->nr_unread), or
 *  -EOPNOTSUPP	not x86-64, or perf was built without libelf or libbpf
 *  -EXDEV	in a container: other pids than the guest's
 *  -ENODATA	no BTF; or it is unknown where physical memory is mapped
 *  -EPROTO	BTF lacks a member
 *  -ENOKEY	kallsyms is missing or lacks init_task
 *  -EACCES	kallsyms hides the addresses, or not root
 *  -EPERM	kcore is forbidden: lockdown or no CAP_SYS_RAWIO
 *  -ENOENT	no kcore
 *  -ENOEXEC	kcore is not an ELF core file
 *  -EBADMSG	BTF, kallsyms and kcore are not of one kernel
 *  -EAGAIN	nothing could be read
 *  -ENOMEM
 */
int guest_tasks__read(struct guest_tasks *t, char *err, size_t errlen)
{
	struct guest_task_layout layout = { 0 };
	struct guest_task self = { .pid = getpid() }, *e;
	struct pid_list before, after = { 0 };
	int ret, try, max_tasks;
	struct ksyms syms;
	bool complete;

	*t = (struct guest_tasks) { 0 };

	if (!in_init_pid_ns())
		return fail(err, errlen, -EXDEV,
			    "this runs in a container, whose pids are not the guest's: run it in the guest's initial pid namespace");

	if (elf_version(EV_CURRENT) == EV_NONE)
		return fail(err, errlen, -EOPNOTSUPP, "libelf is too old");

	if (sysctl__read_int("kernel/pid_max", &max_tasks) || max_tasks <= 0 ||
	    max_tasks > PID_MAX_LIMIT)
		max_tasks = PID_MAX_LIMIT;

	ret = layout__read_btf(&layout, err, errlen);
	if (!ret)
		ret = ksyms__read(&syms, err, errlen);
	if (ret)
		return ret;

	ret = pid_list__read(&before);
	if (ret)
		return fail(err, errlen, ret, "/proc cannot be listed: %s", strerror(-ret));

	for (try = 0; try < MAX_PASSES; try++) {
		struct guest_tasks pass;

		/* give a CPU time that was taken away in the middle of an update */
		if (try)
			usleep(1000 << try);

		ret = read_pass(&pass, &layout, &syms, max_tasks, err, errlen);
		complete = !ret;
		if (ret && ret != -EAGAIN && ret != -ELOOP) {
			guest_tasks__exit(&pass);
			goto out;
		}

		ret = guest_tasks__merge(t, &pass, complete);
		if (!ret)
			ret = pid_list__read(&after);
		if (ret) {
			guest_tasks__exit(&pass);
			fail(err, errlen, ret, "the guest's processes cannot be listed: %s",
			     strerror(-ret));
			goto out;
		}

		t->nr_unread = guest_tasks__count_unread(t, before.pids, before.nr,
							 after.pids, after.nr);
		free(before.pids);
		before = after;
		if (complete && !t->nr_unread)
			break;
	}

	/* the one process that is known to be there, and to have a page table */
	e = t->nr ? bsearch(&self, t->entries, t->nr, sizeof(*e), cmp_pid) : NULL;
	if (t->nr <= 1) {
		ret = fail(err, errlen, -EAGAIN,
			   "the guest's task list changes too fast to be read: try again");
	} else if (!e || !e->pt_root || e->kthread) {
		ret = fail(err, errlen, -EBADMSG,
			   "the guest kernel's type information does not match its memory: this process is not in its task list");
	}
	t->layout = layout;
out:
	free(before.pids);
	if (ret)
		guest_tasks__exit(t);
	return ret;
}

#else

int guest_tasks__read(struct guest_tasks *t, char *err, size_t errlen)
{
	*t = (struct guest_tasks) { 0 };
	return fail(err, errlen, -EOPNOTSUPP,
		    "reading a guest's address spaces needs an x86-64 perf with libelf and libbpf");
}

#endif
