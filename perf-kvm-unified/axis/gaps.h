/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_GAPS_H
#define __PERF_KVM_UNIFIED_AXIS_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/**
 * struct axis_gap - records of a CPU that are missing
 * @samples_only: the sampling event was throttled, all others were not
 * @silent: the CPU is not recorded: a vCPU without samples may be on it, whatever is known of it;
 *	with @samples_only, as no event is known to be lost
 * @reach: the latest end of this one and of those before it, in @entries of the CPU alone;
 *	set by axis_gaps__sort()
 */
struct axis_gap {
	u64	from;
	u64	until;
	u64	reach;
	u32	cpu;
	bool	samples_only;
	bool	silent;
};

/**
 * struct axis_gaps - the gaps of all CPUs
 * @entries: by CPU and time after axis_gaps__sort()
 * @silent: those of them that are, by time alone
 * @unsorted: that is still to be done
 */
struct axis_gaps {
	struct axis_gap *entries;
	size_t	nr, allocated;
	struct axis_gap *silent;
	size_t	nr_silent, allocated_silent;
	bool	unsorted;
};

void axis_gaps__exit(struct axis_gaps *gaps);
int axis_gaps__add(struct axis_gaps *gaps, const struct axis_gap *gap);
void axis_gaps__sort(struct axis_gaps *gaps);
void axis_gaps__forget(struct axis_gaps *gaps, u64 time);
bool axis_gaps__is_silent(const struct axis_gaps *gaps, u64 start, u64 end);
const struct axis_gap *axis_gaps__next(const struct axis_gaps *gaps, const struct axis_gap *prev,
				       u32 cpu, u64 start, u64 end);

#endif /* __PERF_KVM_UNIFIED_AXIS_GAPS_H */
