// SPDX-License-Identifier: GPL-2.0
/*
 * The states of a vCPU, one after the other: from the events of the time line,
 * which say each change, or from samples alone, which say that it ran now and
 * then. Where records were lost, nothing is known until the next sign of it.
 *
 * What is handed out stays: a state when it has ended, and KVM_RUN as far as
 * samples show that it went on.
 */
#include <linux/kernel.h>
#include <uapi/linux/kvm.h>

#include "util/vcpu-sample.h"
#include "kvm-unified/lib/sort.h"
#include "causes.h"
#include "gaps.h"
#include "intervals.h"
#include "states.h"
#include "types.h"
#include "vcpu.h"

/* What all steps of a vCPU's machine work with */
struct states_walk {
	const struct states_input *in;
	struct axis_vcpu *vcpu;
	struct vcpu_machine *m;
};

static struct vcpu_interval interval__new(enum vcpu_time_kind kind, u64 start, u64 end, u32 cpu)
{
	return (struct vcpu_interval) {
		.start = start,
		.end = end,
		.kind = kind,
		.cpu = cpu,
		.hit = TIME_AXIS_NONE,
		.vcpu = TIME_AXIS_NONE,
		.task = TIME_AXIS_NONE,
		.shared = TIME_AXIS_NONE,
	};
}

static struct vcpu_change *event_at(const struct axis_vcpu *vcpu, size_t i)
{
	return queue_first(&vcpu->events) + i;
}

static size_t nr_events(const struct axis_vcpu *vcpu)
{
	return queue_len(&vcpu->events);
}

static struct axis_sample *sample_at(const struct axis_vcpu *vcpu, size_t i)
{
	return queue_first(&vcpu->samples) + i;
}

static size_t nr_samples(const struct axis_vcpu *vcpu)
{
	return queue_len(&vcpu->samples);
}

static u64 clamp_time(const struct axis_span *span, u64 time)
{
	return clamp(time, span->start, span->end);
}

static enum vcpu_time_kind event__kind(const struct vcpu_change *event,
				       const struct axis_cause *cause)
{
	switch (event->state) {
	case VCPU_STATE_RUN:		return VCPU_TIME_RUN;
	/* A VMM that has the interrupt controller has the halts, too. */
	case VCPU_STATE_USER:		return cause->why == KVM_EXIT_HLT ? VCPU_TIME_HALTED :
									    VCPU_TIME_VMM;
	case VCPU_STATE_PREEMPTED:	return VCPU_TIME_PREEMPTED;
	case VCPU_STATE_BLOCKED:	return VCPU_TIME_BLOCKED;
	case VCPU_STATE_HALTED:		return VCPU_TIME_HALTED;
	case VCPU_STATE_HALT_POLL:	return VCPU_TIME_HALT_POLL;
	case VCPU_STATE_THROTTLED:	return VCPU_TIME_THROTTLED;
	case VCPU_STATE_GONE:		return VCPU_TIME_ABSENT;
	default:			return VCPU_TIME_UNKNOWN;
	}
}

/* Without a CPU all the time: no part of it, at its end, is a wait for one after something else. */
static bool waits_all_the_time(enum vcpu_time_kind kind)
{
	return kind == VCPU_TIME_PREEMPTED || kind == VCPU_TIME_THROTTLED;
}

static const struct axis_cause *cause_of(const struct states_walk *w,
					 const struct vcpu_change *event)
{
	return axis_causes__at(w->in->causes, event->cause);
}

static struct vcpu_interval event__interval(const struct states_walk *w,
					    const struct vcpu_change *event, u64 start)
{
	u32 cpu = event->state == VCPU_STATE_GONE ? TIME_AXIS_NONE : event->cpu;
	const struct axis_cause *cause = cause_of(w, event);
	struct vcpu_interval state = interval__new(event__kind(event, cause), start, start, cpu);

	state.exit_reason = cause->exit_reason;
	state.isa = cause->isa;
	state.why = cause->why;
	return state;
}

/*
 * The longest wait that is surely for a CPU; in a longer one, a limit may have held the thread
 * back.
 */
static u64 short_wait(const struct axis_span *span)
{
	return 2 * span->period;
}

/*
 * What a vCPU was at before its first event. Any state but one starts from KVM_RUN;
 * when it comes back to that, the last exit tells what from, as for the samples
 * alone: a halt, or else the CPU was taken away, if that is not too long ago.
 */
static enum vcpu_time_kind first_kind(const struct states_walk *w)
{
	const struct axis_span *span = w->in->span;
	const struct axis_vcpu *vcpu = w->vcpu;
	const struct vcpu_change *first = event_at(vcpu, 0);
	const struct axis_cause *cause;

