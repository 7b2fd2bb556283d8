// SPDX-License-Identifier: GPL-2.0
/*
 * The directory that a profile goes to. The profile before it is kept, as perf does it; if
 * the measurement does not begin, all is put back as it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include <internal/lib.h>

#include "util/data.h"
#include "util/debug.h"
#include "util/header.h"
#include "util/util.h"
#include "output.h"

/* Is @path the directory that was made? With that open, no other one has its inode. */
static bool is_ours(const struct record_output *output)
{
	struct stat made, st;

	if (!output->dir_fd)
		return true;
	return !fstat(output->dir_fd, &made) && !stat(output->path, &st) &&
	       made.st_dev == st.st_dev && made.st_ino == st.st_ino;
}

/*
 * Checks that what is at the output's path is ours, and not somebody else's. 0 or -ESTALE with a
 * message
 */
int record_output__check(const struct record_output *output)
{
	char link[32], now[PATH_MAX];
	ssize_t len;

	if (is_ours(output))
		return 0;
	scnprintf(link, sizeof(link), "/proc/self/fd/%d", output->dir_fd);
	len = readlink(link, now, sizeof(now) - 1);
	now[len < 0 ? 0 : len] = '\0';
	pr_err("%s is not the directory any more that the profile goes to: that is %s\n",
	       output->path, len < 0 ? "gone" : now);
	return -ESTALE;
}

/*
 * Removes the directory if there is no profile in it, nor anything else: it is what a
 * measurement leaves that has not begun, with what came of the guests by then.
 */
static void remove_empty(const struct record_output *output)
{
	struct stat st;

	if (!lstat(output->data, &st) && S_ISREG(st.st_mode) && !st.st_size)
		rm_rf_perf_data(output->path);
	else
		rmdir(output->path);
}

static bool exists(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

/*
 * perf's own way keeps one profile, and moves it to where the one before it is, which goes.
 * That is not to be before the measurement has begun. 0 or -errno with a message
 */
static int put_older_aside(struct record_output *output)
{
	char old[PATH_MAX];
	int err;

	scnprintf(old, sizeof(old), "%s.old", output->path);
	if (!output->has_old || !exists(old))
		return 0;
	if (asprintf(&output->older, "%s.%d", old, getpid()) < 0)
		output->older = NULL;
	if (output->older && !rename(old, output->older))
		return 0;
	err = output->older ? -errno : -ENOMEM;
	pr_err("Cannot move %s: %s\n", old, strerror(-err));
	zfree(&output->older);
	return err;
}

static void remove_older(struct record_output *output)
{
	int ret = output->older ? rm_rf_perf_data(output->older) : 0;

	if (ret)
		pr_err("What was %s.old is %s now, and cannot be removed: %s\n", output->path,
		       output->older,
		       ret == -2 ? "there is more in it than a profile" : strerror(errno));
	zfree(&output->older);
}

static void put_back(const char *from, const char *to)
{
	if (exists(to) || rename(from, to))
		pr_err("What was %s is %s now\n", to, from);
}

/* perf record ends the process itself where it does not like an option. */
static struct record_output *not_begun;

/* Without a measurement, all is as it was before: the last profiles are where they were. */
void record_output__undo(struct record_output *output)
{
	char old[PATH_MAX];

	not_begun = NULL;
	output->cancel(output);
	scnprintf(old, sizeof(old), "%s.old", output->path);
	if (is_ours(output))
		remove_empty(output);
	if (output->has_old && exists(old))
		put_back(old, output->path);
	if (output->older)
		put_back(output->older, old);
	zfree(&output->older);
}

static void undo_at_exit(void)
{
	/* A command that cannot be started ends in a child. */
	if (not_begun && getpid() == not_begun->pid)
		record_output__undo(not_begun);
}

/* Names of what is kept are made of it, which a slash at its end would spoil. 0 or -ENOMEM */
static int cut_slashes(struct record_output *output)
{
	size_t len = strlen(output->path);

	while (len > 1 && output->path[len - 1] == '/')
		len--;
	/* It stays until perf ends. */
	output->path = strndup(output->path, len);
	return output->path ? 0 : -ENOMEM;
}

/*
 * Makes the directory as perf record --kcore does; an older one is kept. From now on there
 * is to be a record_output__keep() or a record_output__undo(), which perf's end does
 * otherwise. 0 or -errno with a message
 */
int record_output__make(struct record_output *output)
{
	struct perf_data data = {
		.mode = PERF_DATA_MODE_WRITE,
		.is_dir = true,
	};
	int err;

	err = cut_slashes(output);
	if (err) {
		pr_err("Out of memory\n");
		return err;
	}
	scnprintf(output->data, sizeof(output->data), "%s/data", output->path);
	/* It is not to take the place of the profile before it, which would be removed. */
	remove_empty(output);
	output->has_old = !access(output->path, F_OK);
	err = put_older_aside(output);
	if (err)
		return err;
	output->pid = getpid();
	not_begun = output;
	atexit(undo_at_exit);
	data.path = output->path;
	if (perf_data__open(&data) < 0) {
		err = -errno ?: -EIO;
		pr_err("Cannot create %s: %s\n", output->path, strerror(-err));
		record_output__undo(output);
		return err;
	}
	perf_data__close(&data);
	output->dir_fd = open(output->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (output->dir_fd < 0) {
		err = -errno;
		output->dir_fd = 0;
		pr_err("Cannot open %s: %s\n", output->path, strerror(-err));
		record_output__undo(output);
		return err;
	}
	return 0;
}

/* Has perf record begun? */
bool record_output__has_data(const struct record_output *output)
{
	struct stat st;

	return !stat(output->data, &st) && st.st_size;
}

/* Has perf record come to its end? Then the header says how much data there is. */
static bool is_whole(const struct record_output *output)
{
	struct perf_file_header header;
	int fd = open(output->data, O_RDONLY | O_CLOEXEC);
	bool whole;

	if (fd < 0)
		return false;
	whole = readn(fd, &header, sizeof(header)) == sizeof(header) && header.data.size;
	close(fd);
	return whole;
}

/*
 * There is a profile: it takes the place of the one before, and that of an older one. Of one
 * that ended with an error it is not known what it is worth: then none is removed.
 */
void record_output__keep(struct record_output *output, bool failed)
{
	not_begun = NULL;
	if (!failed || is_whole(output)) {
		remove_older(output);
	} else if (output->older) {
		pr_err("What was %s.old is %s now\n", output->path, output->older);
		zfree(&output->older);
	}
}
