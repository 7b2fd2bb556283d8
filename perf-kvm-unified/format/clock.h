/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_FORMAT_CLOCK_H
#define __PERF_KVM_UNIFIED_FORMAT_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct perf_tsc_conversion;

/**
 * struct guest_tsc - a guest's TSC by the host's: host * ratio / 2^frac_bits + offset
 * @frac_bits: of @ratio, 0 to 63; 0: not scaled
 * @known: false: the others say nothing
 */
struct guest_tsc {
	bool	known;
	u32	frac_bits;
	u64	offset;
	u64	ratio;
};

/* The guest's TSC and its CLOCK_BOOTTIME in ns, read at the same moment */
struct guest_clock_pair {
	u64	tsc;
	u64	time;
};

/**
 * struct guest_clock - a guest's clock by the host's
 * @pairs: @nr: the guest's, ascending by TSC
 * @host: of each pair, the time on the clock of the host's samples, once set
 */
struct guest_clock {
	struct guest_clock_pair *pairs;
	u64	*host;
	size_t	nr;
};

int guest_clock__add(struct guest_clock *clock, u64 tsc, u64 time);
int guest_clock__set(struct guest_clock *clock, const struct guest_tsc *tsc,
		     const struct perf_tsc_conversion *tc);
u64 guest_clock__time(const struct guest_clock *clock, u64 host);
void guest_clock__exit(struct guest_clock *clock);

bool guest_tsc__same(const struct guest_tsc *a, const struct guest_tsc *b);
bool guest_tsc__to_host(const struct guest_tsc *tsc, u64 guest, u64 *host);
u64 guest_tsc__of_host(const struct guest_tsc *tsc, u64 host);

#endif /* __PERF_KVM_UNIFIED_FORMAT_CLOCK_H */
