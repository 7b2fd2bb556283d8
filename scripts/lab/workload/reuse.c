// SPDX-License-Identifier: GPL-2.0
/*
 * One short-lived process after the other, of two programs at random, on one CPU:
 * there, the page of the top-level page table that the last one gave back is the
 * one that the next gets, so that the same CR3 is of the one and of the other. Not
 * in turn: fork() and execve() take a page each, so that each program would have
 * its own.
 *
 * Usage: reuse LOG     (until SIGTERM; workload.h has the log's format)
 */
#define _GNU_SOURCE
#include <err.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include "lib/workload.h"

static volatile sig_atomic_t ended;

static void on_term(int sig)
{
	(void)sig;
	ended = 1;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_term, .sa_flags = SA_RESTART };
	cpu_set_t cpus;
	char ms[16];

	if (argc != 2)
		errx(2, "usage: %s LOG", argv[0]);

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "sched_setaffinity");
	srand(1);
	workload_ready(argv[0]);
	sigaction(SIGTERM, &sa, NULL);

	while (!ended) {
		snprintf(ms, sizeof(ms), "%d", 5 + rand() % 16);
		run_child(rand() % 2 ? "reuse-odd" : "reuse-even", ms, FORK);
		log_wait(0);
	}
	if (log_write(argv[1]))
		err(1, "%s", argv[1]);
	return 0;
}
