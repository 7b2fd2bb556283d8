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
#include "util/vcpu-sample.h"
#include "kvm-guests.h"
#include "measurement.h"

#define TIMELINE_EVENT		"kvm:kvm_vcpu_timeline"

/* vCPU and CPU numbers come from a file: more than any machine has is an error */
#define MAX_CPUS		65536

static size_t number__hash(long key, void *ctx __maybe_unused)
{
	return hash_bits(key, sizeof(size_t) * CHAR_BIT);
}

static bool number__equal(long a, long b, void *ctx __maybe_unused)
{
	return a == b;
}

int measurement__init(struct measurement *m)
{
	m->first = ~0ULL;
	m->first_event = ~0ULL;
	m->use_timeline = true;
	time_axis__init(&m->axis);
	m->task_by_tid = hashmap__new(number__hash, number__equal, NULL);
	m->vcpu_by_tid = hashmap__new(number__hash, number__equal, NULL);
	if (IS_ERR(m->task_by_tid) || IS_ERR(m->vcpu_by_tid))
		return -ENOMEM;
	return profile__init(&m->hits);
}

void measurement__exit(struct measurement *m)
{
	time_axis__exit(&m->axis);
	profile__exit(&m->hits);
	hashmap__free(m->task_by_tid);
	hashmap__free(m->vcpu_by_tid);
	for (u32 i = 0; i < m->nr_tasks; i++)
		free(m->tasks[i].comm);
	free(m->tasks);
	free(m->vms);
	free(m->last_record);
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

	for (u32 i = 0; i < m->nr_vms; i++) {
		if (m->vms[i].pid == pid)
			return i;
	}
	if (guest->nested) {
		guest = kvm_guests__find(m->session, pid) ?: guest;
		if (guest->nested)
			return -ENOENT;
	}

	vms = reallocarray(m->vms, m->nr_vms + 1, sizeof(*vms));
	if (!vms)
		return -ENOMEM;
	m->vms = vms;
	vms[m->nr_vms] = (struct measured_vm) {
		.guest = guest,
		.name = guest->name,
		.pid = pid,
	};
	return m->nr_vms++;
}

/* The number of a thread of the host, or TIME_AXIS_NONE */
static u32 measurement__findnew_task(struct measurement *m, struct machine *machine,
				     pid_t pid, pid_t tid)
{
	struct thread *thread;
	const char *comm = NULL;
	long idx;

	/* CPUs idle in one thread each, and all are pid 0. */
	if (hashmap__find(m->task_by_tid, tid, &idx)) {
		struct measured_task *task = &m->tasks[idx];

		if (task->pid < 0)
			task->pid = pid;
		return idx;
	}

	if (m->nr_tasks == m->allocated_tasks) {
		u32 want = m->allocated_tasks ? m->allocated_tasks * 2 : 64;
		struct measured_task *grown = reallocarray(m->tasks, want, sizeof(*grown));

		if (!grown)
			return TIME_AXIS_NONE;
		m->tasks = grown;
		m->allocated_tasks = want;
	}

	thread = machine__find_thread(machine, pid, tid);
	if (thread) {
		comm = thread__comm_str(thread);
		if (pid < 0)
			pid = thread__pid(thread);
	}
	m->tasks[m->nr_tasks] = (struct measured_task) {
		.tid = tid,
		.pid = tid ? pid : 0,
		.comm = strdup(tid ? comm ?: "" : "idle"),
	};
	thread__put(thread);
	if (!m->tasks[m->nr_tasks].comm)
		return TIME_AXIS_NONE;
	if (hashmap__add(m->task_by_tid, tid, m->nr_tasks)) {
		free(m->tasks[m->nr_tasks].comm);
		return TIME_AXIS_NONE;
	}
	return m->nr_tasks++;
}

/* The index of the vCPU that is vCPU @id of @guest. -ERANGE, -ENOMEM */
static int measurement__findnew_vcpu(struct measurement *m, struct kvm_guest *guest, u32 id)
{
	int vm;

	if (id >= MAX_CPUS)
		return -ERANGE;
	vm = measurement__findnew_vm(m, guest);
	return vm < 0 ? vm : time_axis__findnew_vcpu(&m->axis, vm, id);
}

