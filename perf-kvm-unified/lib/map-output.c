// SPDX-License-Identifier: GPL-2.0
/*
 * Where a map of a guest goes that is made by hand.
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
#include "map-output.h"

/**
 * map_output__open - open the file that a map is to be written to
 * @output: its path, or "-" for standard output
 * @created: it may be removed if it is not a map in the end
 *
 * A file that is there already is kept as perf does it, under another name; devices and pipes are
 * just written to. The descriptor, or -1 with a message
 */
int map_output__open(const char *output, bool *created)
{
	struct stat st;
	int fd;

	*created = false;
	if (strcmp(output, "-")) {
		bool exists = !stat(output, &st);

		if (exists && S_ISREG(st.st_mode) && st.st_size) {
			char old[PATH_MAX];

			scnprintf(old, sizeof(old), "%s.old", output);
			if (rename(output, old)) {
				pr_err("%s: %s\n", old, strerror(errno));
				return -1;
			}
		}
		*created = !exists || S_ISREG(st.st_mode);
		fd = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (fd < 0)
			pr_err("%s: %s\n", output, strerror(errno));
		return fd;
	}
	if (isatty(STDOUT_FILENO)) {
		pr_err("The map is binary: redirect it to a file, or use -o FILE\n");
		return -1;
	}
	/* Whatever else is printed must not get into the map. */
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		pr_err("Cannot write to standard output: %s\n", strerror(errno));
		return -1;
	}
	return fd;
}
