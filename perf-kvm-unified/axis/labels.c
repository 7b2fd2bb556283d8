// SPDX-License-Identifier: GPL-2.0
/*
 * What ran in KVM_RUN: what the nearest sample has hit.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/kernel.h>

#include "cells.h"
#include "intervals.h"
#include "labels.h"
#include "types.h"

static const struct axis_sample *sample_at(const struct run_labels_input *in, size_t i)
{
	return queue_first(in->samples) + i;
}

static struct vcpu_interval *state_at(const struct run_labels_input *in, size_t i)
{
	return queue_first(in->states) + i;
}

/* Each sample of the vCPU that is in a piece of KVM_RUN, after the last one of before */
static int run_cells(struct run_labels *labels, const struct run_labels_input *in,
		     struct cells *cells)
{
	size_t nr_samples = queue_len(in->samples), s = labels->nr_used;
	u64 base = labels->carry.since;

	cells->cells = calloc(nr_samples - s + 2, sizeof(*cells->cells));
	if (!cells->cells)
		return -ENOMEM;
	if (labels->carry.has_sample) {
		cells->cells[cells->nr++] = (struct cell) { .sample = &labels->carry.sample };
		cells->in_cell = true;
	}

	for (size_t i = 0; i < queue_len(in->states); i++) {
		const struct vcpu_interval *state = state_at(in, i);

		if (state->kind != VCPU_TIME_RUN)
			continue;
		for (; s < nr_samples && sample_at(in, s)->time <= state->end; s++) {
			const struct axis_sample *sample = sample_at(in, s);

			if (sample->time < state->start || !axis_sample__in_run(sample))
				continue;
			cells->cells[cells->nr++] = (struct cell) {
				.pos = base + sample->time - state->start,
				.sample = sample,
			};
		}
		base += state->end - state->start;
	}
	labels->nr_used = s;
	return 0;
}

static void interval__hit(struct vcpu_interval *interval, const struct axis_sample *sample)
{
	if (!sample)
		return;

	interval->hit = sample->hit;
	if (sample->isa) {
		interval->exit_reason = sample->exit_reason;
		interval->isa = sample->isa;
	}
	switch (sample->kind) {
	case AXIS_SAMPLE_GUEST_USER:
		interval->kind = VCPU_TIME_GUEST_USER;
		break;
	case AXIS_SAMPLE_GUEST_KERNEL:
		interval->kind = VCPU_TIME_GUEST_KERNEL;
		break;
	case AXIS_SAMPLE_EXIT:
	case AXIS_SAMPLE_VMM:
	case AXIS_SAMPLE_HOST:
	case AXIS_SAMPLE_IDLE:
	default:
		interval->kind = VCPU_TIME_EXIT;
		break;
	}
}

/* A walk over the states to be split */
struct labels_walk {
	struct cells	cells;
	u64		base;	/* position of the start of the state */
	u64		near;
	u64		done;
	bool		final;
};

/* Until when it is known what ran in @state: after the last sample, one may be to come. */
static u64 known_until(const struct labels_walk *w, const struct vcpu_interval *state)
{
	u64 until = w->done > w->near ? w->done - w->near : 0;

	if (w->final || !cells__is_last(&w->cells))
		return state->end;
	if (w->cells.nr)
		until = max(until, w->cells.cells[w->cells.nr - 1].sample->time);
	return min(state->end, until);
}

/* Splits as much of @state as can be, and takes that off. 0 or -ENOMEM */
static int split_run(struct labels_walk *w, struct vcpu_interval *state,
		     struct vcpu_intervals *out)
{
	u64 start = state->start, length = state->end - start;
	int ret = 0;

	while (!ret && state->start < state->end) {
		u64 pos = w->base + (state->start - start), end;
		struct vcpu_interval part = *state;

		interval__hit(&part, cells__at(&w->cells, pos, state->start, &end));
		end = end - w->base < length ? start + (end - w->base) : state->end;
		part.end = min(end, known_until(w, state));
		if (part.end <= part.start)
			break;
		ret = vcpu_intervals__add(out, &part);
		state->start = part.end;
	}
	w->base += state->start - start;
	return ret;
}

/* Remembers the last sample, for the states to come. */
static void keep_last(struct run_labels *labels, const struct labels_walk *w)
{
	const struct cell *last = w->cells.cells + w->cells.nr - 1;
	struct cells_carry carry = { .has_sample = true };

	if (!w->cells.nr)
		return;
	carry.sample = *last->sample;
	carry.since = w->base - last->pos;
	labels->carry = carry;
}

/**
 * run_labels__advance - split time in KVM_RUN by what the samples in it have hit
 * @final: there are no more states and samples to come
 * @out: gets all states, but for the last ones, of which it is not known yet
 *
 * 0 or -ENOMEM
 */
int run_labels__advance(struct run_labels *labels, const struct axis_span *span,
			const struct run_labels_input *in, bool final,
			struct vcpu_intervals *out)
{
	struct labels_walk w = {
		.cells.near = span->near,
		.base = labels->carry.since,
		.near = span->near,
		.done = in->done,
		.final = final,
	};
	int ret;

	if (!queue_len(in->states))
		return 0;
	ret = run_cells(labels, in, &w.cells);
	while (!ret && queue_len(in->states)) {
		struct vcpu_interval *state = state_at(in, 0);

		if (state->kind != VCPU_TIME_RUN) {
			ret = vcpu_intervals__add(out, state);
		} else {
			ret = split_run(&w, state, out);
			if (state->start < state->end)
				break;
		}
		if (!ret)
			queue_drop(in->states, 1);
	}
	if (!ret)
		keep_last(labels, &w);
	free(w.cells.cells);
	return ret;
}
