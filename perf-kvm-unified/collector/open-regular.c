// SPDX-License-Identifier: GPL-2.0
/*
 * Files whose path a process has chosen, which may be of any kind.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>
#include <linux/kernel.h>

#include "open-regular.h"

/**
 * open_regular - open a file to read it, if it is a regular one
 * @dir: what @path is relative to, or AT_FDCWD
 * @flags: O_NOFOLLOW or 0
 * @st: gets what fstat() says of it
 *
 * To open a device can do something, so it is looked at before. O_NONBLOCK: who holds a lease
 * on a file has others wait for it when they open it. The descriptor, or -1
 */
int open_regular(int dir, const char *path, int flags, struct stat *st)
{
	int path_fd = openat(dir, path, O_PATH | O_CLOEXEC | flags), fd = -1;
	char self[PATH_MAX];

	if (path_fd < 0)
		return -1;
	scnprintf(self, sizeof(self), "/proc/self/fd/%d", path_fd);
	if (!fstat(path_fd, st) && S_ISREG(st->st_mode))
		fd = open(self, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	close(path_fd);
	return fd;
}
