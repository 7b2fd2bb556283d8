// SPDX-License-Identifier: GPL-2.0
/*
 * record --on-profile: a command that runs for each profile of a recording without an end, when it
 * is complete. They run one after the other, in a process of their own, as one may take longer than
 * an interval: the recording does not wait for them.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <linux/kernel.h>

#include "util/debug.h"
#include "kvm-unified/lib/warnings.h"
#include "profile-hook.h"

/* Guests and their host go first. */
#define LOWEST_PRIORITY		19
/* As shells have it for a command that cannot be started */
#define EXIT_UNSTARTED		127

/* Runs @command for the profile at @path, and tells if it fails. */
static void run_hook(const char *command, const char *path)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		if (!freopen("/dev/null", "r", stdin))
			_exit(EXIT_UNSTARTED);
		execl("/bin/sh", "sh", "-c", command, "perf-kvm-unified", path, NULL);
		_exit(EXIT_UNSTARTED);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0)
		unified_warning("--on-profile: not run for %s: %s\n", path, strerror(errno));
	else if (WIFSIGNALED(status))
		unified_warning("--on-profile: signal %d for %s\n", WTERMSIG(status), path);
	else if (WEXITSTATUS(status))
		unified_warning("--on-profile: exit code %d for %s\n", WEXITSTATUS(status), path);
}

/* Until the other end is closed, and all that came before that is done. Does not return. */
static void __noreturn run_all(const char *command, int fd)
{
	char path[PATH_MAX];
	ssize_t len;

	/* Ctrl-C is for the recording: what that leaves is a profile, too. */
	setpgid(0, 0);
	setpriority(PRIO_PROCESS, 0, LOWEST_PRIORITY);
	do {
		len = recv(fd, path, sizeof(path), 0);
		if (len > 0)
			run_hook(command, path);
	} while (len > 0 || (len < 0 && errno == EINTR));
	_exit(0);
}

/**
 * profile_hook__start - begin to take profiles
 * @command: for the shell, with the path of a profile as $1; NULL: there is none
 *
 * Before a file is locked, which the process would have, too, and before signals are blocked.
 * 0 or -errno
 */
int profile_hook__start(struct profile_hook *hook, const char *command)
{
	int fds[2], ret = 0;

	*hook = (struct profile_hook) { .command = command, .fd = -1 };
	if (!command)
		return 0;
	/* Each path is a message, and it is known who is gone without a signal. */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -errno;
	hook->pid = fork();
	if (!hook->pid) {
		close(fds[1]);
		run_all(command, fds[0]);
	}
	if (hook->pid < 0)
		ret = -errno;
	close(fds[0]);
	if (ret)
		close(fds[1]);
	else
		hook->fd = fds[1];
	return ret;
}

/* The profile at @path is complete. */
void profile_hook__add(struct profile_hook *hook, const char *path)
{
	bool full;

	if (!hook->command)
		return;
	if (send(hook->fd, path, strlen(path) + 1, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
		hook->full = false;
		return;
	}
	full = errno == EAGAIN;
	if (!full)
		unified_warning("--on-profile: not run for %s: %s\n", path, strerror(errno));
	else if (!hook->full)
		unified_warning("--on-profile takes longer than an interval: not run for %s and those after it\n",
				path);
	hook->full = full;
}

/* Waits until all is done, or another Ctrl-C or SIGTERM ends it. These and SIGCHLD are blocked. */
void profile_hook__end(struct profile_hook *hook)
{
	sigset_t set;

	if (!hook->command)
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	close(hook->fd);
	while (!waitpid(hook->pid, NULL, WNOHANG)) {
		int sig = sigwaitinfo(&set, NULL);

		if (sig == SIGINT || sig == SIGTERM)
			kill(-hook->pid, SIGTERM);
	}
}