	if (!nr_events(vcpu) || first->state == VCPU_STATE_GONE) {
		for (size_t i = 0; i < nr_samples(vcpu); i++) {
			if (axis_sample__in_run(sample_at(vcpu, i)))
				return VCPU_TIME_RUN;
		}
		if (nr_samples(vcpu))
			return VCPU_TIME_VMM;
		return vcpu->halted ? VCPU_TIME_HALTED : VCPU_TIME_UNKNOWN;
	}
	if (first->state != VCPU_STATE_RUN)
		return VCPU_TIME_RUN;
	if (first->ended == VCPU_STATE_USER)
		return VCPU_TIME_VMM;
	cause = cause_of(w, first);
	if (vcpu->halted || vcpu_exit_reason__is_halt(cause->isa, cause->exit_reason))
		return VCPU_TIME_HALTED;
	if (!cause->isa ||
	    (first->time > span->start && first->time - span->start > short_wait(span)))
		return VCPU_TIME_UNKNOWN;
	return VCPU_TIME_PREEMPTED;
}

static u64 first_sign(const struct axis_vcpu *vcpu)
{
	u64 time = ~0ULL;

	if (nr_events(vcpu))
		time = event_at(vcpu, 0)->time;
	if (nr_samples(vcpu))
		time = min(time, sample_at(vcpu, 0)->time);
	return time;
}

static u64 last_sign(const struct axis_vcpu *vcpu)
{
	u64 time = vcpu->machine.sign;

	if (nr_events(vcpu))
		time = max(time, queue_last(&vcpu->events)->time);
	if (nr_samples(vcpu))
		time = max(time, queue_last(&vcpu->samples)->time);
	return time;
}

static u32 first_cpu(const struct axis_vcpu *vcpu)
{
	if (nr_events(vcpu))
		return event_at(vcpu, 0)->cpu;
	return nr_samples(vcpu) ? sample_at(vcpu, 0)->cpu : TIME_AXIS_NONE;
}

static bool sample__is_before(const void *sample, const void *time)
{
	return ((const struct axis_sample *)sample)->time < *(const u64 *)time;
}

/* The first sample of the vCPU from @time on */
static size_t first_sample(const struct axis_vcpu *vcpu, u64 time)
{
	return sort_find(sample_at(vcpu, 0), nr_samples(vcpu), sizeof(struct axis_sample), &time,
			 sample__is_before);
}

static bool event__is_before(const void *event, const void *time)
{
	return ((const struct vcpu_change *)event)->time < *(const u64 *)time;
}

/* The first event of the vCPU from @time on */
static size_t first_event(const struct axis_vcpu *vcpu, u64 time)
{
	return sort_find(event_at(vcpu, 0), nr_events(vcpu), sizeof(struct vcpu_change), &time,
			 event__is_before);
}

/* When the vCPU was seen next, from @time on */
static u64 next_sign(const struct axis_span *span, const struct axis_vcpu *vcpu, u64 time)
{
	size_t event = first_event(vcpu, time), sample = first_sample(vcpu, time);
	u64 sign = span->end;

	if (vcpu->machine.sign >= time)
		return vcpu->machine.sign;
	if (event < nr_events(vcpu))
		sign = min(sign, event_at(vcpu, event)->time);
	if (sample < nr_samples(vcpu))
		sign = min(sign, sample_at(vcpu, sample)->time);
	return sign;
}

static bool state__is_run(const struct vcpu_interval *state)
{
	return state->kind == VCPU_TIME_RUN;
}

/* The CPU that the vCPU was seen on next, from @time on, or TIME_AXIS_NONE */
static u32 next_cpu(const struct axis_vcpu *vcpu, u64 time)
{
	size_t e = first_event(vcpu, time), s = first_sample(vcpu, time);

	if (e < nr_events(vcpu) &&
	    (s == nr_samples(vcpu) || event_at(vcpu, e)->time <= sample_at(vcpu, s)->time))
		return event_at(vcpu, e)->cpu;
	return s < nr_samples(vcpu) ? sample_at(vcpu, s)->cpu : TIME_AXIS_NONE;
}

/*
 * The parts of @state in which it is not known what the vCPU did: it was on @cpu, or
 * came back there, and records of that are missing. That lasts until it is seen
 * again. A pause of the sampling alone leaves the states known, but not what ran
 * in them.
 */
static int add_lost(const struct states_walk *w, const struct vcpu_interval *state, u32 cpu,
		    struct vcpu_intervals *lost)
{
	const struct axis_gap *gap = NULL;

	while ((gap = axis_gaps__next(w->in->gaps, gap, cpu, state->start, state->end))) {
		struct vcpu_interval range;
		int ret;

		if (gap->samples_only && w->in->span->timeline && !state__is_run(state))
			continue;

		range = interval__new(VCPU_TIME_LOST, max(state->start, gap->from),
				      min(state->end, gap->until), cpu);
		if (!gap->samples_only)
			range.end = max(range.end, next_sign(w->in->span, w->vcpu, gap->until));
		ret = vcpu_intervals__add(lost, &range);
		if (ret)
			return ret;
	}
	return 0;
}

