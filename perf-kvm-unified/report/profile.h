/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_PROFILE_H
#define __PERF_KVM_UNIFIED_REPORT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "kvm-unified/measure/profile-key.h"

/* What makes a row of its own; a row has no more than that. */
#define PROFILE_SORT_SYM	(1U << 0)
#define PROFILE_SORT_DSO	(1U << 1)
#define PROFILE_SORT_COMM	(1U << 2)
#define PROFILE_SORT_PID	(1U << 3)
#define PROFILE_SORT_CGROUP	(1U << 4)

/**
 * struct profile_row - a row of a table, see tables__rows()
 * @sums: by column
 * @samples: its time in periods, set by profile_rows__sort()
 */
struct profile_row {
	struct profile_key key;
	u64		sums[PROFILE_MAX_COLUMNS];
	u64		samples;
};

/**
 * struct profile - the time of one level: the host, a guest, a vCPU
 * @totals: sums of all rows, by column
 * @classes: ns, sums by class
 */
struct profile {
	u64		totals[PROFILE_MAX_COLUMNS];
	u64		classes[PROFILE_NR_CLASSES];
};

void profile__add(struct profile *p, enum profile_class class, u32 column, u64 sum);
static inline bool profile_class__is_taken(enum profile_class class)
{
	return class >= PROFILE_STEAL && class <= PROFILE_BLOCKED;
}

double percent_of(u64 part, u64 whole);
double profile__percent(const struct profile *p, u64 time);
u64 profile__samples(u64 time, u64 period);
int profile_rows__sort(struct profile_row *rows, size_t nr, u64 period);
struct profile_key profile_key__reduce(const struct profile_key *key, unsigned int sort);
const char *profile_key__class_row(const struct profile_key *key);
const char *profile_class__name(enum profile_class class);

#endif /* __PERF_KVM_UNIFIED_REPORT_PROFILE_H */
