// SPDX-License-Identifier: GPL-2.0
/*
 * The time axis: what each vCPU and each CPU did, in intervals without a gap or
 * an overlap. Events and samples go through three steps, each of which hands on what
 * is final: states.c says what a vCPU was at, labels.c what ran in it then, and
 * tracks.c who had the CPUs. By that, waits.c splits the time in which a vCPU waited
 * for one, and host-walk.c says what each CPU did. axis.h explains the words.
 *
 * Room: axis/, pure: from events and samples to what each vCPU and each CPU did when.
 * Calls: lib
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <linux/kernel.h>

#include "util/hashmap.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/number-map.h"
#include "kvm-unified/lib/sort.h"
#include "axis.h"
#include "causes.h"
#include "gaps.h"
#include "host-walk.h"
#include "intervals.h"
#include "labels.h"
#include "runs.h"
#include "states.h"
#include "tracks.h"
#include "types.h"
#include "vcpu.h"
#include "waits.h"
#include "work.h"
#include "worker.h"

/*
 * So many steps are made in the time that is near: what is made in a step is kept in full, and
 * more of them cost more than they free.
 */
#define STEPS_IN_NEAR	8
/*
 * A step looks at each vCPU and each CPU. If there have come fewer records than such a number of
 * each, it waits: then so many steps are made at least, and what is kept is little.
 */
#define STEP_RECORDS	32
#define LEAST_STEPS	1
/* So many are made at once at most. Where there is nothing for longer, nothing is kept. */
#define MOST_STEPS	(4 * STEPS_IN_NEAR)
/*
 * Each of three steps may wait for what comes near. A vCPU that lags by more times that is
 * not waited for: it was not seen for long, and may not be there any more.
 */
#define MOST_LAG	4

/* 0 or -ENOMEM; time_axis__exit() comes after it in any case. @ta must stay where it is. */
int time_axis__init(struct time_axis *ta)
{
	*ta = (struct time_axis) { .span.near = TIME_AXIS_NEAR };
	ta->vcpu_idx = number_map__new();
	return ta->vcpu_idx ? axis_causes__init(&ta->causes) : -ENOMEM;
}

void time_axis__exit(struct time_axis *ta)
{
	axis_worker__delete(ta->worker);
	cpu_tracks__exit(&ta->tracks);
	axis_work__exit(&ta->work);
	for (u32 i = 0; i < ta->nr_vcpus; i++) {
		struct axis_vcpu *vcpu = &ta->vcpus[i];

		vcpu_intervals__exit(&vcpu->states);
		vcpu_intervals__exit(&vcpu->labelled);
		free(vcpu->events.entries);
		free(vcpu->samples.entries);
		free(vcpu->looks.entries);
	}
	free(ta->vcpus);
	hashmap__free(ta->vcpu_idx);
	axis_causes__exit(&ta->causes);
	axis_gaps__exit(&ta->gaps);
	*ta = (struct time_axis) { };
}

static long vcpu_key(u32 vm, u32 id)
{
	return (long)vm * TIME_AXIS_MAX_CPUS + id;
}

/* The index of vCPU @id of the VM with number @vm; both below TIME_AXIS_MAX_CPUS. -ENOENT */
int time_axis__find_vcpu(const struct time_axis *ta, u32 vm, u32 id)
{
	long idx;

	return hashmap__find(ta->vcpu_idx, vcpu_key(vm, id), &idx) ? idx : -ENOENT;
}

/* The same, of a new one if there is none: it was not there at either end. -ENOMEM */
int time_axis__findnew_vcpu(struct time_axis *ta, u32 vm, u32 id)
{
	int idx = time_axis__find_vcpu(ta, vm, id);

	if (idx >= 0)
		return idx;

	if (ta->worker)
		axis_worker__wait(ta->worker);
	if (grow_array(ta->vcpus, ta->nr_vcpus, ta->allocated_vcpus))
		return -ENOMEM;
	if (hashmap__add(ta->vcpu_idx, vcpu_key(vm, id), ta->nr_vcpus))
		return -ENOMEM;
	ta->vcpus[ta->nr_vcpus] = (struct axis_vcpu) { .vm = vm, .id = id };
	return ta->nr_vcpus++;
}

