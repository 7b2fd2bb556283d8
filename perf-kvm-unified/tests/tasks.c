// SPDX-License-Identifier: GPL-2.0
/*
 * The walk over a guest's task list, on lists that stand in an array: whole
 * ones, broken ones, and ones that change between two reads.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#ifdef HAVE_LIBBPF_SUPPORT
#include <bpf/btf.h>
#endif

#include "tests/tests.h"
#include "util/debug.h"
#include "kvm-unified/collector/addresses.h"
#include "kvm-unified/collector/guest-mem.h"
#include "kvm-unified/collector/layout.h"
#include "kvm-unified/collector/passes.h"
#include "kvm-unified/collector/tasks.h"
#include "kvm-unified/collector/walk.h"

#define PAGE_OFFSET	0xffff9a0000000000ULL
#define KERNEL_MAP	0xffffffff80000000ULL
#define PHYS_BASE	0x1d000000ULL
#define PF_KTHREAD	0x00200000

/* Where the fake memory is: a hole on both sides */
#define FAKE_VA		(PAGE_OFFSET + 0x100000)

struct fake_list {
	u64	next, prev;
};

/* Not in the kernel's order, and with a lowest member that is not 8-aligned */
struct fake_task {
	u32	not_wanted;
	u32	flags;
	struct fake_list thread_node;
	char	comm[GUEST_TASK_COMM_LEN];
	u64	start;
	u64	group_leader;
	u64	signal;
	u32	tgid, pid;
	u64	mm;
	struct fake_list tasks;
};

struct fake_mm {
	u64	other;
	u64	pgd;
};

struct fake_signal {
	u64	other;
	struct fake_list thread_head;
};

enum { INIT, A, B, C, D, NR_TASKS };

struct fake {
	struct guest_mem mem;
	void	(*hook)(struct fake *f, u64 va);	/* before each read */
	unsigned int nr_reads;
	bool	bad_address;	/* a read was tried that no pointer asks for */
	struct fake_kernel {
		struct fake_task task[NR_TASKS];
		struct fake_mm mm[NR_TASKS];
		struct fake_signal sig[NR_TASKS];
	} k;
};

/* Address in the guest of a part of @_f->k */
#define VA(_f, _part)	(FAKE_VA + (u64)((char *)&(_f)->k._part - (char *)&(_f)->k))

static const struct guest_task_layout layout = {
	.task_tasks		= offsetof(struct fake_task, tasks),
	.task_thread_node	= offsetof(struct fake_task, thread_node),
	.task_pid		= offsetof(struct fake_task, pid),
	.task_tgid		= offsetof(struct fake_task, tgid),
	.task_flags		= offsetof(struct fake_task, flags),
	.task_mm		= offsetof(struct fake_task, mm),
	.task_signal		= offsetof(struct fake_task, signal),
	.task_group_leader	= offsetof(struct fake_task, group_leader),
	.task_start		= offsetof(struct fake_task, start),
	.task_comm		= offsetof(struct fake_task, comm),
	.mm_pgd			= offsetof(struct fake_mm, pgd),
	.signal_thread_head	= offsetof(struct fake_signal, thread_head),
	.init_task		= FAKE_VA + offsetof(struct fake_kernel, task[INIT]),
	.init_mm		= FAKE_VA + offsetof(struct fake_kernel, mm[INIT]),
	.page_offset		= PAGE_OFFSET,
	.phys_base		= PHYS_BASE,
};

static int fake_read(struct guest_mem *mem, u64 va, void *buf, size_t len)
{
	struct fake *f = container_of(mem, struct fake, mem);

	f->nr_reads++;
	if (va >> 47 != 0x1ffff || va & 3)
		f->bad_address = true;
	if (f->hook)
		f->hook(f, va);
	if (va < FAKE_VA || va - FAKE_VA > sizeof(f->k) ||
	    len > sizeof(f->k) - (va - FAKE_VA))
		return -EFAULT;

	memcpy(buf, (char *)&f->k + (va - FAKE_VA), len);
	return 0;
}

