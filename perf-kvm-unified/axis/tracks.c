// SPDX-License-Identifier: GPL-2.0
/*
 * The host's CPUs: who had each of them, and what it did otherwise.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "kvm-unified/lib/sort.h"
#include "cells.h"
#include "gaps.h"
#include "intervals.h"
#include "runs.h"
#include "shares.h"
#include "tracks.h"
#include "types.h"
#include "vcpu.h"

/* A vCPU that had a CPU */
struct occupant {
	u64	start;
	u64	end;
	u32	vcpu;
	bool	guest;	/* ... and was in the guest */
};

/*
 * A task that got a CPU from @vcpu. Others may have had it from that one before a vCPU
 * did again: see marks__share().
 */
struct mark {
	u64	time;
	u32	task;
	u32	vcpu;
};

/* All that is known of a CPU, in the order of time */
struct cpu_track {
	struct occupant *occupants;
	size_t	nr_occupants;
	struct mark *marks;
	size_t	nr_marks;
	const struct axis_sample *samples;
	size_t	nr_samples;
};

void cpu_tracks__exit(struct cpu_tracks *tracks)
{
	for (u32 i = 0; i < tracks->nr_cpus; i++) {
		free(tracks->cpus[i].occupants);
		free(tracks->cpus[i].marks);
	}
	zfree(&tracks->cpus);
	tracks->nr_cpus = 0;
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
	       sort_cmp(a->task, b->task);
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
		event->state == VCPU_STATE_HALTED);
}

static u32 count_cpus(const struct cpu_tracks_input *in)
{
	u32 nr = in->nr_cpus;

	for (u32 v = 0; v < in->nr_vcpus; v++) {
		for (size_t i = 0; i < in->vcpus[v].nr_events; i++)
			nr = max(nr, in->vcpus[v].events[i].cpu + 1);
	}
	return nr;
}

/* Adds the vCPU's intervals to the CPUs that it was on; sizes alone if @count. */
static void fill_occupants(struct cpu_tracks *tracks, const struct vcpu_intervals *list, u32 vcpu,
			   bool count)
{
	for (size_t i = 0; i < list->nr; i++) {
		const struct vcpu_interval *interval = &list->entries[i];
		struct cpu_track *track;

		if (!interval__has_cpu(interval) || interval->cpu >= tracks->nr_cpus)
			continue;
		track = &tracks->cpus[interval->cpu];
		if (!count)
			track->occupants[track->nr_occupants] = (struct occupant) {
				.start = interval->start,
				.end = interval->end,
				.vcpu = vcpu,
				.guest = interval__is_guest(interval),
			};
		track->nr_occupants++;
	}
}

/* The same of its switches to tasks */
static void fill_marks(struct cpu_tracks *tracks, const struct axis_vcpu *vcpu, bool count)
{
	for (size_t i = 0; i < vcpu->nr_events; i++) {
		const struct axis_event *event = &vcpu->events[i];
		struct cpu_track *track = &tracks->cpus[event->cpu];

		if (!event__is_switch(event))
			continue;
		if (!count)
			track->marks[track->nr_marks] = (struct mark) {
				.time = event->time,
				.task = event->next_task,
				.vcpu = event->vcpu,
			};
		track->nr_marks++;
	}
}

/* Sizes first, then the same again with memory to write to */
static void fill_tracks(struct cpu_tracks *tracks, const struct cpu_tracks_input *in, bool count)
{
	for (u32 i = 0; i < tracks->nr_cpus; i++) {
		tracks->cpus[i].nr_occupants = 0;
		tracks->cpus[i].nr_marks = 0;
	}
	for (u32 v = 0; v < in->nr_vcpus; v++) {
		fill_occupants(tracks, &in->vcpus[v].intervals, v, count);
		fill_marks(tracks, &in->vcpus[v], count);
	}
}

/* One vCPU's have come after the other's: each CPU has few runs of them. 0 or -ENOMEM */
static int cpu_track__sort(struct cpu_track *track)
{
	int ret = sort_runs(track->occupants, track->nr_occupants, sizeof(*track->occupants),
			    occupant__cmp);

	return ret ?: sort_runs(track->marks, track->nr_marks, sizeof(*track->marks), mark__cmp);
}

/*
 * A CPU has one occupant at a time. Where samples of two vCPUs say otherwise, or a
 * missing event, the first one stays.
 */
