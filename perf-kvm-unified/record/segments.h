/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_SEGMENTS_H
#define __PERF_KVM_UNIFIED_RECORD_SEGMENTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>
#include <linux/types.h>

struct segment_entry;

/**
 * struct segments - those that are written, as they were when they were listed last
 * @dir: they are in
 * @left: the name of one that could not be removed
 * The rest is for segments__exit().
 */
struct segments {
	const char	*dir;
	char		left[NAME_MAX + 1];
	struct segment_entry *entries;
	size_t		nr;
};

/**
 * struct segments_limits - what is kept of the segments in a directory
 * @keep: s; none that has ended before that is kept; 0: no limit
 * @max_size: bytes on the disk, of all of them and the next one; 0: no limit
 */
struct segments_limits {
	u64	keep;
	u64	max_size;
};

/**
 * struct segments_dropped - what was removed
 * @by_age: @by_size: so many, by that limit
 */
struct segments_dropped {
	u32	by_age;
	u32	by_size;
};

void segment__paths(const char *dir, time_t start, char *part, char *path);
bool segment__has_records(const char *part);
int segments__recover(const char *dir, u32 *nr);
int segments__limit(struct segments *segs, const struct segments_limits *limits, time_t now,
		    struct segments_dropped *dropped);
int segments__make_room(struct segments *segs);
void segments__exit(struct segments *segs);

#endif /* __PERF_KVM_UNIFIED_RECORD_SEGMENTS_H */