/* The index of the vCPU that thread @tid runs, or TIME_AXIS_NONE */
u32 measurement__vcpu_of_tid(const struct measurement *m, pid_t tid)
{
	long vcpu;

	return hashmap__find(m->vcpu_by_tid, tid, &vcpu) ? vcpu : TIME_AXIS_NONE;
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
 * The interrupt came while KVM handled another exit: the host's time, though
 * the kernel could not know it when it took the sample.
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

/* Guest time of a vCPU that is not known, or of a guest that is not */
static int measurement__hit_vm(struct measurement *m, const struct kvm_guest *guest, pid_t pid,
			       struct axis_sample *as)
{
	char function[GUEST_VM_NAME_LEN + 2], module[32];
	struct profile_key key = {
		.class = PROFILE_VM,
		.function = function,
		.module = module,
		.comm = "",
		.pid = -1,
	};

	scnprintf(function, sizeof(function), "[%s]", guest ? guest->name : "guest");
	scnprintf(module, sizeof(module), "(VM pid %d)", pid & ~KVM_GUEST_PSEUDO_PID);
	as->kind = AXIS_SAMPLE_HOST;
	as->vcpu = TIME_AXIS_NONE;
	return measurement__hit(m, &key, &as->hit);
}

static int measurement__hit_guest(struct measurement *m, const struct perf_sample *sample,
				  const struct kvm_guest *guest, const struct addr_location *al,
				  struct axis_sample *as)
{
	bool user = sample->cpumode == PERF_RECORD_MISC_GUEST_USER;
	struct profile_key key = {
		.class = guest->nested ? PROFILE_VM : user ? PROFILE_USER : PROFILE_OS,
		.function = function_name(al),
		.module = guest->nested ? guest->name : module_name(al),
		.comm = user ? thread__comm_str(al->thread) ?: "" : "",
		.pid = user ? (pid_t)sample->pid : -1,
	};

	as->kind = user ? AXIS_SAMPLE_GUEST_USER : AXIS_SAMPLE_GUEST_KERNEL;
	return measurement__hit(m, &key, &as->hit);
}

static int measurement__hit_host(struct measurement *m, const struct perf_sample *sample,
				 const struct addr_location *al, struct axis_sample *as)
{
	bool user = sample->cpumode == PERF_RECORD_MISC_USER;
	struct profile_key key = {
		.class = user ? PROFILE_USER : PROFILE_OS,
		.function = function_name(al),
		.module = module_name(al),
		.comm = "",
		.pid = -1,
	};

	if (!user) {
		m->nr_host_kernel++;
		m->nr_host_kernel_named += !!al->sym;
	}
	/* The idle task also runs interrupts; only where it waits is idle. */
	if (!user && !sample->pid && al->sym && al->sym->idle)
		key.class = PROFILE_IDLE;

	if (sample->vcpu_ctx.flags & PERF_VCPU_LOADED)
		as->kind = AXIS_SAMPLE_EXIT;
	else if (as->vcpu != TIME_AXIS_NONE)
		/* Without contexts in the data, KVM and a system call look the same. */
		as->kind = user || (m->evsel->core.attr.sample_type & PERF_SAMPLE_VCPU) ?
			   AXIS_SAMPLE_VMM : AXIS_SAMPLE_EXIT;
	else
		as->kind = sample->tid ? AXIS_SAMPLE_HOST : AXIS_SAMPLE_IDLE;
	return measurement__hit(m, &key, &as->hit);
}

/* Numbers that are beyond reason are not followed: the file is damaged. */
static int measurement__place(struct measurement *m, struct perf_sample *sample)
{
	const struct perf_env *env = &m->session->header.env;

	if (sample->time == -1ULL || sample->cpu == (u32)-1)
		return -ERANGE;
	/* machine__resolve() looks it up in a table of the CPUs there are. */
	if (sample->cpu >= MAX_CPUS ||
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
	struct addr_location al;
	int ret;

	guest = in_guest ? kvm_guests__find(m->session, machine->pid) :
			   kvm_guests__find(m->session, sample->pid);
	if (!in_guest) {
		as->task = measurement__findnew_task(m, machine, sample->pid, sample->tid);
		as->vcpu = measurement__vcpu_of_tid(m, sample->tid);
	}
	if (ctx->flags & PERF_VCPU_LOADED) {
		if (ctx->flags & PERF_VCPU_EXIT_REASON_VALID) {
			as->exit_reason = ctx->exit_reason;
			as->isa = vcpu_sample__isa(ctx);
		}
		if (guest) {
			ret = measurement__findnew_vcpu(m, guest, ctx->vcpu_id);
			if (ret == -ENOMEM)
				return ret;
			if (ret == -ERANGE)
				m->nr_unplaced++;
			as->vcpu = ret < 0 ? TIME_AXIS_NONE : (u32)ret;
			if (!in_guest && ret >= 0)
				hashmap__set(m->vcpu_by_tid, sample->tid, ret, NULL, NULL);
		}
	} else if (in_guest && guest) {
		/* Recorded without contexts: the thread tells, see kvm_guests__resolve() */
		ret = measurement__findnew_vcpu(m, guest, sample->vcpu);
		as->vcpu = ret < 0 ? TIME_AXIS_NONE : (u32)ret;
	}

	if (in_guest) {
		m->nr_guest_samples++;
		if ((ctx->flags & PERF_VCPU_LOADED) && !vcpu_sample__interrupted_guest(ctx))
			return measurement__relabel(m, sample, as);
		if (!guest || as->vcpu == TIME_AXIS_NONE)
			return measurement__hit_vm(m, guest, machine->pid, as);
	}

	addr_location__init(&al);
	ret = machine__resolve(machine, &al, sample);
	if (!ret)
		ret = in_guest ? measurement__hit_guest(m, sample, guest, &al, as) :
				 measurement__hit_host(m, sample, &al, as);
	addr_location__exit(&al);
	return ret;
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

	ret = measurement__axis_sample(m, sample, machine, &as);
	return ret ?: time_axis__add_sample(&m->axis, &as);
}

/* A change of state. Raw data may be anything: what makes no sense is counted. */
static int measurement__add_event(struct measurement *m, struct evsel *evsel,
				  struct perf_sample *sample, struct machine *machine)
{
	struct kvm_guest *guest = kvm_guests__findnew(m->session, sample->pid);
	struct axis_event event = {
		.time = sample->time,
		.next_task = TIME_AXIS_NONE,
	};
	u64 state = evsel__intval(evsel, sample, "state");
	int ret;

	m->nr_timeline++;
	ret = measurement__place(m, sample);
	if (!ret && (!guest || state >= VCPU_STATE_NR))
		ret = -ERANGE;
	if (!ret)
		ret = measurement__findnew_vcpu(m, guest,
						evsel__intval(evsel, sample, "vcpu_id"));
	if (ret == -ENOMEM)
		return ret;
	if (ret < 0) {
		m->nr_bad_events++;
		return 0;
	}

	event.vcpu = ret;
	event.cpu = sample->cpu;
	event.state = state;
	event.run_delay = evsel__intval(evsel, sample, "run_delay");
	event.why = evsel__intval(evsel, sample, "why");
	event.exit_reason = evsel__intval(evsel, sample, "exit_reason");
	event.isa = evsel__intval(evsel, sample, "isa");
	if (state == VCPU_STATE_PREEMPTED || state == VCPU_STATE_BLOCKED ||
	    state == VCPU_STATE_HALTED) {
		pid_t next = evsel__intval(evsel, sample, "next_pid");

		event.next_task = measurement__findnew_task(m, machine, -1, next);
	}

	m->first_event = min(m->first_event, sample->time);
	m->last_event = max(m->last_event, sample->time);
	m->last_record[sample->cpu] = sample->time;
	hashmap__set(m->vcpu_by_tid, sample->tid, event.vcpu, NULL, NULL);
	return time_axis__add_event(&m->axis, &event);
}

static int process_sample(const struct perf_tool *tool, union perf_event *event __maybe_unused,
			  struct perf_sample *sample, struct evsel *evsel,
			  struct machine *machine)
{
	struct measurement *m = container_of(tool, struct measurement, tool);

	/* In a pipe's data, the events come with the records. */
	if (!m->evsel)
		m->evsel = measurement__evsel(m);
	if (evsel == m->evsel)
		return measurement__add_sample(m, sample, machine);
	if (evsel__name_is(evsel, TIMELINE_EVENT))
		return measurement__add_event(m, evsel, sample, machine);
	m->nr_other++;
	return 0;
}

/* Records are missing between the one before on this CPU and the one that comes. */
static int process_lost(const struct perf_tool *tool, union perf_event *event,
			struct perf_sample *sample, struct machine *machine __maybe_unused)
{
	struct measurement *m = container_of(tool, struct measurement, tool);
	struct axis_gap gap = { .until = sample->time };
	int ret;

	m->nr_lost += event->lost.lost;
	ret = measurement__place(m, sample);
	if (ret)
		return ret == -ERANGE ? 0 : ret;

	gap.cpu = sample->cpu;
	gap.from = m->last_record[sample->cpu];
	m->last_record[sample->cpu] = max(gap.from, gap.until);
	return time_axis__add_gap(&m->axis, &gap);
}

static int process_lost_samples(const struct perf_tool *tool, union perf_event *event,
				struct perf_sample *sample,
				struct machine *machine __maybe_unused)
{
	struct measurement *m = container_of(tool, struct measurement, tool);

	/* What a BPF filter has dropped was to be dropped. */
	if (event->header.misc & PERF_RECORD_MISC_LOST_SAMPLES_BPF)
		return 0;
	if (evlist__id2evsel(m->session->evlist, sample->id) == m->evsel)
		m->nr_lost_samples += event->lost_samples.lost;
	return 0;
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

static int process_throttle(const struct perf_tool *tool, union perf_event *event __maybe_unused,
			    struct perf_sample *sample, struct machine *machine __maybe_unused)
{
	struct measurement *m = container_of(tool, struct measurement, tool);
	int ret;

	m->nr_throttled++;
	ret = measurement__place(m, sample);
	if (ret)
		return ret == -ERANGE ? 0 : ret;
	if (!m->throttled[sample->cpu])
		m->throttled[sample->cpu] = sample->time;
	return 0;
}

static int process_unthrottle(const struct perf_tool *tool,
			      union perf_event *event __maybe_unused,
			      struct perf_sample *sample,
			      struct machine *machine __maybe_unused)
{
	struct measurement *m = container_of(tool, struct measurement, tool);
	int ret = measurement__place(m, sample);

	if (ret)
		return ret == -ERANGE ? 0 : ret;
	return measurement__end_throttle(m, sample->cpu, sample->time);
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
			if (known->tid)
				hashmap__set(m->vcpu_by_tid, known->tid, idx, NULL, NULL);
		}
	}
	return 0;
}

/**
 * measurement__open - prepare to read @session, that was made with @m->tool
 *
 * The session's events then come in by themselves. 0 or -errno
 */
int measurement__open(struct measurement *m, struct perf_session *session)
{
	m->session = session;
	m->evsel = measurement__evsel(m);
	return measurement__add_known_vcpus(m);
}

void measurement__set_tool(struct measurement *m)
{
	perf_tool__init(&m->tool, /*ordered_events=*/true);
	m->tool.sample		= process_sample;
	m->tool.mmap		= perf_event__process_mmap;
	m->tool.mmap2		= perf_event__process_mmap2;
	m->tool.comm		= perf_event__process_comm;
	m->tool.namespaces	= perf_event__process_namespaces;
	m->tool.cgroup		= perf_event__process_cgroup;
	m->tool.fork		= perf_event__process_fork;
	m->tool.exit		= perf_event__process_exit;
	m->tool.ksymbol		= perf_event__process_ksymbol;
	m->tool.bpf		= perf_event__process_bpf;
	m->tool.text_poke	= perf_event__process_text_poke;
	m->tool.lost		= process_lost;
	m->tool.lost_samples	= process_lost_samples;
	m->tool.throttle	= process_throttle;
	m->tool.unthrottle	= process_unthrottle;
}

/*
 * The time between two samples of a CPU that is never idle, ns: what was asked
 * for if that was a time or a frequency, else what the busiest CPU got.
 */
static u64 measurement__get_period(const struct measurement *m)
{
	const struct perf_event_attr *attr = &m->evsel->core.attr;
	u64 most = 0;

	if (attr->freq)
		return attr->sample_freq ? NSEC_PER_SEC / attr->sample_freq : 0;

	if (evsel__is_clock(m->evsel))
		return attr->sample_period;

	for (u32 i = 0; i < m->nr_cpus; i++)
		most = max(most, m->cpu_samples[i]);
	return most ? (m->last - m->first) / most : 0;
}

/**
 * measurement__finish - build the axis, when all has been read
 *
 * The first sample stands for the period before it. 0 or -ENOMEM
 */
int measurement__finish(struct measurement *m)
{
	struct evsel *evsel;
	u64 start, end;
	int ret;

	evlist__for_each_entry(m->session->evlist, evsel)
		m->has_timeline |= evsel__name_is(evsel, TIMELINE_EVENT);

	if (m->evsel && m->nr_samples) {
		m->period = measurement__get_period(m);
		m->period_exact = !m->evsel->core.attr.freq && evsel__is_clock(m->evsel);
		m->axis.clock = evsel__is_clock(m->evsel);
	}
	m->axis.period = m->period;
	m->axis.timeline = m->has_timeline && m->use_timeline;

	start = m->first > m->last ? m->first_event : m->first - min(m->first, m->period);
	start = min(start, m->first_event);
	end = max(m->last, m->last_event);
	m->axis.start = min(start, end);
	m->axis.end = end;

	for (u32 i = 0; i < m->nr_cpus; i++) {
		ret = measurement__end_throttle(m, i, end);
		if (ret)
			return ret;
	}
	return time_axis__build(&m->axis);
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
