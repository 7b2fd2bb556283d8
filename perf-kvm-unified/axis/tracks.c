// SPDX-License-Identifier: GPL-2.0
/*
 * The host's CPUs: who had each of them, and what it did otherwise.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "util/hashmap.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/number-map.h"
#include "kvm-unified/lib/sort.h"
#include "cells.h"
#include "gaps.h"
#include "intervals.h"
#include "runs.h"
#include "shares.h"
#include "tracks.h"
#include "types.h"

/* A vCPU that had a CPU */
struct occupant {
	u64	start;
	u64	end;
	u32	vcpu;
	bool	guest;	/* ... and was in the guest */
};

/**
 * struct mark - a task got a CPU from @vcpu
 * @who: the task. Others may have had the CPU from that one before a vCPU did again: then, it is
 *	what samples say, or if there are none, the number of the windows that are shared
 */
struct mark {
	u64	time;
	u32	who;
	u32	vcpu:31;
	bool	is_shared:1;
};

struct occupants	{ DECLARE_QUEUE(struct occupant); };
struct marks		{ DECLARE_QUEUE(struct mark); };

/**
 * struct mark_window - the time from a mark until a vCPU has the CPU again, or the next mark
 * @first: @vcpu: of the mark
 * @pos: samples before it are in
 * @nr: so many samples of others than @vcpu
 * @tasks: so many of each task
 */
struct mark_window {
	u64	start;
	u64	pos;
	u64	nr;
	u32	first;
	u32	vcpu;
	bool	open;
	struct hashmap *tasks;
};

/**
 * struct cpu_track - all that is known of a CPU, and needed still, in the order of time
 * @fresh: occupants that others may come before
 * @occupied: the last of @occupants ends there
 * @nr_named: so many marks have their names
 * @last: the last record of the CPU
 * @done: what the CPU did has been told until then
 * @carry: the last sample before
 * @is_sampled: there is a sample of it
 */
struct cpu_track {
	u32	cpu;
	struct occupants fresh;
	struct occupants occupants;
	u64	occupied;
	struct marks marks;
	size_t	nr_named;
	struct mark_window window;
	struct shares shares;
	struct hashmap *shared;		/* numbers, by the window's first task */
	struct axis_samples samples;
	bool	unsorted;
	bool	unsorted_marks;
	bool	is_sampled;
	u64	last;
	u64	done;
	struct cells_carry carry;
};

static void cpu_track__delete(struct cpu_track *track)
{
	free(track->fresh.entries);
	free(track->occupants.entries);
	free(track->marks.entries);
	free(track->samples.entries);
	shares__exit(&track->shares);
	hashmap__free(track->window.tasks);
	hashmap__free(track->shared);
	free(track);
}

void cpu_tracks__exit(struct cpu_tracks *tracks)
{
	for (u32 i = 0; i < tracks->nr_cpus; i++)
		cpu_track__delete(tracks->cpus[i]);
	free(tracks->cpus);
	free(tracks->shared);
	*tracks = (struct cpu_tracks) { };
}

static struct cpu_track *cpu_track__new(u32 cpu)
{
	struct cpu_track *track = zalloc(sizeof(*track));

	if (!track)
		return NULL;
	track->cpu = cpu;
	track->window.tasks = number_map__new();
	track->shared = number_map__new();
	if (!shares__init(&track->shares) && track->window.tasks && track->shared)
		return track;
	cpu_track__delete(track);
	return NULL;
}

/* NULL: no memory */
static struct cpu_track *cpu_tracks__findnew(struct cpu_tracks *tracks, u32 cpu)
{
	while (tracks->nr_cpus <= cpu) {
		struct cpu_track *track;

		if (grow_array(tracks->cpus, tracks->nr_cpus, tracks->allocated_cpus))
			return NULL;
		track = cpu_track__new(tracks->nr_cpus);
		if (!track)
			return NULL;
		track->done = tracks->start;
		tracks->cpus[tracks->nr_cpus++] = track;
	}
	return tracks->cpus[cpu];
}

/* Nothing is before @start. */
void cpu_tracks__begin(struct cpu_tracks *tracks, u64 start)
{
	tracks->start = start;
	for (u32 i = 0; i < tracks->nr_cpus; i++)
		tracks->cpus[i]->done = start;
}

static int occupant__cmp(const void *_a, const void *_b)
{
	const struct occupant *a = _a, *b = _b;

	return sort_cmp(a->start, b->start) ?:
	       sort_cmp(a->end, b->end) ?:
	       sort_cmp(a->vcpu, b->vcpu);
}

