// SPDX-License-Identifier: GPL-2.0
/*
 * What each CPU of the host did: it ran a guest where its track has a vCPU that was in the guest;
 * where records are missing, that is not known; else, it did what the nearest of its own samples
 * has hit.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/kernel.h>

#include "kvm-unified/lib/sort.h"
#include "cells.h"
#include "cpu-track.h"
#include "gaps.h"
#include "host-walk.h"
#include "tracks.h"
#include "types.h"

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
