// SPDX-License-Identifier: GPL-2.0
/*
 * A session's samples and events, put on the time axis.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/zalloc.h>

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
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/guests/resolve.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/number-map.h"
#include "kvm-unified/lib/sort.h"
#include "kvm-unified/lib/warnings.h"
#include "measurement.h"
#include "memo.h"

/* So many distances of samples are enough to know the usual one. */
#define NR_DISTANCES		4096

static size_t task__hash(long key, void *ctx __maybe_unused)
{
	const struct measured_task *task = (const struct measured_task *)key;

	return str_hash(task->comm) ^ (task->tid * 1021UL);
}

static bool task__equal(long key1, long key2, void *ctx __maybe_unused)
{
	const struct measured_task *a = (const struct measured_task *)key1;
	const struct measured_task *b = (const struct measured_task *)key2;

	return a->tid == b->tid && !strcmp(a->comm, b->comm);
}

int measurement__init(struct measurement *m)
{
	m->first = ~0ULL;
	m->first_event = ~0ULL;
	m->use_timeline = true;
	if (time_axis__init(&m->axis))
		return -ENOMEM;
	m->task_idx = hashmap__new(task__hash, task__equal, NULL);
	m->vcpu_by_tid = number_map__new();
	m->vm_by_pid = number_map__new();
	if (IS_ERR(m->task_idx) || IS_ERR(m->vcpu_by_tid) || IS_ERR(m->vm_by_pid) ||
	    memo__init(&m->memo))
		return -ENOMEM;
	return profile__init(&m->hits);
}

void measurement__exit(struct measurement *m)
{
	time_axis__exit(&m->axis);
	profile__exit(&m->hits);
	memo__exit(&m->memo);
	hashmap__free(m->task_idx);
	hashmap__free(m->vcpu_by_tid);
	zfree(&m->timeline_last);
	hashmap__free(m->vm_by_pid);
	for (u32 i = 0; i < m->nr_tasks; i++) {
		free(m->tasks[i]->comm);
		free(m->tasks[i]);
	}
	free(m->tasks);
	free(m->distances);
	free(m->vms);
	free(m->last_record);
	free(m->last_sample);
	free(m->throttled);
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
	    grow(&m->cpu_samples, m->nr_cpus, cpu + 1))
		return -ENOMEM;
	m->nr_cpus = cpu + 1;
	return 0;
}

/* The number of the VM that @guest, or what runs it, is; -ENOMEM */
static int measurement__findnew_vm(struct measurement *m, struct kvm_guest *guest)
{
	struct measured_vm *vms;
	pid_t pid = guest->pid & ~KVM_GUEST_PSEUDO_PID;
	long idx;

	if (hashmap__find(m->vm_by_pid, pid, &idx))
		return idx;
	if (guest->nested) {
		guest = kvm_guests__find(m->session, pid) ?: guest;
		if (guest->nested)
			return -ENOENT;
	}

	vms = reallocarray(m->vms, m->nr_vms + 1, sizeof(*vms));
	if (!vms)
		return -ENOMEM;
	m->vms = vms;
	if (hashmap__add(m->vm_by_pid, pid, m->nr_vms))
		return -ENOMEM;
	vms[m->nr_vms] = (struct measured_vm) {
		.guest = guest,
		.name = guest->name,
		.pid = pid,
	};
	return m->nr_vms++;
}

/* The index of the vCPU that thread @tid runs, or TIME_AXIS_NONE */
static u32 measurement__vcpu_of_tid(const struct measurement *m, pid_t tid)
{
	long vcpu;

	return hashmap__find(m->vcpu_by_tid, tid, &vcpu) ? vcpu : TIME_AXIS_NONE;
}

/*
 * The number of a thread of the host as it is called now, or TIME_AXIS_NONE. @pid:
 * -1 if that is not known. CPUs idle in one thread each, and all are pid 0.
 */