static int mark__cmp(const void *_a, const void *_b)
{
	const struct mark *a = _a, *b = _b;

	return sort_cmp(a->time, b->time) ?:
	       sort_cmp(a->who, b->who);
}

static int sample__cmp(const void *a, const void *b)
{
	return axis_sample__cmp(a, b);
}

static bool interval__is_guest(const struct vcpu_interval *interval)
{
	return interval->kind == VCPU_TIME_GUEST_USER ||
	       interval->kind == VCPU_TIME_GUEST_KERNEL;
}

static bool interval__has_cpu(const struct vcpu_interval *interval)
{
	return interval__is_guest(interval) || interval->kind == VCPU_TIME_EXIT ||
	       interval->kind == VCPU_TIME_RUN || interval->kind == VCPU_TIME_HALT_POLL;
}

static bool event__is_switch(const struct axis_event *event)
{
	return event->next_task != TIME_AXIS_NONE &&
	       (event->state == VCPU_STATE_PREEMPTED || event->state == VCPU_STATE_BLOCKED ||
		event->state == VCPU_STATE_HALTED || event->state == VCPU_STATE_THROTTLED);
}

/* A sample of the CPU, of the host's or a guest's: the latter say that it was sampled. */
int cpu_tracks__add_sample(struct cpu_tracks *tracks, const struct axis_sample *sample)
{
	struct cpu_track *track = cpu_tracks__findnew(tracks, sample->cpu);

	if (!track)
		return -ENOMEM;
	track->is_sampled = true;
	track->last = max(track->last, sample->time);
	if (axis_sample__is_guest(sample))
		return 0;
	if (queue_len(&track->samples) &&
	    axis_sample__cmp(queue_last(&track->samples), sample) > 0)
		track->unsorted = true;
	return queue_add(&track->samples, sample);
}

/* A vCPU's event: who got the CPU from it? 0 or -ENOMEM */
int cpu_tracks__add_switch(struct cpu_tracks *tracks, const struct axis_event *event)
{
	const struct mark mark = {
		.time = event->time,
		.who = event->next_task,
		.vcpu = event->vcpu,
	};
	struct cpu_track *track = cpu_tracks__findnew(tracks, event->cpu);

	if (!track)
		return -ENOMEM;
	if (!event__is_switch(event))
		return 0;
	if (queue_len(&track->marks) && mark__cmp(queue_last(&track->marks), &mark) > 0)
		track->unsorted_marks = true;
	return queue_add(&track->marks, &mark);
}

/* Adds what vCPU @vcpu did to the track of the CPU that it had, if it had one. 0 or -ENOMEM */
int cpu_tracks__add_vcpu(struct cpu_tracks *tracks, u32 vcpu, const struct vcpu_interval *interval)
{
	const struct occupant occupant = {
		.start = interval->start,
		.end = interval->end,
		.vcpu = vcpu,
		.guest = interval__is_guest(interval),
	};

	if (!interval__has_cpu(interval) || interval->cpu >= tracks->nr_cpus)
		return 0;
	return queue_add(&tracks->cpus[interval->cpu]->fresh, &occupant);
}

/*
 * The occupants that begin before @until, when all of them are known. A CPU has one at a
 * time: where samples of two vCPUs say otherwise, or a missing event, the first one stays.
 */
static int settle_occupants(struct cpu_track *track, u64 until)
{
	/* One vCPU's have come after the other's: few runs of them. */
	int ret = sort_runs(queue_first(&track->fresh), queue_len(&track->fresh),
			    sizeof(struct occupant), occupant__cmp);

	while (!ret && queue_len(&track->fresh) && queue_first(&track->fresh)->start < until) {
		struct occupant o = *queue_first(&track->fresh);

		queue_drop(&track->fresh, 1);
		o.start = max(o.start, track->occupied);
		if (o.start >= o.end)
			continue;
		track->occupied = o.end;
		ret = queue_add(&track->occupants, &o);
	}
	queue_trim(&track->fresh);
	return ret;
}

static bool sample__is_before(const void *sample, const void *time)
{
	return ((const struct axis_sample *)sample)->time < *(const u64 *)time;
}

/* The first sample that is not before @time */
static size_t first_sample(const struct cpu_track *track, u64 time)
{
	return sort_find(queue_first(&track->samples), queue_len(&track->samples),
			 sizeof(struct axis_sample), &time, sample__is_before);
}

static bool occupant__is_before(const void *occupant, const void *time)
{
	return ((const struct occupant *)occupant)->start < *(const u64 *)time;
}

static bool occupant__is_gone(const void *occupant, const void *time)
{
	return ((const struct occupant *)occupant)->end <= *(const u64 *)time;
}

