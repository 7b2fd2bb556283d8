// SPDX-License-Identifier: GPL-2.0
/*
 * The terminal or the connection from which the recorder was started is gone: the measurement
 * ends, and there is a profile. perf record has no handler for that.
 */
#include <signal.h>
#include <linux/compiler.h>

#include "hangup.h"

/* Does what SIGTERM does now: its handler is perf record's, or the collectors'. */
static void on_hangup(int sig __maybe_unused)
{
	raise(SIGTERM);
}

static void on_signal(int sig __maybe_unused)
{
}

/* nohup has it ignored. Unlike SIG_IGN, a handler is not inherited by commands. */
static void handle_unless_ignored(int sig, void (*handler)(int sig))
{
	if (signal(sig, handler) == SIG_IGN)
		signal(sig, SIG_IGN);
}

/* Lets a hangup end the measurement: before and while perf record runs */
void hangup__ends_measurement(void)
{
	handle_unless_ignored(SIGHUP, on_hangup);
}

/* Ignores hangups when it has ended: shells send two, and maps are fetched without a terminal. */
void hangup__ends_nothing(void)
{
	handle_unless_ignored(SIGHUP, on_signal);
}

/* Goes on if the reader of the messages has gone, and does not end in the middle of a profile. */
void closed_pipe__ends_nothing(void)
{
	handle_unless_ignored(SIGPIPE, on_signal);
}