static void link_tasks(struct fake *f, int from, int to)
{
	f->k.task[from].tasks.next = VA(f, task[to].tasks);
	f->k.task[to].tasks.prev = VA(f, task[from].tasks);
}

/*
 * init_task -> A (100) -> B (200) -> C (300) -> D (400) -> init_task, each with
 * one thread, started at pid * 1000 ns; page tables at physical 0x200000,
 * 0x202000 ..., the kernel's at 0xc10000 in its image.
 */
static void fake_init(struct fake *f)
{
	int i;

	memset(f, 0, sizeof(*f));
	f->mem.read = fake_read;

	for (i = INIT; i < NR_TASKS; i++) {
		struct fake_task *t = &f->k.task[i];

		t->pid = i * 100;
		t->tgid = i * 100;
		t->start = i * 100000ULL;
		t->group_leader = VA(f, task[i]);
		t->signal = VA(f, sig[i]);
		t->mm = VA(f, mm[i]);
		t->thread_node.next = VA(f, sig[i].thread_head);
		t->thread_node.prev = VA(f, sig[i].thread_head);
		f->k.sig[i].thread_head.next = VA(f, task[i].thread_node);
		f->k.sig[i].thread_head.prev = VA(f, task[i].thread_node);
		f->k.mm[i].pgd = PAGE_OFFSET + 0x200000 + (i - 1) * 0x2000ULL;
		snprintf(t->comm, sizeof(t->comm), "task-%d", i);
		link_tasks(f, i, (i + 1) % NR_TASKS);
	}

	f->k.task[INIT].mm = 0;
	f->k.task[INIT].flags = PF_KTHREAD;
	f->k.mm[INIT].pgd = KERNEL_MAP + 0xc10000;
}

static int walk(struct fake *f, struct guest_tasks *t)
{
	return guest_tasks__walk(t, &layout, &f->mem, 1000);
}

static const struct guest_task *find(const struct guest_tasks *t, pid_t pid)
{
	size_t i;

	for (i = 0; i < t->nr; i++) {
		if (t->entries[i].pid == pid)
			return &t->entries[i];
	}

	return NULL;
}

static bool has(const struct guest_tasks *t, pid_t pid, u64 pt_root)
{
	const struct guest_task *e = find(t, pid);

	return e && e->pt_root == pt_root && !e->unread;
}

static int test_whole(void)
{
	struct guest_task_layout l = layout;
	struct guest_tasks t;
	struct fake f;

	fake_init(&f);
	memset(f.k.task[B].comm, 'x', sizeof(f.k.task[B].comm));
	TEST_ASSERT_VAL("whole list", walk(&f, &t) == 0);
	TEST_ASSERT_VAL("all of it", t.nr == 5 && t.passes == 1);
	TEST_ASSERT_VAL("sorted", t.entries[0].pid == 0 && t.entries[4].pid == 400);
	TEST_ASSERT_VAL("kernel: image, not direct map", has(&t, 0, PHYS_BASE + 0xc10000));
	TEST_ASSERT_VAL("kernel is a kthread", find(&t, 0)->kthread);
	TEST_ASSERT_VAL("A", has(&t, 100, 0x200000));
	TEST_ASSERT_VAL("D", has(&t, 400, 0x206000));
	TEST_ASSERT_VAL("not a kthread", !find(&t, 100)->kthread);
	TEST_ASSERT_VAL("start", find(&t, 300)->start_ns == 300000);
	TEST_ASSERT_VAL("comm", !strcmp(find(&t, 300)->comm, "task-3"));
	TEST_ASSERT_VAL("comm is terminated", strlen(find(&t, 200)->comm) == 15);
	/* two for the kernel, three for each process: what 2,000 of them cost */
	TEST_ASSERT_VAL("number of reads", f.nr_reads == 2 + 4 * 3);
	guest_tasks__exit(&t);

	/* in the list by age, pids having wrapped; a pid reused during the walk */
	f.k.task[A].pid = 900;
	f.k.task[A].tgid = 900;
	f.k.task[D].pid = 200;
	f.k.task[D].tgid = 200;
	TEST_ASSERT_VAL("whole list", walk(&f, &t) == 0);
	TEST_ASSERT_VAL("sorted, each once", t.nr == 4 && t.entries[1].pid == 200 &&
			t.entries[2].pid == 300 && t.entries[3].pid == 900);
	TEST_ASSERT_VAL("the younger", has(&t, 200, 0x206000));
	guest_tasks__exit(&t);

	f.k.task[B].start = 500000;
	TEST_ASSERT_VAL("whole list", walk(&f, &t) == 0);
	TEST_ASSERT_VAL("now B is", has(&t, 200, 0x202000));
	guest_tasks__exit(&t);

	fake_init(&f);
	/* a kernel that runs below its link address: phys_base is negative */
	l.phys_base = -0x1000000ULL;
	f.k.mm[INIT].pgd = KERNEL_MAP + 0x2c22000;
	TEST_ASSERT_VAL("walk", guest_tasks__walk(&t, &l, &f.mem, 1000) == 0);
	TEST_ASSERT_VAL("negative phys_base", has(&t, 0, 0x1c22000));
	guest_tasks__exit(&t);

	l.init_mm = 0;
	l.me_mask = 1ULL << 51;
	TEST_ASSERT_VAL("walk", guest_tasks__walk(&t, &l, &f.mem, 1000) == 0);
	TEST_ASSERT_VAL("no init_mm", find(&t, 0)->unread);
	TEST_ASSERT_VAL("C-bit", has(&t, 100, 1ULL << 51 | 0x200000));
	guest_tasks__exit(&t);

	return TEST_OK;
}

