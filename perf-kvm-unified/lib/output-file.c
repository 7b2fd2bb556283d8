// SPDX-License-Identifier: GPL-2.0
/*
 * Files that the user names to be written to.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <linux/kernel.h>

#include "util/debug.h"
#include "output-file.h"

/* Names of processes and kernel addresses may be in it: as perf.data, it is the user's alone. */
#define OUTPUT_FILE_MODE	0600

/**
 * output_file__open - open a file to write to
 * @created: it may be removed if what is written to it is not whole in the end
 *
 * A file that is there already is kept as perf does it, under another name; devices and pipes are
 * just written to. The descriptor, or -errno with a message
 */
int output_file__open(const char *path, bool *created)
{
	struct stat st;
	bool exists = !stat(path, &st);
	int fd, err;

	*created = false;
	if (exists && S_ISREG(st.st_mode) && st.st_size) {
		char old[PATH_MAX];

		scnprintf(old, sizeof(old), "%s.old", path);
		if (rename(path, old)) {
			err = -errno;
			pr_err("%s: %s\n", old, strerror(-err));
			return err;
		}
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, OUTPUT_FILE_MODE);
	if (fd < 0) {
		err = -errno;
		pr_err("%s: %s\n", path, strerror(-err));
		return err;
	}
	*created = !exists || S_ISREG(st.st_mode);
	return fd;
}