/* Causes are numbered as they come: of changes that are the same else, that order will do. */
static int change__cmp(const void *_a, const void *_b)
{
	const struct vcpu_change *a = _a, *b = _b;

	return sort_cmp(a->time, b->time) ?:
	       sort_cmp(a->state, b->state) ?:
	       sort_cmp(a->waited, b->waited) ?:
	       sort_cmp(a->ended, b->ended) ?:
	       sort_cmp(a->after_lost, b->after_lost) ?:
	       sort_cmp(a->first, b->first) ?:
	       sort_cmp(a->cpu, b->cpu) ?:
	       sort_cmp(a->cause, b->cause);
}

static int sample__cmp(const void *a, const void *b)
{
	return axis_sample__cmp(a, b);
}

static int look__cmp(const void *_a, const void *_b)
{
	const struct axis_look *a = _a, *b = _b;

	return sort_cmp(a->time, b->time) ?:
	       sort_cmp(a->kind, b->kind);
}

static int add_event(struct time_axis *ta, const struct axis_event *event)
{
	struct axis_vcpu *vcpu = &ta->vcpus[event->vcpu];
	const struct axis_cause cause = {
		.exit_reason = event->exit_reason,
		.isa = event->isa,
		.why = event->why,
	};
	struct vcpu_change change = {
		.time = event->time,
		.waited = min_t(u64, event->waited, VCPU_CHANGE_MOST_WAIT),
		.cpu = event->cpu,
		.state = event->state,
		.ended = event->ended,
		.after_lost = event->after_lost,
		.first = event->first,
	};
	int nr = axis_causes__findnew(&ta->causes, &cause);

	if (nr < 0)
		return nr;
	change.cause = nr;
	if (queue_len(&vcpu->events) && change__cmp(queue_last(&vcpu->events), &change) > 0)
		vcpu->unsorted = true;
	return queue_add(&vcpu->events, &change) ?: cpu_tracks__add_switch(&ta->tracks, event);
}

static int add_sample(struct time_axis *ta, const struct axis_sample *sample)
{
	if (sample->vcpu < ta->nr_vcpus) {
		struct axis_vcpu *vcpu = &ta->vcpus[sample->vcpu];
		int ret;

		if (queue_len(&vcpu->samples) &&
		    axis_sample__cmp(queue_last(&vcpu->samples), sample) > 0)
			vcpu->unsorted = true;
		ret = queue_add(&vcpu->samples, sample);
		if (ret)
			return ret;
	}
	return cpu_tracks__add_sample(&ta->tracks, sample);
}

static int add_look(struct time_axis *ta, const struct axis_look *look)
{
	struct axis_vcpu *vcpu = &ta->vcpus[look->vcpu];

	if (queue_len(&vcpu->looks) && look__cmp(queue_last(&vcpu->looks), look) > 0)
		vcpu->unsorted = true;
	return queue_add(&vcpu->looks, look);
}

/* Puts into order what has come since the last time. 0 or -ENOMEM */
static int sort_vcpu(struct axis_vcpu *vcpu)
{
	int ret;

	if (!vcpu->unsorted)
		return 0;
	vcpu->unsorted = false;
	ret = sort_runs(queue_first(&vcpu->events), queue_len(&vcpu->events),
			sizeof(struct vcpu_change), change__cmp);
	if (!ret)
		ret = sort_runs(queue_first(&vcpu->samples), queue_len(&vcpu->samples),
				sizeof(struct axis_sample), sample__cmp);
	if (!ret)
		ret = sort_runs(queue_first(&vcpu->looks), queue_len(&vcpu->looks),
				sizeof(struct axis_look), look__cmp);
	return ret;
}