/* The parts of @start to @end, without a sign of the vCPU, in which a CPU was not recorded */
static int add_silent(const struct states_walk *w, u64 start, u64 end,
		      struct vcpu_intervals *lost)
{
	int ret = 0;

	if (!axis_gaps__is_silent(w->in->gaps, start, end))
		return 0;
	for (size_t i = 0; !ret && i < w->in->gaps->nr; i++) {
		const struct axis_gap *gap = &w->in->gaps->entries[i];
		struct vcpu_interval range;

		if (!gap->silent || gap->from >= end || gap->until <= start)
			continue;
		range = interval__new(VCPU_TIME_LOST, max(start, gap->from), min(end, gap->until),
				      TIME_AXIS_NONE);
		ret = vcpu_intervals__add(lost, &range);
	}
	return ret;
}

/*
 * The parts of @state in which the vCPU may have been on a CPU that was not recorded: that is where
 * it should have a sample and has none. Of other states an event tells, on whatever CPU they began.
 */
static int add_unseen(const struct states_walk *w, const struct vcpu_interval *state,
		      struct vcpu_intervals *lost)
{
	const struct axis_vcpu *vcpu = w->vcpu;
	u64 seen = state->start;
	int ret = 0;

	if (!w->in->span->timeline) {
		if (state->kind != VCPU_TIME_PREEMPTED && state->kind != VCPU_TIME_HALTED)
			return 0;
		return add_silent(w, state->start, state->end, lost);
	}
	if (!state__is_run(state))
		return 0;
	for (size_t i = first_sample(vcpu, seen); !ret && seen < state->end; i++) {
		bool is_last = i >= nr_samples(vcpu) || sample_at(vcpu, i)->time >= state->end;
		u64 next = is_last ? state->end : sample_at(vcpu, i)->time;

		if (!is_last && !axis_sample__in_run(sample_at(vcpu, i)))
			continue;
		/* The next sample may just not be due. */
		if ((next - seen) / 2 > w->in->span->period)
			ret = add_silent(w, seen, next, lost);
		seen = next;
	}
	return ret;
}

static int range__cmp(const void *_a, const void *_b)
{
	const struct vcpu_interval *a = _a, *b = _b;

	return sort_cmp(a->start, b->start) ?:
	       sort_cmp(a->end, b->end) ?:
	       sort_cmp(a->cpu, b->cpu);
}

/* All of @state that is lost, in the order of time, and nothing twice */
static int find_lost(const struct states_walk *w, const struct vcpu_interval *state,
		     struct vcpu_intervals *lost)
{
	size_t nr = 0;
	u32 next;
	int ret;

	if (w->m->lost.end > state->start) {
		ret = vcpu_intervals__add(lost, &w->m->lost);
		if (ret)
			return ret;
	}
	if (w->in->gaps->nr && state->kind != VCPU_TIME_ABSENT) {
		ret = add_lost(w, state, state->cpu, lost);
		if (ret)
			return ret;
		next = state__is_run(state) ? state->cpu : next_cpu(w->vcpu, state->end);
		if (next != state->cpu)
			ret = add_lost(w, state, next, lost);
		if (!ret)
			ret = add_unseen(w, state, lost);
		if (ret)
			return ret;
	}

	sort_array(queue_first(lost), queue_len(lost), sizeof(*lost->entries), range__cmp);
	for (size_t i = 0; i < lost->nr; i++) {
		struct vcpu_interval *range = &lost->entries[i];

		if (nr && range->start <= lost->entries[nr - 1].end)
			lost->entries[nr - 1].end = max(lost->entries[nr - 1].end, range->end);
		else
			lost->entries[nr++] = *range;
	}
	lost->nr = nr;
	return 0;
}

/* @whole with @lost over it */
static int cut_lost(const struct vcpu_interval *whole, const struct vcpu_intervals *lost,
		    struct vcpu_intervals *out)
{
	struct vcpu_interval state = *whole;
	int ret;

	for (size_t i = 0; i < lost->nr && lost->entries[i].start < whole->end; i++) {
		struct vcpu_interval range = lost->entries[i];

		state.end = max(state.start, range.start);
		ret = vcpu_intervals__add(out, &state);
		if (ret)
			return ret;
		range.start = max(state.start, range.start);
		range.end = min(whole->end, range.end);
		ret = vcpu_intervals__add(out, &range);
		if (ret)
			return ret;
		state.start = max(state.start, range.end);
	}
	state.end = whole->end;
	return vcpu_intervals__add(out, &state);
}

/* May a limit of its own be why a vCPU has no CPU that could run? */
static bool may_be_throttled(const struct states_walk *w)
{
	return w->m->throttled || w->vcpu->limited;
}

