// SPDX-License-Identifier: GPL-2.0
/*
 * Busy for a part of each cycle, idle for the rest of it: a known share of the
 * CPU, or, with short cycles, many timer interrupts.
 *
 * Usage: duty BUSY_US CYCLE_US     (until a signal)
 *
 * The cycles are laid out on CLOCK_MONOTONIC from the start on, so that the share
 * stays the same, whatever a single cycle loses.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/monotonic.h"

/* Where the profile shall show the time. */
static __attribute__((noinline)) void spin(void)
{
	for (volatile int i = 0; i < 1000; i++)
		;
}

int main(int argc, char **argv)
{
	long long busy = argc == 3 ? atoll(argv[1]) * 1000 : 0;
	long long cycle = argc == 3 ? atoll(argv[2]) * 1000 : 0;
	long long start;

	if (busy <= 0 || busy > cycle) {
		fprintf(stderr, "usage: %s BUSY_US CYCLE_US\n", argv[0]);
		return 2;
	}

	puts("ready");
	fflush(stdout);
	for (start = now_ns(); ; start += cycle) {
		while (now_ns() < start + busy)
			spin();
		sleep_until(start + cycle);
	}
}
