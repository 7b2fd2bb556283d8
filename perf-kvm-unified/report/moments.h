/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_MOMENTS_H
#define __PERF_KVM_UNIFIED_REPORT_MOMENTS_H

#include <stdbool.h>
#include <linux/types.h>

#include "over-time.h"
#include "stalls.h"

struct measurement;
struct patterns;

/**
 * struct moments - what is told of parts of the time, and of single waits
 * @zero: when "seconds since the start" are 0
 * @problem: why that cannot be told, or ""
 */
struct moments {
	u64		zero;
	struct over_time over_time;
	struct stalls	stalls;
	bool		begun;
	char		problem[160];
};

void moments__begin(struct moments *moments, const struct measurement *m, u64 interval);
int moments__add(struct moments *moments, const struct time_piece *piece);
int moments__finish(struct moments *moments, const struct measurement *m, u64 interval,
		    struct patterns *thieves);
void moments__exit(struct moments *moments);
double moments__since(const struct moments *moments, u64 time);

#endif /* __PERF_KVM_UNIFIED_REPORT_MOMENTS_H */
