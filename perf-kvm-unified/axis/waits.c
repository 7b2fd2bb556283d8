// SPDX-License-Identifier: GPL-2.0
/*
 * Waits of vCPUs for a CPU, split by who had the CPU meanwhile: another vCPU, if the CPU's track
 * has it as an occupant then; else a task that signs show: a switch to it, or a sample of it.
 */
#include <linux/kernel.h>

#include "kvm-unified/lib/sort.h"
#include "cells.h"
#include "cpu-track.h"
#include "intervals.h"
#include "tracks.h"
#include "types.h"
#include "waits.h"

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