/* Samples that no step has any use for */
static void drop_samples(struct axis_vcpu *vcpu, bool timeline)
{
	size_t *nr = &vcpu->labels.nr_used, len = queue_len(&vcpu->samples), drop;

	/* What is not in KVM_RUN is not used by the second step, but is passed. */
	while (!queue_len(&vcpu->states) && *nr < len &&
	       queue_first(&vcpu->samples)[*nr].time < vcpu->machine.done)
		++*nr;
	drop = *nr;
	while (timeline && drop && queue_first(&vcpu->samples)[drop - 1].time > vcpu->machine.done)
		drop--;
	if (!timeline)
		drop = min(drop, vcpu->machine.nr_used);
	vcpu_states__drop_samples(vcpu, drop);
	*nr -= drop;
}

/* The first two steps, of one vCPU. 0 or -ENOMEM */
static int advance_vcpu(struct time_axis *ta, const struct axis_span *span,
			struct axis_vcpu *vcpu, const struct axis_until *until)
{
	struct run_labels_input in = { .states = &vcpu->states, .samples = &vcpu->samples };
	const struct states_input in_axis = {
		.span = span,
		.gaps = &ta->gaps,
		.causes = &ta->causes,
	};
	int ret = sort_vcpu(vcpu);

	if (!ret)
		ret = vcpu_states__advance(&in_axis, vcpu, until);
	in.done = vcpu->machine.done;
	if (!ret)
		ret = run_labels__advance(&vcpu->labels, span, &in, until->final,
					  &vcpu->labelled);
	drop_samples(vcpu, span->timeline);
	queue_trim(&vcpu->events);
	queue_trim(&vcpu->samples);
	queue_trim(&vcpu->states);
	return ret;
}

/*
 * Tells the CPUs when they had the vCPU. Its last interval may go on, and is kept back,
 * but not for ever. 0 or -ENOMEM
 */
static int occupy_cpus(struct time_axis *ta, u32 idx, const struct axis_span *span, bool final)
{
	struct axis_vcpu *vcpu = &ta->vcpus[idx];
	int ret = 0;

	for (size_t i = vcpu->nr_told; !ret && i < queue_len(&vcpu->labelled); i++) {
		struct vcpu_interval interval = queue_first(&vcpu->labelled)[i];
		bool is_last = i + 1 == queue_len(&vcpu->labelled) && !final;

		interval.start = max(interval.start, vcpu->told);
		if (is_last && interval.end - interval.start <= span->near)
			break;
		ret = cpu_tracks__add_vcpu(&ta->tracks, idx, &interval);
		vcpu->told = interval.end;
		vcpu->nr_told += !is_last;
	}
	return ret;
}

/* Until when the CPUs have been told what vCPU has had them */
static u64 vcpu__told(const struct axis_vcpu *vcpu)
{
	u64 done = vcpu->machine.done;

	if (queue_len(&vcpu->states))
		done = queue_first(&vcpu->states)->start;
	if (vcpu->nr_told < queue_len(&vcpu->labelled))
		done = min(done, max(vcpu->told, queue_last(&vcpu->labelled)->start));
	return done;
}

/* How far the third step can go: as far as all vCPUs have come but for those that lag */
static struct tracks_until tracks__until(const struct time_axis *ta, const struct axis_span *span,
					 const struct axis_until *until)
{
	u64 most = min_t(u64, span->near, ~0ULL / MOST_LAG) * MOST_LAG;
	u64 lag = until->time > most ? until->time - most : 0;
	struct tracks_until result = { .occupied = until->time, .final = until->final };

	for (u32 i = 0; i < ta->nr_vcpus; i++) {
		const struct axis_vcpu *vcpu = &ta->vcpus[i];

		if (vcpu->machine.begun)
			result.occupied = min(result.occupied, max(vcpu__told(vcpu), lag));
	}
	result.time = result.occupied > span->near ? result.occupied - span->near : 0;
	return result;
}

