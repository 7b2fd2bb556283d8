// SPDX-License-Identifier: GPL-2.0
/*
 * What is said of options that do not go together.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "options.h"

/**
 * usage_error - end perf with one sentence, as a list of all options would push it off the screen
 * @usage: of the command, as for parse_options()
 */
void usage_error(const char *const usage[], const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fputs("  Error: ", stderr);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\n Usage: %s\n\n -h lists the options\n", usage[0]);
	exit(EXIT_USAGE);
}