static size_t find_occupant(const struct cpu_track *track, u64 time,
			    bool (*is_before)(const void *occupant, const void *time))
{
	return sort_find(queue_first(&track->occupants), queue_len(&track->occupants),
			 sizeof(struct occupant), &time, is_before);
}

/* Where the window ends that begins with mark number @mark, or the last one before */
static u64 window_end(const struct cpu_track *track, u64 start, size_t next_mark, u64 end)
{
	size_t o = find_occupant(track, start, occupant__is_before);

	if (o < queue_len(&track->occupants))
		end = min(end, queue_first(&track->occupants)[o].start);
	if (next_mark < queue_len(&track->marks))
		end = min(end, queue_first(&track->marks)[next_mark].time);
	return max(end, start);
}

/* Did a task, or another vCPU's thread, have the CPU when @sample was taken? */
static bool sample__is_of_other(const struct axis_sample *sample, u32 vcpu)
{
	return !axis_sample__is_guest(sample) && sample->vcpu != vcpu;
}

static bool sample__names_other(const struct axis_sample *sample, u32 vcpu)
{
	return sample__is_of_other(sample, vcpu) && sample->task != TIME_AXIS_NONE;
}

/* Adds to the window what the samples before @end show. 0 or -ENOMEM */
static int window__learn(struct cpu_track *track, u64 end)
{
	struct mark_window *w = &track->window;
	size_t i = first_sample(track, w->pos);

	for (; i < queue_len(&track->samples); i++) {
		const struct axis_sample *sample = queue_first(&track->samples) + i;
		long nr = 0;

		if (sample->time >= end)
			break;
		if (!sample__names_other(sample, w->vcpu))
			continue;
		hashmap__find(w->tasks, (long)sample->task, &nr);
		if (hashmap__set(w->tasks, (long)sample->task, nr + 1, NULL, NULL))
			return -ENOMEM;
		w->nr++;
	}
	w->pos = max(w->pos, end);
	return 0;
}

static int window__close(struct cpu_track *track, u64 end)
{
	struct mark_window *w = &track->window;
	struct hashmap_entry *entry;
	u64 time = end - w->start;
	size_t bkt;
	int ret;

	ret = window__learn(track, end);
	if (!ret)
		ret = shares__add_window(&track->shares, w->first, w->nr, time);
	if (!ret && w->nr) {
		hashmap__for_each_entry(w->tasks, entry, bkt) {
			ret = ret ?: shares__add_samples(&track->shares, w->first, entry->key,
							 entry->value,
							 time / w->nr * entry->value);
		}
		hashmap__clear(w->tasks);
	}
	w->open = false;
	return ret;
}

/* The window that is open, until @until or its end. 0 or -ENOMEM */
static int window__go_on(struct cpu_track *track, size_t next_mark, u64 until)
{
	u64 end;

	if (!track->window.open)
		return 0;
	end = window_end(track, track->window.start, next_mark, ~0ULL);
	return end <= until ? window__close(track, end) : window__learn(track, until);
}

/* The number of the windows of the CPU that begin with a switch to @first; -ENOMEM */
static int findnew_shared(struct cpu_tracks *tracks, struct cpu_track *track, u32 first)
{
	long shared;

	if (hashmap__find(track->shared, (long)first, &shared))
		return shared;
	if (grow_array(tracks->shared, tracks->nr_shared, tracks->allocated_shared) ||
	    hashmap__add(track->shared, (long)first, tracks->nr_shared))
		return -ENOMEM;
	tracks->shared[tracks->nr_shared] = (struct shared_windows) {
		.cpu = track->cpu,
		.first = first,
	};
	return tracks->nr_shared++;
}

/*
 * Says of the window of mark number @i whose it is: the first sample that is near decides
 * alone; if there is none, it is shared. 0 or -ENOMEM
 */
static int name_mark(struct cpu_tracks *tracks, struct cpu_track *track,
		     const struct axis_span *span, size_t i)
{
	struct mark *mark = queue_first(&track->marks) + i;
	u64 end = window_end(track, mark->time, i + 1, span->end);
	struct mark_window *w = &track->window;
	int shared;

	*w = (struct mark_window) {
		.start = mark->time,
		.pos = mark->time,
		.first = mark->who,
		.vcpu = mark->vcpu,
		.open = true,
		.tasks = w->tasks,
	};
	for (size_t s = first_sample(track, mark->time); s < queue_len(&track->samples); s++) {
		const struct axis_sample *sample = queue_first(&track->samples) + s;

		if (sample->time >= end || sample->time - mark->time > span->near)
			break;
		if (sample__names_other(sample, mark->vcpu)) {
			mark->who = sample->task;
			return 0;
		}
	}
	shared = findnew_shared(tracks, track, mark->who);
	if (shared < 0)
		return shared;
	mark->who = shared;
	mark->is_shared = true;
	return 0;
}