static u32 measurement__findnew_task(struct measurement *m, struct machine *machine,
				     pid_t pid, pid_t tid)
{
	struct thread *thread = tid ? machine__find_thread(machine, pid, tid) : NULL;
	struct measured_task key = { .tid = tid, .pid = pid }, *task = NULL;
	const char *comm = thread ? thread__comm_str(thread) : NULL;
	u32 idx = TIME_AXIS_NONE;
	long found;

	if (thread && pid < 0)
		key.pid = thread__pid(thread);
	key.comm = (char *)(tid ? comm ?: "" : "idle");
	if (hashmap__find(m->task_idx, &key, &found)) {
		idx = found;
		task = m->tasks[idx];
		if (task->pid < 0)
			task->pid = key.pid;
	} else if (!grow_array(m->tasks, m->nr_tasks, m->allocated_tasks)) {
		task = memdup(&key, sizeof(key));
		if (task)
			task->comm = strdup(key.comm);
		if (task && task->comm && !hashmap__add(m->task_idx, task, m->nr_tasks)) {
			task->vcpu = TIME_AXIS_NONE;
			idx = m->nr_tasks++;
			m->tasks[idx] = task;
		} else {
			if (task)
				free(task->comm);
			zfree(&task);
		}
	}
	thread__put(thread);
	/* Asked for each time: it may be a vCPU's thread only from now on. */
	if (task && task->vcpu == TIME_AXIS_NONE)
		task->vcpu = measurement__vcpu_of_tid(m, tid);
	return idx;
}

/* The index of the vCPU that is vCPU @id of @guest. -ERANGE, -ENOMEM */
static int measurement__findnew_vcpu(struct measurement *m, struct kvm_guest *guest, u64 id)
{
	int vm;

	if (id >= TIME_AXIS_MAX_CPUS)
		return -ERANGE;
	vm = measurement__findnew_vm(m, guest);
	return vm < 0 ? vm : time_axis__findnew_vcpu(&m->axis, vm, id);
}

/* The event that the report is of: the first that samples time or cycles */
static struct evsel *measurement__evsel(const struct measurement *m)
{
	struct evsel *evsel;

	evlist__for_each_entry(m->session->evlist, evsel) {
		if (evsel->core.attr.type != PERF_TYPE_TRACEPOINT &&
		    !evsel__is_dummy_event(evsel))
			return evsel;
	}
	return NULL;
}

/* On a machine with CPUs of several kinds, an event of the CPU is one for each kind. */
static bool measurement__is_counted(const struct measurement *m, const struct evsel *evsel)
{
	const struct perf_event_attr *a = &evsel->core.attr, *b;

	if (evsel == m->evsel)
		return true;
	if (!m->evsel)
		return false;
	b = &m->evsel->core.attr;
	return a->type == PERF_TYPE_HARDWARE && b->type == PERF_TYPE_HARDWARE &&
	       (a->config & PERF_HW_EVENT_MASK) == (b->config & PERF_HW_EVENT_MASK);
}

/* "[kernel]" for any kernel, else the file's name as perf report has it */
static const char *module_name(const struct addr_location *al)
{
	struct dso *dso = al->map ? map__dso(al->map) : NULL;

	if (!dso)
		return "[unknown]";
	if (dso__kernel(dso) && !dso__is_kmod(dso))
		return "[kernel]";
	return dso__short_name(dso);
}

static const char *function_name(const struct addr_location *al)
{
	return al->sym ? al->sym->name : "[unknown]";
}

static int measurement__hit(struct measurement *m, const struct profile_key *key, u32 *hit)
{
	struct profile_row *row = profile__findnew(&m->hits, key);

	if (!row)
		return -ENOMEM;
	*hit = row->idx;
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
	m->nr_relabelled++;
	as->kind = AXIS_SAMPLE_EXIT;
	return measurement__hit(m, &key, &as->hit);
}

/* What the time of a VM is to the host; @pid: of the VMM. @row is to stay. */
struct profile_key vm_row__key(struct vm_row *row, const char *name, pid_t pid)
{
	scnprintf(row->function, sizeof(row->function), "[%s]", name);
	scnprintf(row->module, sizeof(row->module), "(VM pid %d)", pid);
	return (struct profile_key) {
		.class = PROFILE_VM,
		.function = row->function,
		.module = row->module,
		.comm = "",
		.pid = -1,
	};
}

/* Guest time of a vCPU that is not known, or of a guest that is not */
static int measurement__hit_vm(struct measurement *m, const struct kvm_guest *guest, pid_t pid,
			       struct axis_sample *as)
{
	struct vm_row row;
	struct profile_key key = vm_row__key(&row, guest ? guest->name : "guest",
					     pid & ~KVM_GUEST_PSEUDO_PID);