static int test_kthread(void)
{
	struct guest_tasks t;
	struct fake f;

	fake_init(&f);
	f.k.task[A].flags = PF_KTHREAD;
	f.k.task[A].mm = 0;
	f.k.task[B].flags = PF_KTHREAD;		/* with C's mm on loan */
	f.k.task[B].mm = f.k.task[C].mm;
	TEST_ASSERT_VAL("walk", walk(&f, &t) == 0);
	TEST_ASSERT_VAL("kthread", has(&t, 100, 0) && find(&t, 100)->kthread);
	TEST_ASSERT_VAL("kthread with an mm", has(&t, 200, 0) && find(&t, 200)->kthread);
	TEST_ASSERT_VAL("the mm's owner", has(&t, 300, 0x204000));
	guest_tasks__exit(&t);

	return TEST_OK;
}

/* B, C and D become threads of A, whose leader has exited */
static void make_threads(struct fake *f)
{
	int i;

	link_tasks(f, A, INIT);
	for (i = A; i <= D; i++) {
		f->k.task[i].tgid = 100;
		f->k.task[i].signal = VA(f, sig[A]);
		f->k.task[i].group_leader = VA(f, task[A]);
		f->k.task[i].mm = i < C ? 0 : VA(f, mm[C]);
		f->k.task[i].thread_node.prev = i == A ? VA(f, sig[A].thread_head) :
						VA(f, task[i - 1].thread_node);
		f->k.task[i].thread_node.next = i == D ? VA(f, sig[A].thread_head) :
						VA(f, task[i + 1].thread_node);
	}
	f->k.sig[A].thread_head.next = VA(f, task[A].thread_node);
	f->k.sig[A].thread_head.prev = VA(f, task[D].thread_node);
}

