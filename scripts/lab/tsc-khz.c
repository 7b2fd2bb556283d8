// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the frequency of this machine's time stamp counter in kHz, which the
 * emulated one has, too (QEMU's TCG on x86). A kernel that is told it
 * (tsc_early_khz=) need not measure it against an emulated timer, which goes wrong
 * if the emulator does not get a CPU in time.
 */
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define NSEC_PER_SEC	1000000000LL
#define NSEC_PER_MSEC	1000000LL
#define MEASURE_NS	(500 * NSEC_PER_MSEC)
/* To have one during which nothing else ran. */
#define NR_READINGS	200

struct reading {
	long long	ns;
	long long	tsc;
};

static struct reading read_both(void)
{
	struct reading best = { 0, 0 };
	long long best_width = -1;

	for (int i = 0; i < NR_READINGS; i++) {
		struct timespec ts;
		long long before = __rdtsc(), width;

		clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
		width = __rdtsc() - before;
		if (best_width >= 0 && width >= best_width)
			continue;
		best_width = width;
		best.tsc = before + width / 2;
		best.ns = ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
	}
	return best;
}

int main(void)
{
	const struct timespec wait = { .tv_nsec = MEASURE_NS };
	struct reading first = read_both(), second;

	nanosleep(&wait, NULL);
	second = read_both();
	printf("%.0f\n", (second.tsc - first.tsc) * 1e6 / (second.ns - first.ns));
	return 0;
}