static void clip_occupants(struct cpu_track *track)
{
	u64 end = 0;
	size_t nr = 0;

	for (size_t i = 0; i < track->nr_occupants; i++) {
		struct occupant *o = &track->occupants[i];

		o->start = max(o->start, end);
		if (o->start >= o->end)
			continue;
		end = o->end;
		track->occupants[nr++] = *o;
	}
	track->nr_occupants = nr;
}

static bool sample__is_before(const void *sample, const void *time)
{
	return ((const struct axis_sample *)sample)->time < *(const u64 *)time;
}

/* The time from a mark until a vCPU has the CPU again, or the next mark */
struct window {
	u64	start;
	u64	end;
	u32	vcpu;
	size_t	sample;	/* the first that is not before it */
};

/* @occupant: of the window before, 0 at first */
static struct window window_of(const struct axis_span *span, const struct cpu_track *track,
			       size_t mark, size_t *occupant)
{
	struct window w = {
		.start = track->marks[mark].time,
		.end = span->end,
		.vcpu = track->marks[mark].vcpu,
	};

	while (*occupant < track->nr_occupants && track->occupants[*occupant].start < w.start)
		++*occupant;
	if (*occupant < track->nr_occupants)
		w.end = track->occupants[*occupant].start;
	if (mark + 1 < track->nr_marks)
		w.end = min(w.end, track->marks[mark + 1].time);
	w.end = max(w.end, w.start);
	w.sample = sort_find(track->samples, track->nr_samples, sizeof(*track->samples),
			     &w.start, sample__is_before);
	return w;
}

/* Of a task, or another vCPU's thread, that had the CPU while @vcpu did not */
static bool sample__is_of_other(const struct axis_sample *sample, u32 vcpu)
{
	return !axis_sample__is_guest(sample) && sample->vcpu != vcpu;
}

/* The next sample of a task in the window, from number @i on; NULL: no more */
static const struct axis_sample *window__sample(const struct window *w,
						const struct cpu_track *track, size_t *i)
{
	while (*i < track->nr_samples && track->samples[*i].time < w->end) {
		const struct axis_sample *sample = &track->samples[(*i)++];

		if (sample__is_of_other(sample, w->vcpu) && sample->task != TIME_AXIS_NONE)
			return sample;
	}
	return NULL;
}

/* What the samples say of the windows that have some. 0 or -ENOMEM */
static int marks__learn(const struct axis_span *span, const struct cpu_track *track,
			struct shares *shares)
{
	size_t occupant = 0;
	int ret = 0;

	for (size_t m = 0; !ret && m < track->nr_marks; m++) {
		const struct window w = window_of(span, track, m, &occupant);
		const struct axis_sample *sample;
		u32 first = track->marks[m].task;
		size_t i = w.sample, nr = 0;

		while (window__sample(&w, track, &i))
			nr++;
		ret = shares__add_window(shares, first, nr, w.end - w.start);
		i = w.sample;
		while (!ret && (sample = window__sample(&w, track, &i)))
			ret = shares__add_sample(shares, first, sample->task,
						 (w.end - w.start) / nr);
	}
	return ret;
}

/*
 * Says of each window whose it is: its samples decide alone, where it has some; what has
 * none is shared. 0 or -ENOMEM
 */
static int marks__share(const struct axis_span *span, struct cpu_track *track)
{
	struct shares shares = { };
	size_t occupant = 0;
	int ret;

	ret = shares__init(&shares) ?: marks__learn(span, track, &shares);
	for (size_t m = 0; !ret && m < track->nr_marks; m++) {
		const struct window w = window_of(span, track, m, &occupant);
		size_t i = w.sample;
		const struct axis_sample *sample = window__sample(&w, track, &i);

		track->marks[m].task = sample ? sample->task :
			shares__pick(&shares, track->marks[m].task, w.end - w.start);
	}
	shares__exit(&shares);
	return ret;
}

