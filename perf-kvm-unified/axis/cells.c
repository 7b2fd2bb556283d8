// SPDX-License-Identifier: GPL-2.0
/*
 * Which sample stands for a moment: the nearest one.
 */
#include <linux/kernel.h>

#include "cells.h"

/* The cell after the one that the last position was in, or NULL: there is none */
static const struct cell *cells__next(const struct cells *c)
{
	size_t next = c->in_cell ? c->cur + 1 : 0;

	return next < c->nr ? &c->cells[next] : NULL;
}

/* Is there no sample after the one that the last position was in? */
bool cells__is_last(const struct cells *c)
{
	return !cells__next(c);
}

/* Where @next begins, as far as that is known from @pos, which is at @time, on */
static u64 cells__boundary(const struct cells *c, const struct cell *next, u64 pos, u64 time)
{
	const struct cell *cell = &c->cells[c->cur];
	u64 from;

	if (c->in_cell && next->sample->time - cell->sample->time <= c->near)
		return axis_middle(cell->pos, next->pos);
	from = next->sample->time > c->near ? next->sample->time - c->near : 0;
	return from > time ? pos + min_t(u64, from - time, ~0ULL - pos) : pos;
}

/**
 * cells__at - the sample whose cell @pos is in, or NULL: none
 * @pos: which must not go back
 * @time: the same as a time
 * @end: set to where that ends, if the piece of time that @pos is in does not before
 */
const struct axis_sample *cells__at(struct cells *c, u64 pos, u64 time, u64 *end)
{
	const struct cell *cell, *next;

	*end = ~0ULL;
	while ((next = cells__next(c))) {
		*end = cells__boundary(c, next, pos, time);
		if (pos < *end)
			break;
		*end = ~0ULL;
		c->cur = next - c->cells;
		c->in_cell = true;
	}
	if (!c->in_cell)
		return NULL;
	cell = &c->cells[c->cur];
	if (!c->reach)
		return cell->sample;

	/* Sums of positions and reach may be more than fits, their differences are not. */
	if (pos < cell->pos && cell->pos - pos > c->reach) {
		*end = min(*end, cell->pos - c->reach);
		return NULL;
	}
	if (pos >= cell->pos && pos - cell->pos >= c->reach)
		return NULL;
	if (*end - cell->pos > c->reach)
		*end = cell->pos + c->reach;
	return cell->sample;
}