/* Is all known of the window of mark number @i: has it ended, or is it long enough? */
static bool mark__is_due(const struct cpu_track *track, const struct tracks_until *until, size_t i)
{
	u64 time = queue_first(&track->marks)[i].time;

	return until->final || time <= until->time ||
	       window_end(track, time, i + 1, ~0ULL) < until->occupied;
}

static int name_marks(struct cpu_tracks *tracks, struct cpu_track *track,
		      const struct axis_span *span, const struct tracks_until *until)
{
	u64 end = until->final ? span->end : until->occupied;
	int ret = 0;

	for (; !ret && track->nr_named < queue_len(&track->marks); track->nr_named++) {
		if (!mark__is_due(track, until, track->nr_named))
			break;
		/* If single tasks are sampled, they would get the time of those that are not. */
		if (span->per_task)
			continue;
		ret = window__go_on(track, track->nr_named, ~0ULL);
		if (!ret)
			ret = name_mark(tracks, track, span, track->nr_named);
	}
	if (!ret)
		ret = window__go_on(track, track->nr_named, end);
	if (!ret && until->final && track->window.open)
		ret = window__close(track, max(end, track->window.start));
	return ret;
}

static int sort_track(struct cpu_track *track)
{
	int ret = 0;

	if (track->unsorted)
		ret = sort_runs(queue_first(&track->samples), queue_len(&track->samples),
				sizeof(struct axis_sample), sample__cmp);
	if (!ret && track->unsorted_marks)
		ret = sort_runs(queue_first(&track->marks) + track->nr_named,
				queue_len(&track->marks) - track->nr_named,
				sizeof(struct mark), mark__cmp);
	track->unsorted = false;
	track->unsorted_marks = false;
	return ret;
}

/**
 * cpu_tracks__settle - put into order who had the CPUs, and name the tasks
 *
 * When all vCPUs' intervals have been added that begin before @until->occupied.
 * 0 or -ENOMEM
 */
int cpu_tracks__settle(struct cpu_tracks *tracks, const struct axis_span *span,
		       const struct tracks_until *until)
{
	int ret = 0;

	for (u32 i = 0; !ret && i < tracks->nr_cpus; i++) {
		struct cpu_track *track = tracks->cpus[i];

		ret = sort_track(track) ?:
		      settle_occupants(track, until->final ? ~0ULL : until->occupied);
		if (!ret)
			ret = name_marks(tracks, track, span, until);
		if (!ret && until->final)
			shares__weigh(&track->shares);
	}
	return ret;
}

/* A walk over the signs of a CPU that leaves out those of one vCPU */
struct signs {
	const struct cpu_tracks *tracks;
	const struct cpu_track *track;
	u32	vcpu;
	size_t	mark;
	size_t	sample;
};

static bool signs__next(struct signs *walk, u64 end, struct sign *sign)
{
	const struct cpu_track *track = walk->track;
	const struct axis_sample *sample = NULL;
	const struct mark *mark = queue_first(&track->marks) + walk->mark;

	for (; walk->sample < queue_len(&track->samples); walk->sample++) {
		sample = queue_first(&track->samples) + walk->sample;
		if (sample->time >= end) {
			sample = NULL;
			break;
		}
		if (sample__is_of_other(sample, walk->vcpu))
			break;
		sample = NULL;
	}
	if (walk->mark < queue_len(&track->marks) && mark->time < end &&
	    (!sample || mark->time <= sample->time)) {
		*sign = (struct sign) {
			.time = mark->time,
			.task = mark->is_shared ? walk->tracks->shared[mark->who].first :
						  mark->who,
			.shared = mark->is_shared ? mark->who : TIME_AXIS_NONE,
			.exact = true,
		};
		walk->mark++;
		return true;
	}
	if (!sample)
		return false;
	*sign = (struct sign) {
		.time = sample->time,
		.task = sample->task,
		.shared = TIME_AXIS_NONE,
		.idle = sample->kind == AXIS_SAMPLE_IDLE,
	};
	walk->sample++;
	return true;
}

static bool mark__is_before(const void *mark, const void *time)
{
	return ((const struct mark *)mark)->time < *(const u64 *)time;
}