/* 0 or -ENOMEM; cpu_tracks__exit() in any case */
int cpu_tracks__init(struct cpu_tracks *tracks, const struct axis_span *span,
		     const struct cpu_tracks_input *in)
{
	u32 nr = count_cpus(in);

	tracks->cpus = calloc(nr + 1, sizeof(*tracks->cpus));
	if (!tracks->cpus)
		return -ENOMEM;
	tracks->nr_cpus = nr;

	fill_tracks(tracks, in, /*count=*/true);
	for (u32 i = 0; i < nr; i++) {
		struct cpu_track *track = &tracks->cpus[i];

		track->occupants = calloc(track->nr_occupants + 1, sizeof(*track->occupants));
		track->marks = calloc(track->nr_marks + 1, sizeof(*track->marks));
		if (!track->occupants || !track->marks)
			return -ENOMEM;
	}
	fill_tracks(tracks, in, /*count=*/false);
	for (u32 i = 0; i < nr; i++) {
		struct cpu_track *track = &tracks->cpus[i];

		if (cpu_track__sort(track))
			return -ENOMEM;
		clip_occupants(track);
	}
	for (u32 i = 0; i < in->nr_cpus; i++) {
		tracks->cpus[i].samples = in->cpus[i].samples;
		tracks->cpus[i].nr_samples = in->cpus[i].nr_samples;
	}
	/* Of single tasks, those that are sampled would get what others have had. */
	for (u32 i = 0; i < nr && !span->per_task; i++) {
		if (marks__share(span, &tracks->cpus[i]))
			return -ENOMEM;
	}
	return 0;
}

/* What shows which task had the CPU: a switch to it, or a sample of it */
struct sign {
	u64	time;
	u32	task;
	bool	exact;	/* it got the CPU just then */
	bool	idle;
};

/* A walk over the signs of a CPU that leaves out those of one vCPU */
struct signs {
	const struct cpu_track *track;
	u32	vcpu;
	size_t	mark;
	size_t	sample;
};

