// SPDX-License-Identifier: GPL-2.0
/*
 * What a container has of its own, and events have of the host.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <linux/kernel.h>

#include "util/debug.h"
#include "environment.h"

/* include/linux/proc_ns.h: PROC_PID_INIT_INO */
#define INIT_PID_NS_INO		0xeffffffcU

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