	as->kind = AXIS_SAMPLE_HOST;
	as->vcpu = TIME_AXIS_NONE;
	return measurement__hit(m, &key, &as->hit);
}

static int measurement__hit_guest(struct measurement *m, const struct perf_sample *sample,
				  const struct kvm_guest *guest, const struct addr_location *al,
				  u32 *hit)
{
	bool user = sample->cpumode == PERF_RECORD_MISC_GUEST_USER;
	struct profile_key key = {
		.class = guest->nested ? PROFILE_VM : user ? PROFILE_USER : PROFILE_OS,
		.function = function_name(al),
		.module = guest->nested ? guest->name : module_name(al),
		.comm = user ? thread__comm_str(al->thread) ?: "" : "",
		.pid = user && (pid_t)sample->pid < KVM_GUEST_PSEUDO_PID ?
		       (pid_t)sample->pid : -1,
		.ns_pid = user ? sample->ns_pid : 0,
	};

	return measurement__hit(m, &key, hit);
}

static int measurement__hit_host(struct measurement *m, const struct perf_sample *sample,
				 const struct addr_location *al, u32 *hit)
{
	bool user = sample->cpumode == PERF_RECORD_MISC_USER;
	struct profile_key key = {
		.class = user ? PROFILE_USER : PROFILE_OS,
		.function = function_name(al),
		.module = module_name(al),
		.comm = "",
		.pid = -1,
	};

	/* The idle task also runs interrupts; only where it waits is idle. */
	if (!user && !sample->pid && al->sym &&
	    symbol__is_idle(al->sym, map__dso(al->map), perf_session__env(m->session)))
		key.class = PROFILE_IDLE;
	return measurement__hit(m, &key, hit);
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
	       (m->evsel->core.attr.sample_type & PERF_SAMPLE_VCPU) ?
	       AXIS_SAMPLE_VMM : AXIS_SAMPLE_EXIT;
}

/* What a sample has hit; @guest: whose it is, or NULL: the host's. 0 or -errno */
static int measurement__resolve(struct measurement *m, struct perf_sample *sample,
				struct machine *machine, const struct kvm_guest *guest, u32 *hit)
{
	const struct memo_key key = {
		.machine = machine,
		.ip = sample->ip,
		.changes = guest ? m->nr_changes + guest->nr_changes : m->nr_changes,
		.pid = sample->pid,
		.tid = sample->tid,
		.ns_pid = sample->ns_pid,
		.cpumode = sample->cpumode,
	};
	const struct memo_entry *known = memo__find(&m->memo, &key);
	bool has_symbol = known && known->has_symbol;
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
		if (!ret)
			memo__set(&m->memo, &key, *hit, has_symbol);
		addr_location__exit(&al);
	}
	if (!ret && !guest && sample->cpumode != PERF_RECORD_MISC_USER) {
		m->nr_host_kernel++;
		m->nr_host_kernel_named += has_symbol;
	}
	return ret;
}

/* Numbers that are beyond reason are not followed: the file is damaged. */
static int measurement__place(struct measurement *m, struct perf_sample *sample)
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

static int measurement__axis_sample(struct measurement *m, struct perf_sample *sample,
				    struct machine *machine, struct axis_sample *as)
{
	const struct vcpu_sample *ctx = &sample->vcpu_ctx;
	bool in_guest = sample->cpumode == PERF_RECORD_MISC_GUEST_USER ||
			sample->cpumode == PERF_RECORD_MISC_GUEST_KERNEL;
	struct kvm_guest *guest;
	int ret;

	guest = in_guest ? kvm_guests__find(m->session, machine->pid) :
			   kvm_guests__find(m->session, sample->pid);
	/* The guest's time, of which the event is not to tell. */
	if (ctx->flags & PERF_VCPU_EXCLUDED)
		return measurement__hit_vm(m, guest, sample->pid, as);
	if (!in_guest) {
		as->task = measurement__findnew_task(m, machine, sample->pid, sample->tid);
		as->vcpu = measurement__vcpu_of_tid(m, sample->tid);
	}
	if (ctx->flags & PERF_VCPU_EXIT_REASON_VALID) {
		as->exit_reason = ctx->exit_reason;
		as->isa = vcpu_sample__isa(ctx);
	}
	if (guest && vcpu_sample__has_id(ctx)) {
		ret = measurement__findnew_vcpu(m, guest, ctx->vcpu_id);
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
		m->nr_guest_samples++;
		if ((ctx->flags & PERF_VCPU_LOADED) && !vcpu_sample__interrupted_guest(ctx))
			return measurement__relabel(m, sample, as);
		if (!guest || as->vcpu == TIME_AXIS_NONE)
			return measurement__hit_vm(m, guest, machine->pid ?: (pid_t)sample->pid,
						   as);
	}