/*
 * Hands out an interval of which all is known, and takes that off @interval: of a halt that goes
 * on, what there is of it. It is split by whether the host worked for the VM meanwhile. 0 or -errno
 */
static int emit(struct time_axis *ta, const struct axis_span *span, u32 idx,
		struct vcpu_interval *interval)
{
	u32 vm = ta->vcpus[idx].vm;
	int ret = 0;

	while (!ret && interval->start < interval->end) {
		struct vcpu_interval part = *interval;
		struct work_piece work;

		if (part.kind == VCPU_TIME_HALTED &&
		    axis_work__find(&ta->work, vm, span->period, part.start, &work)) {
			part.vmm_works = work.start <= part.start;
			part.end = min(part.end, part.vmm_works ? work.end : work.start);
		}
		ret = ta->to.vcpu(idx, &part, ta->to.arg);
		interval->start = part.end;
	}
	return ret;
}

/* The vCPU whose wait is handed out */
struct wait_of {
	struct time_axis *ta;
	const struct axis_span *span;
	u32	idx;
};

static int emit_part(struct vcpu_interval *part, void *arg)
{
	const struct wait_of *of = arg;

	return emit(of->ta, of->span, of->idx, part);
}

/* Hands out a wait as far as it can be split. 0 or -errno */
static int emit_wait(struct time_axis *ta, const struct axis_span *span,
		     const struct tracks_until *until, u32 idx, struct vcpu_interval *wait)
{
	struct wait_of of = { .ta = ta, .span = span, .idx = idx };
	struct axis_vcpu *vcpu = &ta->vcpus[idx];

	if (!vcpu->waits) {
		vcpu->wait = (struct wait_walk) { .pos = wait->start, .prev = TIME_AXIS_NONE };
		vcpu->waits = true;
	}
	return cpu_tracks__split_wait(&ta->tracks, span, until, wait, idx, &vcpu->wait, emit_part,
				      &of);
}

/* The third step, of one vCPU: hands out what it did. 0 or -errno */
static int emit_vcpu(struct time_axis *ta, const struct axis_span *span,
		     const struct tracks_until *until, u32 idx)
{
	struct axis_vcpu *vcpu = &ta->vcpus[idx];
	int ret = 0;

	while (!ret && queue_len(&vcpu->labelled)) {
		struct vcpu_interval *interval = queue_first(&vcpu->labelled);
		bool goes_on = queue_len(&vcpu->labelled) == 1 && !until->final;

		if (interval->kind != VCPU_TIME_PREEMPTED ||
		    interval->cpu >= ta->tracks.nr_cpus) {
			/* What is done meanwhile is not kept for as long as a halt may take. */
			if (interval->kind == VCPU_TIME_HALTED)
				ret = emit(ta, span, idx, interval);
			if (goes_on || !vcpu->nr_told)
				break;
			ret = ret ?: emit(ta, span, idx, interval);
		} else {
			if (goes_on && interval->end < until->occupied)
				break;
			ret = emit_wait(ta, span, until, idx, interval);
			if (ret || vcpu->wait.pos < interval->end || goes_on || !vcpu->nr_told)
				break;
			vcpu->waits = false;
		}
		queue_drop(&vcpu->labelled, 1);
		vcpu->nr_told--;
	}
	queue_trim(&vcpu->labelled);
	return ret;
}

/* Until when a vCPU has been handed out: it needs of the CPUs what is after. */
static u64 vcpu__handed_out(const struct axis_vcpu *vcpu)
{
	if (!queue_len(&vcpu->labelled))
		return vcpu__told(vcpu);
	return vcpu->waits ? vcpu->wait.pos : queue_first(&vcpu->labelled)->start;
}

/* Until when no vCPU needs to know any more who had the CPUs */
static u64 unneeded_until(const struct time_axis *ta, const struct tracks_until *until)
{
	u64 time = until->occupied;

	for (u32 i = 0; i < ta->nr_vcpus; i++) {
		const struct axis_vcpu *vcpu = &ta->vcpus[i];

		/* Nothing is known of when it has waited. */
		if (!vcpu->machine.begun)
			return until->time;
		time = min(time, vcpu__handed_out(vcpu));
	}
	return max(time, until->time);
}

