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
#include "timeline.h"

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
	long_states__exit(&m->long_states);
	free(m->looks.entries);
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
u32 measurement__findnew_task(struct measurement *m, struct machine *machine, pid_t pid,
			      pid_t tid)
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
int measurement__findnew_vcpu(struct measurement *m, struct kvm_guest *guest, u64 id)
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
	m->now = max(m->now, sample->time);
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

/* What was asked for, ns, if that was a time or a frequency; 0 if not, or if it cannot be */
static u64 measurement__asked_period(const struct measurement *m)
{
	const struct perf_event_attr *attr = &m->evsel->core.attr;
	u64 period = attr->sample_period;

	if (!attr->freq && !evsel__is_clock(m->evsel))
		return 0;
	if (attr->freq && attr->sample_freq)
		period = NSEC_PER_SEC / attr->sample_freq;
	return period <= LLONG_MAX ? period : 0;
}

/*
 * The time between two samples of a CPU that is never idle, ns: what was asked
 * for if that was a time or a frequency, else how far apart samples usually are.
 */
static void measurement__set_period(struct measurement *m)
{
	const struct perf_event_attr *attr = &m->evsel->core.attr;

	m->period = measurement__asked_period(m);
	m->period_exact = m->period && !attr->freq;
	if (m->period)
		return;
	/* perf_event_open() does not take it, or gives no samples. */
	if (attr->freq || evsel__is_clock(m->evsel))
		unified_warning("The period or frequency of %s cannot be, and is not used: is the file damaged?\n",
				evsel__name(m->evsel));

	if (!m->nr_distances)
		return;
	sort_array(m->distances, m->nr_distances, sizeof(*m->distances), sort_cmp_u64);
	m->period = m->distances[m->nr_distances / 2];
}

static enum vcpu_time_kind vcpu_last(u32 flags)
{
	if (flags & GUEST_VCPU_END_HALTED)
		return VCPU_TIME_HALTED;
	if (flags & GUEST_VCPU_END_BLOCKED)
		return VCPU_TIME_BLOCKED;
	return flags & GUEST_VCPU_END_VMM ? VCPU_TIME_VMM : VCPU_TIME_RUN;
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

static int keep_look(const struct perf_record_guest_vcpu_look *look, void *arg)
{
	struct looks_reader *reader = arg;
	struct measurement *m = reader->m;
	const struct measured_look kept = {
		.time = tsc_to_perf_time(look->tsc, &reader->tc),
		.pid = look->pid,
		.vcpu = look->id,
		.kind = vcpu_look__kind(look->flags),
	};

	return queue_add(&m->looks, &kept);
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
	ret = vcpu_looks__read(path, keep_look, &reader, err, sizeof(err));
	if (ret == -ENOMEM)
		return ret;
	if (ret && ret != -ENOENT)
		unified_warning("%s %s: what vCPUs were at for long may be missing where events are lost\n",
				path, err);
	return 0;
}

/*
 * Puts the looks until @now on the axis: those at vCPUs that have been heard of. At any
 * other, a look says no more than that there is one. 0 or -ENOMEM
 */
static int measurement__add_looks(struct measurement *m, u64 now)
{
	int ret = 0;

	while (!ret && queue_len(&m->looks) && queue_first(&m->looks)->time <= now) {
		const struct measured_look look = *queue_first(&m->looks);
		int vcpu = -ENOENT;
		long vm;

		queue_drop(&m->looks, 1);
		if (look.vcpu < TIME_AXIS_MAX_CPUS && hashmap__find(m->vm_by_pid, look.pid, &vm))
			vcpu = time_axis__find_vcpu(&m->axis, vm, look.vcpu);
		if (vcpu < 0) {
			m->nr_unplaced++;
			continue;
		}
		m->nr_looks++;
		ret = time_axis__add_look(&m->axis, &(struct axis_look) {
			.time = look.time,
			.vcpu = vcpu,
			.kind = look.kind,
		});
	}
	return ret;
}

/* What the axis must know of the measurement before it can begin */
static void measurement__set_span(struct measurement *m)
{
	const struct kvm_guests *guests = m->session->kvm_guests;
	struct axis_span *span = &m->axis.span;
	u64 start, end;

	/* Who has recorded the rest may have recorded single tasks. */
	span->per_task = !guests || guests->vms.per_task;
	if (m->evsel && m->nr_samples) {
		measurement__set_period(m);
		span->clock = evsel__is_clock(m->evsel) && !span->per_task;
	}
	span->period = m->period;
	span->timeline = m->has_timeline && m->use_timeline;
	/* The first sample stands for the period before it. */
	start = m->first > m->last ? m->first_event : m->first - min(m->first, m->period);
	start = min(start, m->first_event);
	end = max(m->last, m->last_event);
	span->start = min(start, end);
}

/* More ns than that cannot be added up for all CPUs, or for all vCPUs. */
static u64 measurement__limit(const struct measurement *m)
{
	u32 nr = max(measurement__nr_cpus(m), m->axis.nr_vcpus);

	return ~0ULL / max(nr, 1U);
}

/*
 * Is all known that has to be before the axis begins? Not long states, if they cannot be
 * found: then all is kept until the end.
 */
static bool measurement__can_begin(const struct measurement *m, u64 now)
{
	if (m->first > m->last || now <= m->first || now - m->first < 2 * m->axis.span.near)
		return false;
	if (!m->long_states.known && m->has_timeline && m->use_timeline)
		return false;
	return measurement__asked_period(m) || m->nr_distances == NR_DISTANCES;
}

/* Hands out what is final. 0 or -ENOMEM */
static int measurement__advance(struct measurement *m)
{
	u64 now = m->now;
	int ret;

	if (!m->axis.begun) {
		if (!measurement__can_begin(m, now))
			return 0;
		measurement__set_span(m);
		ret = measurement__read_looks(m);
		if (ret)
			return ret;
	} else if (!time_axis__is_due(&m->axis, now)) {
		return 0;
	}
	/* A time that cannot be: the end will say so. */
	if (now < m->axis.span.start || now - m->axis.span.start > measurement__limit(m) / 2)
		return 0;
	ret = measurement__add_looks(m, now);
	return ret ?: time_axis__advance(&m->axis, now);
}

static int process_sample(const struct perf_tool *tool, union perf_event *event __maybe_unused,
			  struct perf_sample *sample, struct machine *machine)
{
	struct measurement *m = container_of(tool, struct measurement, tool);
	int ret;

