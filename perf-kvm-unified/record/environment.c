// SPDX-License-Identifier: GPL-2.0
/*
 * What a process is started with: its descriptors, and what a container has of its own, and
 * events have of the host.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/kernel.h>

#include "util/debug.h"
#include "environment.h"

/* include/linux/proc_ns.h: PROC_PID_INIT_INO */
#define INIT_PID_NS_INO		0xeffffffcU

/**
 * hold_std_fds - give descriptors 0 to 2 a file, so that no other file gets their numbers
 *
 * Those that are closed: what is written to them fails as before, and does not go into what
 * is opened later. 0 or -errno with a message
 */
int hold_std_fds(void)
{
	int err;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		/* The lowest one that is closed is what open() takes. */
		if (fcntl(fd, F_GETFD) >= 0 || open("/dev/null", O_RDONLY) >= 0)
			continue;
		err = -errno;
		pr_err("Cannot open /dev/null: %s\n", strerror(-err));
		return err;
	}
	return 0;
}

/**
 * check_pid_namespace - are the pids of @proc those that events have?
 * @proc: where procfs is mounted
 *
 * Events have the pids of the initial pid namespace. 0 or -EXDEV with a message
 */
int check_pid_namespace(const char *proc)
{
	char path[PATH_MAX];
	struct stat st;

	scnprintf(path, sizeof(path), "%s/self", proc);
	if (stat(path, &st)) {
		pr_err("%s does not have this process: it is not mounted, or is of another pid namespace.\n"
		       "Run this in the host's pid and mount namespaces.\n", proc);
		return -EXDEV;
	}
	/* A kernel without namespaces does not have it. */
	scnprintf(path, sizeof(path), "%s/self/ns/pid", proc);
	if (stat(path, &st) || st.st_ino == INIT_PID_NS_INO)
		return 0;
	pr_err("This runs in a container with pids of its own, and events have the host's: run it in the\n"
	       "host's pid namespace (--pid=host, hostPID: true, or nsenter -t 1 -p -m).\n");
	return -EXDEV;
}
