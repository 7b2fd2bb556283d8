// SPDX-License-Identifier: GPL-2.0
/*
 * Files of procfs that have what processes have put there.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>
#include <linux/kernel.h>

#include "proc-file.h"

/* A process may fill a file of procfs: it is read in pieces, and no more than execve() takes. */
#define PROC_FILE_PIECE		4096
#define PROC_FILE_MAX		(6U << 20)

/* All of it, up to PROC_FILE_MAX, with a zero byte after it. To be freed; NULL: no memory */
static char *read_all(int fd, size_t *len)
{
	char *text = NULL, *grown;
	ssize_t n;

	*len = 0;
	do {
		grown = realloc(text, *len + PROC_FILE_PIECE + 1);
		if (!grown) {
			free(text);
			return NULL;
		}
		text = grown;
		n = read(fd, text + *len, PROC_FILE_PIECE);
		if (n > 0)
			*len += n;
	} while (n > 0 && *len <= PROC_FILE_MAX - PROC_FILE_PIECE);
	text[*len] = '\0';
	return text;
}

/*
 * @file of process @pid, with any bytes in it: filename__read_str() takes one of 0x80 or more
 * for the end. To be freed; NULL: it cannot be read
 */
char *read_proc_file(const char *proc, pid_t pid, const char *file, size_t *len)
{
	char path[PATH_MAX], *text;
	int fd;

	scnprintf(path, sizeof(path), "%s/%d/%s", proc, pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	text = read_all(fd, len);
	close(fd);
	return text;
}