/*
 * ... at the end of @state, without KVM's knowing of it? Threads are throttled when they return to
 * user mode, out of KVM_RUN; and by SCHED_DEADLINE also while they sleep, if the end of their
 * quota is noticed late, and when they are woken up between their deadline and the next period.
 */
static bool wait_may_be_limit(const struct states_walk *w, const struct vcpu_interval *state)
{
	bool slept = state->kind == VCPU_TIME_HALTED || state->kind == VCPU_TIME_BLOCKED;

	return (state->kind == VCPU_TIME_VMM && may_be_throttled(w)) ||
	       (slept && w->vcpu->deadline);
}

/* The kind of a wait of @ns at the end of @state: the scheduler counts limits as waits, too. */
static enum vcpu_time_kind wait_kind(const struct states_walk *w,
				     const struct vcpu_interval *state, u64 ns)
{
	return wait_may_be_limit(w, state) && ns > short_wait(w->in->span) ? VCPU_TIME_UNKNOWN :
									 VCPU_TIME_PREEMPTED;
}

/* Hands @interval out, as far as that was not done before. 0 or -ENOMEM */
static int hand_out(const struct states_walk *w, const struct vcpu_interval *interval)
{
	struct vcpu_intervals lost = { };
	struct vcpu_interval part = *interval;
	int ret;

	part.start = max(part.start, w->m->done);
	if (part.start >= part.end)
		return 0;
	if (part.kind == VCPU_TIME_PREEMPTED)
		w->m->longest_wait = max(w->m->longest_wait, part.end - part.start);
	w->m->throttled |= part.kind == VCPU_TIME_THROTTLED;
	w->m->done = part.end;
	if (!w->in->gaps->nr && w->m->lost.end <= part.start)
		return vcpu_intervals__add(&w->vcpu->states, &part);

	ret = find_lost(w, &part, &lost);
	if (!ret)
		ret = cut_lost(&part, &lost, &w->vcpu->states);
	if (lost.nr)
		w->m->lost = *queue_last(&lost);
	vcpu_intervals__exit(&lost);
	return ret;
}

/*
 * Ends the state that @state is, with @waited ns of waiting for a CPU in it. A
 * thread waits after it was woken up, so that comes last, and where it ran then.
 */
static int state__end(const struct states_walk *w, u64 end, u64 waited, u32 next_cpu)
{
	struct vcpu_interval *state = &w->m->state, wait = *state;
	int ret;

	state->end = end;
	if (waits_all_the_time(state->kind) || !waited)
		return hand_out(w, state);

	waited = min(waited, end - state->start);
	state->end -= waited;
	ret = hand_out(w, state);
	if (ret)
		return ret;

	wait.kind = wait_kind(w, state, waited);
	wait.woken = wait.kind == VCPU_TIME_PREEMPTED;
	wait.cpu = next_cpu;
	wait.start = state->end;
	wait.end = end;
	return hand_out(w, &wait);
}

/* Are records of @cpu missing that would say what happened from @start to @end? */
static bool records_are_lost(const struct axis_gaps *gaps, u32 cpu, u64 start, u64 end)
{
	const struct axis_gap *gap = NULL;

	while ((gap = axis_gaps__next(gaps, gap, cpu, start, end))) {
		if (!gap->samples_only)
			return true;
	}
	return false;
}

/*
 * A guest sample in a state in which the vCPU has no CPU: the event that it came
 * back is missing. Ends the state with what is not known, and begins KVM_RUN there.
 * Where records of that time are known to be lost, add_lost() says more exactly
 * from when on.
 */
static int state__mend(const struct states_walk *w, u64 end)
{
	struct vcpu_interval *state = &w->m->state, before = *state;
	const struct axis_vcpu *vcpu = w->vcpu;
	const struct axis_sample *sample = NULL;
	size_t *next = &w->m->nr_used;
	int ret;

	for (; *next < nr_samples(vcpu) && sample_at(vcpu, *next)->time < end; ++*next) {
		if (!axis_sample__is_guest(sample_at(vcpu, *next)) ||
		    sample_at(vcpu, *next)->time <= state->start)
			continue;
		sample = sample_at(vcpu, *next);
		break;
	}
	if (!sample || state__is_run(state))
		return 0;

	before.end = clamp_time(w->in->span, sample->time);
	if (!records_are_lost(w->in->gaps, before.cpu, before.start, before.end) &&
	    !records_are_lost(w->in->gaps, sample->cpu, before.start, before.end))
		before.kind = VCPU_TIME_LOST;
	ret = hand_out(w, &before);
	*state = interval__new(VCPU_TIME_RUN, before.end, before.end, sample->cpu);
	state->exit_reason = sample->exit_reason;
	state->isa = sample->isa;
	return ret;
}

/*
 * A state is missing in KVM_RUN from the state's start to @end, as its event was lost. It
 * was where the vCPU was not sampled for the longest time: that is lost.
 */
