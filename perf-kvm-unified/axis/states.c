// SPDX-License-Identifier: GPL-2.0
/*
 * The states of a vCPU, one after the other: from the events of the time line,
 * which say each change, or from samples alone, which say that it ran now and
 * then. Where records were lost, nothing is known until the next sign of it.
 */
#include <linux/kernel.h>
#include <uapi/linux/kvm.h>

#include "util/vcpu-sample.h"
#include "kvm-unified/lib/sort.h"
#include "gaps.h"
#include "intervals.h"
#include "states.h"
#include "types.h"
#include "vcpu.h"

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
	};
}

static u64 clamp_time(const struct axis_span *span, u64 time)
{
	return clamp(time, span->start, span->end);
}

static enum vcpu_time_kind event__kind(const struct axis_event *event)
{
	switch (event->state) {
	case VCPU_STATE_RUN:		return VCPU_TIME_RUN;
	/* A VMM that has the interrupt controller has the halts, too. */
	case VCPU_STATE_USER:		return event->why == KVM_EXIT_HLT ? VCPU_TIME_HALTED :
									    VCPU_TIME_VMM;
	case VCPU_STATE_PREEMPTED:	return VCPU_TIME_PREEMPTED;
	case VCPU_STATE_BLOCKED:	return VCPU_TIME_BLOCKED;
	case VCPU_STATE_HALTED:		return VCPU_TIME_HALTED;
	case VCPU_STATE_HALT_POLL:	return VCPU_TIME_HALT_POLL;
	case VCPU_STATE_NR:
	default:			return VCPU_TIME_UNKNOWN;
	}
}

static struct vcpu_interval event__interval(const struct axis_event *event, u64 start)
{
	struct vcpu_interval state = interval__new(event__kind(event), start, start, event->cpu);

	state.exit_reason = event->exit_reason;
	state.isa = event->isa;
	state.why = event->why;
	return state;
}

/*
 * What a vCPU was at before its first event. Any state but one starts from KVM_RUN;
 * when it comes back to that, the last exit tells what from, as for the samples
 * alone: a halt, or else the CPU was taken away.
 */
static enum vcpu_time_kind first_kind(const struct axis_vcpu *vcpu)
{
	const struct axis_event *first = vcpu->events;

	if (!vcpu->nr_events) {
		for (size_t i = 0; i < vcpu->nr_samples; i++) {
			if (axis_sample__in_run(vcpu->samples[i]))
				return VCPU_TIME_RUN;
		}
		if (vcpu->nr_samples)
			return VCPU_TIME_VMM;
		return vcpu->halted ? VCPU_TIME_HALTED : VCPU_TIME_UNKNOWN;
	}
	if (first->state != VCPU_STATE_RUN)
		return VCPU_TIME_RUN;
	if (first->ended == VCPU_STATE_USER)
		return VCPU_TIME_VMM;
	if (vcpu->halted ||
	    vcpu_exit_reason__is_halt(first->isa, first->exit_reason))
		return VCPU_TIME_HALTED;
	return first->isa ? VCPU_TIME_PREEMPTED : VCPU_TIME_UNKNOWN;
}

static u64 first_sign(const struct axis_vcpu *vcpu)
{
	u64 time = ~0ULL;

	if (vcpu->nr_events)
		time = vcpu->events[0].time;
	if (vcpu->nr_samples)
		time = min(time, vcpu->samples[0]->time);
	return time;
}

static u64 last_sign(const struct axis_vcpu *vcpu)
{
	u64 time = 0;

	if (vcpu->nr_events)
		time = vcpu->events[vcpu->nr_events - 1].time;
	if (vcpu->nr_samples)
		time = max(time, vcpu->samples[vcpu->nr_samples - 1]->time);
	return time;
}

static u32 first_cpu(const struct axis_vcpu *vcpu)
{
	if (vcpu->nr_events)
		return vcpu->events[0].cpu;
	return vcpu->nr_samples ? vcpu->samples[0]->cpu : TIME_AXIS_NONE;
}

/*
 * Ends the state that @state is, with @waited ns of waiting for a CPU in it. A
 * thread waits after it was woken up, so that comes last, and where it ran then.
 */
