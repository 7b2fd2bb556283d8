/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_INSTANT_H
#define __PERF_KVM_UNIFIED_MEMORY_INSTANT_H

#include <stdbool.h>
#include <linux/types.h>

struct guest_kernel;

/**
 * struct guest_instant - a moment of the guest
 * @time: ns of its CLOCK_BOOTTIME
 * @tsc: its TSC then
 * @rate: ns that pass in 2^32 steps of its TSC
 * @has_tsc: false if these two are not known
 */
struct guest_instant {
	u64	time;
	u64	tsc;
	u64	rate;
	bool	has_tsc;
};

int guest_instant__read(struct guest_kernel *k, struct guest_instant *now);
u64 guest_instant__time_at(const struct guest_instant *instant, u64 tsc);

#endif /* __PERF_KVM_UNIFIED_MEMORY_INSTANT_H */
