// SPDX-License-Identifier: GPL-2.0
/*
 * --format html: a page for a browser. A program beside perf makes it, as another one is perf
 * archive: it has JavaScript, for which there is no place here. It runs report and export itself.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/string.h>

#include "util/debug.h"
#include "util/util.h"
#include "page.h"

#define PROGRAM		"perf-kvm-unified-page"
#define FORMAT_OPTION	"--format"
/* There is --force, too. */
#define SHORTEST_OPTION	"--form"
#define FORMAT		"html"

/*
 * How many arguments from @argv on ask for the page: "--format=html", or "--format html", and as
 * parse_options() takes them, with a part of the option that can be no other one's
 */
static int format_len(int argc, const char **argv)
{
	size_t len = strcspn(argv[0], "=");

	if (len < strlen(SHORTEST_OPTION) || strncmp(argv[0], FORMAT_OPTION, len))
		return 0;
	if (argv[0][len])
		return !strcmp(argv[0] + len, "=" FORMAT);
	return argc > 1 && !strcmp(argv[1], FORMAT) ? 2 : 0;
}

/* Do the arguments of report ask for it? */
bool page__is_wanted(int argc, const char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (format_len(argc - i, argv + i))
			return true;
	}
	return false;
}

/**
 * page__run - become the program, with all other arguments
 *
 * It is looked for as perf looks for its own: in --exec-path, and in PATH. -errno with a message
 */
int page__run(int argc, const char **argv)
{
	/* Three in front, one at the end */
	const char **args = calloc(argc + 4, sizeof(*args));
	char perf[PATH_MAX];
	int nr = 0, err;

	if (!args) {
		pr_err("Out of memory\n");
		return -ENOMEM;
	}
	args[nr++] = PROGRAM;
	args[nr++] = "--perf";
	args[nr++] = perf_exe(perf, sizeof(perf));
	for (int i = 1; i < argc; i++) {
		int len = format_len(argc - i, argv + i);

		if (len)
			i += len - 1;
		else
			args[nr++] = argv[i];
	}
	execvp(PROGRAM, (char **)args);
	err = -errno;
	pr_err("Cannot run " PROGRAM ", which makes the page: %s. It is installed beside perf,\n"
	       "see perf --exec-path; in the tool's own sources it is scripts/page.sh.\n",
	       strerror(-err));
	free(args);
	return err;
}
