/* SPDX-License-Identifier: GPL-2.0 */
/* What the workloads have in common. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#define NSEC_PER_SEC	1000000000LL
#define NSEC_PER_MSEC	1000000LL

/*
 * A function that burns about half a millisecond in the emulator's guest, in code
 * of its own: the compiler shall not make one of two that do the same.
 */
#define BURN(name)						\
	__attribute__((noipa)) void name(void)			\
	{							\
		for (volatile int i = 0; i < 10000; i++)	\
			;					\
	}

struct burner {
	const char *program;
	void (*burn)(void);
};

#ifdef __cplusplus
extern "C" {
#endif

/* What follows the last slash. */
const char *base_name(const char *path);

long long clock_ns(clockid_t clock);

/* The one for the name the program was called by, or NULL. */
const struct burner *find_burner(const struct burner *burners, const char *argv0);

/*
 * For "ready" and "cpu" in the guest: a line "ready", and upon SIGUSR1 and at the
 * end by SIGTERM one with the CPU time that the process has had, as shor's.
 */
void workload_ready(const char *argv0);

/*
 * A log of short-lived processes, kept by the process that starts them and waits
 * for them. It is written at the end, and there at once, as a whole:
 *
 *   pid program how start_ns end_ns user_ns sys_ns
 *
 * The times are of CLOCK_BOOTTIME, from before the process was made until it had
 * been waited for: nothing of it is outside.
 */
enum how { FORK, VFORK, SPAWN, NR_HOW };

void log_start(pid_t pid, const char *program, enum how how, long long start);

/* Waits for any of them; false when there is none, or, with WNOHANG, none has ended. */
int log_wait(int options);
int log_write(const char *path);

/* Runs a program that lies beside this one, with an argument, and logs its start. */
pid_t run_child(const char *program, const char *arg, enum how how);

#ifdef __cplusplus
}
#endif
#endif /* WORKLOAD_H */