static int test_exited_leader(void)
{
	struct guest_tasks t;
	struct fake f;

	fake_init(&f);
	make_threads(&f);
	TEST_ASSERT_VAL("walk", walk(&f, &t) == 0);
	TEST_ASSERT_VAL("one process", t.nr == 2);
	TEST_ASSERT_VAL("root of the third thread", has(&t, 100, 0x204000));
	guest_tasks__exit(&t);

	/* it is the third of at most two threads */
	TEST_ASSERT_VAL("walk", guest_tasks__walk(&t, &layout, &f.mem, 2) == 0);
	TEST_ASSERT_VAL("more threads than pid_max", find(&t, 100)->unread);
	guest_tasks__exit(&t);

	f.nr_reads = 0;
	/* a thread list that comes back to a thread: bounded, and not guessed */
	f.k.task[C].mm = 0;
	f.k.task[C].thread_node.next = VA(&f, task[B].thread_node);
	TEST_ASSERT_VAL("walk", walk(&f, &t) == 0);
	TEST_ASSERT_VAL("thread loop", find(&t, 100)->unread && !find(&t, 100)->pt_root);
	TEST_ASSERT_VAL("thread loop is left", f.nr_reads < 100);
	guest_tasks__exit(&t);

	/* the thread list leads to another process's thread */
	fake_init(&f);
	make_threads(&f);
	f.k.task[C].tgid = 300;
	TEST_ASSERT_VAL("walk", walk(&f, &t) == 0);
	TEST_ASSERT_VAL("foreign thread", find(&t, 100)->unread && !find(&t, 100)->pt_root);
	guest_tasks__exit(&t);

	/* zombies: not reaped yet, and reaped */
	fake_init(&f);
	f.k.task[A].mm = 0;
	f.k.task[B].mm = 0;
	f.k.task[B].signal = 0;
	TEST_ASSERT_VAL("walk", walk(&f, &t) == 0);
	TEST_ASSERT_VAL("zombie", has(&t, 100, 0) && !find(&t, 100)->kthread);
	TEST_ASSERT_VAL("reaped zombie", has(&t, 200, 0));
	guest_tasks__exit(&t);

	return TEST_OK;
}

static int test_loop(void)
{
	struct guest_tasks t;
	struct fake f;

	fake_init(&f);
	f.k.task[C].tasks.next = VA(&f, task[B].tasks);
	TEST_ASSERT_VAL("loop", walk(&f, &t) == -EAGAIN);
	TEST_ASSERT_VAL("what was read before", t.nr == 4 && has(&t, 300, 0x204000));
	TEST_ASSERT_VAL("bounded", f.nr_reads < 1000);
	guest_tasks__exit(&t);

	fake_init(&f);
	f.k.task[A].tasks.next = VA(&f, task[A].tasks);
	TEST_ASSERT_VAL("loop of one", walk(&f, &t) == -EAGAIN);
	TEST_ASSERT_VAL("A is there", t.nr == 2);
	guest_tasks__exit(&t);

	fake_init(&f);
	TEST_ASSERT_VAL("longer than pid_max",
			guest_tasks__walk(&t, &layout, &f.mem, 3) == -ELOOP);
	TEST_ASSERT_VAL("3 and the kernel", t.nr == 4);
	guest_tasks__exit(&t);
	TEST_ASSERT_VAL("as long as pid_max",
			guest_tasks__walk(&t, &layout, &f.mem, 4) == 0);
	guest_tasks__exit(&t);

	return TEST_OK;
}