	as->kind = measurement__kind(m, sample, as);
	return measurement__resolve(m, sample, machine, in_guest ? guest : NULL, &as->hit);
}

static int measurement__end_throttle(struct measurement *m, u32 cpu, u64 time)
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

static int measurement__add_sample(struct measurement *m, struct perf_sample *sample,
				   struct machine *machine)
{
	struct axis_sample as = {
		.time = sample->time,
		.vcpu = TIME_AXIS_NONE,
		.task = TIME_AXIS_NONE,
	};
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
	m->cpu_samples[sample->cpu]++;
	m->last_record[sample->cpu] = sample->time;
	measurement__add_distance(m, sample->cpu, sample->time);
	/* It goes on, even if the record that says so was lost. */
	ret = measurement__end_throttle(m, sample->cpu, sample->time);
	if (ret)
		return ret;

	ret = measurement__axis_sample(m, sample, machine, &as);
	return ret ?: time_axis__add_sample(&m->axis, &as);
}

#ifdef HAVE_LIBTRACEEVENT
/* Without its format, or with another one, the event is of no use. */
static bool evsel__is_timeline(struct evsel *evsel)
{
	return evsel__name_is(evsel, KVM_TIMELINE_EVENT) && evsel->tp_format &&
	       evsel__field(evsel, "vcpu_id") && evsel__field(evsel, "state");
}

/*
 * Is the event that of the time line? If so, its fields are known then: there may be as many
 * of it as of samples, and names cost more than all the rest.
 */
static bool measurement__is_timeline(struct measurement *m, struct evsel *evsel)
{
	static const char *const names[TIMELINE_NR_FIELDS] = {
		[TIMELINE_STATE]	= "state",
		[TIMELINE_VCPU_ID]	= "vcpu_id",
		[TIMELINE_WHY]		= "why",
		[TIMELINE_EXIT_REASON]	= "exit_reason",
		[TIMELINE_ISA]		= "isa",
		[TIMELINE_NEXT_PID]	= "next_pid",
		[TIMELINE_NS]		= "ns",
		[TIMELINE_SEQ]		= "seq",
		[TIMELINE_CPU]		= "cpu",
		[TIMELINE_WAIT]		= "wait",
		[TIMELINE_RUN_DELAY]	= "run_delay",
	};

	if (!m->has_timeline)
		return false;
	if (evsel == m->timeline_evsel)
		return true;
	if (!evsel__is_timeline(evsel))
		return false;
	m->timeline_evsel = evsel;
	for (u32 i = 0; i < TIMELINE_NR_FIELDS; i++)
		m->timeline_fields[i] = evsel__field(evsel, names[i]);
	return true;
}

/* A field of an event of the time line; 0 if there is no such field, or the record ends before */
static u64 measurement__field(const struct measurement *m, struct perf_sample *sample,
			      enum timeline_field field)
{
	struct tep_format_field *format = m->timeline_fields[field];

	return format ? format_field__intval(format, sample, m->timeline_evsel->needs_swap) : 0;
}

/* What the time line has said of a vCPU last */
struct timeline_last {
	u64	run_delay;	/* old events: ns in all of the thread's life */
	u32	seq;
	bool	known;
};

/* By number of the vCPU. NULL if there is no memory */
static struct timeline_last *measurement__last(struct measurement *m, u32 vcpu)
{
	while (m->nr_timeline_last <= vcpu) {
		if (grow_array(m->timeline_last, m->nr_timeline_last,
			       m->allocated_timeline_last))
			return NULL;
		m->timeline_last[m->nr_timeline_last++] = (struct timeline_last) { };
	}
	return &m->timeline_last[vcpu];
}

static bool state__has_next(u64 state)
{
	return state == VCPU_STATE_PREEMPTED || state == VCPU_STATE_BLOCKED ||
	       state == VCPU_STATE_HALTED;
}

/*
 * One event tells of a state that has ended, and makes two changes: into it, if it is
 * known since when, and back into KVM_RUN.
 */
