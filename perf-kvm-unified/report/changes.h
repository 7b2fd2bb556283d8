/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_CHANGES_H
#define __PERF_KVM_UNIFIED_REPORT_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "profile.h"

/* Two profiles are compared. */
enum diff_side {
	DIFF_OLD,
	DIFF_NEW,
	DIFF_NR_SIDES
};

/**
 * struct diff_rows - the rows of a table in one profile
 * @total: ns that are all of it
 */
struct diff_rows {
	const struct profile_row *rows;
	size_t		nr;
	u64		total;
};

/**
 * struct change - what is told by one name in both profiles
 * @key: the name, without what is another one in each recording
 * @ns: how much time it had
 * @percent: of all
 * @points: by how much more that is
 * @nr_processes: so many processes of that name had some of it
 */
struct change {
	struct profile_key key;
	u64		ns[DIFF_NR_SIDES];
	double		percent[DIFF_NR_SIDES];
	double		points;
	u32		nr_processes[DIFF_NR_SIDES];
};

/* The largest change first, @nr of them */
struct changes {
	struct change	*entries;
	size_t		nr;
};

int changes__find(struct changes *changes, const struct diff_rows sides[DIFF_NR_SIDES],
		  bool keep_pids);
void changes__exit(struct changes *changes);
int change__cmp(const struct change *a, const struct change *b);

#endif /* __PERF_KVM_UNIFIED_REPORT_CHANGES_H */