static int state__lose(const struct states_walk *w, u64 end)
{
	struct vcpu_interval *state = &w->m->state, lost;
	const struct axis_vcpu *vcpu = w->vcpu;
	u64 seen = max(state->start, w->m->done), from = end, until = end;
	int ret;

	for (size_t i = first_sample(vcpu, seen); seen < end; i++) {
		bool is_last = i >= nr_samples(vcpu) || sample_at(vcpu, i)->time >= end;
		u64 next = is_last ? end : sample_at(vcpu, i)->time;

		if (!is_last && !axis_sample__in_run(sample_at(vcpu, i)))
			continue;
		if (next - seen > until - from) {
			from = seen;
			until = next;
		}
		seen = next;
	}
	if (until - from <= w->in->span->period)
		return 0;

	lost = *state;
	lost.end = from;
	ret = hand_out(w, &lost);
	if (ret)
		return ret;
	lost = interval__new(VCPU_TIME_LOST, from, until, state->cpu);
	state->start = until;
	return hand_out(w, &lost);
}

/* When a sample was taken in KVM_RUN last, which the state is, or since when it is that */
static u64 last_run(const struct states_walk *w)
{
	u64 start = max(w->m->state.start, w->m->done);

	for (size_t i = nr_samples(w->vcpu); i-- && sample_at(w->vcpu, i)->time > start; ) {
		if (axis_sample__in_run(sample_at(w->vcpu, i)))
			return sample_at(w->vcpu, i)->time;
	}
	return start;
}

/* Lets the looks pass the samples before @time. */
static void pass_samples(struct axis_vcpu *vcpu, u64 time)
{
	struct vcpu_machine *m = &vcpu->machine;

	for (; m->nr_passed < nr_samples(vcpu); m->nr_passed++) {
		const struct axis_sample *sample = sample_at(vcpu, m->nr_passed);

		if (sample->time >= time)
			break;
		if (axis_sample__in_run(sample))
			m->run = sample->time;
	}
}

/*
 * What a look at @time has seen of a vCPU that had its last sample in KVM_RUN
 * at @seen. That its thread could run may be all that there is to see of a limit.
 */
static enum vcpu_time_kind seen_kind(const struct states_walk *w, const struct axis_look *look,
				     u64 seen, u64 time)
{
	if (axis_gaps__is_silent(w->in->gaps, seen, time))
		return VCPU_TIME_LOST;
	return look->kind == VCPU_TIME_PREEMPTED && may_be_throttled(w) ? VCPU_TIME_UNKNOWN :
									  look->kind;
}

/*
 * The looks before @end; if that is the end of all, also those past it from before the events
 * were disabled. Where a state was seen of which there is no event yet, as it goes
 * on, or none any more, as that was lost, it has begun after the last sample in KVM_RUN.
 * From the look on it may have ended.
 */
static int states__seen(const struct states_walk *w, u64 end, bool final)
{
	struct vcpu_interval *state = &w->m->state;
	int ret = 0;

	for (; !ret && queue_len(&w->vcpu->looks); queue_drop(&w->vcpu->looks, 1)) {
		const struct axis_look *look = queue_first(&w->vcpu->looks);
		u64 time = clamp_time(w->in->span, look->time), seen;

		if (look->time >= end && !final)
			break;
		if (look->time >= end && !look->at_pause)
			continue;
		pass_samples(w->vcpu, time);
		ret = state__mend(w, time);
		if (ret || !state__is_run(state) || time <= state->start)
			continue;
		seen = max(w->m->run, state->start);
		/* The next sample may just not be due. */
		if ((time - seen) / 2 <= w->in->span->period)
			continue;
		state->end = seen;
		ret = hand_out(w, state);
		if (ret)
			break;
		state->start = state->end;
		state->end = time;
		state->kind = seen_kind(w, look, seen, time);
		w->m->looked = true;
		ret = hand_out(w, state);
		state->start = time;
	}
	return ret;
}

/*
 * What a vCPU is at whose thread could run when it was looked at, a little after the end, and has
 * no samples since @seen: it has no CPU. It waits for one if it has waited that long before; else
 * it may have been halted, and woken up just then. Where it has a limit, it may be that.
 */
static enum vcpu_time_kind waiting_kind(const struct states_walk *w, u64 seen)
{
	u64 most = max(w->m->longest_wait, short_wait(w->in->span));

	return !may_be_throttled(w) && w->in->span->end - seen <= most ? VCPU_TIME_PREEMPTED :
								     VCPU_TIME_UNKNOWN;
}

/*
 * A state that goes on has no event yet. What it is was seen at the end, and it has
 * begun after the last sample in KVM_RUN: by less than a period, if each CPU has a
 * sample in each.
 */
