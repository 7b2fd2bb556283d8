// SPDX-License-Identifier: GPL-2.0
/*
 * Whose a sample or an event is: which VM's, which vCPU's, which thread's of the host.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "util/hashmap.h"
#include "util/machine.h"
#include "util/session.h"
#include "util/thread.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/lib/array.h"
#include "measurement.h"
#include "memo.h"
#include "who.h"

/*
 * The kernel's threads that move a guest's packets are called vhost-<pid of the VMM>, and that
 * of the emulated timer kvm-pit/<pid>.
 */
#define VHOST_COMM	"vhost-"
#define PIT_COMM	"kvm-pit/"

/* The parent of the kernel's threads, see kernel/kthread.c */
#define KTHREADD_PID	2

/* The number of the VM that @guest, or what runs it, is; -ENOMEM */
static int measurement__findnew_vm(struct measurement *m, struct kvm_guest *guest)
{
	struct measured_vm *vms;
	pid_t pid = kvm_guest__vm(guest);
	long idx;

	if (hashmap__find(m->vm_by_pid, pid, &idx))
		return idx;
	guest = kvm_guests__find_whole(m->session, guest);
	if (guest->nested)
		return -ENOENT;

	vms = reallocarray(m->vms, m->nr_vms + 1, sizeof(*vms));
	if (!vms)
		return -ENOMEM;
	m->vms = vms;
	if (hashmap__add(m->vm_by_pid, pid, m->nr_vms))
		return -ENOMEM;
	vms[m->nr_vms] = (struct measured_vm) {
		.guest = guest,
		.name = guest->name,
		.pid = pid & GUEST_VM_PID_MASK,
	};
	return m->nr_vms++;
}

/* The index of the vCPU that thread @tid runs, or TIME_AXIS_NONE */
u32 measurement__vcpu_of_tid(const struct measurement *m, pid_t tid)
{
	long vcpu;

	return hashmap__find(m->vcpu_by_tid, tid, &vcpu) ? vcpu : TIME_AXIS_NONE;
}

/* The number of a name that tasks have, or TIME_AXIS_NONE: no memory */
static u32 measurement__findnew_name(struct measurement *m, const char *comm)
{
	long found;
	char *name;

	if (hashmap__find(m->name_idx, comm, &found))
		return found;
	if (grow_array(m->names, m->nr_names, m->allocated_names))
		return TIME_AXIS_NONE;
	name = strdup(comm);
	if (!name || hashmap__add(m->name_idx, name, (long)m->nr_names)) {
		free(name);
		return TIME_AXIS_NONE;
	}
	m->names[m->nr_names] = name;
	return m->nr_names++;
}

/* 0, or -ENOMEM: it keeps the name that it has */
int measured_task__rename(struct measured_task *task, struct measurement *m, const char *comm)
{
	u32 name;

	if (task->comm && !strcmp(task->comm, comm))
		return 0;
	name = measurement__findnew_name(m, comm);
	if (name == TIME_AXIS_NONE)
		return -ENOMEM;
	task->name = name;
	task->comm = m->names[name];
	return 0;
}

/* The number of a new task, as yet without a name, or TIME_AXIS_NONE: no memory */
static u32 measurement__add_task(struct measurement *m, pid_t tid)
{
	struct measured_task *task;

	if (grow_array(m->tasks, m->nr_tasks, m->allocated_tasks))
		return TIME_AXIS_NONE;
	task = zalloc(sizeof(*task));
	if (!task)
		return TIME_AXIS_NONE;
	task->tid = tid;
	task->pid = NO_PID;
	task->vcpu = TIME_AXIS_NONE;
	if (measured_task__rename(task, m, tid ? "" : "idle") ||
	    hashmap__set(m->task_by_tid, tid, (long)m->nr_tasks, NULL, NULL)) {
		free(task);
		return TIME_AXIS_NONE;
	}
	m->tasks[m->nr_tasks] = task;
	return m->nr_tasks++;
}

static struct measured_task *measurement__ended(struct measurement *m, pid_t tid)
{
	return &m->ended[(u32)tid % NR_ENDED_THREADS];
}

/* Thread @tid begins: who had this number before is another one. CPUs' idle tasks are none. */
void measurement__new_thread(struct measurement *m, pid_t tid)
{
	struct measured_task *ended = measurement__ended(m, tid);

	if (!tid)
		return;
	hashmap__delete(m->task_by_tid, tid, NULL, NULL);
	if (ended->tid == tid)
		ended->tid = 0;
}

