// SPDX-License-Identifier: GPL-2.0
/*
 * Temporary files: what is written to them in many places is checked in one.
 */
#include <errno.h>
#include <stdio.h>

#include "write.h"
#include "temp-file.h"

/* 0 or -errno; it is to be closed in any case. */
int temp_file__open(struct temp_file *file)
{
	*file = (struct temp_file) { .fp = tmpfile() };
	return file->fp ? 0 : -errno;
}

/* Also of one that is { } */
void temp_file__close(struct temp_file *file)
{
	if (file->fp)
		fclose(file->fp);
	*file = (struct temp_file) { };
}

/* Something was written: keeps why not. */
void temp_file__check(struct temp_file *file)
{
	if (ferror(file->fp) && !file->err)
		file->err = -errno;
}

/* All is written, or that failed. 0 or -errno */
int temp_file__end(struct temp_file *file)
{
	return file->err ?: write_printed(file->fp);
}

/* Copies all that was written. 0 or -errno: what is still in the buffer of @to may fail later. */
int temp_file__copy(struct temp_file *file, FILE *to)
{
	char buf[BUFSIZ];
	int ret = temp_file__end(file);
	size_t n;

	rewind(file->fp);
	while (!ret && (n = fread(buf, 1, sizeof(buf), file->fp)))
		ret = fwrite(buf, 1, n, to) == n ? 0 : -errno;
	return ret ?: ferror(file->fp) ? -EIO : 0;
}
