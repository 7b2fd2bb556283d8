// SPDX-License-Identifier: GPL-2.0
/*
 * A guest's clock by that of the host's samples. Host and guest read the same
 * counter, and KVM knows what it adds to it and how it scales it for the guest:
 * so no message between the two has to be timed.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/zalloc.h>

#include "util/tsc.h"
#include "kvm-unified/lib/sort.h"
#include "clock.h"
#include "spaces.h"

/* Looks at a clock every few seconds for a day; more is not a guest's clock. */
#define MAX_PAIRS		65536

/*
 * NTP corrects a clock by at most 500 ppm (kernel/time/ntp.c: MAXFREQ), here host's and
 * guest's.
 */
#define MAX_SLEW		1000

bool guest_tsc__same(const struct guest_tsc *a, const struct guest_tsc *b)
{
	return a->known == b->known && a->offset == b->offset &&
	       a->frac_bits == b->frac_bits && a->ratio == b->ratio;
}

/*
 * The host's TSC when the guest's was @guest. False if the scaling is nonsense.
 * Intel SDM volume 3, "Time-Stamp Counter Offset and Scaling"; AMD APM volume 2,
 * "TSC Ratio MSR".
 */
bool guest_tsc__to_host(const struct guest_tsc *tsc, u64 guest, u64 *host)
{
	u64 scaled = guest - tsc->offset;

	*host = scaled;
	if (!tsc->known || tsc->frac_bits > 63)
		return false;
	if (!tsc->frac_bits || tsc->ratio == 1ULL << tsc->frac_bits)
		return true;
	/* The quotient has to fit 64 bits. */
	if (scaled >> (64 - tsc->frac_bits) >= tsc->ratio)
		return false;
	*host = mul_u64_u64_div64(scaled, 1ULL << tsc->frac_bits, tsc->ratio);
	return true;
}

/* The guest's TSC when the host's is @host; 0: not known */
u64 guest_tsc__of_host(const struct guest_tsc *tsc, u64 host)
{
	if (!tsc->known || tsc->frac_bits > 63)
		return 0;
	if (tsc->frac_bits)
		host = mul_u64_u64_div64(host, tsc->ratio, 1ULL << tsc->frac_bits);
	return host + tsc->offset;
}

/* 0, -ENOMEM, or -EINVAL: a clock does not go back, nor is it asked that often */
int guest_clock__add(struct guest_clock *clock, u64 tsc, u64 time)
{
	struct guest_clock_pair *pairs;

	if (clock->nr == MAX_PAIRS ||
	    (clock->nr && (tsc <= clock->pairs[clock->nr - 1].tsc ||
			   time < clock->pairs[clock->nr - 1].time)))
		return -EINVAL;

	pairs = reallocarray(clock->pairs, clock->nr + 1, sizeof(*pairs));
	if (!pairs)
		return -ENOMEM;
	clock->pairs = pairs;
	pairs[clock->nr++] = (struct guest_clock_pair) { .tsc = tsc, .time = time };
	return 0;
}

/**
 * guest_clock__set - say what the guest's TSC is in the host's time
 * @tsc: from KVM
 * @tc: from the host's perf, TSC to the clock of its samples
 *
 * Returns 0, -ENODATA if one of them, or the guest's own clock, is not known, or
 * -ENOMEM.
 */
int guest_clock__set(struct guest_clock *clock, const struct guest_tsc *tsc,
		     const struct perf_tsc_conversion *tc)
{
	u64 *host;

	if (!clock->nr || !tsc->known || !tc->cap_user_time_zero || !tc->time_mult ||
	    tc->time_shift > 63)
		return -ENODATA;

	host = calloc(clock->nr, sizeof(*host));
	if (!host)
		return -ENOMEM;
	for (size_t i = 0; i < clock->nr; i++) {
		struct perf_tsc_conversion conversion = *tc;
		u64 host_tsc;

		if (!guest_tsc__to_host(tsc, clock->pairs[i].tsc, &host_tsc)) {
			free(host);
			return -ENODATA;
		}
		host[i] = tsc_to_perf_time(host_tsc, &conversion);
		if (i && host[i] <= host[i - 1]) {
			free(host);
			return -ENODATA;
		}
	}
	free(clock->host);
	clock->host = host;
	return 0;
}

static bool is_not_later(const void *entry, const void *key)
{
	return *(const u64 *)entry <= *(const u64 *)key;
}

/**
 * guest_clock__time - the guest's CLOCK_BOOTTIME
 * @host: when, in the time of the host's samples
 *
 * Both run at one rate but for the corrections of NTP, in both: what one is ahead
 * of the other is interpolated between two pairs, and kept before the first and
 * after the last. GUEST_TIME_NONE without guest_clock__set(), and where the guest's
 * clock was set, or the guest was stopped: it is not known when it was.
 */
u64 guest_clock__time(const struct guest_clock *clock, u64 host)
{
	const struct guest_clock_pair *pair;
	size_t low;
	u64 ahead, span;	/* ahead of the host's, or behind it, as it wraps */
	s64 change;

	if (!clock->host)
		return GUEST_TIME_NONE;

	/* The last pair that is not later, or the first */
	low = sort_find(clock->host, clock->nr, sizeof(*clock->host), &host, is_not_later);
	if (low)
		low--;

	pair = &clock->pairs[low];
	ahead = pair->time - clock->host[low];
	if (host > clock->host[low] && low + 1 < clock->nr) {
		span = clock->host[low + 1] - clock->host[low];
		change = pair[1].time - clock->host[low + 1] - ahead;
		if (change > (s64)(span / MAX_SLEW) || change < -(s64)(span / MAX_SLEW))
			return GUEST_TIME_NONE;
		ahead += (s64)((double)change * (host - clock->host[low]) / span);
	}
	return host + ahead;
}

void guest_clock__exit(struct guest_clock *clock)
{
	zfree(&clock->pairs);
	zfree(&clock->host);
	clock->nr = 0;
}