/* The name that perf has for a thread; NULL if it has only its number */
static const char *thread_comm(struct thread *thread)
{
	return thread && thread__comm_set(thread) ? thread__comm_str(thread) : NULL;
}

static bool thread_is_kernels(struct thread *thread)
{
	return thread && thread__ppid(thread) == KTHREADD_PID;
}

/*
 * Is this no more the thread that the task is, as records of an end and a begin were lost, or may
 * have been? @pid: its process by a sample, or NO_PID; @comm: what it is called now, or NULL
 */
static bool measured_task__is_gone(const struct measured_task *task, const struct measurement *m,
				   pid_t pid, const char *comm)
{
	if (!task->tid)
		return false;
	if (task->ended)
		return comm || task->lost != m->nr_lost;
	return pid >= 0 && task->pid >= 0 && pid != task->pid;
}

/* Takes what was known of a thread when it ended, which perf has forgotten since. */
static void measured_task__recall(struct measured_task *task, struct measurement *m)
{
	const struct measured_task *ended = measurement__ended(m, task->tid);

	if (task->tid && ended->tid == task->tid && ended->lost == m->nr_lost)
		*task = *ended;
}

/* Takes what is known of the task now. @thread: perf's, or NULL */
static void measured_task__update(struct measured_task *task, struct measurement *m,
				  struct thread *thread, pid_t pid)
{
	const char *comm = thread_comm(thread);

	if (task->pid < 0)
		task->pid = thread && pid < 0 ? thread__pid(thread) : pid;
	/* Else perf's is another one, of whose end there was no record. */
	if (comm && (thread__pid(thread) < 0 || thread__pid(thread) == task->pid))
		measured_task__rename(task, m, comm);
	task->kthread |= thread_is_kernels(thread);
	task->lost = m->nr_lost;
	/* Each time: it may be a vCPU's thread only from now on. */
	if (task->vcpu == TIME_AXIS_NONE)
		task->vcpu = measurement__vcpu_of_tid(m, task->tid);
}

/*
 * The number of a thread of the host, or TIME_AXIS_NONE. @pid: NO_PID if that is not known. CPUs
 * idle in one thread each, and all are pid 0.
 */
u32 measurement__findnew_task(struct measurement *m, struct machine *machine, pid_t pid,
			      pid_t tid)
{
	struct thread *thread = tid ? machine__find_thread(machine, pid, tid) : NULL;
	const char *comm = thread_comm(thread);
	long idx;

	if (!hashmap__find(m->task_by_tid, tid, &idx) ||
	    measured_task__is_gone(m->tasks[idx], m, pid, comm)) {
		idx = measurement__add_task(m, tid);
		if (idx != TIME_AXIS_NONE && !comm)
			measured_task__recall(m->tasks[idx], m);
	}
	if (idx != TIME_AXIS_NONE)
		measured_task__update(m->tasks[idx], m, thread, pid);
	thread__put(thread);
	return idx;
}

/*
 * Thread @tid has ended, before perf forgets it. It still has the CPU for a moment, and may wait
 * for it; and of what it has waited for, events may come yet.
 */
void measurement__end_thread(struct measurement *m, struct machine *machine, pid_t tid)
{
	struct thread *thread = machine__find_thread(machine, NO_PID, tid);
	const char *comm = thread_comm(thread);
	long idx;

	if (hashmap__find(m->task_by_tid, tid, NULL)) {
		idx = measurement__findnew_task(m, machine, NO_PID, tid);
		if (idx != TIME_AXIS_NONE)
			m->tasks[idx]->ended = true;
	} else if (tid && comm) {
		struct measured_task ended = {
			.tid = tid,
			.pid = thread__pid(thread),
			.vcpu = TIME_AXIS_NONE,
			.kthread = thread_is_kernels(thread),
			.ended = true,
			.lost = m->nr_lost,
		};

		if (!measured_task__rename(&ended, m, comm))
			*measurement__ended(m, tid) = ended;
	}
	thread__put(thread);
	hashmap__delete(m->vcpu_by_tid, tid, NULL, NULL);
}

/* The index of the vCPU that is vCPU @id of @guest. -ERANGE, -ENOMEM */
int measurement__findnew_vcpu(struct measurement *m, struct kvm_guest *guest, u64 id)
{
	int vm;

	if (id >= TIME_AXIS_MAX_CPUS)
		return -ERANGE;
	vm = measurement__findnew_vm(m, guest);
	return vm < 0 ? vm : time_axis__findnew_vcpu(&m->axis, vm, id);
}