static int test_dangling(void)
{
	const u64 bad[] = {
		0, 0x7f0000001000ULL, 0xdead000000000100ULL, 0x00ff9a0000100000ULL,
		FAKE_VA - 0x1000, FAKE_VA + sizeof(struct fake_kernel),
		FAKE_VA + 1, UINT64_MAX, UINT64_MAX - 7, 0xffffffffffffff00ULL,
	};
	struct guest_tasks t;
	struct fake f;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		fake_init(&f);
		f.k.task[B].tasks.next = bad[i];
		TEST_ASSERT_VAL("dangling", walk(&f, &t) == -EAGAIN);
		TEST_ASSERT_VAL("what was read before", t.nr == 3 && has(&t, 200, 0x202000));
		TEST_ASSERT_VAL("aligned kernel addresses only", !f.bad_address);
		guest_tasks__exit(&t);

		fake_init(&f);
		f.k.task[B].mm = bad[i] ?: 8;
		f.k.task[C].signal = bad[i] ?: 8;
		f.k.task[C].mm = 0;
		TEST_ASSERT_VAL("walk", walk(&f, &t) == 0);
		TEST_ASSERT_VAL("bad mm", find(&t, 200)->unread && !find(&t, 200)->pt_root);
		TEST_ASSERT_VAL("bad signal", find(&t, 300)->unread);
		TEST_ASSERT_VAL("the others", has(&t, 100, 0x200000) && has(&t, 400, 0x206000));
		TEST_ASSERT_VAL("aligned kernel addresses only", !f.bad_address);
		guest_tasks__exit(&t);
	}

	/* what is after the pointer is not a leader */
	fake_init(&f);
	f.k.task[C].tgid = 7;
	TEST_ASSERT_VAL("a thread in the list", walk(&f, &t) == -EAGAIN && t.nr == 3);
	guest_tasks__exit(&t);

	fake_init(&f);
	f.k.task[C].group_leader = VA(&f, task[D]);
	TEST_ASSERT_VAL("another's follower", walk(&f, &t) == -EAGAIN && t.nr == 3);
	guest_tasks__exit(&t);

	fake_init(&f);
	f.k.task[C].pid = 0x80000000;
	f.k.task[C].tgid = 0x80000000;
	TEST_ASSERT_VAL("impossible pid", walk(&f, &t) == -EAGAIN && t.nr == 3);
	guest_tasks__exit(&t);

	fake_init(&f);
	f.k.task[INIT].pid = 1;
	TEST_ASSERT_VAL("not init_task", walk(&f, &t) == -EBADMSG);
	guest_tasks__exit(&t);

	return TEST_OK;
}

static int test_bad_pgd(void)
{
	const u64 bad[] = {
		0, PAGE_OFFSET, PAGE_OFFSET + 0x200800, PAGE_OFFSET - 0x1000,
		0x200000, 0xdead000000000000ULL,
	};
	struct guest_tasks t;
	struct fake f;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		fake_init(&f);
		f.k.mm[B].pgd = bad[i];
		TEST_ASSERT_VAL("walk", walk(&f, &t) == 0);
		TEST_ASSERT_VAL("bad pgd", find(&t, 200)->unread && !find(&t, 200)->pt_root);
		TEST_ASSERT_VAL("counted", guest_tasks__count_unread(&t, NULL, 0, NULL, 0) == 1);
		guest_tasks__exit(&t);
	}

	return TEST_OK;
}

/* C exits when the walk, having read C, turns to D */
static void hook_unlink_c(struct fake *f, u64 va)
{
	struct fake_task *c = &f->k.task[C];

	if (va != VA(f, task[D]) + offsetof(struct fake_task, flags) || !c->pid)
		return;

	link_tasks(f, B, D);
	/* as list_del_rcu() and the next owner of the memory leave it */
	c->tasks.prev = 0xdead000000000122ULL;
	c->pid = 0;
}

/* the first try to go on from B finds nothing, as in a torn update */
static void hook_repair(struct fake *f, u64 va)
{
	if (va == VA(f, task[B]) + offsetof(struct fake_task, flags) && f->nr_reads > 10)
		link_tasks(f, B, C);
}

/* B gets a new mm (execve) right after its old one was asked for the pgd */
static void hook_exec(struct fake *f, u64 va)
{
	if (va != VA(f, mm[B].pgd))
		return;

	f->k.mm[B].pgd = PAGE_OFFSET + 0x999000;	/* another process's by now */
	f->k.mm[INIT].other = PAGE_OFFSET + 0x777000;
	f->k.task[B].mm = VA(f, mm[INIT].other) - offsetof(struct fake_mm, pgd);
}

/* B's memory goes to another process that happens to have its pid and mm */
static void hook_reuse(struct fake *f, u64 va)
{
	if (va == VA(f, mm[B].pgd))
		f->k.task[B].start++;
}

