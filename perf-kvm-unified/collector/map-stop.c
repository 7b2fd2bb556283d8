// SPDX-License-Identifier: GPL-2.0
/*
 * When a guest is not to be followed any more: a signal comes, or standard input ends.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/compiler.h>

#include "map-stop.h"

static volatile sig_atomic_t stop;

static void on_stop(int sig __maybe_unused)
{
	stop = 1;
}

/* Its end is the sign to stop: of a pipe or a socket, not of a terminal or a file. */
static bool stdin_is_a_line(void)
{
	struct stat st;

	return !fstat(STDIN_FILENO, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

static bool stdin_has_ended(void)
{
	char buf[256];
	ssize_t n = read(STDIN_FILENO, buf, sizeof(buf));

	return !n || (n < 0 && errno != EINTR && errno != EAGAIN);
}

/* From now on, signals do not end this process. */
void map_stop__await(void)
{
	signal(SIGINT, on_stop);
	signal(SIGTERM, on_stop);
	signal(SIGHUP, on_stop);
}

/* Waits for @timeout ms. Has the sign to stop come, before that or in that time? */
bool map_stop__came(int timeout)
{
	struct pollfd fd = {
		.fd = stdin_is_a_line() ? STDIN_FILENO : -1,
		.events = POLLIN,
	};

	return stop || (poll(&fd, 1, timeout) > 0 && stdin_has_ended());
}