/* Goes on to the first sign from @time on. None before is asked for again. */
static bool signs__first(struct signs *walk, u64 time, u64 end, struct sign *sign)
{
	const struct cpu_track *track = walk->track;

	walk->mark = sort_find_from(queue_first(&track->marks), queue_len(&track->marks),
				    sizeof(struct mark), walk->mark, &time, mark__is_before);
	walk->sample = sort_find_from(queue_first(&track->samples), queue_len(&track->samples),
				      sizeof(struct axis_sample), walk->sample, &time,
				      sample__is_before);
	return signs__next(walk, end, sign);
}

/**
 * struct wait_split - a wait that is split by who had the CPU
 * @signs: where it has come to
 * @self: who waits
 * @stop: not further than that
 * @named: switches until then have their names
 * @part: the last one, if it is not empty, which may go on
 */
struct wait_split {
	const struct cpu_track *track;
	const struct axis_span *span;
	const struct vcpu_interval *wait;
	struct wait_walk *walk;
	struct signs signs;
	u32	self;
	u64	stop;
	u64	named;
	struct vcpu_interval part;
	wait_part_cb cb;
	void	*arg;
};

/* 0 or what the callback returned */
static int split__hand_out(struct wait_split *s)
{
	return s->part.start < s->part.end ? s->cb(&s->part, s->arg) : 0;
}

/* Adds @part of the wait, until @end or where to stop. 0 or what the callback returned */
static int split__add(struct wait_split *s, struct vcpu_interval *part, u64 end)
{
	int ret;

	part->start = s->walk->pos;
	part->end = min(max(end, part->start), s->stop);
	s->walk->pos = part->end;
	if (part->start >= part->end)
		return 0;
	if (vcpu_interval__continues(&s->part, part)) {
		s->part.end = part->end;
		return 0;
	}
	ret = split__hand_out(s);
	s->part = *part;
	return ret;
}

/*
 * Until @end, a task had the CPU, or it is not known which. From samples alone, a CPU
 * that idles says that the vCPU did not want to run; a clock that has not given a
 * sample where it should have given some says nothing.
 */
static int split__by_task(struct wait_split *s, const struct sign *sign, u64 end)
{
	struct vcpu_interval part = *s->wait;

	if (sign) {
		part.task = sign->task;
		part.shared = sign->shared;
		if (!s->span->timeline && sign->idle)
			part.kind = VCPU_TIME_HALTED;
	} else if (!s->span->timeline) {
		part.kind = s->span->clock ? VCPU_TIME_LOST : VCPU_TIME_HALTED;
	}
	return split__add(s, &part, end);
}

static int split__by_vcpu(struct wait_split *s, u32 vcpu, u64 end)
{
	struct vcpu_interval part = *s->wait;

	part.vcpu = vcpu;
	return split__add(s, &part, end);
}

/* Where @next begins to be who had the CPU, after @sign or after nothing */
static u64 sign__begin(const struct wait_split *s, const struct sign *sign,
		       const struct sign *next)
{
	u64 near = next->time > s->span->near ? next->time - s->span->near : 0;

	if (!sign)
		return near;
	if (next->exact)
		return next->time;
	return next->time - sign->time <= s->span->near ? axis_middle(sign->time, next->time) :
							   near;
}

/* No sign from here to @end, where vCPU @next gets the CPU, if it is not TIME_AXIS_NONE */
static int split__unsigned(struct wait_split *s, u32 next, u64 end)
{
	u64 pos = s->walk->pos, near = end > s->span->near ? end - s->span->near : 0;
	int ret;

	/* From samples alone, a vCPU has what is before its first one. */
	if (!s->span->timeline && next != TIME_AXIS_NONE) {
		ret = near > pos ? split__by_task(s, NULL, near) : 0;
		return ret ?: split__by_vcpu(s, next, end);
	}
	/* The one before may have had it for less than it takes to get a sample. */
	if (!s->span->timeline && s->walk->prev != TIME_AXIS_NONE && end - pos < s->span->period)
		return split__by_vcpu(s, s->walk->prev, end);
	return split__by_task(s, NULL, end);
}

/* Have all marks before @time their names? */
static bool marks_are_named(const struct cpu_track *track, u64 time)
{
	return track->nr_named == queue_len(&track->marks) ||
	       queue_first(&track->marks)[track->nr_named].time >= time;
}

/* Is all known that can split @wait, so that it need not be waited for what comes next? */
static bool wait__is_known(const struct cpu_track *track, const struct tracks_until *until,
			   const struct vcpu_interval *wait)
{
	return until->final ||
	       (wait->end < until->occupied && marks_are_named(track, wait->end));
}

/*
 * Splits the time until @end, in which no vCPU had the CPU; then @next has it, or none. 0 or what
 * the callback returned
 */