static int test_races(void)
{
	struct guest_tasks t;
	struct fake f;

	fake_init(&f);
	f.hook = hook_unlink_c;
	TEST_ASSERT_VAL("unlinked under the walk", walk(&f, &t) == 0);
	TEST_ASSERT_VAL("C is gone", t.nr == 4 && !find(&t, 300));
	TEST_ASSERT_VAL("D is there", has(&t, 400, 0x206000));
	guest_tasks__exit(&t);

	fake_init(&f);
	f.hook = hook_repair;
	f.k.task[B].tasks.next = 0xdead000000000100ULL;
	TEST_ASSERT_VAL("read again", walk(&f, &t) == 0);
	TEST_ASSERT_VAL("all", t.nr == 5);
	guest_tasks__exit(&t);

	fake_init(&f);
	f.hook = hook_exec;
	TEST_ASSERT_VAL("walk", walk(&f, &t) == 0);
	TEST_ASSERT_VAL("the new root", has(&t, 200, 0x777000));
	guest_tasks__exit(&t);

	fake_init(&f);
	f.hook = hook_reuse;
	TEST_ASSERT_VAL("walk", walk(&f, &t) == 0);
	TEST_ASSERT_VAL("never the same twice", find(&t, 200)->unread);
	guest_tasks__exit(&t);

	return TEST_OK;
}

static struct guest_tasks list_of(const struct guest_task *e, size_t nr)
{
	struct guest_tasks t = { .nr = nr, .passes = 1 };

	t.entries = malloc(nr * sizeof(*e));
	if (t.entries)
		memcpy(t.entries, e, nr * sizeof(*e));
	else
		t.nr = 0;
	return t;
}

static int test_merge(void)
{
	const struct guest_task first[] = {
		{ .pid = 1, .pt_root = 0x1000, .start_ns = 1 },
		{ .pid = 2, .start_ns = 2, .unread = true },
		{ .pid = 5, .pt_root = 0x5000, .start_ns = 5 },
		{ .pid = 6, .pt_root = 0x6000, .start_ns = 6 },
	};
	const struct guest_task second[] = {
		{ .pid = 2, .pt_root = 0x2000, .start_ns = 2 },
		{ .pid = 3, .pt_root = 0x3000, .start_ns = 3 },
		{ .pid = 5, .pt_root = 0, .start_ns = 5 },	/* a zombie now */
		{ .pid = 6, .pt_root = 0x7000, .start_ns = 7 },	/* reused pid */
	};
	struct guest_tasks t = { 0 }, pass;

	pass = list_of(first, ARRAY_SIZE(first));
	TEST_ASSERT_VAL("merge", !guest_tasks__merge(&t, &pass, false));
	pass = list_of(second, ARRAY_SIZE(second));
	TEST_ASSERT_VAL("merge", !guest_tasks__merge(&t, &pass, false));
	TEST_ASSERT_VAL("pass is empty", !pass.entries && !pass.nr);
	TEST_ASSERT_VAL("passes", t.passes == 2);
	TEST_ASSERT_VAL("pids once", t.nr == 5 && t.entries[2].pid == 3);
	TEST_ASSERT_VAL("kept", has(&t, 1, 0x1000) && has(&t, 5, 0x5000));
	TEST_ASSERT_VAL("read in the second pass", has(&t, 2, 0x2000));
	TEST_ASSERT_VAL("reused pid", has(&t, 6, 0x7000));

	pass = list_of(second, ARRAY_SIZE(second));
	TEST_ASSERT_VAL("merge", !guest_tasks__merge(&t, &pass, true));
	TEST_ASSERT_VAL("a complete pass replaces", t.nr == 4 && !find(&t, 1));
	TEST_ASSERT_VAL("passes", t.passes == 3);
	guest_tasks__exit(&t);

	return TEST_OK;
}

static int test_unread(void)
{
	const struct guest_task known[] = {
		{ .pid = 0, .pt_root = 0x1000 },
		{ .pid = 1, .pt_root = 0x2000 },
		{ .pid = 4, .unread = true },
		{ .pid = 9, .kthread = true },
	};
	const pid_t before[] = { 1, 2, 3, 4, 9, 10 }, after[] = { 1, 3, 4, 5, 9, 10 };
	struct guest_tasks t = list_of(known, ARRAY_SIZE(known));

	/* 3 and 10 were there all the time; 2 went, 5 came; 4 has no root */
	TEST_ASSERT_VAL("missing pids",
			guest_tasks__count_unread(&t, before, 6, after, 6) == 3);
	TEST_ASSERT_VAL("nothing before", guest_tasks__count_unread(&t, NULL, 0, after, 6) == 1);
	TEST_ASSERT_VAL("nothing after", guest_tasks__count_unread(&t, before, 6, NULL, 0) == 1);
	guest_tasks__exit(&t);
	TEST_ASSERT_VAL("nothing known", guest_tasks__count_unread(&t, before, 6, after, 6) == 5);

	return TEST_OK;
}