static int measurement__add_ended(struct measurement *m, struct perf_sample *sample,
				  struct timeline_last *last, struct axis_event *event)
{
	u64 ns = min(measurement__field(m, sample, TIMELINE_NS), sample->time);
	u32 seq = measurement__field(m, sample, TIMELINE_SEQ), lost = 0;
	u64 cpu = measurement__field(m, sample, TIMELINE_CPU);
	int ret = 0;

	/* More than that is no gap, but a recording that was put together. */
	if (last->known && seq - last->seq - 1 < INT_MAX)
		lost = seq - last->seq - 1;
	m->nr_timeline_lost += lost;
	event->after_lost = lost;
	last->seq = seq;
	last->known = true;

	/* A state without length is none; it has only said that one has ended. */
	if (ns) {
		struct axis_event begin = *event;

		begin.time -= ns;
		begin.cpu = cpu < m->nr_cpus ? cpu : event->cpu;
		ret = time_axis__add_event(&m->axis, &begin);
		event->after_lost = false;
	} else {
		event->ended = event->state;
	}
	event->state = VCPU_STATE_RUN;
	event->next_task = TIME_AXIS_NONE;
	event->why = 0;
	event->waited = measurement__field(m, sample, TIMELINE_WAIT);
	return ret ?: time_axis__add_event(&m->axis, event);
}

/* As the first version had it: an event says which state begins. */
static int measurement__add_begun(struct measurement *m, struct perf_sample *sample,
				  struct timeline_last *last, struct axis_event *event)
{
	u64 run_delay = measurement__field(m, sample, TIMELINE_RUN_DELAY);

	if (last->known && run_delay > last->run_delay)
		event->waited = run_delay - last->run_delay;
	last->run_delay = run_delay;
	last->known = true;
	return time_axis__add_event(&m->axis, event);
}

/* A change of state. Raw data may be anything: what makes no sense is counted. */
static int measurement__add_event(struct measurement *m, struct perf_sample *sample,
				  struct machine *machine)
{
	struct kvm_guest *guest = kvm_guests__findnew(m->session, sample->pid);
	struct axis_event event = {
		.time = sample->time,
		.next_task = TIME_AXIS_NONE,
	};
	u64 state = measurement__field(m, sample, TIMELINE_STATE);
	struct timeline_last *last;
	int ret;

	m->nr_timeline++;
	ret = measurement__place(m, sample);
	if (!ret && (!guest || state >= VCPU_STATE_NR))
		ret = -ERANGE;
	if (!ret)
		ret = measurement__findnew_vcpu(m, guest,
						measurement__field(m, sample, TIMELINE_VCPU_ID));
	if (ret == -ENOMEM)
		return ret;
	if (ret < 0) {
		m->nr_bad_events++;
		return 0;
	}

	last = measurement__last(m, ret);
	if (!last)
		return -ENOMEM;
	m->nr_states[state]++;
	event.vcpu = ret;
	event.cpu = sample->cpu;
	event.state = state;
	event.why = measurement__field(m, sample, TIMELINE_WHY);
	event.exit_reason = measurement__field(m, sample, TIMELINE_EXIT_REASON);
	event.isa = measurement__field(m, sample, TIMELINE_ISA);
	if (state__has_next(state)) {
		pid_t next = measurement__field(m, sample, TIMELINE_NEXT_PID);

		event.next_task = measurement__findnew_task(m, machine, -1, next);
	}

	m->first_event = min(m->first_event, sample->time);
	m->last_event = max(m->last_event, sample->time);
	m->last_record[sample->cpu] = sample->time;
	hashmap__set(m->vcpu_by_tid, sample->tid, event.vcpu, NULL, NULL);
	return m->timeline_fields[TIMELINE_NS] ?
	       measurement__add_ended(m, sample, last, &event) :
	       measurement__add_begun(m, sample, last, &event);
}
#else
static bool evsel__is_timeline(struct evsel *evsel __maybe_unused)
{
	return false;
}

static bool measurement__is_timeline(struct measurement *m __maybe_unused,
				     struct evsel *evsel __maybe_unused)
{
	return false;
}

static int measurement__add_event(struct measurement *m __maybe_unused,
				  struct perf_sample *sample __maybe_unused,
				  struct machine *machine __maybe_unused)
{
	return 0;
}
#endif

