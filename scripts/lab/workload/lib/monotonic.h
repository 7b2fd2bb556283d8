/* SPDX-License-Identifier: GPL-2.0 */
/* CLOCK_MONOTONIC in ns, for programs that keep to a timetable. */
#ifndef MONOTONIC_H
#define MONOTONIC_H

#include <time.h>

#define NSEC_PER_SEC	1000000000LL

static inline long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static inline void sleep_until(long long ns)
{
	struct timespec ts = {
		.tv_sec = ns / NSEC_PER_SEC,
		.tv_nsec = ns % NSEC_PER_SEC,
	};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

#endif