#ifdef HAVE_LIBBPF_SUPPORT
/*
 * task_struct and signal_struct flat, mm_struct with pgd two anonymous levels
 * down, at byte 8 + 16 + 8.
 */
static struct btf *fake_btf(const char *start, int comm_len, bool pid_bitfield)
{
	struct btf *btf = btf__new_empty();
	int u32_id, u64_id, char_id, comm_id, list_id, anon;

	if (!btf)
		return NULL;

	u32_id = btf__add_int(btf, "unsigned int", 4, 0);
	u64_id = btf__add_int(btf, "unsigned long", 8, 0);
	char_id = btf__add_int(btf, "char", 1, BTF_INT_CHAR);
	comm_id = btf__add_array(btf, u32_id, char_id, comm_len);
	list_id = btf__add_struct(btf, "list_head", 16);
	btf__add_field(btf, "next", u64_id, 0, 0);
	btf__add_field(btf, "prev", u64_id, 64, 0);

	btf__add_struct(btf, "task_struct", 256);
	btf__add_field(btf, "flags", u32_id, 4 * 8, 0);
	btf__add_field(btf, "pid", u32_id, 12 * 8, pid_bitfield ? 31 : 0);
	btf__add_field(btf, "tgid", u32_id, 16 * 8, 0);
	btf__add_field(btf, "tasks", list_id, 24 * 8, 0);
	btf__add_field(btf, "thread_node", list_id, 40 * 8, 0);
	btf__add_field(btf, "mm", u64_id, 56 * 8, 0);
	btf__add_field(btf, "signal", u64_id, 64 * 8, 0);
	btf__add_field(btf, "group_leader", u64_id, 72 * 8, 0);
	btf__add_field(btf, start, u64_id, 80 * 8, 0);
	btf__add_field(btf, "comm", comm_id, 88 * 8, 0);

	btf__add_struct(btf, "signal_struct", 64);
	btf__add_field(btf, "thread_head", list_id, 16 * 8, 0);

	btf__add_union(btf, NULL, 24);
	anon = btf__add_struct(btf, NULL, 24) - 1;
	btf__add_field(btf, "mmap_base", u64_id, 0, 0);
	btf__add_field(btf, "pgd", u64_id, 8 * 8, 0);
	btf__add_struct(btf, NULL, 40);
	btf__add_field(btf, "other", u64_id, 0, 0);
	btf__add_field(btf, NULL, anon + 1, 16 * 8, 0);
	btf__add_struct(btf, "mm_struct", 64);
	btf__add_field(btf, "count", u64_id, 0, 0);
	btf__add_field(btf, NULL, anon + 2, 8 * 8, 0);
	btf__add_field(btf, NULL, anon, 40 * 8, 0);

	return btf;
}

static int from_btf(struct guest_task_layout *l, struct btf *btf, const char **missing)
{
	int err = btf ? guest_task_layout__from_btf(l, btf, missing) : -ENOMEM;

	btf__free(btf);
	return err;
}

