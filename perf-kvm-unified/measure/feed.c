// SPDX-License-Identifier: GPL-2.0
/*
 * The session's records go in, and the axis moves on with them.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/time64.h>

#include "util/data.h"
#include "util/debug.h"
#include "util/event.h"
#include "util/evlist.h"
#include "util/evsel.h"
#include "util/hashmap.h"
#include "util/machine.h"
#include "util/sample.h"
#include "util/session.h"
#include "util/thread.h"
#include "util/tsc.h"
#include "kvm-unified/format/looks.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/guests/contexts.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/guests/resolve.h"
#include "kvm-unified/lib/sort.h"
#include "kvm-unified/lib/warnings.h"
#include "chains.h"
#include "feed.h"
#include "hits.h"
#include "measurement.h"
#include "samples.h"
#include "stream.h"
#include "timeline.h"
#include "who.h"

/* In fewer periods than these, a CPU may have no sample because none was due. */
#define LEAST_PERIODS	8

/* Has the user asked for the event? record adds some. */
static bool is_asked_for(struct evsel *evsel)
{
	return !evsel__is_timeline(evsel) && !evsel__is_dummy_event(evsel) &&
	       !evsel__is_vcpu_context(evsel);
}

/* As far as is known: events of a PMU's own may be of anything. */
bool evsel__counts_no_time(const struct evsel *evsel)
{
	u64 config = evsel->core.attr.config;

	switch (evsel->core.attr.type) {
	case PERF_TYPE_SOFTWARE:
		return config != PERF_COUNT_SW_CPU_CLOCK && config != PERF_COUNT_SW_TASK_CLOCK;
	case PERF_TYPE_HARDWARE:
		config &= PERF_HW_EVENT_MASK;
		return config != PERF_COUNT_HW_CPU_CYCLES &&
		       config != PERF_COUNT_HW_REF_CPU_CYCLES &&
		       config != PERF_COUNT_HW_BUS_CYCLES;
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_BREAKPOINT:
		return true;
	default:
		return false;
	}
}

/* The event that time is told by: the first that samples time or cycles, else the first */
static struct evsel *measurement__evsel(const struct measurement *m)
{
	struct evsel *evsel, *first = NULL;

	evlist__for_each_entry(m->session->evlist, evsel) {
		if (!is_asked_for(evsel) || evsel->core.attr.type == PERF_TYPE_TRACEPOINT)
			continue;
		if (!evsel__counts_no_time(evsel))
			return evsel;
		if (!first)
			first = evsel;
	}
	return first;
}

/* Do its samples say when, where, in whom and at what? */
static bool can_be_placed(const struct evsel *evsel)
{
	const u64 needed = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_TID | PERF_SAMPLE_IP;

	return (evsel->core.attr.sample_type & needed) == needed;
}

/* Gives each other event a column. If there is no other, cycles are as good as time. */
static void measurement__set_columns(struct measurement *m)
{
	struct evsel *evsel;
	bool alone = true;

	m->nr_columns = PROFILE_TIME + 1;
	evlist__for_each_entry(m->session->evlist, evsel)
		alone &= !is_asked_for(evsel) || measurement__is_counted(m, evsel);
	if (alone)
		return;
	evlist__for_each_entry(m->session->evlist, evsel) {
		if (!is_asked_for(evsel) || !can_be_placed(evsel) ||
		    m->nr_columns == PROFILE_MAX_COLUMNS ||
		    (evsel == m->evsel && evsel__is_clock(evsel)) ||
		    measurement__has_column(m, evsel))
			continue;
		m->columns[m->nr_columns++] = evsel;
	}
}

/* The period that was asked for, ns, if that was a time or a frequency; else 0 */
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
	if (flags & GUEST_VCPU_END_STOPPED)
		return VCPU_TIME_STOPPED;
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
		.at_pause = look->flags & GUEST_VCPU_AT_PAUSE,
	};

	return queue_add(&m->looks, &kept);
}

