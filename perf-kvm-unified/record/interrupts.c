// SPDX-License-Identifier: GPL-2.0
/*
 * Ctrl-C, or a signal to end, before and after the measurement: it is noted, and whoever works
 * then stops and puts everything back. perf record's own handlers only end a measurement.
 */
#include <signal.h>
#include <linux/compiler.h>

#include "interrupts.h"

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig __maybe_unused)
{
	interrupted = 1;
}

/* Has one come while they were noted? */
bool interrupts__came(void)
{
	return interrupted;
}

/* Notes interrupts from now on. Return: the handlers until now */
struct interrupt_handlers interrupts__note(void)
{
	return (struct interrupt_handlers) {
		.on_int = signal(SIGINT, on_interrupt),
		.on_term = signal(SIGTERM, on_interrupt),
	};
}

/* Leave them to @before, unless one has come: a second one would end what puts everything back. */
void interrupts__leave_to(const struct interrupt_handlers *before)
{
	if (interrupted)
		return;
	signal(SIGINT, before->on_int);
	signal(SIGTERM, before->on_term);
}
