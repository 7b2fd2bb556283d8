/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_SEGMENTS_H
#define __PERF_KVM_UNIFIED_RECORD_SEGMENTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>
#include <linux/types.h>

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
int segment__finish(const char *part, const char *path);
int segments__recover(const char *dir, u32 *nr);
int segments__limit(const char *dir, const struct segments_limits *limits, time_t now,
		    struct segments_dropped *dropped);
int segments__make_room(const char *dir);

#endif /* __PERF_KVM_UNIFIED_RECORD_SEGMENTS_H */