/* Is the table of VMs that of the start, as the recorder did not come to its end? */
static bool measurement__was_cut_short(const struct measurement *m)
{
	const struct kvm_guests *guests = m->session->kvm_guests;

	return guests && (guests->vms.flags & GUEST_RECORDING_AT_START);
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

	if (!measurement__uses_timeline(m) || m->stream)
		return 0;
	reader.tc = kvm_guests__tsc_conversion(m->session);
	if (!reader.tc.time_mult || reader.tc.time_shift > 63 || !reader.tc.cap_user_time_zero)
		return 0;
	scnprintf(path, sizeof(path), "%s/" VCPU_LOOKS_FILE, m->session->data->path);
	ret = vcpu_looks__read(path, keep_look, &reader, err, sizeof(err));
	if (ret == -ENOMEM)
		return ret;
	/* Looks end with the recorder. */
	if (ret == -EPIPE && measurement__was_cut_short(m))
		return 0;
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
			.at_pause = look.at_pause,
		});
	}
	return ret;
}

/*
 * CPUs that have had no sample for long until @now: they went offline, and perf does not record
 * them again when they are back. It is found out before the axis hands out that time. 0 or -ENOMEM
 */
static int measurement__add_silent(struct measurement *m, u64 now)
{
	const struct axis_span *span = &m->axis.span;
	u64 long_ago = span->near / 2;
	int ret = 0;

	if (!span->clock || span->period > long_ago / LEAST_PERIODS)
		return 0;
	for (u32 cpu = 0; !ret && cpu < m->nr_cpus; cpu++) {
		u64 last = m->cpus[cpu].last_sample;
		struct axis_gap gap = {
			.from = max(last, m->cpus[cpu].silent),
			.until = now,
			.cpu = cpu,
			.samples_only = true,
			.silent = true,
		};

		if (!last || now <= last || now - last < long_ago)
			continue;
		m->cpus[cpu].silent = now;
		m->silent_cpu = cpu;
		m->silent_ns = now - last;
		ret = time_axis__add_gap(&m->axis, &gap);
	}
	return ret;
}

/* CPUs that perf has not recorded at all, as they came online later. 0 or -ENOMEM */
static int measurement__add_unrecorded(struct measurement *m)
{
	const struct kvm_guests *guests = m->session->kvm_guests;
	const struct axis_gap gap = {
		.from = m->axis.span.start,
		.until = LLONG_MAX,
		.cpu = TIME_AXIS_NONE,
		.samples_only = true,
		.silent = true,
	};

	if (!guests || !(guests->vms.flags & GUEST_RECORDING_CPUS_CAME) || !m->axis.span.clock)
		return 0;
	return time_axis__add_gap(&m->axis, &gap);
}

/* Tells the axis what it must know of the measurement before it begins. */
static void measurement__set_span(struct measurement *m)
{
	const struct kvm_guests *guests = m->session->kvm_guests;
	struct axis_span *span = &m->axis.span;
	u64 start, end;

	/* Who has recorded the rest may have recorded single tasks. */
	span->per_task = !guests || (guests->vms.flags & GUEST_RECORDING_PER_TASK);
	if (m->evsel && m->nr_samples) {
		measurement__set_period(m);
		span->clock = evsel__is_clock(m->evsel) && !span->per_task;
	}
	span->period = m->period;
	span->timeline = measurement__uses_timeline(m);
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
	if (m->first > m->last || now <= m->first || now - m->first < m->axis.span.near)
		return false;
	if (!m->long_states.known && measurement__uses_timeline(m))
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
		ret = measurement__read_looks(m) ?: measurement__add_unrecorded(m);
		if (ret)
			return ret;
	} else if (!time_axis__is_due(&m->axis, now)) {
		return 0;
	}
	/* A time that cannot be: the end will say so. */
	if (now < m->axis.span.start || now - m->axis.span.start > measurement__limit(m) / 2)
		return 0;
	ret = measurement__add_looks(m, now) ?: measurement__add_silent(m, now);
	return ret ?: time_axis__advance(&m->axis, now);
}

/* One that cannot be used: that there is no time line is told of, and it counts nothing. */
static bool is_unused_timeline(struct evsel *evsel)
{
	return (evsel->core.attr.type == PERF_TYPE_TRACEPOINT || evsel__is_bpf_output(evsel)) &&
	       evsel__is_timeline(evsel);
}

static int process_sample(const struct perf_tool *tool, union perf_event *event __maybe_unused,
			  struct perf_sample *sample, struct machine *machine)
{
	struct measurement *m = container_of(tool, struct measurement, tool);
	bool is_timeline = false;
	int ret;

