// SPDX-License-Identifier: GPL-2.0
/*
 * Where a map of a guest goes that is made by hand.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "util/debug.h"
#include "map-output.h"
#include "output-file.h"

/**
 * map_output__open - open the file that a map is to be written to
 * @output: its path, or "-" for standard output
 * @created: it may be removed if it is not a map in the end
 *
 * A file that is there already is kept, see output_file__open(). The descriptor, or -errno with a
 * message
 */
int map_output__open(const char *output, bool *created)
{
	int fd;

	*created = false;
	if (strcmp(output, "-"))
		return output_file__open(output, created);
	if (isatty(STDOUT_FILENO)) {
		pr_err("The map is binary: redirect it to a file, or use -o FILE\n");
		return -EINVAL;
	}
	/* Whatever else is printed must not get into the map. */
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		int err = -errno;

		pr_err("Cannot write to standard output: %s\n", strerror(-err));
		return err;
	}
	return fd;
}