static int state__end(struct vcpu_intervals *states, struct vcpu_interval *state, u64 end,
		      u64 waited, u32 next_cpu)
{
	struct vcpu_interval wait = *state;
	int ret;

	state->end = end;
	if (state->kind == VCPU_TIME_PREEMPTED || !waited)
		return vcpu_intervals__add(states, state);

	waited = min(waited, end - state->start);
	state->end -= waited;
	ret = vcpu_intervals__add(states, state);
	if (ret)
		return ret;

	wait.kind = VCPU_TIME_PREEMPTED;
	wait.woken = true;
	wait.cpu = next_cpu;
	wait.start = state->end;
	wait.end = end;
	return vcpu_intervals__add(states, &wait);
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
 * back is missing. Ends @state with what is not known, and begins KVM_RUN there.
 * Where records of that time are known to be lost, add_lost() says more exactly
 * from when on.
 */
static int state__mend(const struct axis_span *span, const struct axis_gaps *gaps,
		       const struct axis_vcpu *vcpu, struct vcpu_intervals *states,
		       struct vcpu_interval *state, u64 end, size_t *next)
{
	const struct axis_sample *sample = NULL;
	struct vcpu_interval before = *state;
	int ret;

	for (; *next < vcpu->nr_samples && vcpu->samples[*next]->time < end; ++*next) {
		if (!axis_sample__is_guest(vcpu->samples[*next]) ||
		    vcpu->samples[*next]->time <= state->start)
			continue;
		sample = vcpu->samples[*next];
		break;
	}
	if (!sample || state->kind == VCPU_TIME_RUN)
		return 0;

	before.end = clamp_time(span, sample->time);
	if (!records_are_lost(gaps, before.cpu, before.start, before.end) &&
	    !records_are_lost(gaps, sample->cpu, before.start, before.end))
		before.kind = VCPU_TIME_LOST;
	ret = vcpu_intervals__add(states, &before);
	*state = interval__new(VCPU_TIME_RUN, before.end, before.end, sample->cpu);
	state->exit_reason = sample->exit_reason;
	state->isa = sample->isa;
	return ret;
}

static bool sample__is_before(const void *sample, const void *time)
{
	return (*(const struct axis_sample **)sample)->time < *(const u64 *)time;
}

/* The first sample of the vCPU from @time on */
static size_t first_sample(const struct axis_vcpu *vcpu, u64 time)
{
	return sort_find(vcpu->samples, vcpu->nr_samples, sizeof(*vcpu->samples), &time,
			 sample__is_before);
}

/*
 * A state is missing in KVM_RUN from @state->start to @end, as its event was lost. It
 * was where the vCPU was not sampled for the longest time: that is lost.
 */
static int state__lose(const struct axis_span *span, const struct axis_vcpu *vcpu,
		       struct vcpu_intervals *states, struct vcpu_interval *state, u64 end)
{
	u64 seen = state->start, from = end, until = end;
	struct vcpu_interval lost;
	int ret;

	for (size_t i = first_sample(vcpu, state->start); seen < end; i++) {
		bool is_last = i >= vcpu->nr_samples || vcpu->samples[i]->time >= end;
		u64 next = is_last ? end : vcpu->samples[i]->time;

		if (!is_last && !axis_sample__in_run(vcpu->samples[i]))
			continue;
		if (next - seen > until - from) {
			from = seen;
			until = next;
		}
		seen = next;
	}
	if (until - from <= span->period)
		return 0;

	lost = *state;
	lost.end = from;
	ret = vcpu_intervals__add(states, &lost);
	if (ret)
		return ret;
	lost = interval__new(VCPU_TIME_LOST, from, until, state->cpu);
	state->start = until;
	return vcpu_intervals__add(states, &lost);
}

/* When a sample was taken in KVM_RUN last, from @start on, or @start */
static u64 last_run(const struct axis_vcpu *vcpu, u64 start)
{
	for (size_t i = vcpu->nr_samples; i-- && vcpu->samples[i]->time > start; ) {
		if (axis_sample__in_run(vcpu->samples[i]))
			return vcpu->samples[i]->time;
	}
	return start;
}

/* A walk over a vCPU's looks, in the order of time */
struct looks_walk {
	size_t	look;
	size_t	sample;
	u64	run;	/* of the samples before that one, when the last was in KVM_RUN */
};

/*
 * The looks before @end. Where a state was seen of which there is no event yet, as it goes
 * on, or none any more, as that was lost, it has begun behind the last sample in KVM_RUN.
 * From the look on it may have ended.
 */
static int states__seen(const struct axis_span *span, const struct axis_gaps *gaps,
			const struct axis_vcpu *vcpu, struct vcpu_intervals *states,
			struct vcpu_interval *state, u64 end, struct looks_walk *walk,
			size_t *next_sample)
{
	int ret = 0;

	for (; !ret && walk->look < vcpu->nr_looks; walk->look++) {
		const struct axis_look *look = &vcpu->looks[walk->look];
		u64 time = clamp_time(span, look->time), seen;

		if (look->time >= end)
			break;
		while (walk->sample < vcpu->nr_samples &&
		       vcpu->samples[walk->sample]->time < time) {
			if (axis_sample__in_run(vcpu->samples[walk->sample]))
				walk->run = vcpu->samples[walk->sample]->time;
			walk->sample++;
		}
		ret = state__mend(span, gaps, vcpu, states, state, time, next_sample);
		if (ret || state->kind != VCPU_TIME_RUN || time <= state->start)
			continue;
		seen = max(walk->run, state->start);
		/* The next sample may just not be due. */
		if ((time - seen) / 2 <= span->period)
			continue;
		state->end = seen;
		ret = vcpu_intervals__add(states, state);
		if (ret)
			break;
		state->start = state->end;
		state->end = time;
		state->kind = look->kind;
		ret = vcpu_intervals__add(states, state);
		state->start = time;
	}
	return ret;
}

/*
 * A state that goes on has no event yet. What it is was seen at the end, and it has
 * begun behind the last sample in KVM_RUN: by less than a period, if each CPU has a
 * sample in each.
 */
static int state__open(const struct axis_span *span, const struct axis_vcpu *vcpu,
		       struct vcpu_intervals *states, struct vcpu_interval *state)
{
	u64 seen = min(last_run(vcpu, state->start), span->end);
	struct vcpu_interval open = *state;
	enum vcpu_time_kind kind;
	int ret;

	if (vcpu->last == VCPU_TIME_HALTED || vcpu->last == VCPU_TIME_BLOCKED ||
	    vcpu->last == VCPU_TIME_VMM)
		kind = vcpu->last;
	else if (vcpu->last == VCPU_TIME_RUN && span->clock)
		/* One that can run, and is not sampled, has no CPU. */
		kind = VCPU_TIME_PREEMPTED;
	else
		return 0;
	if (state->kind != VCPU_TIME_RUN || (span->end - seen) / 2 <= span->period)
		return 0;

	open.end = seen;
	ret = vcpu_intervals__add(states, &open);
	state->kind = kind;
	state->start = seen;
	return ret;
}

static int states_from_events(const struct axis_span *span, const struct axis_gaps *gaps,
			      const struct axis_vcpu *vcpu, struct vcpu_intervals *states)
{
	struct vcpu_interval state = interval__new(first_kind(vcpu), span->start, span->start,
						   first_cpu(vcpu));
	struct looks_walk walk = { };
	size_t next_sample = 0;
	u64 born = clamp_time(span, first_sign(vcpu)), gone = clamp_time(span, last_sign(vcpu));
	int ret;

	if (vcpu->nr_events) {
		state.exit_reason = vcpu->events[0].exit_reason;
		state.isa = vcpu->events[0].isa;
	}
	if (!vcpu->at_start) {
		struct vcpu_interval absent = interval__new(VCPU_TIME_ABSENT, span->start, born,
							    TIME_AXIS_NONE);

		ret = vcpu_intervals__add(states, &absent);
		if (ret)
			return ret;
		state.start = born;
	}

	for (size_t i = 0; i < vcpu->nr_events; i++) {
		const struct axis_event *event = &vcpu->events[i];
		u64 time = max(clamp_time(span, event->time), state.start);

		ret = states__seen(span, gaps, vcpu, states, &state, time, &walk, &next_sample);
		if (!ret)
			ret = state__mend(span, gaps, vcpu, states, &state, time, &next_sample);
		if (!ret && event->after_lost && state.kind == VCPU_TIME_RUN)
			ret = state__lose(span, vcpu, states, &state, time);
		if (ret)
			return ret;
		ret = state__end(states, &state, max(time, state.start), event->waited, event->cpu);
		if (ret)
			return ret;
		state = event__interval(event, max(time, state.start));
	}

	ret = states__seen(span, gaps, vcpu, states, &state, span->end, &walk, &next_sample);
	if (!ret)
		ret = state__mend(span, gaps, vcpu, states, &state, span->end, &next_sample);
	if (ret)
		return ret;
	if (vcpu->at_end) {
		ret = state__open(span, vcpu, states, &state);
		return ret ?: state__end(states, &state, span->end, 0, state.cpu);
	}

	ret = state__end(states, &state, max(gone, state.start), 0, state.cpu);
	if (ret)
		return ret;
	state = interval__new(VCPU_TIME_ABSENT, max(gone, state.start), span->end, TIME_AXIS_NONE);
	return vcpu_intervals__add(states, &state);
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
static int add_blank(struct vcpu_intervals *states, const struct axis_sample *prev,
		     u64 start, u64 end, u32 cpu)
{
	struct vcpu_interval blank = interval__new(VCPU_TIME_PREEMPTED, start, end, cpu);

	if (prev) {
		blank.exit_reason = prev->exit_reason;
		blank.isa = prev->isa;
		if (vcpu_exit_reason__is_halt(prev->isa, prev->exit_reason))
			blank.kind = VCPU_TIME_HALTED;
	}
	return vcpu_intervals__add(states, &blank);
}

/*
 * Each sample stands for the period before it; half a period more is taken for
 * a late interrupt.
 */
static int states_from_samples(const struct axis_span *span, const struct axis_vcpu *vcpu,
			       struct vcpu_intervals *states)
{
	const struct axis_sample *prev = NULL;
	struct vcpu_interval state;
	u64 pos = span->start;
	int ret;

	if (!vcpu->nr_samples) {
		enum vcpu_time_kind kind = VCPU_TIME_UNKNOWN;

		if (!vcpu->at_start || !vcpu->at_end)
			kind = VCPU_TIME_ABSENT;
		else if (vcpu->halted)
			kind = VCPU_TIME_HALTED;
		state = interval__new(kind, span->start, span->end, TIME_AXIS_NONE);
		return vcpu_intervals__add(states, &state);
	}

	for (size_t i = 0; i < vcpu->nr_samples; i++) {
		const struct axis_sample *sample = vcpu->samples[i];
		u64 end = max(clamp_time(span, sample->time), pos);
		u64 start = pos;

		if (end - pos > span->period + span->period / 2)
			start = end - span->period;
		if (!prev && !vcpu->at_start) {
			state = interval__new(VCPU_TIME_ABSENT, pos, start, TIME_AXIS_NONE);
			ret = vcpu_intervals__add(states, &state);
		} else {
			ret = add_blank(states, prev, pos, start, prev ? prev->cpu : sample->cpu);
		}
		if (ret)
			return ret;

		state = interval__new(sample__kind(sample), start, end, sample->cpu);
		if (axis_sample__in_run(sample))
			state.hit = sample->hit;
		state.exit_reason = sample->exit_reason;
		state.isa = sample->isa;
		ret = vcpu_intervals__add(states, &state);
		if (ret)
			return ret;
		prev = sample;
		pos = end;
	}

	if (!vcpu->at_end) {
		state = interval__new(VCPU_TIME_ABSENT, pos, span->end, TIME_AXIS_NONE);
		return vcpu_intervals__add(states, &state);
	}
	/* The next sample would have come after the end. */
	if (span->end - pos <= span->period) {
		state.start = pos;
		state.end = span->end;
		return vcpu_intervals__add(states, &state);
	}
	return add_blank(states, prev, pos, span->end, prev->cpu);
}

static bool event__is_before(const void *event, const void *time)
{
	return ((const struct axis_event *)event)->time < *(const u64 *)time;
}

/* The first event of the vCPU from @time on */
static size_t first_event(const struct axis_vcpu *vcpu, u64 time)
{
	return sort_find(vcpu->events, vcpu->nr_events, sizeof(*vcpu->events), &time,
			 event__is_before);
}

/* When the vCPU was seen next, from @time on */
static u64 next_sign(const struct axis_span *span, const struct axis_vcpu *vcpu, u64 time)
{
	size_t event = first_event(vcpu, time), sample = first_sample(vcpu, time);
	u64 sign = span->end;

	if (event < vcpu->nr_events)
		sign = min(sign, vcpu->events[event].time);
	if (sample < vcpu->nr_samples)
		sign = min(sign, vcpu->samples[sample]->time);
	return sign;
}

static bool state__is_run(const struct vcpu_interval *state)
{
	return state->kind == VCPU_TIME_RUN;
}

/* The CPU that the vCPU was seen on next, from @time on, or TIME_AXIS_NONE */
static u32 next_cpu(const struct axis_vcpu *vcpu, u64 time)
{
	size_t event = first_event(vcpu, time), sample = first_sample(vcpu, time);

	if (event < vcpu->nr_events &&
	    (sample == vcpu->nr_samples || vcpu->events[event].time <= vcpu->samples[sample]->time))
		return vcpu->events[event].cpu;
	return sample < vcpu->nr_samples ? vcpu->samples[sample]->cpu : TIME_AXIS_NONE;
}

/*
 * The parts of @state in which it is not known what the vCPU did: it was on @cpu, or
 * came back there, and records of that are missing. That lasts until it is seen
 * again. A pause of the sampling alone leaves the states known, but not what ran
 * in them.
 */
static int add_lost(const struct axis_span *span, const struct axis_gaps *gaps,
		    const struct axis_vcpu *vcpu, const struct vcpu_interval *state, u32 cpu,
		    struct vcpu_intervals *lost)
{
	const struct axis_gap *gap = NULL;

	while ((gap = axis_gaps__next(gaps, gap, cpu, state->start, state->end))) {
		struct vcpu_interval range;
		int ret;

		if (gap->samples_only && span->timeline && !state__is_run(state))
			continue;

		range = interval__new(VCPU_TIME_LOST, max(state->start, gap->from),
				      min(state->end, gap->until), cpu);
		if (!gap->samples_only)
			range.end = max(range.end, next_sign(span, vcpu, gap->until));
		ret = vcpu_intervals__add(lost, &range);
		if (ret)
			return ret;
	}
	return 0;
}

static int range__cmp(const void *_a, const void *_b)
{
	const struct vcpu_interval *a = _a, *b = _b;

	return sort_cmp(a->start, b->start) ?:
	       sort_cmp(a->end, b->end) ?:
	       sort_cmp(a->cpu, b->cpu);
}

/* All that is lost, in the order of time, and nothing twice */
static int find_lost(const struct axis_span *span, const struct axis_gaps *gaps,
		     const struct axis_vcpu *vcpu, const struct vcpu_intervals *states,
		     struct vcpu_intervals *lost)
{
	size_t nr = 0;
	int ret = 0;

	for (size_t i = 0; !ret && gaps->nr && i < states->nr; i++) {
		const struct vcpu_interval *state = &states->entries[i];
		u32 next;

		if (state->kind == VCPU_TIME_ABSENT)
			continue;
		ret = add_lost(span, gaps, vcpu, state, state->cpu, lost);
		if (ret || state__is_run(state))
			continue;
		next = next_cpu(vcpu, state->end);
		if (next != state->cpu)
			ret = add_lost(span, gaps, vcpu, state, next, lost);
	}

	sort_array(lost->entries, lost->nr, sizeof(*lost->entries), range__cmp);
	for (size_t i = 0; i < lost->nr; i++) {
		struct vcpu_interval *range = &lost->entries[i];

		if (nr && range->start <= lost->entries[nr - 1].end)
			lost->entries[nr - 1].end = max(lost->entries[nr - 1].end, range->end);
		else
			lost->entries[nr++] = *range;
	}
	lost->nr = nr;
	return ret;
}

/* @states with @lost over them */
static int cut_lost(const struct vcpu_intervals *states, const struct vcpu_intervals *lost,
		    struct vcpu_intervals *out)
{
	size_t next = 0;
	int ret;

	for (size_t i = 0; i < states->nr; i++) {
		struct vcpu_interval state = states->entries[i];
		u64 end = state.end;

		while (next < lost->nr && lost->entries[next].start < end) {
			struct vcpu_interval range = lost->entries[next];

			state.end = max(state.start, range.start);
			ret = vcpu_intervals__add(out, &state);
			if (ret)
				return ret;
			range.start = max(state.start, range.start);
			range.end = min(end, range.end);
			ret = vcpu_intervals__add(out, &range);
			if (ret)
				return ret;
			state.start = max(state.start, range.end);
			if (lost->entries[next].end > end)
				break;
			next++;
		}
		state.end = end;
		ret = vcpu_intervals__add(out, &state);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * vcpu_states__build - what @vcpu did, from the start to the end of the axis
 * @states: the result, in order and without a gap; time in KVM_RUN is not split
 *	by what ran if it comes from events. The caller frees it, in any case.
 *
 * 0 or -ENOMEM
 */
int vcpu_states__build(const struct axis_span *span, const struct axis_gaps *gaps,
		       const struct axis_vcpu *vcpu, struct vcpu_intervals *states)
{
	struct vcpu_intervals all = { }, lost = { };
	int ret;

	ret = span->timeline ? states_from_events(span, gaps, vcpu, &all) :
			       states_from_samples(span, vcpu, &all);
	if (!ret)
		ret = find_lost(span, gaps, vcpu, &all, &lost);
	if (!ret)
		ret = cut_lost(&all, &lost, states);

	vcpu_intervals__exit(&all);
	vcpu_intervals__exit(&lost);
	return ret;
}
