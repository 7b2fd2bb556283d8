// SPDX-License-Identifier: GPL-2.0
/*
 * As in a container: a program in a pid and a mount namespace of its own, where its
 * pid is another than the guest's and its files are where the guest has none. It
 * runs from /opt/contained-PROGRAM, in a tmpfs that only it has, and so is its /tmp.
 *
 * Usage: contained [PROGRAM [ARGUMENT]...]     (until SIGTERM)
 *
 * Without a program, itself, as /opt/contained-spin. A line "inside pid=N comm=NAME"
 * says what its pid is in the guest; the lines with the CPU time are its own and have
 * the pid that it knows.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/workload.h"

static char job[256] = "/opt/contained-spin";

static BURN(contained_spin)

static pid_t inside;

static void copy(const char *from)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(job, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	struct stat st;

	if (in < 0 || out < 0 || fstat(in, &st))
		err(1, "%s", from);
	while (st.st_size > 0) {
		ssize_t n = sendfile(out, in, NULL, st.st_size);

		if (n <= 0)
			err(1, "%s", job);
		st.st_size -= n;
	}
	close(in);
	close(out);
}

static void run_inside(char **argv)
{
	char path[256] = "/proc/self/exe", *itself[] = { job, NULL };

	/* What is mounted here is not to be seen outside, where its parent still is. */
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("job", "/opt", "tmpfs", 0, NULL) || mount("tmp", "/tmp", "tmpfs", 0, NULL))
		err(1, "mount namespace");
	if (argv[1])
		snprintf(path, sizeof(path), "/usr/bin/%s", argv[1]);
	copy(path);
	execv(job, argv[1] ? argv + 1 : itself);
	err(1, "%s", job);
}

/* The first in a pid namespace gets no SIGTERM that it does not wait for. */
static void on_signal(int sig)
{
	kill(inside, sig == SIGTERM ? SIGKILL : sig);
}

int main(int argc, char **argv)
{
	int status;

	if (!strcmp(argv[0], job)) {
		workload_ready(argv[0]);
		for (;;)
			contained_spin();
	}

	if (argc > 1)
		snprintf(job, sizeof(job), "/opt/contained-%s", argv[1]);
	mkdir("/opt", 0755);
	if (unshare(CLONE_NEWPID))
		err(1, "unshare");
	inside = fork();
	if (inside < 0)
		err(1, "fork");
	if (!inside)
		run_inside(argv);
	printf("inside pid=%d comm=%s\n", inside, base_name(job));
	fflush(stdout);
	signal(SIGTERM, on_signal);
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	waitpid(inside, &status, 0);
	return 0;
}
