// SPDX-License-Identifier: GPL-2.0
/*
 * The part of a profile that is its own. Profiles of a recording without an end overlap, so that
 * what goes on when one of them ends is known on both sides: each says where the next one begins.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>

#include "kvm-unified/lib/errors.h"
#include "profile.h"
#include "window.h"

/* "from until", in ns: more is none. */
#define WINDOW_TEXT_LEN		64

static void window_path(const char *dir, char *path)
{
	scnprintf(path, PATH_MAX, "%s/" PROFILE_WINDOW_FILE, dir);
}

/* Writes it to the profile @dir, in place of one that is there. 0 or -errno */
int profile_window__write(const struct profile_window *window, const char *dir)
{
	char path[PATH_MAX];
	FILE *fp;
	int ret;

	window_path(dir, path);
	fp = fopen(path, "we");
	if (!fp)
		return -errno;
	ret = fprintf(fp, "%" PRIu64 " %" PRIu64 "\n", window->from, window->until) < 0 ?
	      -errno : 0;
	if (fclose(fp) && !ret)
		ret = -errno;
	if (ret)
		unlink(path);
	return ret;
}

/**
 * profile_window__read - the window of the profile @dir
 * @err: what is wrong with the file, the rest of a sentence
 *
 * 0, -ENOENT: all of the profile is its own, or -EINVAL: the file makes no sense
 */
int profile_window__read(struct profile_window *window, const char *dir, char *err, size_t errlen)
{
	char path[PATH_MAX], text[WINDOW_TEXT_LEN] = "";
	u64 from, until;
	FILE *fp;
	int len = 0;

	window_path(dir, path);
	fp = fopen(path, "re");
	if (!fp)
		return -ENOENT;
	if (!fgets(text, sizeof(text), fp))
		text[0] = '\0';
	fclose(fp);
	if (sscanf(text, "%" SCNu64 " %" SCNu64 "\n%n", &from, &until, &len) != 2 ||
	    (size_t)len != strlen(text) || (until && from >= until) || from > LLONG_MAX ||
	    until > LLONG_MAX)
		return fail(err, errlen, -EINVAL, "makes no sense");
	*window = (struct profile_window) { .from = from, .until = until };
	return 0;
}
