// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Processes that come, change and go, each with its page table: for
 * perf kvm unified guest-map --follow, see kvm-unified/collector/follow.c.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "guest_tasks.h"

/*
 * What the header that perf comes with has not. The names end as they do so that
 * there is no conflict with one that is made from a kernel.
 */
struct kg_counter {
	int counter;
};

struct signal_struct___kg {
	struct kg_counter live;
} __attribute__((preserve_access_index));

struct upid___kg {
	int nr;
} __attribute__((preserve_access_index));

struct pid___kg {
	unsigned int level;
	struct upid___kg numbers[1];
} __attribute__((preserve_access_index));

struct mm_struct___kg {
	void *pgd;
} __attribute__((preserve_access_index));

struct task_struct___kg {
	unsigned int flags;
	struct mm_struct___kg *mm;
	int pid;
	int tgid;
	struct task_struct___kg *group_leader;
	struct pid___kg *thread_pid;
	struct signal_struct___kg *signal;
} __attribute__((preserve_access_index));

struct module___kg {
	char name[1];
} __attribute__((preserve_access_index));

/* include/linux/sched.h */
#define PF_KTHREAD	0x00200000

/* Room for what 9,000 processes a second do between two looks of the collector */
#define RING_SIZE	(1 << 18)

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_SIZE);
} records SEC(".maps");

u64 nr_lost;

static __always_inline u32 ns_pid_of(struct task_struct___kg *task)
{
	struct pid___kg *pid = BPF_CORE_READ(task, group_leader, thread_pid);
	u32 level = BPF_CORE_READ(pid, level);
	u32 size = bpf_core_type_size(struct upid___kg);
	int nr = 0;

	if (!level)
		return 0;
	/* The last element of an array that has as many as there are levels. */
	bpf_probe_read_kernel(&nr, sizeof(nr),
			      (void *)pid + bpf_core_field_offset(struct pid___kg, numbers) +
			      (u64)level * size +
			      bpf_core_field_offset(struct upid___kg, nr));
	return nr;
}

static __always_inline int put(struct task_struct___kg *task, u32 kind, bool shared)
{
	struct guest_task_record *rec;

	rec = bpf_ringbuf_reserve(&records, sizeof(*rec), 0);
	if (!rec) {
		__sync_fetch_and_add(&nr_lost, 1);
		return 0;
	}
	rec->time = bpf_ktime_get_boot_ns();
	rec->pgd = kind == GUEST_TASK_EXIT ? 0 : (u64)BPF_CORE_READ(task, mm, pgd);
	rec->pid = BPF_CORE_READ(task, tgid);
	rec->ns_pid = ns_pid_of(task);
	rec->kind = kind;
	rec->shared = shared;
	/* The collector looks now and then: no process shall wake it. */
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct task_struct___kg *task = (void *)child, *from = (void *)parent;

	/* A thread has the address space of its process. */
	if (BPF_CORE_READ(task, pid) != BPF_CORE_READ(task, tgid) ||
	    BPF_CORE_READ(task, flags) & PF_KTHREAD)
		return 0;
	return put(task, GUEST_TASK_FORK, BPF_CORE_READ(task, mm) == BPF_CORE_READ(from, mm));
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *p)
{
	return put((void *)p, GUEST_TASK_EXEC, false);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *p)
{
	struct task_struct___kg *task = (void *)p;

	/* Only the last thread takes the address space with it. */
	if (BPF_CORE_READ(task, signal, live.counter) ||
	    BPF_CORE_READ(task, flags) & PF_KTHREAD)
		return 0;
	return put(task, GUEST_TASK_EXIT, false);
}

static __always_inline int put_module(const void *module, bool gone)
{
	struct guest_module_record *rec;

	rec = bpf_ringbuf_reserve(&records, sizeof(*rec), 0);
	if (!rec) {
		__sync_fetch_and_add(&nr_lost, 1);
		return 0;
	}
	rec->time = bpf_ktime_get_boot_ns();
	rec->gone = gone;
	rec->reserved = 0;
	if (bpf_probe_read_kernel_str(rec->name, sizeof(rec->name), module +
				      bpf_core_field_offset(struct module___kg, name)) < 0)
		rec->name[0] = '\0';
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

/* A kernel without modules has neither of the two. */
SEC("tp_btf/module_load")
int BPF_PROG(on_module_load, void *module)
{
	return put_module(module, false);
}

SEC("tp_btf/module_free")
int BPF_PROG(on_module_free, void *module)
{
	return put_module(module, true);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
