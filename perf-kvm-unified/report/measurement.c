// SPDX-License-Identifier: GPL-2.0
/*
 * What a session's samples are of: which VM and vCPU, which thread of the host, which code.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/zalloc.h>

#include "util/addr_location.h"
#include "util/annotate.h"
#include "util/data.h"
#include "util/debug.h"
#include "util/dso.h"
#include "util/event.h"
#include "util/evlist.h"
#include "util/evsel.h"
#include "util/hashmap.h"
#include "util/machine.h"
#include "util/map.h"
#include "util/sample.h"
#include "util/session.h"
#include "util/symbol.h"
#include "util/thread.h"
#include "util/tsc.h"
#include "util/vcpu-sample.h"
#include "kvm-unified/format/looks.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/guests/cgroups.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/guests/resolve.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/name-map.h"
#include "kvm-unified/lib/number-map.h"
#include "kvm-unified/lib/sort.h"
#include "kvm-unified/lib/warnings.h"
#include "measurement.h"
#include "memo.h"

/*
 * The kernel's threads that move a guest's packets are called vhost-<pid of the VMM>, and that
 * of the emulated timer kvm-pit/<pid>.
 */
#define VHOST_COMM	"vhost-"
#define PIT_COMM	"kvm-pit/"

/* The parent of the kernel's threads, see kernel/kthread.c */
#define KTHREADD_PID	2

/* On one CPU, a thread for the axis would only cost. */
static bool has_several_cpus(void)
{
	cpu_set_t cpus;

	/* More than a set has room for is several. */
	return sched_getaffinity(0, sizeof(cpus), &cpus) || CPU_COUNT(&cpus) > 1;
}

int measurement__init(struct measurement *m)
{
	m->first = ~0ULL;
	m->first_event = ~0ULL;
	m->mixed_vcpu = TIME_AXIS_NONE;
	m->silent_cpu = TIME_AXIS_NONE;
	m->use_timeline = true;
	if (time_axis__init(&m->axis))
		return -ENOMEM;
	m->axis.threads = has_several_cpus();
	m->task_by_tid = number_map__new();
	m->name_idx = name_map__new();
	m->vcpu_by_tid = number_map__new();
	m->vm_by_pid = number_map__new();
	if (IS_ERR(m->task_by_tid) || IS_ERR(m->name_idx) || IS_ERR(m->vcpu_by_tid) ||
	    IS_ERR(m->vm_by_pid) || memo__init(&m->memo) || chains__init(&m->chains))
		return -ENOMEM;
	return hits__init(&m->hits);
}

void measurement__exit(struct measurement *m)
{
	time_axis__exit(&m->axis);
	hits__exit(&m->hits);
	chains__exit(&m->chains);
	memo__exit(&m->memo);
	hashmap__free(m->task_by_tid);
	hashmap__free(m->name_idx);
	hashmap__free(m->vcpu_by_tid);
	zfree(&m->timeline_last);
	long_states__exit(&m->long_states);
	free(m->looks.entries);
	hashmap__free(m->vm_by_pid);
	for (u32 i = 0; i < m->nr_tasks; i++)
		free(m->tasks[i]);
	free(m->tasks);
	for (u32 i = 0; i < m->nr_names; i++)
		free(m->names[i]);
	free(m->names);
	free(m->distances);
	free(m->vms);
	free(m->last_record);
	free(m->last_sample);
	free(m->throttled);
	free(m->silent);
	free(m->cpu_samples);
}