	ret = measurement__add_long_states(m, sample->time);
	if (ret)
		return ret;
	if (measurement__is_counted(m, sample->evsel))
		ret = measurement__add_sample(m, sample, machine);
	else
		is_timeline = measurement__is_timeline(m, sample->evsel);
	if (is_timeline)
		ret = measurement__add_event(m, sample, machine, /*ahead=*/false);
	else if (!ret && !is_unused_timeline(sample->evsel))
		ret = measurement__add_count(m, sample, machine);
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
	gap.from = m->cpus[sample->cpu].last_record;
	m->cpus[sample->cpu].last_record = max(gap.from, gap.until);
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
	if (!m->cpus[sample->cpu].throttled)
		m->cpus[sample->cpu].throttled = sample->time;
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

/* Handles a change of processes or maps: what was looked up before may be wrong from now on. */
static int process_change(const struct perf_tool *tool, union perf_event *event,
			  struct perf_sample *sample, struct machine *machine)
{
	struct measurement *m = container_of(tool, struct measurement, tool);

	m->nr_changes++;
	return perf_event__process(tool, event, sample, machine);
}

static int process_comm(const struct perf_tool *tool, union perf_event *event,
			struct perf_sample *sample, struct machine *machine)
{
	struct measurement *m = container_of(tool, struct measurement, tool);
	int ret = process_change(tool, event, sample, machine);
	struct thread *thread;

	if (ret)
		return ret;
	thread = machine__find_thread(machine, event->comm.pid, event->comm.tid);
	if (thread)
		ret = hits__rename_thread(&m->hits, thread);
	thread__put(thread);
	return ret;
}

static int process_fork(const struct perf_tool *tool, union perf_event *event,
			struct perf_sample *sample, struct machine *machine)
{
	struct measurement *m = container_of(tool, struct measurement, tool);

	if (machine__is_host(machine))
		measurement__new_thread(m, event->fork.tid);
	return process_change(tool, event, sample, machine);
}

/* The number of a thread that ended may be another's soon. */
static int process_exit(const struct perf_tool *tool, union perf_event *event,
			struct perf_sample *sample, struct machine *machine)
{
	struct measurement *m = container_of(tool, struct measurement, tool);
	int ret = 0;

	if (machine__is_host(machine)) {
		ret = measurement__end_vcpu(m, sample, event->fork.tid);
		measurement__end_thread(m, machine, event->fork.tid);
	}
	return ret ?: process_change(tool, event, sample, machine);
}

/*
 * The vCPUs that perf kvm unified record has found. Of a stream, also at its end: there are more
 * then, and of all it is known what they were at. 0 or -errno
 */
static int measurement__add_known_vcpus(struct measurement *m)
{
	struct kvm_guests *guests = m->session->kvm_guests;
	bool end_known = !measurement__was_cut_short(m);

	for (size_t i = 0; guests && i < guests->vms.nr; i++) {
		const struct kvm_vm *vm = &guests->vms.entries[i];
		struct kvm_guest *guest = kvm_guests__find(m->session, vm->pid);
		bool limited = kvm_limits__may_hold(&guests->vms.limits, vm->pid);
		bool deadline = kvm_limits__deadline(&guests->vms.limits, vm->pid);

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
			m->vms[vcpu->vm].left_out = kvm_vm__is_left_out(vm);
			vcpu->at_start = known->flags & GUEST_VCPU_AT_START;
			vcpu->at_end = end_known ? known->flags & GUEST_VCPU_AT_END :
						   vcpu->at_start;
			vcpu->halted = known->flags & GUEST_VCPU_HALTED;
			vcpu->limited = limited;
			vcpu->deadline = deadline;
			if (vcpu->at_end && end_known)
				vcpu->last = vcpu_last(known->flags);
			if (known->tid)
				hashmap__set(m->vcpu_by_tid, known->tid, idx, NULL, NULL);
		}
	}
	return 0;
}

/* Which events are there to be counted, and which of them tells time? */
void measurement__choose_events(struct measurement *m, struct perf_session *session)
{
	m->session = session;
	m->evsel = measurement__evsel(m);
	measurement__set_columns(m);
}

/**
 * measurement__open - prepare to read the session that was made with @m->tool, and of which the
 *	events are chosen
 * @wants: what is to be found out
 *
 * The session's events then come in by themselves. 0 or -errno: -ENODATA if
 * samples do not say when and where they were taken
 */