static int test_btf(void)
{
	struct guest_task_layout l = { .page_offset = 5 };
	const char *missing = NULL;

	TEST_ASSERT_VAL("5.5 and later", !from_btf(&l, fake_btf("start_boottime", 16, false),
						   &missing));
	TEST_ASSERT_VAL("task_struct", l.task_flags == 4 && l.task_pid == 12 &&
			l.task_tgid == 16 && l.task_tasks == 24 && l.task_thread_node == 40 &&
			l.task_mm == 56 && l.task_signal == 64 && l.task_group_leader == 72 &&
			l.task_start == 80 && l.task_comm == 88);
	TEST_ASSERT_VAL("signal_struct", l.signal_thread_head == 16);
	TEST_ASSERT_VAL("anonymous members", l.mm_pgd == 8 + 16 + 8);
	TEST_ASSERT_VAL("the rest is left alone", l.page_offset == 5);

	l.task_start = 0;
	TEST_ASSERT_VAL("before 5.5", !from_btf(&l, fake_btf("real_start_time", 16, false),
						&missing));
	TEST_ASSERT_VAL("offset", l.task_start == 80);

	TEST_ASSERT_VAL("no member", from_btf(&l, fake_btf("elapsed", 16, false),
					      &missing) == -ENOENT);
	TEST_ASSERT_VAL("its name", !strcmp(missing, "task_struct.start_boottime"));
	TEST_ASSERT_VAL("another size", from_btf(&l, fake_btf("start_boottime", 32, false),
						 &missing) == -EPROTO);
	TEST_ASSERT_VAL("its name", !strcmp(missing, "task_struct.comm"));
	TEST_ASSERT_VAL("bit field", from_btf(&l, fake_btf("start_boottime", 16, true),
					      &missing) == -EPROTO);
	TEST_ASSERT_VAL("its name", !strcmp(missing, "task_struct.pid"));

	return TEST_OK;
}
#else
static int test_btf(void)
{
	return TEST_OK;
}
#endif

#ifdef HAVE_LIBELF_SUPPORT
/* What a kernel with that in its kallsyms gives, and the sentence in @err. 0 or -errno */
static int from_kallsyms(const char *text, struct guest_ksyms *syms, char *err, size_t errlen)
{
	char path[] = "/tmp/perf-test-XXXXXX";
	int fd = mkstemp(path), ret = -EIO;

	if (fd < 0)
		return ret;
	if (write(fd, text, strlen(text)) == (ssize_t)strlen(text))
		ret = guest_ksyms__read(syms, path, err, errlen);
	unlink(path);
	close(fd);
	return ret;
}

static int test_kallsyms(void)
{
	struct guest_ksyms syms;
	char err[256];
	int ret;

	TEST_ASSERT_VAL("all symbols", !from_kallsyms("ffffffff81000000 T _stext\n"
						      "ffffffff82a00000 d init_task\n"
						      "ffffffff82a0a940 D init_task\n"
						      "ffffffff82b00000 D init_mm\n",
						      &syms, err, sizeof(err)));
	TEST_ASSERT_VAL("addresses", syms.init_task == 0xffffffff82a0a940ULL &&
			syms.init_mm == 0xffffffff82b00000ULL && !syms.phys_base);

	ret = from_kallsyms("ffffffff81000000 T _stext\n", &syms, err, sizeof(err));
	TEST_ASSERT_VAL("functions only", ret && guest_tasks__may_do_without(ret));
	TEST_ASSERT_VAL(err, strstr(err, "CONFIG_KALLSYMS_ALL=y") && !strchr(err, '\n'));

	ret = from_kallsyms("0000000000000000 T _stext\n", &syms, err, sizeof(err));
	TEST_ASSERT_VAL("hidden", ret && !guest_tasks__may_do_without(ret));
	ret = from_kallsyms("", &syms, err, sizeof(err));
	TEST_ASSERT_VAL("none", ret && !guest_tasks__may_do_without(ret));
	return TEST_OK;
}
#else
static int test_kallsyms(void)
{
	return TEST_OK;
}
#endif

static int test__guest_tasks(struct test_suite *test __maybe_unused,
			     int subtest __maybe_unused)
{
	int (*const cases[])(void) = {
		test_whole, test_kthread, test_exited_leader, test_loop, test_dangling,
		test_bad_pgd, test_races, test_merge, test_unread, test_btf, test_kallsyms,
	};
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		err = cases[i]();
		if (err)
			return err;
	}

	return TEST_OK;
}

DEFINE_SUITE("kvm unified: guest task walk", guest_tasks);