/* Forgets gaps before @time: that time has been told already. */
static void forget_gaps(struct time_axis *ta, u64 time)
{
	for (u32 i = 0; i < ta->nr_vcpus; i++)
		time = min(time, ta->vcpus[i].machine.done);
	axis_gaps__forget(&ta->gaps, time);
}

/* Forgets work for VMs from before all that is still to be told of vCPUs, or that is too old. */
static void forget_work(struct time_axis *ta, const struct axis_span *span, u64 time)
{
	u64 least = time > span->near ? time - span->near : 0;

	for (u32 i = 0; i < ta->nr_vcpus; i++) {
		struct axis_vcpu *vcpu = &ta->vcpus[i];

		if (queue_len(&vcpu->labelled))
			time = min(time, queue_first(&vcpu->labelled)->start);
		else if (queue_len(&vcpu->states))
			time = min(time, queue_first(&vcpu->states)->start);
	}
	time = max(time, least);
	axis_work__forget(&ta->work, time > span->period ? time - span->period : 0);
}

static void time_axis__begin(struct time_axis *ta)
{
	if (ta->begun)
		return;
	ta->begun = true;
	/* Two of them have to fit, and more than this is as good as all time. */
	ta->span.period = min_t(u64, ta->span.period, LLONG_MAX);
	ta->span.near = max(ta->span.near, 2 * ta->span.period);
	ta->to = ta->sink;
	cpu_tracks__begin(&ta->tracks, ta->span.start);
}

static int advance(struct time_axis *ta, const struct axis_span *span,
		   const struct axis_until *until)
{
	struct tracks_until tracks_until;
	int ret = 0;

	axis_gaps__sort(&ta->gaps);
	ret = axis_work__sort(&ta->work);
	for (u32 i = 0; !ret && i < ta->nr_vcpus; i++)
		ret = advance_vcpu(ta, span, &ta->vcpus[i], until) ?:
		      occupy_cpus(ta, i, span, until->final);
	if (ret)
		return ret;
	tracks_until = tracks__until(ta, span, until);
	ret = cpu_tracks__settle(&ta->tracks, span, &tracks_until);
	for (u32 i = 0; !ret && i < ta->nr_vcpus; i++)
		ret = emit_vcpu(ta, span, &tracks_until, i);
	if (!ret)
		ret = cpu_tracks__walk(&ta->tracks, span, &ta->gaps, &tracks_until,
				       ta->to.cpu, ta->to.arg);
	if (!until->final) {
		cpu_tracks__forget(&ta->tracks, unneeded_until(ta, &tracks_until));
		forget_gaps(ta, tracks_until.time);
		forget_work(ta, span, tracks_until.time);
	}
	return ret;
}

/* How long the next step is, ns */
static u64 step_length(const struct time_axis *ta)
{
	u64 enough = (u64)STEP_RECORDS * (ta->nr_vcpus + ta->nr_cpus);

	return ta->span.near / (ta->nr_fresh < enough ? LEAST_STEPS : STEPS_IN_NEAR);
}

/* Is it so long since the last time that there is something to do? */
bool time_axis__is_due(const struct time_axis *ta, u64 now)
{
	return !ta->begun || (now > ta->advanced && now - ta->advanced >= step_length(ta));
}

/* As far as can be told at @now, ns, which was not told before. 0 or -errno */
static int step(struct time_axis *ta, u64 now)
{
	struct axis_span span = ta->span;
	struct axis_until until = { .time = now - span.near, .silent = now - span.near };

	span.end = ~0ULL;
	return advance(ta, &span, &until);
}

static int make_steps(struct time_axis *ta, const struct axis_steps *steps)
{
	u64 from = steps->from;
	int ret = 0;

	for (; !ret && steps->now - from > steps->length; from += steps->length)
		ret = step(ta, from + steps->length);
	return ret ?: step(ta, steps->now);
}