int measurement__open(struct measurement *m, const struct measure_wants *wants)
{
	const struct perf_session *session = m->session;
	struct evsel *evsel;
	int ret;

	m->wants = *wants;
	m->axis.sink = wants->times;
	m->hits.keep_addrs = wants->addrs;
	m->hits.keep_cpus = wants->cpus;
	if (m->evsel && !can_be_placed(m->evsel))
		return -ENODATA;

	m->distances = calloc(NR_DISTANCES, sizeof(*m->distances));
	if (!m->distances)
		return -ENOMEM;
	/* Without VMs it is not known whose events they are. */
	evlist__for_each_entry(session->evlist, evsel)
		m->has_timeline |= session->kvm_guests && evsel__is_timeline(evsel);
	chains__setup(m->session);
	ret = measurement__find_long_states(m);
	return ret ?: measurement__add_known_vcpus(m);
}

/* What is to be placed, or is of an event: it has to be known which there are */
static void measurement__set_placed(struct measurement *m)
{
	m->tool.sample		= process_sample;
	m->tool.lost		= process_lost;
	m->tool.lost_samples	= process_lost_samples;
	m->tool.throttle	= process_throttle;
	m->tool.unthrottle	= process_unthrottle;
}

/* The first of that in a stream: which events there are is said in front of it. */
static int process_first(const struct perf_tool *tool, union perf_event *event,
			 struct perf_sample *sample, struct machine *machine)
{
	struct measurement *m = container_of(tool, struct measurement, tool);

	/* What is wrong is kept there, and no more of it is read. */
	if (profile_stream__begin_events(m->stream))
		return 0;
	measurement__set_placed(m);
	switch (event->header.type) {
	case PERF_RECORD_LOST:
		return process_lost(tool, event, sample, machine);
	case PERF_RECORD_LOST_SAMPLES:
		return process_lost_samples(tool, event, sample, machine);
	case PERF_RECORD_THROTTLE:
		return process_throttle(tool, event, sample, machine);
	case PERF_RECORD_UNTHROTTLE:
		return process_unthrottle(tool, event, sample, machine);
	default:
		return process_sample(tool, event, sample, machine);
	}
}

/* Takes events, and what is said of them, from a stream. After measurement__set_tool() */
void measurement__set_stream(struct measurement *m)
{
	m->tool.attr		= perf_event__process_attr;
	m->tool.event_update	= perf_event__process_event_update;
	m->tool.build_id	= perf_event__process_build_id;
#ifdef HAVE_LIBTRACEEVENT
	m->tool.tracing_data	= perf_event__process_tracing_data;
#endif
	m->tool.sample		= process_first;
	m->tool.lost		= process_first;
	m->tool.lost_samples	= process_first;
	m->tool.throttle	= process_first;
	m->tool.unthrottle	= process_first;
}

void measurement__set_tool(struct measurement *m)
{
	perf_tool__init(&m->tool, /*ordered_events=*/true);
	measurement__set_placed(m);
	m->tool.mmap		= process_change;
	m->tool.mmap2		= process_change;
	m->tool.comm		= process_comm;
	m->tool.namespaces	= process_change;
	m->tool.cgroup		= process_change;
	m->tool.fork		= process_fork;
	m->tool.exit		= process_exit;
	m->tool.ksymbol		= process_change;
	m->tool.bpf		= process_change;
	m->tool.text_poke	= process_change;
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
	int ret = time_axis__catch_up(&m->axis);

	if (!ret && m->stream)
		ret = measurement__add_known_vcpus(m);
	if (ret)
		return ret;
	if (!m->axis.begun) {
		measurement__set_span(m);
		ret = measurement__read_looks(m) ?: measurement__add_unrecorded(m);
	}
	if (!ret)
		ret = measurement__add_looks(m, ~0ULL);
	if (ret)
		return ret;
	span->end = max(m->last, m->last_event);
	measurement__limit_axis(m);
	ret = measurement__add_silent(m, span->end);
	if (ret)
		return ret;

	for (u32 i = 0; i < m->nr_cpus; i++) {
		ret = measurement__end_throttle(m, i, span->end);
		if (ret)
			return ret;
	}
	ret = time_axis__finish(&m->axis);
	m->nr_unplaced += m->axis.nr_late;
	return ret ?: hits__name_threads(&m->hits);
}
