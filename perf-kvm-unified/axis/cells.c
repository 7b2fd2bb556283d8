// SPDX-License-Identifier: GPL-2.0
/*
 * Which sample stands for a moment: the nearest one.
 */
#include <linux/kernel.h>

#include "cells.h"

/* The sample whose cell @pos is in, or NULL, until @end. @pos must not go back. */
const struct axis_sample *cells__at(struct cells *c, u64 pos, u64 *end)
{
	const struct cell *cell;

	*end = ~0ULL;
	if (!c->nr)
		return NULL;

	while (c->cur + 1 < c->nr &&
	       pos >= axis_middle(c->cells[c->cur].pos, c->cells[c->cur + 1].pos))
		c->cur++;
	cell = &c->cells[c->cur];
	if (c->cur + 1 < c->nr)
		*end = axis_middle(cell->pos, c->cells[c->cur + 1].pos);
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