static int do_record(struct time_axis *ta, const struct axis_record *record)
{
	switch (record->kind) {
	case AXIS_RECORD_EVENT:
		return add_event(ta, &record->event);
	case AXIS_RECORD_SAMPLE:
		return add_sample(ta, &record->sample);
	case AXIS_RECORD_WORK:
		return axis_work__add(&ta->work, record->work.vm, record->work.time);
	case AXIS_RECORD_GAP:
		return axis_gaps__add(&ta->gaps, &record->gap);
	case AXIS_RECORD_LOOK:
		return add_look(ta, &record->look);
	case AXIS_RECORD_STEPS:
		return make_steps(ta, &record->steps);
	default:
		return -EINVAL;
	}
}

/* Adds @record at once, or in the thread. 0, -ENOMEM or what the sink returned */
static int add(struct time_axis *ta, const struct axis_record *record)
{
	return ta->worker ? axis_worker__add(ta->worker, record, &ta->sink) :
			    do_record(ta, record);
}

/*
 * Of a vCPU that there is, and a CPU whose number is below TIME_AXIS_MAX_CPUS. 0, -ENOMEM or, as of
 * all that is added here, what the sink returned
 */
int time_axis__add_event(struct time_axis *ta, const struct axis_event *event)
{
	const struct axis_record record = { .kind = AXIS_RECORD_EVENT, .event = *event };

	ta->nr_fresh++;
	ta->nr_cpus = max(ta->nr_cpus, event->cpu + 1);
	return add(ta, &record);
}

/* @sample's CPU number must be below TIME_AXIS_MAX_CPUS. */
int time_axis__add_sample(struct time_axis *ta, const struct axis_sample *sample)
{
	const struct axis_record record = { .kind = AXIS_RECORD_SAMPLE, .sample = *sample };

	ta->nr_late += ta->begun && sample->time < ta->advanced &&
		       ta->advanced - sample->time > ta->span.near;
	ta->nr_fresh++;
	ta->nr_cpus = max_t(u32, ta->nr_cpus, sample->cpu + 1);
	return add(ta, &record);
}

/* A sample at @time of a thread that works for the VM with number @vm, and is no vCPU's */
int time_axis__add_work(struct time_axis *ta, u32 vm, u64 time)
{
	const struct axis_record record = {
		.kind = AXIS_RECORD_WORK,
		.work = { .time = time, .vm = vm },
	};

	return add(ta, &record);
}

int time_axis__add_gap(struct time_axis *ta, const struct axis_gap *gap)
{
	const struct axis_record record = { .kind = AXIS_RECORD_GAP, .gap = *gap };

	if (gap->from >= gap->until)
		return 0;
	ta->nr_gaps++;
	return add(ta, &record);
}

/* The axis need not know @look's vCPU yet. */
int time_axis__add_look(struct time_axis *ta, const struct axis_look *look)
{
	const struct axis_record record = { .kind = AXIS_RECORD_LOOK, .look = *look };

	return look->vcpu < ta->nr_vcpus ? add(ta, &record) : 0;
}

/* Does what @record tells, in the thread. 0 or what doing so returned */
static int work(const struct axis_record *record, void *arg)
{
	return do_record(arg, record);
}

/* Begins the thread. If there cannot be one, all is done without it. */
static void begin_thread(struct time_axis *ta)
{
	if (!ta->threads)
		return;
	ta->threads = false;
	ta->worker = axis_worker__new(work, ta);
	if (ta->worker)
		ta->to = axis_worker__sink(ta->worker);
}

/**
 * time_axis__advance - hand out what is final
 * @now: all that is to come has happened later; but states that have begun before, and
 *	are shorter than TIME_AXIS_NEAR
 *
 * To be called often: it does nothing until there is much to do. In a thread, that is done
 * later, and handed out when more is added. 0, -ENOMEM or what the sink returned
 */