static int process_sample(const struct perf_tool *tool, union perf_event *event __maybe_unused,
			  struct perf_sample *sample, struct machine *machine)
{
	struct measurement *m = container_of(tool, struct measurement, tool);

	if (measurement__is_counted(m, sample->evsel))
		return measurement__add_sample(m, sample, machine);
	if (measurement__is_timeline(m, sample->evsel))
		return measurement__add_event(m, sample, machine);
	m->nr_other++;
	return 0;
}

/* A file may say any number; the sum is never less for that, and has room for samples. */
static u64 add_lost(u64 sum, u64 nr)
{
	return min_t(u64, nr, LLONG_MAX - sum) + sum;
}

/* Records are missing between the one before on this CPU and the one that comes. */
static int process_lost(const struct perf_tool *tool, union perf_event *event,
			struct perf_sample *sample, struct machine *machine __maybe_unused)
{
	struct measurement *m = container_of(tool, struct measurement, tool);
	struct axis_gap gap = { .until = sample->time };
	int ret;

	m->nr_lost = add_lost(m->nr_lost, event->lost.lost);
	ret = measurement__place(m, sample);
	if (ret)
		return ret == -ERANGE ? 0 : ret;

	gap.cpu = sample->cpu;
	gap.from = m->last_record[sample->cpu];
	m->last_record[sample->cpu] = max(gap.from, gap.until);
	return time_axis__add_gap(&m->axis, &gap);
}

static bool measurement__is_counted_id(const struct measurement *m, u64 id)
{
	const struct evsel *evsel = evlist__id2evsel(m->session->evlist, id);

	return evsel && measurement__is_counted(m, evsel);
}

static int process_lost_samples(const struct perf_tool *tool, union perf_event *event,
				struct perf_sample *sample,
				struct machine *machine __maybe_unused)
{
	struct measurement *m = container_of(tool, struct measurement, tool);

	/* What a BPF filter has dropped was to be dropped. */
	if (event->header.misc & PERF_RECORD_MISC_LOST_SAMPLES_BPF)
		return 0;
	if (measurement__is_counted_id(m, sample->id))
		m->nr_lost_samples = add_lost(m->nr_lost_samples, event->lost_samples.lost);
	return 0;
}

static int process_throttle(const struct perf_tool *tool, union perf_event *event,
			    struct perf_sample *sample, struct machine *machine __maybe_unused)
{
	struct measurement *m = container_of(tool, struct measurement, tool);
	int ret;

	if (!measurement__is_counted_id(m, event->throttle.id))
		return 0;
	m->nr_throttled++;
	ret = measurement__place(m, sample);
	if (ret)
		return ret == -ERANGE ? 0 : ret;
	if (!m->throttled[sample->cpu])
		m->throttled[sample->cpu] = sample->time;
	return 0;
}

static int process_unthrottle(const struct perf_tool *tool,
			      union perf_event *event, struct perf_sample *sample,
			      struct machine *machine __maybe_unused)
{
	struct measurement *m = container_of(tool, struct measurement, tool);
	int ret;

	if (!measurement__is_counted_id(m, event->throttle.id))
		return 0;
	ret = measurement__place(m, sample);
	if (ret)
		return ret == -ERANGE ? 0 : ret;
	return measurement__end_throttle(m, sample->cpu, sample->time);
}

/* What changes processes or maps: what was looked up before may be wrong from now on. */
static int process_change(const struct perf_tool *tool, union perf_event *event,
			  struct perf_sample *sample, struct machine *machine)
{
	struct measurement *m = container_of(tool, struct measurement, tool);

	m->nr_changes++;
	return perf_event__process(tool, event, sample, machine);
}

/* The number of a thread that ended may be another's soon. */
static int process_exit(const struct perf_tool *tool, union perf_event *event,
			struct perf_sample *sample, struct machine *machine)
{
	struct measurement *m = container_of(tool, struct measurement, tool);

	if (machine__is_host(machine))
		hashmap__delete(m->vcpu_by_tid, event->fork.tid, NULL, NULL);
	return process_change(tool, event, sample, machine);
}

static enum vcpu_time_kind vcpu_last(u32 flags)
{
	if (flags & GUEST_VCPU_END_HALTED)
		return VCPU_TIME_HALTED;
	if (flags & GUEST_VCPU_END_BLOCKED)
		return VCPU_TIME_BLOCKED;
	return flags & GUEST_VCPU_END_VMM ? VCPU_TIME_VMM : VCPU_TIME_RUN;
}