/* Until this is another number, what is known of threads holds. */
static u64 measurement__thread_changes(const struct measurement *m)
{
	return m->nr_changes + m->nr_lost;
}

/* A thread of the host, and the guest that its process @pid runs */
struct memo_thread *measurement__thread(const struct measurement *m, bool in_guest, pid_t pid,
					pid_t tid)
{
	const struct kvm_guests *guests = m->session->kvm_guests;
	size_t nr_guests = guests && guests->by_pid ? hashmap__size(guests->by_pid) : 0;
	u64 changes = measurement__thread_changes(m) + nr_guests;
	struct memo_thread *thread = memo__thread(&m->memo, pid, tid, changes);

	/* In a guest, @tid is a number of its own. */
	if (!thread->is_used && in_guest)
		thread->guest = kvm_guests__find(m->session, pid);
	else if (!thread->is_used)
		thread->guest = kvm_guests__find_thread(m->session, pid, tid);
	thread->is_used = true;
	return thread;
}

/* The number of the task that a sample of the host was taken in, or TIME_AXIS_NONE */
u32 measurement__task(struct measurement *m, struct memo_thread *thread, struct machine *machine,
		      u32 vcpu)
{
	if (!thread->has_task)
		thread->task = measurement__findnew_task(m, machine, thread->pid, thread->tid);
	thread->has_task = thread->task != TIME_AXIS_NONE;
	/* It may be a vCPU's thread only from now on. */
	if (thread->has_task && m->tasks[thread->task]->vcpu == TIME_AXIS_NONE)
		m->tasks[thread->task]->vcpu = vcpu;
	return thread->task;
}

/* Is it known which process the thread is of, and what it is called? CPUs idle in no process. */
static bool measured_task__is_known(const struct measured_task *task)
{
	return !task->tid || (task->pid >= 0 && task->comm[0]);
}

/* The number of the task that gets the CPU, which is thread @tid, or TIME_AXIS_NONE */
u32 measurement__next_task(struct measurement *m, struct machine *machine, pid_t tid)
{
	struct memo_thread *thread = memo__thread(&m->memo, NO_PID, tid,
						  measurement__thread_changes(m));

	if (!thread->has_task) {
		thread->task = measurement__findnew_task(m, machine, NO_PID, tid);
		thread->is_used = true;
		thread->has_task = thread->task != TIME_AXIS_NONE &&
				   measured_task__is_known(m->tasks[thread->task]);
	} else if (m->tasks[thread->task]->vcpu == TIME_AXIS_NONE) {
		m->tasks[thread->task]->vcpu = measurement__vcpu_of_tid(m, tid);
	}
	return thread->task;
}

/* The index of vCPU @id of @guest, which @thread runs. -ERANGE, -ENOMEM, -ENOENT */
int measurement__vcpu(struct measurement *m, struct memo_thread *thread,
		      struct kvm_guest *guest, u64 id)
{
	int ret;

	if (thread->has_vcpu && thread->vcpu_id == id)
		return thread->vcpu;
	ret = measurement__findnew_vcpu(m, guest, id);
	thread->has_vcpu = ret >= 0;
	if (ret >= 0) {
		thread->vcpu_id = id;
		thread->vcpu = ret;
	}
	return ret;
}

bool measured_task__is_vhost(const struct measured_task *task)
{
	return strstarts(task->comm, VHOST_COMM);
}

/* Is it a thread of the kernel that has its name from a VM? */
bool measured_task__is_kernels(const struct measured_task *task)
{
	return measured_task__is_vhost(task) || strstarts(task->comm, PIT_COMM);
}

/*
 * The VM that a thread of the host works for, or TIME_AXIS_NONE. What a program calls itself is
 * no proof.
 */
u32 measured_task__vm(const struct measurement *m, const struct measured_task *task)
{
	size_t name = measured_task__is_vhost(task) ? strlen(VHOST_COMM) : strlen(PIT_COMM);
	pid_t pid = task->pid;
	char end;
	long vm;

	if (task->kthread && measured_task__is_kernels(task) &&
	    sscanf(task->comm + name, "%d%c", &pid, &end) != 1)
		pid = task->pid;

	return hashmap__find(m->vm_by_pid, pid, &vm) ? vm : TIME_AXIS_NONE;
}
