// SPDX-License-Identifier: GPL-2.0
/*
 * The events of kvm:kvm_vcpu_timeline, put on the axis.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <linux/kernel.h>

#include "util/data.h"
#include "util/event.h"
#include "util/evlist.h"
#include "util/evsel.h"
#include "util/hashmap.h"
#include "util/machine.h"
#include "util/sample.h"
#include "util/session.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/format/vcpu-timeline.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/lib/array.h"
#include "long-states.h"
#include "measurement.h"
#include "samples.h"
#include "timeline.h"
#include "who.h"

#ifdef HAVE_LIBTRACEEVENT
/* The records of BPF programs, on kernels without the tracepoint */
static bool evsel__is_bpf_timeline(struct evsel *evsel)
{
	return evsel__is_bpf_output(evsel) && evsel__name_is(evsel, VCPU_TIMELINE_EVENT);
}

/* Without its format, or with another one, the tracepoint is of no use. */
bool evsel__is_timeline(struct evsel *evsel)
{
	if (evsel__is_bpf_timeline(evsel))
		return true;
	return evsel__name_is(evsel, KVM_TIMELINE_EVENT) && evsel->tp_format &&
	       evsel__field(evsel, "vcpu_id") && evsel__field(evsel, "state");
}

/*
 * Is the event that of the time line? If so, its fields are known then: there may be as many
 * of it as of samples, and names cost more than all the rest.
 */
bool measurement__is_timeline(struct measurement *m, struct evsel *evsel)
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
	m->timeline_by_bpf = evsel__is_bpf_timeline(evsel);
	for (u32 i = 0; !m->timeline_by_bpf && i < TIMELINE_NR_FIELDS; i++)
		m->timeline_fields[i] = evsel__field(evsel, names[i]);
	return true;
}

static bool measurement__has_field(const struct measurement *m, enum timeline_field field)
{
	return m->timeline_by_bpf ? field != TIMELINE_RUN_DELAY : !!m->timeline_fields[field];
}

/* A field of a BPF program's record; one that is none has a state that cannot be. */
static u64 bpf_timeline__field(const struct perf_sample *sample, enum timeline_field field)
{
	struct vcpu_timeline record;

	if (!vcpu_timeline__read(&record, sample->raw_data, sample->raw_size))
		record = (struct vcpu_timeline) { .state = VCPU_STATE_NR };

	switch (field) {
	case TIMELINE_STATE:
		return record.state;
	case TIMELINE_VCPU_ID:
		return record.vcpu_id;
	case TIMELINE_WHY:
		return record.why;
	case TIMELINE_EXIT_REASON:
		return record.exit_reason;
	case TIMELINE_ISA:
		return record.isa;
	case TIMELINE_NEXT_PID:
		return record.next_pid;
	case TIMELINE_NS:
		return record.ns;
	case TIMELINE_SEQ:
		return record.seq;
	case TIMELINE_CPU:
		return record.cpu;
	case TIMELINE_WAIT:
		return record.wait;
	case TIMELINE_RUN_DELAY:
	case TIMELINE_NR_FIELDS:
	default:
		return 0;
	}
}

/* A field of an event of the time line; 0 if there is no such field, or the record ends before */
static u64 measurement__field(const struct measurement *m, struct perf_sample *sample,
			      enum timeline_field field)
{
	struct tep_format_field *format = m->timeline_fields[field];

	if (m->timeline_by_bpf)
		return bpf_timeline__field(sample, field);
	return format ? format_field__intval(format, sample, m->timeline_evsel->needs_swap) : 0;
}

/* What the time line has said of a vCPU last */
struct timeline_last {
	u64	run_delay;	/* old events: ns in all of the thread's life */
	u64	waited;		/* ns, so far in the measurement */
	u32	seq;
	u32	lost;		/* of @seq, so many were not there */
	u64	time;		/* of the last event */
	pid_t	tid;		/* of its thread */
	u64	cgroup;		/* id of its thread's, or 0 */
	bool	known;
	bool	mixed;		/* @seq went back: several vCPUs have this number here */
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
	       state == VCPU_STATE_HALTED || state == VCPU_STATE_THROTTLED;
}

/* A file may say any number: there is no more than that. */
static void timeline_last__add_wait(struct timeline_last *last, u64 waited)
{
	last->waited += min_t(u64, waited, LLONG_MAX - last->waited);
}

/*
 * What KVM has told a vCPU's guest of steal, ns: it is the scheduler's figure that comes with the
 * events. 0 if there are none
 */