static bool signs__next(struct signs *walk, u64 end, struct sign *sign)
{
	const struct cpu_track *track = walk->track;
	const struct axis_sample *sample = NULL;

	for (; walk->sample < track->nr_samples; walk->sample++) {
		sample = &track->samples[walk->sample];
		if (sample->time >= end) {
			sample = NULL;
			break;
		}
		if (sample__is_of_other(sample, walk->vcpu))
			break;
		sample = NULL;
	}
	if (walk->mark < track->nr_marks && track->marks[walk->mark].time < end &&
	    (!sample || track->marks[walk->mark].time <= sample->time)) {
		*sign = (struct sign) {
			.time = track->marks[walk->mark].time,
			.task = track->marks[walk->mark].task,
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
		.idle = sample->kind == AXIS_SAMPLE_IDLE,
	};
	walk->sample++;
	return true;
}

static bool mark__is_before(const void *mark, const void *time)
{
	return ((const struct mark *)mark)->time < *(const u64 *)time;
}

/* Begins @walk anew, with the first sign from @time on. */
static bool signs__first(struct signs *walk, u64 time, u64 end, struct sign *sign)
{
	const struct cpu_track *track = walk->track;

	walk->mark = sort_find(track->marks, track->nr_marks, sizeof(*track->marks), &time,
			       mark__is_before);
	walk->sample = sort_find(track->samples, track->nr_samples, sizeof(*track->samples),
				 &time, sample__is_before);
	return signs__next(walk, end, sign);
}

/*
 * A task had the CPU, or it is not known which. From samples alone, a CPU that
 * idles says that the vCPU did not want to run; a clock that has not given a
 * sample where it should have given some says nothing.
 */
static void interval__by_task(const struct axis_span *span, struct vcpu_interval *interval,
			      const struct sign *sign)
{
	if (sign) {
		interval->task = sign->task;
		if (!span->timeline && sign->idle)
			interval->kind = VCPU_TIME_HALTED;
	} else if (!span->timeline) {
		interval->kind = span->clock ? VCPU_TIME_LOST : VCPU_TIME_HALTED;
	}
}

/*
 * From @start to @end, in which no vCPU had the CPU. @sign: the first that @walk has
 * given of that time, or NULL: there is none
 */
static int add_by_tasks(const struct axis_span *span, const struct vcpu_interval *wait,
			struct signs *walk, const struct sign *sign, u64 start, u64 end,
			struct vcpu_intervals *out)
{
	struct vcpu_interval part = *wait;
	struct sign this, next;
	int ret;

	while (sign && signs__next(walk, end, &next)) {
		u64 until = next.exact ? next.time : axis_middle(sign->time, next.time);

		part = *wait;
		interval__by_task(span, &part, sign);
		part.start = start;
		part.end = max(until, start);
		ret = vcpu_intervals__add(out, &part);
		if (ret)
			return ret;
		start = part.end;
		this = next;
		sign = &this;
	}
	part = *wait;
	interval__by_task(span, &part, sign);
	part.start = start;
	part.end = end;
	return vcpu_intervals__add(out, &part);
}

static bool occupant__is_gone(const void *occupant, const void *time)
{
	return ((const struct occupant *)occupant)->end <= *(const u64 *)time;
}

/**
 * cpu_tracks__split_wait - split a wait for a CPU by who had the CPU
 * @wait: an interval of vCPU @self, with a CPU that there is
 * @out: gets the parts
 *
 * From samples alone, a vCPU has what is before its first sample, if nobody else
 * was seen there. 0 or -ENOMEM
 */
int cpu_tracks__split_wait(const struct cpu_tracks *tracks, const struct axis_span *span,
			   const struct vcpu_interval *wait, u32 self,
			   struct vcpu_intervals *out)
{
	const struct cpu_track *track = &tracks->cpus[wait->cpu];
	struct signs walk = { .track = track, .vcpu = self };
	u32 prev = TIME_AXIS_NONE;
	u64 pos = wait->start;
	struct sign sign;
	bool has_sign;
	int ret = 0;
	size_t i;

	i = sort_find(track->occupants, track->nr_occupants, sizeof(*track->occupants), &pos,
		      occupant__is_gone);
	for (; !ret && pos < wait->end && i < track->nr_occupants; i++) {
		const struct occupant *o = &track->occupants[i];
		struct vcpu_interval part = *wait;

		if (o->start >= wait->end)
			break;
		if (o->vcpu == self || o->end <= pos)
			continue;
		has_sign = o->start > pos && signs__first(&walk, pos, o->start, &sign);
		if (o->start > pos && (span->timeline || has_sign)) {
			ret = add_by_tasks(span, wait, &walk, has_sign ? &sign : NULL, pos,
					   o->start, out);
			pos = o->start;
		}
		part.start = pos;
		part.end = min(wait->end, o->end);
		part.vcpu = o->vcpu;
		if (!ret)
			ret = vcpu_intervals__add(out, &part);
		pos = part.end;
		prev = o->vcpu;
	}
	if (ret || pos >= wait->end)
		return ret;
	has_sign = signs__first(&walk, pos, wait->end, &sign);
	/* The one before may have had it for less than it takes to get a sample. */
	if (!span->timeline && prev != TIME_AXIS_NONE && wait->end - pos < span->period &&
	    !has_sign) {
		struct vcpu_interval part = *wait;

		part.start = pos;
		part.vcpu = prev;
		return vcpu_intervals__add(out, &part);
	}
	return add_by_tasks(span, wait, &walk, has_sign ? &sign : NULL, pos, wait->end, out);
}

static int piece__cmp(const void *_a, const void *_b)
{
	const struct cpu_interval *a = _a, *b = _b;

	return sort_cmp(a->start, b->start) ?:
	       sort_cmp(a->end, b->end) ?:
	       sort_cmp(a->kind, b->kind) ?:
	       sort_cmp(a->vcpu, b->vcpu);
}

/* Guests and gaps of a CPU: what is not the time of its own samples */
static struct cpu_interval *taken_pieces(const struct cpu_track *track,
					 const struct axis_span *span,
					 const struct axis_gaps *gaps, u32 cpu, size_t *nr)
{
	const struct axis_gap *gap = NULL;
	struct cpu_interval *pieces;
	size_t nr_gaps = 0;

	while ((gap = axis_gaps__next(gaps, gap, cpu, span->start, span->end)))
		nr_gaps++;
	pieces = calloc(track->nr_occupants + nr_gaps + 1, sizeof(*pieces));
	if (!pieces)
		return NULL;

	*nr = 0;
	for (size_t i = 0; i < track->nr_occupants; i++) {
		const struct occupant *o = &track->occupants[i];

		if (o->guest)
			pieces[(*nr)++] = (struct cpu_interval) {
				.start = o->start,
				.end = o->end,
				.kind = CPU_TIME_GUEST,
				.vcpu = o->vcpu,
			};
	}
	while ((gap = axis_gaps__next(gaps, gap, cpu, span->start, span->end)))
		pieces[(*nr)++] = (struct cpu_interval) {
			.start = max(gap->from, span->start),
			.end = min(gap->until, span->end),
			.kind = CPU_TIME_LOST,
			.vcpu = TIME_AXIS_NONE,
		};
	sort_array(pieces, *nr, sizeof(*pieces), piece__cmp);
	return pieces;
}

/* The whole measurement in pieces: @taken, and what lies between them */
static struct cpu_interval *all_pieces(const struct axis_span *span,
				       const struct cpu_interval *taken, size_t nr_taken,
				       size_t *nr)
{
	struct cpu_interval *pieces = calloc(2 * nr_taken + 1, sizeof(*pieces));
	u64 pos = span->start;

	if (!pieces)
		return NULL;

	*nr = 0;
	for (size_t i = 0; i < nr_taken; i++) {
		struct cpu_interval piece = taken[i];

		if (piece.start > pos) {
			pieces[(*nr)++] = (struct cpu_interval) {
				.start = pos,
				.end = piece.start,
				.kind = CPU_TIME_SAMPLE,
			};
			pos = piece.start;
		}
		if (piece.end <= pos)
			continue;
		piece.start = pos;
		pieces[(*nr)++] = piece;
		pos = piece.end;
	}
	if (pos < span->end)
		pieces[(*nr)++] = (struct cpu_interval) {
			.start = pos,
			.end = span->end,
			.kind = CPU_TIME_SAMPLE,
		};
	return pieces;
}

static int host_cells(const struct cpu_track *track, const struct cpu_interval *pieces,
		      size_t nr, struct cells *cells)
{
	u64 base = 0;
	size_t s = 0;

	cells->cells = calloc(track->nr_samples + 1, sizeof(*cells->cells));
	if (!cells->cells)
		return -ENOMEM;

	for (size_t i = 0; i < nr; i++) {
		const struct cpu_interval *piece = &pieces[i];

		if (piece->kind != CPU_TIME_SAMPLE)
			continue;
		for (; s < track->nr_samples && track->samples[s].time <= piece->end; s++) {
			const struct axis_sample *sample = &track->samples[s];

			if (sample->time < piece->start || axis_sample__is_guest(sample))
				continue;
			cells->cells[cells->nr++] = (struct cell) {
				.pos = base + sample->time - piece->start,
				.sample = sample,
			};
		}
		base += piece->end - piece->start;
	}
	return 0;
}

static int emit_piece(const struct cpu_interval *piece, u64 base, struct cells *cells,
		      cpu_interval_cb cb, void *arg)
{
	u64 length = piece->end - piece->start, end;
	int ret = 0;

	if (piece->kind != CPU_TIME_SAMPLE)
		return cb(piece, arg);

	for (u64 pos = 0; !ret && pos < length; pos = end) {
		struct cpu_interval part = *piece;

		part.sample = cells__at(cells, base + pos, &end);
		if (!part.sample)
			part.kind = CPU_TIME_UNCOUNTED;
		end = end - base < length ? end - base : length;
		part.start = piece->start + pos;
		part.end = piece->start + end;
		ret = cb(&part, arg);
	}
	return ret;
}

/**
 * cpu_tracks__walk - what CPU @cpu of the host did
 *
 * Calls @cb with intervals from the start to the end of the axis, in order and
 * without a gap, until it returns something other than 0, which is returned.
 * -ENOMEM; -ENOENT for a CPU of which there is nothing.
 */
int cpu_tracks__walk(const struct cpu_tracks *tracks, const struct axis_span *span,
		     const struct axis_gaps *gaps, u32 cpu, cpu_interval_cb cb, void *arg)
{
	/*
	 * Of time further away nothing is known: a clock has not been heard, and
	 * another event has no samples where nothing ran.
	 */
	struct cells cells = { .reach = 2 * span->period };
	struct cpu_interval *taken, *pieces = NULL;
	size_t nr_taken, nr = 0;
	u64 base = 0;
	int ret = -ENOMEM;

	if (cpu >= tracks->nr_cpus)
		return -ENOENT;

	taken = taken_pieces(&tracks->cpus[cpu], span, gaps, cpu, &nr_taken);
	if (taken)
		pieces = all_pieces(span, taken, nr_taken, &nr);
	if (pieces)
		ret = host_cells(&tracks->cpus[cpu], pieces, nr, &cells);
	for (size_t i = 0; !ret && i < nr; i++) {
		ret = emit_piece(&pieces[i], base, &cells, cb, arg);
		if (pieces[i].kind == CPU_TIME_SAMPLE)
			base += pieces[i].end - pieces[i].start;
	}
	free(cells.cells);
	free(pieces);
	free(taken);
	return ret;
}
