// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into the emulator of a lab's host that is on a virtual clock (-icount), for the
 * time that this host is idle.
 *
 * While the host's CPU is busy the clock counts its instructions, and is never late. While
 * it is idle the emulator's main loop sleeps until the next timer of the host is due, and
 * then takes for the host's time what has passed on the build machine's clock. If that
 * machine has other work, or is a VM whose own CPUs are taken away, the host's timers would
 * be late by some ms, or 100: the samples of an idle CPU too, until the report has to say
 * that it is not known what was then.
 *
 * So the emulator's clock runs while its main loop sleeps, and at no other time, from the
 * begin of a sleep to its timeout, or until another thread ends the sleep by writing to
 * a file descriptor that is waited for: how long the main loop then takes to have a CPU is
 * not the host's time. (With sleep=off there is no sleep at all, but then the host's time
 * runs on while a file is read for it: its boot takes 200 s of it, and 6 minutes.)
 *
 * QEMU 7.2 as Debian has it waits for its other threads by CLOCK_REALTIME, which is not
 * touched. One that does so by CLOCK_MONOTONIC would wait for longer there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NSEC_PER_SEC	1000000000LL

/*
 * The main loop never sleeps for longer at once. QEMU's threads can miss each other: all CPUs are
 * halted, and the main loop sleeps without the timer that is to wake up the first of them, until
 * the next one that it knows of, the RTC's, a day later. Awake, it finds that timer. On the
 * host's clock nothing has passed.
 */
#define LONGEST_SLEEP	(NSEC_PER_SEC / 10)

typedef int (*clock_gettime_fn)(clockid_t clock, struct timespec *ts);
typedef int (*ppoll_fn)(struct pollfd *fds, nfds_t nr_fds, const struct timespec *timeout,
			const sigset_t *signals);
typedef ssize_t (*write_fn)(int fd, const void *buf, size_t count);

static clock_gettime_fn real_clock_gettime;
static ppoll_fn real_ppoll;
static write_fn real_write;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The emulator's time in ns; of a sleep, when it began */
static long long stood_at;
/* The main loop's sleep: when it began and its end at the latest, in the machine's ns */
static bool sleeping;
static long long begin, end;
/* What it waits for */
static const struct pollfd *awaited;
static nfds_t nr_awaited;

static long long to_ns(const struct timespec *ts)
{
	return ts->tv_sec * NSEC_PER_SEC + ts->tv_nsec;
}

static long long monotonic_ns(void)
{
	struct timespec ts;

	real_clock_gettime(CLOCK_MONOTONIC, &ts);
	return to_ns(&ts);
}

/* Other libraries' constructors may ask for the time before ours. */
__attribute__((constructor)) static void find_real(void)
{
	if (real_clock_gettime)
		return;
	real_ppoll = (ppoll_fn)dlsym(RTLD_NEXT, "ppoll");
	real_write = (write_fn)dlsym(RTLD_NEXT, "write");
	real_clock_gettime = (clock_gettime_fn)dlsym(RTLD_NEXT, "clock_gettime");
	if (!real_clock_gettime || !real_ppoll || !real_write) {
		fprintf(stderr, "emulator-clock: nothing to stand in for\n");
		abort();
	}
	stood_at = monotonic_ns();
}

/* With the lock */
static long long emulator_ns(void)
{
	long long now;

	if (!sleeping)
		return stood_at;
	now = monotonic_ns();
	return stood_at + (now < end ? now : end) - begin;
}

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	long long now;

	find_real();
	if (clock != CLOCK_MONOTONIC)
		return real_clock_gettime(clock, ts);
	pthread_mutex_lock(&lock);
	now = emulator_ns();
	pthread_mutex_unlock(&lock);
	ts->tv_sec = now / NSEC_PER_SEC;
	ts->tv_nsec = now % NSEC_PER_SEC;
	return 0;
}

int ppoll(struct pollfd *fds, nfds_t nr_fds, const struct timespec *timeout,
	  const sigset_t *signals)
{
	static const struct timespec longest = { .tv_nsec = LONGEST_SLEEP };
	int rc;

	/* The main loop is the first thread's. */
	if (gettid() != getpid())
		return real_ppoll(fds, nr_fds, timeout, signals);

	if (!timeout || to_ns(timeout) > LONGEST_SLEEP)
		timeout = &longest;
	pthread_mutex_lock(&lock);
	begin = monotonic_ns();
	end = begin + to_ns(timeout);
	awaited = fds;
	nr_awaited = nr_fds;
	sleeping = true;
	pthread_mutex_unlock(&lock);

	rc = real_ppoll(fds, nr_fds, timeout, signals);

	pthread_mutex_lock(&lock);
	stood_at = emulator_ns();
	sleeping = false;
	pthread_mutex_unlock(&lock);
	return rc;
}

/* Another thread ends the main loop's sleep. */
ssize_t write(int fd, const void *buf, size_t count)
{
	nfds_t i;

	find_real();
	pthread_mutex_lock(&lock);
	for (i = 0; sleeping && i < nr_awaited; i++) {
		long long now;

		if (awaited[i].fd != fd)
			continue;
		now = monotonic_ns();
		if (end > now)
			end = now;
		break;
	}
	pthread_mutex_unlock(&lock);
	return real_write(fd, buf, count);
}