u64 measurement__guest_steal(const struct measurement *m, u32 vcpu)
{
	if (vcpu >= m->nr_timeline_last)
		return 0;
	return min(m->timeline_last[vcpu].waited, measurement__duration(m));
}

/* The id of the cgroup that a vCPU's thread was in at its last event; 0: not known */
u64 measurement__vcpu_cgroup(const struct measurement *m, u32 vcpu)
{
	return vcpu < m->nr_timeline_last ? m->timeline_last[vcpu].cgroup : 0;
}

/* KVM counts a vCPU's events from here on. */
#define FIRST_SEQ	1

/* Has a vCPU that was made meanwhile the number of one that was there before? */
static bool timeline_last__is_other(const struct timeline_last *last, u32 seq)
{
	return last->known && !last->mixed && last->seq && seq == FIRST_SEQ;
}

/*
 * Event number @seq follows. How many are missing between them, which is added to @sum. Where
 * numbers go back, they are those of several vCPUs, and do not tell what is missing: none of it is.
 */
static u32 timeline_last__move(struct timeline_last *last, u32 seq, u64 *sum)
{
	u32 lost = timeline_last__is_other(last, seq) ? 0 : seq - last->seq - 1;

	if (last->known && lost >= INT_MAX && !last->mixed) {
		last->mixed = true;
		*sum -= last->lost;
	}
	if (!last->known || last->mixed)
		lost = 0;
	last->lost += lost;
	*sum += lost;
	last->seq = seq;
	last->known = true;
	return lost;
}

/*
 * One event tells of a state that has ended, and makes two changes: into it, if it is
 * known since when, and back into KVM_RUN.
 */
static int measurement__add_ended(struct measurement *m, struct perf_sample *sample,
				  struct timeline_last *last, struct axis_event *event)
{
	u64 ns = min(measurement__field(m, sample, TIMELINE_NS), sample->time);
	u32 seq = measurement__field(m, sample, TIMELINE_SEQ), lost;
	u64 cpu = measurement__field(m, sample, TIMELINE_CPU);
	int ret = 0;

	event->first = timeline_last__is_other(last, seq);
	lost = timeline_last__move(last, seq, &m->nr_timeline_lost);
	if (last->mixed && m->mixed_vcpu == TIME_AXIS_NONE)
		m->mixed_vcpu = event->vcpu;
	event->after_lost = lost;

	/* A state without length is none; it has only said that one has ended. */
	if (ns) {
		struct axis_event begin = *event;

		begin.time -= ns;
		begin.cpu = cpu < m->nr_cpus ? cpu : event->cpu;
		ret = time_axis__add_event(&m->axis, &begin);
		event->after_lost = false;
		event->first = false;
	} else {
		event->ended = event->state;
	}
	event->state = VCPU_STATE_RUN;
	event->next_task = TIME_AXIS_NONE;
	event->why = 0;
	event->waited = measurement__field(m, sample, TIMELINE_WAIT);
	timeline_last__add_wait(last, event->waited);
	return ret ?: time_axis__add_event(&m->axis, event);
}

/* As the first version had it: an event says which state begins. */
static int measurement__add_begun(struct measurement *m, struct perf_sample *sample,
				  struct timeline_last *last, struct axis_event *event)
{
	u64 run_delay = measurement__field(m, sample, TIMELINE_RUN_DELAY);

	if (last->known && run_delay > last->run_delay)
		event->waited = run_delay - last->run_delay;
	timeline_last__add_wait(last, event->waited);
	last->run_delay = run_delay;
	last->known = true;
	return time_axis__add_event(&m->axis, event);
}

/* Was this event put on the axis before, as it is of a long state? */
static bool measurement__knows(const struct measurement *m, struct perf_sample *sample,
			       const struct timeline_last *last)
{
	return m->axis.begun && last->known && measurement__has_field(m, TIMELINE_SEQ) &&
	       measurement__field(m, sample, TIMELINE_NS) >= TIME_AXIS_NEAR &&
	       (u32)measurement__field(m, sample, TIMELINE_SEQ) == last->seq;
}

/* Is it the last event once more? perf record may have written a piece of a buffer twice. */
static bool measurement__is_repeated(const struct measurement *m, struct perf_sample *sample,
				     const struct timeline_last *last)
{
	return last->known && last->time == sample->time &&
	       measurement__has_field(m, TIMELINE_SEQ) &&
	       (u32)measurement__field(m, sample, TIMELINE_SEQ) == last->seq;
}