static int grow(u64 **array, u32 nr, u32 want)
{
	u64 *grown = reallocarray(*array, want, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	memset(grown + nr, 0, (want - nr) * sizeof(*grown));
	*array = grown;
	return 0;
}

/* Makes sure that there is room for what is counted by CPU. */
static int measurement__add_cpu(struct measurement *m, u32 cpu)
{
	if (cpu < m->nr_cpus)
		return 0;
	if (grow(&m->last_record, m->nr_cpus, cpu + 1) ||
	    grow(&m->throttled, m->nr_cpus, cpu + 1) ||
	    grow(&m->last_sample, m->nr_cpus, cpu + 1) ||
	    grow(&m->silent, m->nr_cpus, cpu + 1) ||
	    grow(&m->cpu_samples, m->nr_cpus, cpu + 1))
		return -ENOMEM;
	m->nr_cpus = cpu + 1;
	return 0;
}

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
static u32 measurement__vcpu_of_tid(const struct measurement *m, pid_t tid)
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

/* On a machine with CPUs of several kinds, an event of the CPU is one for each kind. */
static bool is_same_event(const struct evsel *evsel_a, const struct evsel *evsel_b)
{
	const struct perf_event_attr *a = &evsel_a->core.attr, *b = &evsel_b->core.attr;

	return evsel_a == evsel_b ||
	       (a->type == PERF_TYPE_HARDWARE && b->type == PERF_TYPE_HARDWARE &&
		(a->config & PERF_HW_EVENT_MASK) == (b->config & PERF_HW_EVENT_MASK));
}

/* Do its samples go on the time axis? */
bool measurement__is_counted(const struct measurement *m, const struct evsel *evsel)
{
	return m->evsel && is_same_event(m->evsel, evsel);
}

/* The column of what @evsel counts; @m->nr_columns: it has none */
static u32 measurement__column(const struct measurement *m, const struct evsel *evsel)
{
	u32 column = PROFILE_TIME + 1;

	while (column < m->nr_columns && !is_same_event(m->columns[column], evsel))
		column++;
	return column;
}

bool measurement__has_column(const struct measurement *m, const struct evsel *evsel)
{
	return measurement__column(m, evsel) < m->nr_columns;
}

static bool is_guest_mode(u8 cpumode)
{
	return cpumode == PERF_RECORD_MISC_GUEST_USER || cpumode == PERF_RECORD_MISC_GUEST_KERNEL;
}

/* "[kernel]" for any kernel, else the name of the file that @map is of as perf report has it */
const char *map__module_name(const struct map *map)
{
	const struct dso *dso = map ? map__dso(map) : NULL;

	if (!dso)
		return UNKNOWN_NAME;
	if (dso__kernel(dso) && !dso__is_kmod(dso))
		return "[kernel]";
	return dso__short_name(dso);
}

static const char *function_name(const struct addr_location *al)
{
	return al->sym ? al->sym->name : UNKNOWN_NAME;
}

/* @al: NULL if it is no code */
static int measurement__hit(struct measurement *m, const struct perf_sample *sample,
			    const struct profile_key *key, const struct addr_location *al, u32 *hit)
{
	const struct hit *found = hits__findnew(&m->hits, key, sample->cpu, al);

	if (!found)
		return -ENOMEM;
	*hit = found->idx;
	return 0;
}

/*
 * Of old kernels, see vcpu_sample__interrupted_guest(): the interrupt came while KVM
 * handled another exit, which is the host's time.
 */
static int measurement__relabel(struct measurement *m, const struct perf_sample *sample,
				struct axis_sample *as)
{
	char function[64], reason[32];
	struct profile_key key = {
		.class = PROFILE_OS,
		.function = function,
		.module = "(exit handling)",
		.comm = "",
		.pid = -1,
	};

	scnprintf(function, sizeof(function), "[exit: %s]",
		  vcpu_exit_reason__name(vcpu_sample__isa(&sample->vcpu_ctx),
					 sample->vcpu_ctx.exit_reason, reason, sizeof(reason)));
	as->kind = AXIS_SAMPLE_EXIT;
	return measurement__hit(m, sample, &key, NULL, &as->hit);
}

/* The host's key of a VM's time; @pid: of the VMM. @row must stay. */
struct profile_key vm_row__key(struct vm_row *row, const char *name, pid_t pid)
{
	scnprintf(row->function, sizeof(row->function), "[%s]", name);
	scnprintf(row->module, sizeof(row->module), PROFILE_VM_MODULE "%d)", pid);
	return (struct profile_key) {
		.class = PROFILE_VM,
		.function = row->function,
		.module = row->module,
		.comm = "",
		.pid = -1,
	};
}

/* Guest time of a vCPU that is not known, or of a guest that is not; @pid: of its VMM */
static int measurement__hit_vm(struct measurement *m, const struct perf_sample *sample,
			       const struct kvm_guest *guest, pid_t pid, struct axis_sample *as)
{
	struct vm_row row;
	struct profile_key key = vm_row__key(&row, guest ? guest->name : "guest",
					     pid & GUEST_VM_PID_MASK);

	as->kind = AXIS_SAMPLE_HOST;
	as->vcpu = TIME_AXIS_NONE;
	return measurement__hit(m, sample, &key, NULL, &as->hit);
}

/* Whose a sample of @guest is, into @key; @thread: of the page tables */
static void profile_key__set_process(struct profile_key *key, const struct perf_sample *sample,
				     const struct kvm_guest *guest, struct thread *thread)
{
	key->comm = thread__comm_str(thread) ?: "";
	key->pid = (pid_t)sample->pid < KVM_GUEST_PSEUDO_PID ? (pid_t)sample->pid : -1;
	key->ns_pid = sample->ns_pid;
	key->cgroup = kvm_guest__cgroup(guest, thread);
}

static int measurement__hit_guest(struct measurement *m, const struct perf_sample *sample,
				  const struct kvm_guest *guest, const struct addr_location *al,
				  u32 *hit)
{
	bool user = sample->cpumode == PERF_RECORD_MISC_GUEST_USER;
	struct profile_key key = {
		.class = guest->nested ? PROFILE_VM : user ? PROFILE_USER : PROFILE_OS,
		.function = function_name(al),
		.module = guest->nested ? guest->name : map__module_name(al->map),
		.comm = "",
		.pid = -1,
	};
	struct addr_location code = *al;

	/*
	 * Which task its kernel works for is not known, as kernel threads borrow address spaces;
	 * see measurement__add_chain().
	 */
	if (user)
		profile_key__set_process(&key, sample, guest, al->thread);
	else
		code.thread = NULL;
	return measurement__hit(m, sample, &key, &code, hit);
}

static int measurement__hit_host(struct measurement *m, const struct perf_sample *sample,
				 const struct addr_location *al, u32 *hit)
{
	bool user = sample->cpumode == PERF_RECORD_MISC_USER;
	struct profile_key key = {
		.class = user ? PROFILE_USER : PROFILE_OS,
		.function = function_name(al),
		.module = map__module_name(al->map),
		/* -1 is a task that has ended, whose number is gone. */
		.comm = (pid_t)sample->tid < 0 ? "" : thread__comm_str(al->thread) ?: "",
		.pid = (pid_t)sample->pid,
	};

	/* The idle task also runs interrupts; only where it waits is idle. */
	if (!user && !sample->pid && al->sym &&
	    symbol__is_idle(al->sym, map__dso(al->map), perf_session__env(m->session)))
		key.class = PROFILE_IDLE;
	return measurement__hit(m, sample, &key, al, hit);
}

/* Who had the CPU when the sample was taken; @as->vcpu is known */
static enum axis_sample_kind measurement__kind(const struct measurement *m,
					       const struct perf_sample *sample,
					       const struct axis_sample *as)
{
	switch (sample->cpumode) {
	case PERF_RECORD_MISC_GUEST_USER:
		return AXIS_SAMPLE_GUEST_USER;
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return AXIS_SAMPLE_GUEST_KERNEL;
	default:
		break;
	}
	if (sample->vcpu_ctx.flags & PERF_VCPU_LOADED)
		return AXIS_SAMPLE_EXIT;
	if (as->vcpu == TIME_AXIS_NONE)
		return sample->tid ? AXIS_SAMPLE_HOST : AXIS_SAMPLE_IDLE;
	/* Without contexts in the data, KVM and a system call look the same. */
	return sample->cpumode == PERF_RECORD_MISC_USER ||
	       measurement__vcpus_by(m) != VCPUS_BY_NOTHING ?
	       AXIS_SAMPLE_VMM : AXIS_SAMPLE_EXIT;
}

/*
 * The callers of what a sample has hit, if it has any. If a guest's kernel was entered from a
 * program, it works for that, and for no kernel thread that has borrowed the address space.
 * 0 or -ENOMEM
 */
static int measurement__add_chain(struct measurement *m, struct perf_sample *sample,
				  struct machine *machine, const struct kvm_guest *guest, u32 *hit)
{
	struct thread *thread = machine__findnew_thread(machine, sample->pid, sample->tid);
	const struct hit *callee = m->hits.by_idx[*hit], *called = callee;
	struct profile_key key = callee->key;
	const struct chain *chain = NULL;
	bool for_program;
	int ret;

	if (!thread)
		return -ENOMEM;
	ret = chains__resolve(&m->chains, thread, sample, m->max_stack, &chain);
	if (!ret && chain) {
		for_program = sample->cpumode == PERF_RECORD_MISC_GUEST_KERNEL &&
			      chain__has_user(chain);
		if (for_program)
			profile_key__set_process(&key, sample, guest, thread);
		called = hits__with_chain(&m->hits, callee, chain, &key,
					  for_program ? thread : NULL);
		if (!called)
			ret = -ENOMEM;
	}
	thread__put(thread);
	if (!ret)
		*hit = called->idx;
	return ret;
}

/* For annotation. One outside of its function, or without memory for it, is left out. */
static void count_addr(const struct perf_sample *sample, struct evsel *evsel,
		       const struct hit *hit, u64 addr)
{
	struct perf_sample counted = *sample;
	struct addr_map_symbol at = {
		.ms = { .map = hit->map, .sym = hit->sym, .thread = hit->thread },
		.addr = sample->ip,
		.al_addr = addr,
	};

	counted.evsel = evsel;
	if (hit->sym)
		addr_map_symbol__inc_samples(&at, &counted);
}

/* Finds what a sample has hit; @guest: whose it is, or NULL: the host's. 0 or -errno */
static int measurement__resolve(struct measurement *m, struct perf_sample *sample,
				struct machine *machine, const struct kvm_guest *guest,
				u32 column, u32 *hit)
{
	const struct memo_key key = {
		.machine = machine,
		.ip = sample->ip,
		.changes = guest ? m->nr_changes + guest->nr_changes : m->nr_changes,
		.pid = sample->pid,
		.tid = sample->tid,
		.ns_pid = sample->ns_pid,
		.cpu = m->hits.keep_cpus ? sample->cpu : 0,
		.cpumode = sample->cpumode,
	};
	const struct memo_entry *known = memo__find(&m->memo, &key);
	bool has_symbol = known && known->has_symbol;
	u64 addr = known ? known->addr : 0;
	int ret = 0;

	if (known) {
		*hit = known->hit;
	} else {
		struct addr_location al;

		addr_location__init(&al);
		ret = machine__resolve(machine, &al, sample);
		if (!ret)
			ret = guest ? measurement__hit_guest(m, sample, guest, &al, hit) :
				      measurement__hit_host(m, sample, &al, hit);
		has_symbol = al.sym;
		addr = al.addr;
		if (!ret)
			memo__set(&m->memo, &key, *hit, addr, has_symbol);
		addr_location__exit(&al);
	}
	if (!ret && !guest && sample->cpumode != PERF_RECORD_MISC_USER) {
		m->nr_host_kernel++;
		m->nr_host_kernel_named += has_symbol;
	}
	if (!ret && m->addr_evsels)
		count_addr(sample, m->addr_evsels[column], m->hits.by_idx[*hit], addr);
	if (!ret && m->want_chains && (guest ? !!sample->guest_callchain : !!sample->callchain))
		ret = measurement__add_chain(m, sample, machine, guest, hit);
	return ret;
}

/* Numbers that are beyond reason are not followed: the file is damaged. */
int measurement__place(struct measurement *m, struct perf_sample *sample)
{
	const struct perf_env *env = &m->session->header.env;

	/* The kernel's times are signed; none at all is -1. */
	if (sample->time > LLONG_MAX || sample->cpu == (u32)-1)
		return -ERANGE;
	/* machine__resolve() looks it up in a table of the CPUs there are. */
	if (sample->cpu >= TIME_AXIS_MAX_CPUS ||
	    (env->nr_cpus_avail > 0 && sample->cpu >= (u32)env->nr_cpus_avail)) {
		sample->cpu = -1;
		return -ERANGE;
	}
	return measurement__add_cpu(m, sample->cpu);
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
static u32 measurement__task(struct measurement *m, struct memo_thread *thread,
			     struct machine *machine, u32 vcpu)
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

static int measurement__axis_sample(struct measurement *m, struct perf_sample *sample,
				    struct machine *machine, u32 column,
				    struct axis_sample *as)
{
	const struct vcpu_sample *ctx = &sample->vcpu_ctx;
	bool in_guest = is_guest_mode(sample->cpumode);
	pid_t pid = in_guest ? machine->pid : (pid_t)sample->pid;
	struct memo_thread *thread = measurement__thread(m, in_guest, pid, sample->tid);
	struct kvm_guest *guest = thread->guest;
	int ret;

	/* The guest's time, of which the event is not to tell. */
	if (ctx->flags & PERF_VCPU_EXCLUDED)
		return measurement__hit_vm(m, sample, guest, sample->pid, as);
	if (!in_guest) {
		as->vcpu = measurement__vcpu_of_tid(m, sample->tid);
		/* A thread that was reaped has no number any more. */
		if ((pid_t)sample->tid >= 0)
			as->task = measurement__task(m, thread, machine, as->vcpu);
		if (sample->cgroup && as->task != TIME_AXIS_NONE)
			m->tasks[as->task]->cgroup = sample->cgroup;
	}
	if (ctx->flags & PERF_VCPU_EXIT_REASON_VALID) {
		as->exit_reason = ctx->exit_reason;
		as->isa = vcpu_sample__isa(ctx);
	}
	if (guest && vcpu_sample__has_id(ctx)) {
		ret = measurement__vcpu(m, thread, guest, ctx->vcpu_id);
		if (ret == -ENOMEM)
			return ret;
		if (ret == -ERANGE)
			m->nr_unplaced++;
		as->vcpu = ret < 0 ? TIME_AXIS_NONE : (u32)ret;
		/* Events know better: other ioctls load a vCPU, too. */
		if (!in_guest && ret >= 0 && !m->has_timeline)
			hashmap__set(m->vcpu_by_tid, sample->tid, ret, NULL, NULL);
	} else if (guest && in_guest) {
		/* Recorded without its id: the thread tells, see kvm_guests__resolve() */
		ret = measurement__findnew_vcpu(m, guest, sample->vcpu);
		if (ret == -ENOMEM)
			return ret;
		as->vcpu = ret < 0 ? TIME_AXIS_NONE : (u32)ret;
	}

	if (in_guest) {
		if ((ctx->flags & PERF_VCPU_LOADED) && !vcpu_sample__interrupted_guest(ctx))
			return measurement__relabel(m, sample, as);
		if (!guest || as->vcpu == TIME_AXIS_NONE)
			return measurement__hit_vm(m, sample, guest,
						   machine->pid ?: (pid_t)sample->pid, as);
	}

	as->kind = measurement__kind(m, sample, as);
	return measurement__resolve(m, sample, machine, in_guest ? guest : NULL, column, &as->hit);
}

/* A CPU is sampled again, ns: it may not have been since. 0 or -ENOMEM */
int measurement__end_throttle(struct measurement *m, u32 cpu, u64 time)
{
	struct axis_gap gap = {
		.from = m->throttled[cpu],
		.until = time,
		.cpu = cpu,
		.samples_only = true,
	};

	m->throttled[cpu] = 0;
	return gap.from ? time_axis__add_gap(&m->axis, &gap) : 0;
}

/* How far apart samples are: of a CPU that is busy, as far as the first ones show */
static void measurement__add_distance(struct measurement *m, u32 cpu, u64 time)
{
	u64 last = m->last_sample[cpu];

	m->last_sample[cpu] = time;
	if (last && time > last && m->nr_distances < NR_DISTANCES)
		m->distances[m->nr_distances++] = time - last;
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

/* A thread that runs no vCPU may work for a VM, whose vCPUs may wait for that. 0 or -ENOMEM */
static int measurement__add_work(struct measurement *m, const struct axis_sample *as)
{
	u32 vm;

	if (as->kind != AXIS_SAMPLE_HOST || as->task == TIME_AXIS_NONE)
		return 0;
	vm = measured_task__vm(m, m->tasks[as->task]);
	return vm == TIME_AXIS_NONE ? 0 : time_axis__add_work(&m->axis, vm, as->time);
}

/* A sample of the counted event, put on the axis. What makes no sense is counted. 0 or -errno */
int measurement__add_sample(struct measurement *m, struct perf_sample *sample,
			    struct machine *machine)
{
	struct axis_sample as = {
		.time = sample->time,
		.vcpu = TIME_AXIS_NONE,
		.task = TIME_AXIS_NONE,
	};
	bool in_guest;
	int ret;

	m->nr_samples++;
	ret = measurement__place(m, sample);
	if (ret == -ERANGE) {
		m->nr_unplaced++;
		return 0;
	}
	if (ret)
		return ret;

	as.cpu = sample->cpu;
	m->first = min(m->first, sample->time);
	m->last = max(m->last, sample->time);
	m->now = max(m->now, sample->time);
	m->cpu_samples[sample->cpu]++;
	m->last_record[sample->cpu] = sample->time;
	measurement__add_distance(m, sample->cpu, sample->time);
	/* It goes on, even if the record that says so was lost. */
	ret = measurement__end_throttle(m, sample->cpu, sample->time);
	if (ret)
		return ret;

	in_guest = is_guest_mode(sample->cpumode);
	ret = measurement__axis_sample(m, sample, machine, PROFILE_TIME, &as) ?:
	      measurement__add_work(m, &as);
	if (ret)
		return ret;
	m->nr_guest_samples += in_guest && !(sample->vcpu_ctx.flags & PERF_VCPU_EXCLUDED);
	m->nr_relabelled += in_guest && as.kind == AXIS_SAMPLE_EXIT;
	return time_axis__add_sample(&m->axis, &as);
}

/*
 * If @sample is of an event that has a column: what it has counted goes there, and not on
 * the axis. 0 or -errno
 */
int measurement__add_count(struct measurement *m, struct perf_sample *sample,
			   struct machine *machine)
{
	struct axis_sample as = {
		.time = sample->time,
		.vcpu = TIME_AXIS_NONE,
		.task = TIME_AXIS_NONE,
	};
	u32 column = measurement__column(m, sample->evsel);
	int ret;

	if (column >= m->nr_columns) {
		m->nr_other += !measurement__is_counted(m, sample->evsel);
		return 0;
	}
	ret = measurement__place(m, sample);
	if (ret == -ERANGE) {
		m->nr_unplaced += !measurement__is_counted(m, sample->evsel);
		return 0;
	}
	if (ret)
		return ret;
	as.cpu = sample->cpu;
	ret = measurement__axis_sample(m, sample, machine, column, &as);
	return ret ?: m->count_sink.count(&as, column, sample->period, m->count_sink.arg);
}

/* As the tracepoint prints it */
const char *vcpu_state__name(enum vcpu_state state)
{
	static const char *const names[VCPU_STATE_NR] = {
		[VCPU_STATE_RUN]	= "run",
		[VCPU_STATE_USER]	= "user",
		[VCPU_STATE_PREEMPTED]	= "preempted",
		[VCPU_STATE_BLOCKED]	= "blocked",
		[VCPU_STATE_HALTED]	= "halted",
		[VCPU_STATE_HALT_POLL]	= "halt-poll",
		[VCPU_STATE_THROTTLED]	= "throttled",
	};

	return names[state];
}

/* What tells the vCPU of the samples that the time is charged by? */
enum vcpus_by measurement__vcpus_by(const struct measurement *m)
{
	if (m->evsel && (m->evsel->core.attr.sample_type & PERF_SAMPLE_VCPU))
		return VCPUS_BY_KERNEL;
	return m->session->vcpu_contexts ? VCPUS_BY_BPF : VCPUS_BY_NOTHING;
}

/* Has the host's kernel symbols here, so that idle time is known to be that? */
bool measurement__knows_idle(const struct measurement *m)
{
	return m->nr_host_kernel_named >= m->nr_host_kernel / 2;
}

/* CPUs that have a sample */
u32 measurement__nr_cpus(const struct measurement *m)
{
	u32 nr = 0;

	for (u32 i = 0; i < m->nr_cpus; i++)
		nr += !!m->cpu_samples[i];
	return nr;
}

/*
 * The kernel counts a lost sample twice: in the buffer's count, together with
 * other records, and in the event's, if it is asked for that.
 */
u64 measurement__lost(const struct measurement *m)
{
	if (m->evsel && (m->evsel->core.attr.read_format & PERF_FORMAT_LOST))
		return m->nr_lost_samples;
	return m->nr_lost;
}

u64 measurement__duration(const struct measurement *m)
{
	return m->axis.span.end - m->axis.span.start;
}

u32 measurement__nr_vcpus(const struct measurement *m, u32 vm)
{
	u32 nr = 0;

	for (u32 i = 0; i < m->axis.nr_vcpus; i++)
		nr += m->axis.vcpus[i].vm == vm;
	return nr;
}