int time_axis__advance(struct time_axis *ta, u64 now)
{
	struct axis_record record = { .kind = AXIS_RECORD_STEPS };
	u64 from, length;

	if (!time_axis__is_due(ta, now))
		return 0;
	time_axis__begin(ta);
	length = step_length(ta);
	from = max(ta->advanced, ta->span.start + ta->span.near);
	ta->advanced = now;
	if (now <= from)
		return 0;
	ta->nr_fresh = 0;
	if (now - from > MOST_STEPS * length)
		from = now - MOST_STEPS * length;
	record.steps = (struct axis_steps) { .from = from, .length = length, .now = now };
	begin_thread(ta);
	return add(ta, &record);
}

/**
 * time_axis__catch_up - end the thread, if there is one
 *
 * When there is no more to come but vCPUs, looks and gaps. All is the caller's then. 0, -ENOMEM or
 * what the sink returned
 */
int time_axis__catch_up(struct time_axis *ta)
{
	int ret;

	ta->threads = false;
	if (!ta->worker)
		return 0;
	ret = axis_worker__catch_up(ta->worker, &ta->sink);
	axis_worker__delete(ta->worker);
	ta->worker = NULL;
	ta->to = ta->sink;
	return ret;
}

/*
 * The time that is near to the end, when all is known that is to come: not at once, as what is
 * made of it is more than what it is made of. 0, -ENOMEM or what the sink returned
 */
static int finish_steps(struct time_axis *ta)
{
	u64 end = ta->span.end, length = ta->span.near / STEPS_IN_NEAR;
	struct axis_span span = ta->span;
	struct axis_until until = { .silent = ta->advanced - min(ta->advanced, span.near) };
	int ret = 0;

	span.end = ~0ULL;
	for (u64 time = until.silent; !ret && length && time < end && end - time > length; ) {
		time += length;
		until.time = time;
		ret = advance(ta, &span, &until);
	}
	return ret;
}

/**
 * time_axis__finish - hand out the rest
 *
 * When all has been added, once. 0, -ENOMEM or what the sink returned
 */
int time_axis__finish(struct time_axis *ta)
{
	const struct axis_until until = { .time = ta->span.end, .final = true };
	int ret = time_axis__catch_up(ta);

	if (!ret && ta->begun)
		ret = time_axis__advance(ta, ta->span.end) ?: finish_steps(ta);
	time_axis__begin(ta);
	return ret ?: advance(ta, &ta->span, &until);
}

/* How many samples there are after @time, of those that are kept still */
u64 time_axis__samples_after(const struct time_axis *ta, u64 time)
{
	u64 nr = cpu_tracks__samples_after(&ta->tracks, time);

	for (u32 i = 0; i < ta->nr_vcpus; i++) {
		const struct axis_samples *samples = &ta->vcpus[i].samples;

		for (size_t s = 0; s < queue_len(samples); s++)
			nr += axis_sample__is_guest(queue_first(samples) + s) &&
			      queue_first(samples)[s].time > time;
	}
	return nr;
}

/* How many events there are after @time, of those that are kept still */
u64 time_axis__events_after(const struct time_axis *ta, u64 time)
{
	u64 nr = 0;

	for (u32 i = 0; i < ta->nr_vcpus; i++) {
		const struct vcpu_changes *events = &ta->vcpus[i].events;

		for (size_t e = 0; e < queue_len(events); e++)
			nr += queue_first(events)[e].time > time;
	}
	return nr;
}

/**
 * time_axis__share - whose time was that of waits which no sample has seen?
 * @shared: of the waits
 * @time: ns
 * @cb: gets the tasks that had it, and their parts
 *
 * After time_axis__finish(). 0 or what @cb returned
 */
int time_axis__share(const struct time_axis *ta, u32 shared, u64 time, share_cb cb, void *arg)
{
	return cpu_tracks__share(&ta->tracks, shared, time, cb, arg);
}
