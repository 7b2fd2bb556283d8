// SPDX-License-Identifier: GPL-2.0
/* What the workloads have in common, see workload.h. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workload.h"

static const char *comm;

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

long long clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

const struct burner *find_burner(const struct burner *burners, const char *argv0)
{
	for (; burners->program; burners++)
		if (!strcmp(burners->program, base_name(argv0)))
			return burners;
	return NULL;
}

static long long timeval_ns(const struct timeval *tv)
{
	return tv->tv_sec * NSEC_PER_SEC + tv->tv_usec * 1000LL;
}

/* snprintf() of integers neither allocates nor locks in glibc. */
static void on_signal(int sig)
{
	int saved = errno, len;
	struct rusage usage;
	char line[256];

	getrusage(RUSAGE_SELF, &usage);
	len = snprintf(line, sizeof(line),
		       "cpu pid=%d comm=%s cpu_ns=%lld user_ns=%lld sys_ns=%lld mono_ns=%lld\n",
		       getpid(), comm, clock_ns(CLOCK_PROCESS_CPUTIME_ID),
		       timeval_ns(&usage.ru_utime), timeval_ns(&usage.ru_stime),
		       clock_ns(CLOCK_MONOTONIC));
	if (write(STDOUT_FILENO, line, len) != len || sig == SIGTERM)
		_exit(sig != SIGTERM);
	errno = saved;
}

void workload_ready(const char *argv0)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	comm = base_name(argv0);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	puts("ready");
	fflush(stdout);
}

/* --- short-lived processes and their log -------------------------------------- */

static const char * const how_names[] = { "fork", "vfork", "spawn" };

static struct entry {
	pid_t		pid;
	enum how	how;
	const char	*program;
	long long	start;
	long long	end;
	long long	user;
	long long	sys;
} *entries;
static int nr_entries;

void log_start(pid_t pid, const char *program, enum how how, long long start)
{
	if (!(nr_entries & (nr_entries - 1))) {
		size_t size = (nr_entries ? 2 * nr_entries : 1) * sizeof(*entries);

		entries = realloc(entries, size);
		if (!entries)
			err(1, "log");
	}
	entries[nr_entries++] = (struct entry){
		.pid = pid, .how = how, .program = program, .start = start,
	};
}

int log_wait(int options)
{
	struct rusage usage;
	int status, i;
	pid_t pid;

	do {
		pid = wait4(-1, &status, options, &usage);
	} while (pid < 0 && errno == EINTR);
	if (pid <= 0)
		return 0;
	/* From the end: a pid may have come round. */
	for (i = nr_entries - 1; i >= 0; i--) {
		struct entry *entry = &entries[i];

		if (entry->pid != pid)
			continue;
		entry->end = clock_ns(CLOCK_BOOTTIME);
		entry->user = timeval_ns(&usage.ru_utime);
		entry->sys = timeval_ns(&usage.ru_stime);
		break;
	}
	return 1;
}

int log_write(const char *path)
{
	char new[256];
	FILE *file;
	int i;

	snprintf(new, sizeof(new), "%s.new", path);
	file = fopen(new, "w");
	if (!file)
		return -1;
	for (i = 0; i < nr_entries; i++) {
		struct entry *entry = &entries[i];

		fprintf(file, "%d %s %s %lld %lld %lld %lld\n", entry->pid, entry->program,
			how_names[entry->how], entry->start, entry->end, entry->user, entry->sys);
	}
	return fclose(file) || rename(new, path) ? -1 : 0;
}

pid_t run_child(const char *program, const char *arg, enum how how)
{
	long long start = clock_ns(CLOCK_BOOTTIME);
	char *argv[] = { (char *)program, (char *)arg, NULL };
	char path[256];
	pid_t pid;

	snprintf(path, sizeof(path), "/usr/bin/%s", program);
	switch (how) {
	case SPAWN:
		errno = posix_spawn(&pid, path, NULL, NULL, argv, environ);
		if (errno)
			pid = -1;
		break;
	case VFORK:
		pid = vfork();
		break;
	default:
		pid = fork();
	}
	if (!pid) {
		execv(path, argv);
		_exit(127);
	}
	if (pid < 0)
		err(1, "%s", path);
	log_start(pid, program, how, start);
	return pid;
}