/* The vCPUs that perf kvm unified record has found. 0 or -errno */
static int measurement__add_known_vcpus(struct measurement *m)
{
	struct kvm_guests *guests = m->session->kvm_guests;

	for (size_t i = 0; guests && i < guests->vms.nr; i++) {
		const struct kvm_vm *vm = &guests->vms.entries[i];
		struct kvm_guest *guest = kvm_guests__find(m->session, vm->pid);

		for (u32 v = 0; guest && v < vm->nr_vcpus; v++) {
			const struct guest_vcpu *known = &vm->vcpus[v];
			struct axis_vcpu *vcpu;
			int idx = measurement__findnew_vcpu(m, guest, known->id);

			if (idx == -ENOMEM)
				return idx;
			if (idx < 0) {
				m->nr_unplaced++;
				continue;
			}
			vcpu = &m->axis.vcpus[idx];
			vcpu->at_start = known->flags & GUEST_VCPU_AT_START;
			vcpu->at_end = known->flags & GUEST_VCPU_AT_END;
			vcpu->halted = known->flags & GUEST_VCPU_HALTED;
			if (vcpu->at_end)
				vcpu->last = vcpu_last(known->flags);
			if (known->tid)
				hashmap__set(m->vcpu_by_tid, known->tid, idx, NULL, NULL);
		}
	}
	return 0;
}

/**
 * measurement__open - prepare to read @session, that was made with @m->tool
 *
 * The session's events then come in by themselves. 0 or -errno: -ENODATA if
 * samples do not say when and where they were taken
 */
int measurement__open(struct measurement *m, struct perf_session *session)
{
	const u64 needed = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_TID | PERF_SAMPLE_IP;
	struct evsel *evsel;

	m->session = session;
	m->evsel = measurement__evsel(m);
	if (m->evsel && (m->evsel->core.attr.sample_type & needed) != needed)
		return -ENODATA;

	m->distances = calloc(NR_DISTANCES, sizeof(*m->distances));
	if (!m->distances)
		return -ENOMEM;
	/* Without VMs it is not known whose events they are. */
	evlist__for_each_entry(session->evlist, evsel)
		m->has_timeline |= session->kvm_guests && evsel__is_timeline(evsel);
	return measurement__add_known_vcpus(m);
}

void measurement__set_tool(struct measurement *m)
{
	perf_tool__init(&m->tool, /*ordered_events=*/true);
	m->tool.sample		= process_sample;
	m->tool.mmap		= process_change;
	m->tool.mmap2		= process_change;
	m->tool.comm		= process_change;
	m->tool.namespaces	= process_change;
	m->tool.cgroup		= process_change;
	m->tool.fork		= process_change;
	m->tool.exit		= process_exit;
	m->tool.ksymbol		= process_change;
	m->tool.bpf		= process_change;
	m->tool.text_poke	= process_change;
	m->tool.lost		= process_lost;
	m->tool.lost_samples	= process_lost_samples;
	m->tool.throttle	= process_throttle;
	m->tool.unthrottle	= process_unthrottle;
}

/*
 * The time between two samples of a CPU that is never idle, ns: what was asked
 * for if that was a time or a frequency, else how far apart samples usually are.
 */
static void measurement__set_period(struct measurement *m)
{
	const struct perf_event_attr *attr = &m->evsel->core.attr;
	bool asked = attr->freq || evsel__is_clock(m->evsel);

	m->period = attr->sample_period;
	if (attr->freq && attr->sample_freq)
		m->period = NSEC_PER_SEC / attr->sample_freq;
	if (asked && m->period && m->period <= LLONG_MAX) {
		m->period_exact = !attr->freq;
		return;
	}
	/* perf_event_open() does not take it, or gives no samples. */
	if (asked)
		unified_warning("The period or frequency of %s cannot be, and is not used: is the file damaged?\n",
				evsel__name(m->evsel));

	m->period = 0;
	if (!m->nr_distances)
		return;
	sort_array(m->distances, m->nr_distances, sizeof(*m->distances), sort_cmp_u64);
	m->period = m->distances[m->nr_distances / 2];
}

/*
 * The times of all CPUs have to fit into one sum, as those of all vCPUs. Else there is a
 * time that cannot be: what is beyond is not placed, and that is counted.
 */