static int state__open(const struct states_walk *w)
{
	struct vcpu_interval *state = &w->m->state, open = *state;
	u64 seen = min(last_run(w), w->in->span->end);
	enum vcpu_time_kind kind;
	int ret;

	if (w->vcpu->last == VCPU_TIME_HALTED || w->vcpu->last == VCPU_TIME_BLOCKED ||
	    w->vcpu->last == VCPU_TIME_VMM || w->vcpu->last == VCPU_TIME_STOPPED)
		kind = w->vcpu->last;
	else if (w->vcpu->last == VCPU_TIME_RUN && w->in->span->clock)
		kind = waiting_kind(w, seen);
	else
		return 0;
	if (!state__is_run(state) || (w->in->span->end - seen) / 2 <= w->in->span->period)
		return 0;
	if (axis_gaps__is_silent(w->in->gaps, seen, w->in->span->end))
		kind = VCPU_TIME_LOST;

	open.end = seen;
	ret = hand_out(w, &open);
	state->kind = kind;
	state->start = seen;
	return ret;
}

/* Is there a sample in KVM_RUN until @time? */
static bool has_run(const struct axis_vcpu *vcpu, u64 time)
{
	for (size_t i = 0; i < nr_samples(vcpu) && sample_at(vcpu, i)->time <= time; i++) {
		if (axis_sample__in_run(sample_at(vcpu, i)))
			return true;
	}
	return false;
}

/* Samples before @time prove no more than that the vCPU was there: keep only the first. */
static void keep_first(struct axis_vcpu *vcpu, u64 time)
{
	size_t nr = first_sample(vcpu, time);

	if (nr < 2)
		return;
	*sample_at(vcpu, nr - 1) = *sample_at(vcpu, 0);
	vcpu_states__drop_samples(vcpu, nr - 1);
}

/* Begins with what the vCPU was at first, as soon as something tells. 0 or -ENOMEM */
static int states__begin(const struct states_walk *w, const struct axis_until *until)
{
	struct axis_vcpu *vcpu = w->vcpu;
	u64 born = clamp_time(w->in->span, first_sign(vcpu));
	struct vcpu_interval absent;

	if (!until->final && !nr_events(vcpu) && !has_run(vcpu, until->time)) {
		keep_first(vcpu, until->time);
		return 0;
	}
	w->m->begun = true;
	w->m->done = w->in->span->start;
	w->m->state = interval__new(first_kind(w), w->in->span->start, w->in->span->start,
				    first_cpu(vcpu));
	if (nr_events(vcpu)) {
		w->m->state.exit_reason = cause_of(w, event_at(vcpu, 0))->exit_reason;
		w->m->state.isa = cause_of(w, event_at(vcpu, 0))->isa;
	}
	if (vcpu->at_start)
		return 0;
	absent = interval__new(VCPU_TIME_ABSENT, w->in->span->start, born, TIME_AXIS_NONE);
	w->m->state.start = born;
	return hand_out(w, &absent);
}

/* Does an event tell when the state ends? It does of those whose begin it has told. */
static bool is_told(const struct vcpu_interval *state)
{
	return !state__is_run(state) && state->kind != VCPU_TIME_UNKNOWN &&
	       state->kind != VCPU_TIME_ABSENT;
}

/*
 * The vCPU that has been in KVM_RUN, as far as is known, was gone before @time, when another has
 * its first event: there is none of the end. What was after its last sample is not known.
 */
static int state__of_another(const struct states_walk *w, u64 time)
{
	struct vcpu_interval *state = &w->m->state, run = *state;
	int ret;

	pass_samples(w->vcpu, time);
	run.end = max(w->m->run, state->start);
	ret = hand_out(w, &run);
	state->start = run.end;
	state->kind = VCPU_TIME_UNKNOWN;
	return ret;
}

/* The first event: ends one state, and begins another. 0 or -ENOMEM */
static int states__event(const struct states_walk *w)
{
	const struct vcpu_change event = *event_at(w->vcpu, 0);
	struct vcpu_interval *state = &w->m->state;
	u64 time = max(clamp_time(w->in->span, event.time), state->start);
	int ret;

	ret = states__seen(w, time, /*final=*/false) ?: state__mend(w, time);
	/* Another thread runs the vCPU by then: the event that ends this state is of that one. */
	if (!ret && event.state == VCPU_STATE_GONE && !w->m->looked && is_told(state)) {
		queue_drop(&w->vcpu->events, 1);
		return 0;
	}
	if (!ret && event.after_lost && state__is_run(state))
		ret = state__lose(w, time);
	if (!ret && event.first && state__is_run(state))
		ret = state__of_another(w, time);
	if (!ret)
		ret = state__end(w, max(time, state->start), event.waited, event.cpu);
	*state = event__interval(w, &event, max(time, state->start));
	w->m->looked = false;
	w->m->sign = max(w->m->sign, event.time);
	queue_drop(&w->vcpu->events, 1);
	return ret;
}

