/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_CELLS_H
#define __PERF_KVM_UNIFIED_AXIS_CELLS_H

#include <stddef.h>
#include <linux/types.h>

struct axis_sample;

/*
 * Samples as cells: between two of them, the middle is where the one's time ends
 * and the other's begins. Positions are not times but ns of those pieces of time
 * that the samples are of, so that a sample does not reach over what lies between.
 */
struct cell {
	u64	pos;
	const struct axis_sample *sample;
};

struct cells {
	struct cell *cells;
	size_t	nr;
	size_t	cur;
	u64	reach;		/* no cell is longer to either side; 0: no limit */
};

static inline u64 axis_middle(u64 a, u64 b)
{
	return a + (b - a) / 2;
}

const struct axis_sample *cells__at(struct cells *c, u64 pos, u64 *end);

#endif /* __PERF_KVM_UNIFIED_AXIS_CELLS_H */