static void measurement__limit_axis(struct measurement *m)
{
	struct time_axis *ta = &m->axis;
	u32 nr = max(measurement__nr_cpus(m), ta->nr_vcpus);
	u64 limit = ~0ULL / max(nr, 1U);

	if (ta->end - ta->start <= limit)
		return;
	ta->end = ta->start + limit;
	m->nr_unplaced += time_axis__samples_after(ta, ta->end);
	m->nr_bad_events += time_axis__events_after(ta, ta->end);
}

static enum vcpu_time_kind vcpu_look__kind(u32 flags)
{
	enum vcpu_time_kind kind = vcpu_last(flags);

	return kind == VCPU_TIME_RUN ? VCPU_TIME_PREEMPTED : kind;
}

struct looks_reader {
	struct measurement *m;
	struct perf_tsc_conversion tc;
};

/* Of a vCPU that has been heard of: of any other, it says no more than that there is one. */
static int measurement__add_look(const struct perf_record_guest_vcpu_look *look, void *arg)
{
	struct looks_reader *reader = arg;
	struct measurement *m = reader->m;
	int vcpu = -ENOENT;
	long vm;

	if (look->id < TIME_AXIS_MAX_CPUS &&
	    hashmap__find(m->vm_by_pid, (pid_t)look->pid, &vm))
		vcpu = time_axis__find_vcpu(&m->axis, vm, look->id);
	if (vcpu < 0) {
		m->nr_unplaced++;
		return 0;
	}
	m->nr_looks++;
	return time_axis__add_look(&m->axis, &(struct axis_look) {
		.time = tsc_to_perf_time(look->tsc, &reader->tc),
		.vcpu = vcpu,
		.kind = vcpu_look__kind(look->flags),
	});
}

/*
 * The looks at vCPU threads, if there are any, and if it is known what the TSC is in the
 * time of the samples. 0 or -ENOMEM
 */
static int measurement__read_looks(struct measurement *m)
{
	struct looks_reader reader = { .m = m };
	char path[PATH_MAX], err[256];
	int ret;

	if (!m->has_timeline || !m->use_timeline)
		return 0;
	reader.tc = kvm_guests__tsc_conversion(m->session);
	if (!reader.tc.time_mult || reader.tc.time_shift > 63 || !reader.tc.cap_user_time_zero)
		return 0;
	scnprintf(path, sizeof(path), "%s/" VCPU_LOOKS_FILE, m->session->data->path);
	ret = vcpu_looks__read(path, measurement__add_look, &reader, err, sizeof(err));
	if (ret == -ENOMEM)
		return ret;
	if (ret && ret != -ENOENT)
		unified_warning("%s %s: what vCPUs were at for long may be missing where events are lost\n",
				path, err);
	return 0;
}

/**
 * measurement__finish - build the axis, when all has been read
 *
 * The first sample stands for the period before it. 0 or -ENOMEM
 */
int measurement__finish(struct measurement *m)
{
	const struct kvm_guests *guests = m->session->kvm_guests;
	u64 start, end;
	int ret;

	/* Who has recorded the rest may have recorded single tasks. */
	m->axis.per_task = !guests || guests->vms.per_task;
	if (m->evsel && m->nr_samples) {
		measurement__set_period(m);
		m->axis.clock = evsel__is_clock(m->evsel) && !m->axis.per_task;
	}
	m->axis.period = m->period;
	m->axis.timeline = m->has_timeline && m->use_timeline;

	start = m->first > m->last ? m->first_event : m->first - min(m->first, m->period);
	start = min(start, m->first_event);
	end = max(m->last, m->last_event);
	m->axis.start = min(start, end);
	m->axis.end = end;
	measurement__limit_axis(m);
	ret = measurement__read_looks(m);
	if (ret)
		return ret;

	for (u32 i = 0; i < m->nr_cpus; i++) {
		ret = measurement__end_throttle(m, i, m->axis.end);
		if (ret)
			return ret;
	}
	return time_axis__build(&m->axis);
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
	};

	return names[state];
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
	return m->axis.end - m->axis.start;
}

u32 measurement__nr_vcpus(const struct measurement *m, u32 vm)
{
	u32 nr = 0;

	for (u32 i = 0; i < m->axis.nr_vcpus; i++)
		nr += m->axis.vcpus[i].vm == vm;
	return nr;
}