static int split__piece(struct wait_split *s, u32 next_vcpu, u64 end)
{
	struct wait_walk *walk = s->walk;
	bool has_sign = walk->has_sign, has_next;
	struct sign sign = walk->sign, next;
	int ret = 0;

	walk->has_sign = false;
	has_next = signs__first(&s->signs, walk->pos + has_sign, end, &next);
	if (!has_sign && !has_next)
		return split__unsigned(s, next_vcpu, end);
	/* Whose the time before it was is the same as whose it is from then on. */
	if (!has_sign && next.exact && next.time > s->named)
		s->stop = walk->pos;
	while (!ret && walk->pos < min(end, s->stop)) {
		u64 until = has_next ? sign__begin(s, has_sign ? &sign : NULL, &next) : end;

		if (until > walk->pos)
			ret = split__by_task(s, has_sign ? &sign : NULL, until);
		if (ret || !has_next || until > s->stop)
			break;
		sign = next;
		has_sign = true;
		has_next = signs__next(&s->signs, end, &next);
	}
	if (walk->pos < end && has_sign && sign.time <= walk->pos) {
		walk->sign = sign;
		walk->has_sign = true;
	}
	return ret;
}

/**
 * cpu_tracks__split_wait - split a wait for a CPU by who had the CPU
 * @wait: an interval of vCPU @self, with a CPU that there is
 * @walk: how far that has come; its end is that of the wait when all is done
 * @cb: gets the parts, one after the other
 *
 * After cpu_tracks__settle(). It costs one search to begin, and as much for each part, however
 * many there are. 0 or what @cb returned
 */
int cpu_tracks__split_wait(const struct cpu_tracks *tracks, const struct axis_span *span,
			   const struct tracks_until *until, const struct vcpu_interval *wait,
			   u32 self, struct wait_walk *walk, wait_part_cb cb, void *arg)
{
	const struct cpu_track *track = tracks->cpus[wait->cpu];
	bool known = wait__is_known(track, until, wait);
	struct wait_split s = {
		.track = track,
		.span = span,
		.wait = wait,
		.walk = walk,
		.signs = { .tracks = tracks, .track = track, .vcpu = self },
		.self = self,
		.stop = known ? wait->end : min(wait->end, until->time),
		.named = known ? ~0ULL : until->time,
		.cb = cb,
		.arg = arg,
	};
	size_t i = find_occupant(track, walk->pos, occupant__is_gone);
	int ret = 0;

	while (!ret && walk->pos < s.stop) {
		const struct occupant *o = NULL;
		u64 end = wait->end;

		/* What comes after the wait is not looked at: it may be 2 s of them. */
		for (; i < queue_len(&track->occupants); i++) {
			const struct occupant *next = queue_first(&track->occupants) + i;

			if (next->start >= wait->end)
				break;
			if (next->vcpu != self && next->end > walk->pos) {
				o = next;
				break;
			}
		}
		if (o && o->start <= walk->pos) {
			ret = split__by_vcpu(&s, o->vcpu, min(wait->end, o->end));
			walk->prev = o->vcpu;
			walk->has_sign = false;
			continue;
		}
		if (o)
			end = o->start;
		ret = split__piece(&s, o ? o->vcpu : TIME_AXIS_NONE, end);
	}
	return ret ?: split__hand_out(&s);
}

static int piece__cmp(const void *_a, const void *_b)
{
	const struct cpu_interval *a = _a, *b = _b;

	return sort_cmp(a->start, b->start) ?:
	       sort_cmp(a->end, b->end) ?:
	       sort_cmp(a->kind, b->kind) ?:
	       sort_cmp(a->vcpu, b->vcpu);
}

/* A walk over what a CPU did: in pieces, from where it has come to, to @end */
struct host_walk {
	const struct axis_span *span;
	const struct axis_gaps *gaps;
	struct cpu_track *track;
	struct cpu_interval *pieces;
	size_t	nr_pieces;
	struct cells cells;
	u64	end;
	u64	stop;	/* what it did is to be told until then */
};