/*
 * KVM_RUN that goes on: as far as samples show that. Without any, so much later that a look
 * would have told if the event of another state was lost. 0 or -ENOMEM
 */
static int hand_out_run(const struct states_walk *w, const struct axis_until *until)
{
	struct vcpu_interval run = w->m->state;

	run.end = until->silent > w->in->span->near ? until->silent - w->in->span->near : 0;
	for (size_t i = first_sample(w->vcpu, until->time); i--; ) {
		const struct axis_sample *sample = sample_at(w->vcpu, i);

		if (sample->time <= run.end)
			break;
		if (axis_sample__in_run(sample))
			run.end = sample->time;
	}
	return hand_out(w, &run);
}

/*
 * Another state, as far as it has come, if it is known when it ends. Not if a sample says
 * that it ends before. 0 or -ENOMEM
 */
static int hand_out_known(const struct states_walk *w, u64 until)
{
	struct vcpu_interval state = w->m->state, wait = state;
	const struct vcpu_change *next;
	u64 length, waited = 0;
	int ret;

	if (state.kind == VCPU_TIME_ABSENT) {
		state.end = until;
		return hand_out(w, &state);
	}
	if (!nr_events(w->vcpu))
		return 0;
	next = event_at(w->vcpu, 0);
	for (size_t i = first_sample(w->vcpu, state.start);
	     i < nr_samples(w->vcpu) && sample_at(w->vcpu, i)->time < next->time; i++) {
		if (axis_sample__is_guest(sample_at(w->vcpu, i)))
			return 0;
	}
	length = next->time > state.start ? next->time - state.start : 0;
	if (!waits_all_the_time(state.kind))
		waited = min_t(u64, next->waited, length);
	state.end = next->time - waited;
	wait.kind = wait_kind(w, &state, waited);
	wait.woken = wait.kind == VCPU_TIME_PREEMPTED;
	wait.cpu = next->cpu;
	wait.start = state.end;
	wait.end = until;
	state.end = min(state.end, until);
	ret = hand_out(w, &state);
	return ret ?: hand_out(w, &wait);
}

/* Adds what comes after the last event. 0 or -ENOMEM */
static int states__end(const struct states_walk *w)
{
	struct vcpu_interval *state = &w->m->state;
	u64 end = w->in->span->end, gone = clamp_time(w->in->span, last_sign(w->vcpu));
	int ret;

	ret = states__seen(w, end, /*final=*/true) ?: state__mend(w, end);
	if (ret)
		return ret;
	if (w->vcpu->at_end) {
		ret = state__open(w);
		return ret ?: state__end(w, end, 0, state->cpu);
	}
	ret = state__end(w, max(gone, state->start), 0, state->cpu);
	if (ret)
		return ret;
	*state = interval__new(VCPU_TIME_ABSENT, max(gone, state->start), end, TIME_AXIS_NONE);
	return hand_out(w, state);
}

static int states_from_events(const struct states_walk *w, const struct axis_until *until)
{
	int ret;

	if (!w->m->begun) {
		ret = states__begin(w, until);
		if (ret || !w->m->begun)
			return ret;
	}
	while (nr_events(w->vcpu) && (until->final || event_at(w->vcpu, 0)->time <= until->time)) {
		ret = states__event(w);
		if (ret)
			return ret;
	}
	if (until->final)
		return states__end(w);
	ret = states__seen(w, until->time, /*final=*/false) ?: state__mend(w, until->time);
	if (ret)
		return ret;
	return state__is_run(&w->m->state) ? hand_out_run(w, until) :
					     hand_out_known(w, until->time);
}

static enum vcpu_time_kind sample__kind(const struct axis_sample *sample)
{
	switch (sample->kind) {
	case AXIS_SAMPLE_GUEST_USER:	return VCPU_TIME_GUEST_USER;
	case AXIS_SAMPLE_GUEST_KERNEL:	return VCPU_TIME_GUEST_KERNEL;
	case AXIS_SAMPLE_EXIT:		return VCPU_TIME_EXIT;
	case AXIS_SAMPLE_VMM:
	case AXIS_SAMPLE_HOST:
	case AXIS_SAMPLE_IDLE:
	default:			return VCPU_TIME_VMM;
	}
}

/*
 * A vCPU that has no sample for a while was not running. After a halt it was
 * halted; else the CPU was taken away, by whom is for others to find out.
 */
static int add_blank(const struct states_walk *w, u64 start, u64 end, u32 cpu)
{
	struct vcpu_interval blank = interval__new(VCPU_TIME_PREEMPTED, start, end, cpu);
	const struct axis_sample *prev = &w->m->prev;

	if (w->m->has_prev) {
		blank.exit_reason = prev->exit_reason;
		blank.isa = prev->isa;
		if (vcpu_exit_reason__is_halt(prev->isa, prev->exit_reason))
			blank.kind = VCPU_TIME_HALTED;
	}
	return hand_out(w, &blank);
}

