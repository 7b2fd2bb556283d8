// SPDX-License-Identifier: GPL-2.0
/*
 * Move all threads of all processes of a name from CPU to CPU, all the time.
 *
 * Usage: migrate COMM SECONDS
 *
 * Or until SIGTERM. Ends with a line of how often a thread was moved.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <err.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * Between two moves of all threads, and how many of those until /proc is read again, which
 * takes a kernel with sanitizers tens of milliseconds
 */
#define PAUSE_US	100000
#define MOVES		10
#define MAX_TIDS	256
/* As in /proc/PID/comm, with the end of the line */
#define COMM_SIZE	18

static volatile sig_atomic_t over;

static void on_term(int sig)
{
	(void)sig;
	over = 1;
}

static bool has_comm(const char *pid, const char *comm)
{
	char path[64], name[COMM_SIZE] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (fgets(name, sizeof(name), file))
		name[strcspn(name, "\n")] = '\0';
	fclose(file);
	return !strcmp(name, comm);
}

static unsigned int add_tids(const char *pid, pid_t *tids, unsigned int nr)
{
	const struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.20s/task", pid);
	dir = opendir(path);
	while (dir && nr < MAX_TIDS && (entry = readdir(dir))) {
		if (isdigit(entry->d_name[0]))
			tids[nr++] = atoi(entry->d_name);
	}
	if (dir)
		closedir(dir);
	return nr;
}

static unsigned int find_tids(const char *comm, pid_t *tids)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	unsigned int nr = 0;

	if (!dir)
		err(1, "/proc");
	while ((entry = readdir(dir))) {
		if (isdigit(entry->d_name[0]) && has_comm(entry->d_name, comm))
			nr = add_tids(entry->d_name, tids, nr);
	}
	closedir(dir);
	return nr;
}

int main(int argc, char **argv)
{
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned long moved = 0;
	pid_t tids[MAX_TIDS];
	time_t end;

	if (argc != 3)
		errx(2, "usage: migrate COMM SECONDS");
	signal(SIGTERM, on_term);
	end = time(NULL) + atoi(argv[2]);
	while (!over && time(NULL) < end) {
		unsigned int nr = find_tids(argv[1], tids);

		for (unsigned int i = 0; i < MOVES; i++, usleep(PAUSE_US)) {
			for (unsigned int j = 0; j < nr; j++) {
				cpu_set_t cpu;

				CPU_ZERO(&cpu);
				CPU_SET(random() % nr_cpus, &cpu);
				/* It may have ended meanwhile. */
				moved += !sched_setaffinity(tids[j], sizeof(cpu), &cpu);
			}
		}
	}
	printf("migrate: moved %lu\n", moved);
	return 0;
}
