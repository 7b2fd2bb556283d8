// SPDX-License-Identifier: GPL-2.0
/*
 * Short-lived processes, many of them: five programs, at random, for 20 to 170 ms
 * each, RATE of them a second and so several at a time, made in three ways. It
 * keeps a log of them, for whoever wants to know what a profile had to show.
 *
 * Usage: storm LOG [RATE]     (until SIGTERM; workload.h has the log's format)
 */
#include <err.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "lib/workload.h"

static const char * const programs[] = {
	"storm-alpha", "storm-bravo", "storm-charlie", "storm-delta", "storm-echo",
};

static volatile sig_atomic_t ended;

static void on_term(int sig)
{
	(void)sig;
	ended = 1;
}

static void sleep_until(long long ns)
{
	struct timespec ts = {
		.tv_sec = ns / NSEC_PER_SEC,
		.tv_nsec = ns % NSEC_PER_SEC,
	};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

int main(int argc, char **argv)
{
	long long interval = NSEC_PER_SEC / (argc > 2 ? atoi(argv[2]) : 60);
	/* Not SA_RESTART: it also ends the sleep. */
	struct sigaction sa = { .sa_handler = on_term };
	char ms[16];
	long long next;
	int i;

	if (argc < 2)
		errx(2, "usage: %s LOG [RATE]", argv[0]);

	srand(1);
	workload_ready(argv[0]);
	sigaction(SIGTERM, &sa, NULL);

	/* By the clock, so that the rate stays what it is when it was late once. */
	next = clock_ns(CLOCK_MONOTONIC);
	for (i = 0; !ended; i++) {
		snprintf(ms, sizeof(ms), "%d", 20 + rand() % 151);
		run_child(programs[rand() % 5], ms, i % NR_HOW);
		next += interval;
		sleep_until(next);
		while (log_wait(WNOHANG))
			;
	}
	while (log_wait(0))
		;
	if (log_write(argv[1]))
		err(1, "%s", argv[1]);
	return 0;
}