/*
 * The next sample. Each stands for the period before it; half a period more is taken for
 * a late interrupt.
 */
static int states__sample(const struct states_walk *w, const struct axis_sample *sample)
{
	const struct axis_span *span = w->in->span;
	struct vcpu_interval *state = &w->m->state;
	u64 pos = w->m->done, end = max(clamp_time(span, sample->time), pos), start = pos;
	int ret;

	if (end - pos > span->period + span->period / 2)
		start = end - span->period;
	if (!w->m->has_prev && !w->vcpu->at_start) {
		*state = interval__new(VCPU_TIME_ABSENT, pos, start, TIME_AXIS_NONE);
		ret = hand_out(w, state);
	} else {
		ret = add_blank(w, pos, start, w->m->has_prev ? w->m->prev.cpu : sample->cpu);
	}
	if (ret)
		return ret;

	*state = interval__new(sample__kind(sample), start, end, sample->cpu);
	if (axis_sample__in_run(sample))
		state->hit = sample->hit;
	state->exit_reason = sample->exit_reason;
	state->isa = sample->isa;
	w->m->prev = *sample;
	w->m->has_prev = true;
	w->m->blank = false;
	return hand_out(w, state);
}

/* A vCPU of which there is not one sample */
static int hand_out_unseen(const struct states_walk *w)
{
	enum vcpu_time_kind kind = VCPU_TIME_UNKNOWN;

	if (!w->vcpu->at_start || !w->vcpu->at_end)
		kind = VCPU_TIME_ABSENT;
	else if (w->vcpu->halted)
		kind = VCPU_TIME_HALTED;
	w->m->state = interval__new(kind, w->in->span->start, w->in->span->end, TIME_AXIS_NONE);
	return hand_out(w, &w->m->state);
}

/* Adds what comes after the last sample. 0 or -ENOMEM */
static int states__end_samples(const struct states_walk *w)
{
	struct vcpu_interval *state = &w->m->state;
	u64 pos = w->m->done, end = w->in->span->end;

	if (!w->m->has_prev)
		return hand_out_unseen(w);
	if (!w->vcpu->at_end) {
		*state = interval__new(VCPU_TIME_ABSENT, pos, end, TIME_AXIS_NONE);
		return hand_out(w, state);
	}
	/* The next sample would have come after the end. */
	if (end - pos <= w->in->span->period && !w->m->blank) {
		state->start = pos;
		state->end = end;
		return hand_out(w, state);
	}
	return add_blank(w, pos, end, w->m->prev.cpu);
}

static int states_from_samples(const struct states_walk *w, const struct axis_until *until)
{
	size_t i;
	int ret = 0;

	if (!w->m->begun)
		w->m->done = w->in->span->start;
	w->m->begun = true;
	for (i = w->m->nr_used; !ret && i < nr_samples(w->vcpu); i++) {
		const struct axis_sample *sample = sample_at(w->vcpu, i);

		if (!until->final && sample->time > until->time)
			break;
		ret = states__sample(w, sample);
	}
	w->m->nr_used = i;
	if (ret)
		return ret;
	if (until->final)
		return states__end_samples(w);
	/* It has no sample until later than that. Whether it is there then is to be seen. */
	if (i < nr_samples(w->vcpu) || !w->m->has_prev || !w->vcpu->at_end ||
	    until->silent <= w->m->done)
		return 0;
	w->m->blank = true;
	return add_blank(w, w->m->done, until->silent, w->m->prev.cpu);
}

/**
 * vcpu_states__advance - what @vcpu did, to be added to its @states
 * @until: how far to go, if it can be told by then
 *
 * What is added is in order and without a gap; time in KVM_RUN is not split by what ran if
 * it comes from events. 0 or -ENOMEM
 */
int vcpu_states__advance(const struct states_input *in, struct axis_vcpu *vcpu,
			 const struct axis_until *until)
{
	const struct states_walk w = {
		.in = in,
		.vcpu = vcpu,
		.m = &vcpu->machine,
	};

	return in->span->timeline ? states_from_events(&w, until) : states_from_samples(&w, until);
}

/* Takes the first @nr samples of @vcpu out, which are of no use any more. */
void vcpu_states__drop_samples(struct axis_vcpu *vcpu, size_t nr)
{
	struct vcpu_machine *m = &vcpu->machine;

	if (!nr)
		return;
	m->sign = max(m->sign, sample_at(vcpu, nr - 1)->time);
	for (; m->nr_passed < nr; m->nr_passed++) {
		if (axis_sample__in_run(sample_at(vcpu, m->nr_passed)))
			m->run = sample_at(vcpu, m->nr_passed)->time;
	}
	m->nr_passed -= nr;
	m->nr_used -= min(m->nr_used, nr);
	queue_drop(&vcpu->samples, nr);
}