	ret = measurement__add_long_states(m, sample->time);
	if (ret)
		return ret;
	if (measurement__is_counted(m, sample->evsel)) {
		ret = measurement__add_sample(m, sample, machine);
	} else if (measurement__is_timeline(m, sample->evsel)) {
		ret = measurement__add_event(m, sample, machine, /*ahead=*/false);
	} else {
		m->nr_other++;
	}
	return ret ?: measurement__advance(m);
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
	int ret;

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
	ret = measurement__find_long_states(m);
	return ret ?: measurement__add_known_vcpus(m);
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

/* There is a time that cannot be: what is beyond is not placed, and that is counted. */
static void measurement__limit_axis(struct measurement *m)
{
	struct axis_span *span = &m->axis.span;
	u64 limit = measurement__limit(m);

	if (span->end - span->start <= limit)
		return;
	span->end = span->start + limit;
	m->nr_unplaced += time_axis__samples_after(&m->axis, span->end);
	m->nr_bad_events += time_axis__events_after(&m->axis, span->end);
}

/* When all has been read: hands out the rest. 0 or -ENOMEM */
int measurement__finish(struct measurement *m)
{
	struct axis_span *span = &m->axis.span;
	int ret = 0;

	if (!m->axis.begun) {
		measurement__set_span(m);
		ret = measurement__read_looks(m);
	}
	if (!ret)
		ret = measurement__add_looks(m, ~0ULL);
	if (ret)
		return ret;
	span->end = max(m->last, m->last_event);
	measurement__limit_axis(m);

	for (u32 i = 0; i < m->nr_cpus; i++) {
		ret = measurement__end_throttle(m, i, span->end);
		if (ret)
			return ret;
	}
	ret = time_axis__finish(&m->axis);
	m->nr_unplaced += m->axis.nr_late;
	return ret;
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
	return m->axis.span.end - m->axis.span.start;
}

u32 measurement__nr_vcpus(const struct measurement *m, u32 vm)
{
	u32 nr = 0;

	for (u32 i = 0; i < m->axis.nr_vcpus; i++)
		nr += m->axis.vcpus[i].vm == vm;
	return nr;
}
