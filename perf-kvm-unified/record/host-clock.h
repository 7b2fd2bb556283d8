/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_HOST_CLOCK_H
#define __PERF_KVM_UNIFIED_RECORD_HOST_CLOCK_H

#include <stdbool.h>
#include <time.h>
#include <linux/types.h>

#include "util/tsc.h"

/**
 * struct host_clock - the clock that events have
 * @tc: makes it of the TSC, unless
 * @has_id: it is clock @id of clock_gettime()
 */
struct host_clock {
	struct perf_tsc_conversion tc;
	bool	has_id;
	clockid_t id;
};

int host_clock__open(struct host_clock *clock, const char *name);
u64 host_clock__now(const struct host_clock *clock);

#endif /* __PERF_KVM_UNIFIED_RECORD_HOST_CLOCK_H */