/* Is the event's time, CPU, state and vCPU one that can be? -ERANGE, -ENOMEM, or the vCPU */
static int measurement__event_vcpu(struct measurement *m, struct perf_sample *sample)
{
	struct memo_thread *thread = measurement__thread(m, false, sample->pid, sample->tid);
	int ret = measurement__place(m, sample), vcpu;

	if (!thread->guest)
		thread->guest = kvm_guests__findnew_thread(m->session, sample->pid, sample->tid);
	if (ret)
		return ret;
	if (!thread->guest || measurement__field(m, sample, TIMELINE_STATE) >= VCPU_STATE_NR)
		return -ERANGE;
	vcpu = measurement__vcpu(m, thread, thread->guest,
				 measurement__field(m, sample, TIMELINE_VCPU_ID));
	if (vcpu >= 0 && (!thread->runs_vcpu || thread->run_vcpu != (u32)vcpu)) {
		hashmap__set(m->vcpu_by_tid, sample->tid, vcpu, NULL, NULL);
		thread->runs_vcpu = true;
		thread->run_vcpu = vcpu;
	}
	return vcpu;
}

/**
 * measurement__add_event - a state of a vCPU ends, or begins
 * @ahead: it will only later
 *
 * Raw data may be anything: what makes no sense is counted. 0 or -ENOMEM
 */
int measurement__add_event(struct measurement *m, struct perf_sample *sample,
			   struct machine *machine, bool ahead)
{
	struct axis_event event = {
		.time = sample->time,
		.next_task = TIME_AXIS_NONE,
	};
	u64 isa = measurement__field(m, sample, TIMELINE_ISA);
	int vcpu = measurement__event_vcpu(m, sample);
	struct timeline_last *last;

	if (vcpu == -ENOMEM)
		return vcpu;
	if (vcpu < 0 || isa >> TIME_AXIS_ISA_BITS) {
		m->nr_timeline++;
		m->nr_bad_events++;
		return 0;
	}
	if (!ahead) {
		m->now = max(m->now, sample->time);
		m->cpus[sample->cpu].last_record = sample->time;
	}
	last = measurement__last(m, vcpu);
	if (!last)
		return -ENOMEM;
	if (measurement__is_repeated(m, sample, last) ||
	    (!ahead && measurement__knows(m, sample, last)))
		return 0;
	last->time = sample->time;
	last->tid = sample->tid;
	last->cgroup = sample->cgroup;

	event.vcpu = vcpu;
	event.cpu = sample->cpu;
	event.state = measurement__field(m, sample, TIMELINE_STATE);
	event.why = measurement__field(m, sample, TIMELINE_WHY);
	event.exit_reason = measurement__field(m, sample, TIMELINE_EXIT_REASON);
	event.isa = isa;
	if (state__has_next(event.state)) {
		pid_t next = measurement__field(m, sample, TIMELINE_NEXT_PID);

		event.next_task = measurement__next_task(m, machine, next);
	}

	m->nr_timeline++;
	m->nr_states[event.state]++;
	m->first_event = min(m->first_event, sample->time);
	m->last_event = max(m->last_event, sample->time);
	return measurement__has_field(m, TIMELINE_NS) ?
	       measurement__add_ended(m, sample, last, &event) :
	       measurement__add_begun(m, sample, last, &event);
}

/**
 * measurement__end_vcpu - thread @tid has ended at the time of @sample
 *
 * If it has run a vCPU last, that is not there from then on, until it is heard of again: KVM has no
 * event of that. 0 or -ENOMEM
 */
int measurement__end_vcpu(struct measurement *m, struct perf_sample *sample, pid_t tid)
{
	const struct timeline_last *last;
	struct axis_event event = {
		.time = sample->time,
		.next_task = TIME_AXIS_NONE,
		.state = VCPU_STATE_GONE,
	};
	long vcpu;
	int ret;

	if (!measurement__uses_timeline(m) ||
	    !hashmap__find(m->vcpu_by_tid, tid, &vcpu))
		return 0;
	last = measurement__last(m, vcpu);
	if (!last)
		return -ENOMEM;
	/* Another thread may run the vCPU now. */
	if (last->known && last->tid != tid)
		return 0;
	ret = measurement__place(m, sample);
	if (ret)
		return ret == -ERANGE ? 0 : ret;
	event.vcpu = vcpu;
	event.cpu = sample->cpu;
	return time_axis__add_event(&m->axis, &event);
}

/*
 * Is @event, of the tracepoint, of a state that was not long? Most are, and their lengths are at
 * one place, but after what has no fixed length. False: it has to be parsed
 */
