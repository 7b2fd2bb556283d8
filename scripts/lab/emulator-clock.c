// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into the emulator of a lab's host that is on a virtual clock (-icount), for the
 * time that this host is idle.
 *
 * While the host's CPU is busy the clock counts its instructions, and is never late. While
 * it is idle the emulator sleeps until the next timer of the host is due, and then takes
 * for the host's time what has passed on the build machine's clock. If that machine has
 * other work, or is a VM whose own CPUs are taken away, the sleep ends late, by some ms,
 * and so are the host's timers: the samples of an idle CPU too, until the report has to
 * say that it is not known what was then.
 *
 * So what a sleep has been too long by is taken off the emulator's clock: one that has
 * ended by its timeout ends when it was to end. A sleep that a file descriptor ends is
 * left as it is. (With sleep=off there is no sleep at all, but then the host's time runs
 * on while a file is read for it: its boot takes 200 s of it, and 6 minutes.)
 *
 * QEMU 7.2 as Debian has it waits for its other threads by CLOCK_REALTIME, which is not
 * touched. One that does so by CLOCK_MONOTONIC would wait too short there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NSEC_PER_SEC	1000000000LL

typedef int (*clock_gettime_fn)(clockid_t clock, struct timespec *ts);
typedef int (*ppoll_fn)(struct pollfd *fds, nfds_t nr_fds, const struct timespec *timeout,
			const sigset_t *signals);

static clock_gettime_fn real_clock_gettime;
static ppoll_fn real_ppoll;
/* ns that are taken off, and the latest time that was given to anybody */
static _Atomic long long hidden, latest;

/* Other libraries' constructors may ask for the time before ours. */
__attribute__((constructor)) static void find_real(void)
{
	real_clock_gettime = (clock_gettime_fn)dlsym(RTLD_NEXT, "clock_gettime");
	real_ppoll = (ppoll_fn)dlsym(RTLD_NEXT, "ppoll");
	if (!real_clock_gettime || !real_ppoll) {
		fprintf(stderr, "emulator-clock: no clock_gettime() or ppoll() to stand in for\n");
		abort();
	}
}

static long long monotonic_ns(void)
{
	struct timespec ts;

	real_clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/*
 * A thread that has read the clock after the end of a sleep and before that is hidden has
 * been told a time which is not there yet: no one is told an earlier one.
 */
int clock_gettime(clockid_t clock, struct timespec *ts)
{
	long long now, before;

	if (!real_clock_gettime)
		find_real();
	if (clock != CLOCK_MONOTONIC)
		return real_clock_gettime(clock, ts);
	now = monotonic_ns() - hidden;
	before = latest;
	while (before < now && !atomic_compare_exchange_weak(&latest, &before, now))
		;
	if (now < before)
		now = before;
	ts->tv_sec = now / NSEC_PER_SEC;
	ts->tv_nsec = now % NSEC_PER_SEC;
	return 0;
}

int ppoll(struct pollfd *fds, nfds_t nr_fds, const struct timespec *timeout,
	  const sigset_t *signals)
{
	long long length = timeout ? timeout->tv_sec * NSEC_PER_SEC + timeout->tv_nsec : 0;
	long long start = monotonic_ns(), late;
	int rc = real_ppoll(fds, nr_fds, timeout, signals);

	late = monotonic_ns() - start - length;
	if (length && !rc && late > 0)
		hidden += late;
	return rc;
}
