/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_CELLS_H
#define __PERF_KVM_UNIFIED_AXIS_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "types.h"

/*
 * Samples as cells: between two of them, the middle is where the one's time ends
 * and the other's begins. Positions are not times but ns of those pieces of time
 * that the samples are of, so that a sample does not reach over what lies between.
 * But two that are further from each other than axis_span.near in time have no
 * middle: the later one begins so long before itself.
 */
struct cell {
	u64	pos;
	const struct axis_sample *sample;
};

/**
 * struct cells - some samples, in the order of time
 * @cur: the one that the last position was in; @in_cell: or none, yet
 * @reach: ns; no cell is longer to either side; 0: no limit
 * @near: as in struct axis_span
 */
struct cells {
	struct cell *cells;
	size_t	nr;
	size_t	cur;
	bool	in_cell;
	u64	reach;
	u64	near;
};

/**
 * struct cells_carry - what is left of the cells before
 * @sample: the last one, if @has_sample
 * @since: ns of pieces after it
 */
struct cells_carry {
	struct axis_sample sample;
	u64	since;
	bool	has_sample;
};

static inline u64 axis_middle(u64 a, u64 b)
{
	return a + (b - a) / 2;
}

const struct axis_sample *cells__at(struct cells *c, u64 pos, u64 time, u64 *end);
bool cells__is_last(const struct cells *c);

#endif /* __PERF_KVM_UNIFIED_AXIS_CELLS_H */