static bool measurement__is_of_short_state(const struct measurement *m, const struct evsel *evsel,
					   const union perf_event *event)
{
	const struct tep_format_field *ns = m->timeline_fields[TIMELINE_NS];
	u64 length, at = sizeof(event->header) + evsel->sample_size + sizeof(u32);

	if (evsel->core.attr.sample_type & (PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN) || !ns ||
	    ns->size != sizeof(length))
		return false;
	at += (u32)ns->offset;
	if (at + sizeof(length) > event->header.size)
		return false;
	memcpy(&length, (const void *)event + at, sizeof(length));
	return length < TIME_AXIS_NEAR;
}

/* Remembers @event, if it is at the end of a long state. 0 or -errno */
static int measurement__find_long_state(struct measurement *m, union perf_event *event)
{
	struct evsel *evsel = evlist__event2evsel(m->session->evlist, event);
	struct perf_sample sample;
	u64 ns = 0;

	if (!evsel || !measurement__is_timeline(m, evsel) ||
	    measurement__is_of_short_state(m, evsel, event))
		return 0;
	perf_sample__init(&sample, /*all=*/true);
	if (!evsel__parse_sample(evsel, event, &sample))
		ns = measurement__field(m, &sample, TIMELINE_NS);
	perf_sample__exit(&sample);
	if (ns < TIME_AXIS_NEAR)
		return 0;
	return long_states__add(&m->long_states, &(struct long_state) {
		.begin = sample.time - min(ns, sample.time),
		.end = sample.time,
		.evsel = evsel,
		.event = event,
	});
}

/**
 * measurement__find_long_states - look through the file for the events of long states
 *
 * 0 or -errno; the file may be one that cannot be looked through
 */
int measurement__find_long_states(struct measurement *m)
{
	struct long_states *states = &m->long_states;
	union perf_event *event;
	u64 offset = 0;
	int ret;

	if (!measurement__uses_timeline(m))
		return 0;
	ret = long_states__map(states, m->session);
	if (ret || !states->map)
		return ret;
	while (!ret && (event = long_states__next_event(states, m->session, &offset))) {
		if (event->header.type == PERF_RECORD_SAMPLE)
			ret = measurement__find_long_state(m, event);
		/* What follows it is not a record. */
		if (event->header.type == PERF_RECORD_AUXTRACE)
			return 0;
	}
	long_states__sort(states);
	states->known = !ret;
	return ret;
}

/**
 * measurement__add_long_states - put those on the axis that begin until @now
 *
 * 0 or -ENOMEM
 */
int measurement__add_long_states(struct measurement *m, u64 now)
{
	struct long_states *states = &m->long_states;
	int ret = 0;

	for (; !ret && m->axis.begun && states->next < states->nr; states->next++) {
		const struct long_state *state = &states->entries[states->next];
		struct perf_sample sample;

		if (state->begin > now)
			break;
		/* It came before the axis began. */
		if (state->end <= m->now)
			continue;
		perf_sample__init(&sample, /*all=*/true);
		ret = evsel__parse_sample(state->evsel, state->event, &sample);
		sample.evsel = state->evsel;
		if (!ret && measurement__is_timeline(m, state->evsel))
			ret = measurement__add_event(m, &sample, &m->session->machines.host,
						     /*ahead=*/true);
		perf_sample__exit(&sample);
	}
	return ret;
}
#else
u64 measurement__guest_steal(const struct measurement *m __maybe_unused, u32 vcpu __maybe_unused)
{
	return 0;
}

u64 measurement__vcpu_cgroup(const struct measurement *m __maybe_unused, u32 vcpu __maybe_unused)
{
	return 0;
}

bool evsel__is_timeline(struct evsel *evsel __maybe_unused)
{
	return false;
}

bool measurement__is_timeline(struct measurement *m __maybe_unused,
			      struct evsel *evsel __maybe_unused)
{
	return false;
}

int measurement__add_event(struct measurement *m __maybe_unused,
			   struct perf_sample *sample __maybe_unused,
			   struct machine *machine __maybe_unused, bool ahead __maybe_unused)
{
	return 0;
}

int measurement__end_vcpu(struct measurement *m __maybe_unused,
			  struct perf_sample *sample __maybe_unused, pid_t tid __maybe_unused)
{
	return 0;
}

int measurement__find_long_states(struct measurement *m __maybe_unused)
{
	return 0;
}

int measurement__add_long_states(struct measurement *m __maybe_unused, u64 now __maybe_unused)
{
	return 0;
}
#endif