/* Guests and gaps: what is not the time of the CPU's own samples. 0 or -ENOMEM */
static int find_taken(struct host_walk *w)
{
	size_t first = find_occupant(w->track, w->track->done, occupant__is_gone);
	const struct occupant *o = queue_first(&w->track->occupants) + first;
	const struct axis_gap *gap = NULL;
	u64 start = w->track->done;
	size_t nr = 0;

	while ((gap = axis_gaps__next(w->gaps, gap, w->track->cpu, start, w->end)))
		nr++;
	nr += queue_len(&w->track->occupants) - first;
	/* What lies between them is a piece, too. */
	w->pieces = calloc(2 * nr + 1, sizeof(*w->pieces));
	if (!w->pieces)
		return -ENOMEM;

	for (; o < w->track->occupants.entries + w->track->occupants.nr; o++) {
		if (o->guest && o->start < w->end)
			w->pieces[w->nr_pieces++] = (struct cpu_interval) {
				.start = o->start,
				.end = o->end,
				.kind = CPU_TIME_GUEST,
				.cpu = w->track->cpu,
				.vcpu = o->vcpu,
			};
	}
	while ((gap = axis_gaps__next(w->gaps, gap, w->track->cpu, start, w->end)))
		w->pieces[w->nr_pieces++] = (struct cpu_interval) {
			.start = max(gap->from, w->span->start),
			.end = min(gap->until, w->end),
			.kind = CPU_TIME_LOST,
			.cpu = w->track->cpu,
			.vcpu = TIME_AXIS_NONE,
		};
	sort_array(w->pieces, w->nr_pieces, sizeof(*w->pieces), piece__cmp);
	return 0;
}

/* The time between the pieces that are taken are pieces, too. They need twice the room. */
static void add_between(struct host_walk *w)
{
	size_t nr_taken = w->nr_pieces, nr = 0;
	u64 pos = w->track->done;
	struct cpu_interval *taken = w->pieces + nr_taken + 1;

	/* To the end of the array first: what is written never comes to what is to be read. */
	for (size_t i = nr_taken; i--; )
		taken[i] = w->pieces[i];
	for (size_t i = 0; i <= nr_taken; i++) {
		struct cpu_interval piece = { .start = w->end, .end = w->end };

		if (i < nr_taken)
			piece = taken[i];
		if (piece.start > pos) {
			w->pieces[nr++] = (struct cpu_interval) {
				.start = pos,
				.end = piece.start,
				.kind = CPU_TIME_SAMPLE,
				.cpu = w->track->cpu,
			};
			pos = piece.start;
		}
		piece.start = pos;
		if (piece.end <= pos)
			continue;
		w->pieces[nr++] = piece;
		pos = piece.end;
	}
	w->nr_pieces = nr;
}

static int host_cells(struct host_walk *w)
{
	const struct cpu_track *track = w->track;
	size_t s = track->carry.has_sample ? first_sample(track, track->done + 1) : 0;
	size_t nr = queue_len(&track->samples);
	u64 base = track->carry.since;

	w->cells.cells = calloc(nr + 2, sizeof(*w->cells.cells));
	if (!w->cells.cells)
		return -ENOMEM;
	if (track->carry.has_sample) {
		w->cells.cells[w->cells.nr++] = (struct cell) { .sample = &track->carry.sample };
		w->cells.in_cell = true;
	}

	for (size_t i = 0; i < w->nr_pieces; i++) {
		const struct cpu_interval *piece = &w->pieces[i];

		if (piece->kind != CPU_TIME_SAMPLE)
			continue;
		for (; s < nr; s++) {
			const struct axis_sample *sample = queue_first(&track->samples) + s;

			if (sample->time > piece->end)
				break;
			if (sample->time < piece->start)
				continue;
			w->cells.cells[w->cells.nr++] = (struct cell) {
				.pos = base + sample->time - piece->start,
				.sample = sample,
			};
		}
		base += piece->end - piece->start;
	}
	return 0;
}

/* Tells what the CPU did in @piece, until the stop. Its start is at position @base. */
static int tell_piece(struct host_walk *w, const struct cpu_interval *piece, u64 base,
		      cpu_interval_cb cb, void *arg)
{
	u64 length = min(piece->end, w->stop) - piece->start, end;
	struct cpu_interval part = *piece;
	int ret = 0;

	if (piece->kind != CPU_TIME_SAMPLE) {
		part.end = piece->start + length;
		return cb(&part, arg);
	}
	for (u64 pos = 0; !ret && pos < length; pos = end) {
		part = *piece;
		part.sample = cells__at(&w->cells, base + pos, piece->start + pos, &end);
		if (!part.sample)
			part.kind = CPU_TIME_UNCOUNTED;
		end = end - base < length ? end - base : length;
		part.start = piece->start + pos;
		part.end = piece->start + end;
		ret = cb(&part, arg);
	}
	return ret;
}

/* Remembers the last sample that was told of, @base is the position of the stop. */
static void keep_last(struct host_walk *w, u64 base)
{
	struct cells_carry carry = { .has_sample = true };
	size_t i = w->cells.nr;

	while (i && w->cells.cells[i - 1].sample->time > w->stop)
		i--;
	if (!i)
		return;
	carry.sample = *w->cells.cells[i - 1].sample;
	carry.since = base - w->cells.cells[i - 1].pos;
	w->track->carry = carry;
}

/* Goes to the last sample: what is before it does not depend on what comes after it. */
static void go_to_last_sample(struct host_walk *w)
{
	if (w->cells.nr)
		w->stop = max(w->stop, w->cells.cells[w->cells.nr - 1].sample->time);
}

static int walk_track(struct host_walk *w, cpu_interval_cb cb, void *arg)
{
	u64 base = w->track->carry.since;
	int ret = find_taken(w);

	if (ret)
		return ret;
	add_between(w);
	ret = host_cells(w);
	if (!ret)
		go_to_last_sample(w);
	for (size_t i = 0; !ret && i < w->nr_pieces && w->pieces[i].start < w->stop; i++) {
		const struct cpu_interval *piece = &w->pieces[i];

		ret = tell_piece(w, piece, base, cb, arg);
		if (piece->kind == CPU_TIME_SAMPLE)
			base += min(piece->end, w->stop) - piece->start;
	}
	if (!ret && w->stop > w->track->done) {
		keep_last(w, base);
		w->track->done = w->stop;
	}
	free(w->cells.cells);
	free(w->pieces);
	return ret;
}

/**
 * cpu_tracks__walk - what the CPUs of the host did that have samples
 *
 * Calls @cb with intervals of each, from where it has come to, in order and without a
 * gap. A CPU whose records may be lost waits for its next one.
 * 0, -ENOMEM, or what @cb returns if that is not 0: it is not called again then.
 */
int cpu_tracks__walk(struct cpu_tracks *tracks, const struct axis_span *span,
		     const struct axis_gaps *gaps, const struct tracks_until *until,
		     cpu_interval_cb cb, void *arg)
{
	int ret = 0;

	for (u32 i = 0; !ret && i < tracks->nr_cpus; i++) {
		struct host_walk w = {
			.span = span,
			.gaps = gaps,
			.track = tracks->cpus[i],
			/*
			 * Of time further away nothing is known: a clock has not been heard,
			 * and another event has no samples where nothing ran.
			 */
			.cells.reach = 2 * span->period,
			.cells.near = span->near,
			.end = until->final ? span->end : until->occupied,
		};

		w.stop = until->final ? span->end : min(until->time, w.track->last);
		if (w.track->is_sampled && w.end > w.track->done)
			ret = walk_track(&w, cb, arg);
	}
	return ret;
}

/* Until when a CPU is not needed any more, of which all but that is not before @time */
static u64 track__forget_until(const struct cpu_track *track, u64 time)
{
	if (track->is_sampled)
		time = min(time, track->done);
	if (track->nr_named < queue_len(&track->marks))
		time = min(time, queue_first(&track->marks)[track->nr_named].time);
	return time;
}

/* Forgets what is before @time and has been told. */
void cpu_tracks__forget(struct cpu_tracks *tracks, u64 time)
{
	for (u32 i = 0; i < tracks->nr_cpus; i++) {
		struct cpu_track *track = tracks->cpus[i];
		u64 until = track__forget_until(track, time);
		size_t nr = 0;

		while (nr < track->nr_named && queue_first(&track->marks)[nr].time < time)
			nr++;
		queue_drop(&track->marks, nr);
		track->nr_named -= nr;
		queue_drop(&track->occupants, find_occupant(track, until, occupant__is_gone));
		queue_drop(&track->samples, first_sample(track, until));
		queue_trim(&track->marks);
		queue_trim(&track->occupants);
		queue_trim(&track->samples);
	}
}

/* How many samples there are after @time that are the host's */
u64 cpu_tracks__samples_after(const struct cpu_tracks *tracks, u64 time)
{
	u64 nr = 0;

	for (u32 i = 0; i < tracks->nr_cpus; i++) {
		const struct cpu_track *track = tracks->cpus[i];

		for (size_t s = 0; s < queue_len(&track->samples); s++)
			nr += queue_first(&track->samples)[s].time > time;
	}
	return nr;
}

/**
 * cpu_tracks__share - share time of waits that no sample has seen
 * @shared: of the wait
 * @time: ns
 *
 * When there is no more to come. As shares__split()
 */
int cpu_tracks__share(const struct cpu_tracks *tracks, u32 shared, u64 time, share_cb cb,
		      void *arg)
{
	const struct shared_windows *windows = &tracks->shared[shared];

	return shares__split(&tracks->cpus[windows->cpu]->shares, windows->first, time, cb, arg);
}
