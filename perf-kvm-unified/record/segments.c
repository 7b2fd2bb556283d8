// SPDX-License-Identifier: GPL-2.0
/*
 * The directory of a recording without an end: a profile for each interval, its segments, called
 * by when they began, UTC. One that is written has another end of its name.
 */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "util/strlist.h"
#include "util/util.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/format/window.h"
#include "kernels.h"
#include "segments.h"

#define SEGMENT_PART	".part"
/* 20261201T021500Z */
#define SEGMENT_TIME	"%Y%m%dT%H%M%SZ"

#define MAX_OPEN_DIRS		8

/*
 * @part, @path: get the path of the one that begins at @start while it is written, and then. Where
 * there is one, as after the time of day was set back, it is called by a later second.
 */
void segment__paths(const char *dir, time_t start, char *part, char *path)
{
	char name[32];
	struct tm tm;

	do {
		gmtime_r(&start, &tm);
		strftime(name, sizeof(name), SEGMENT_TIME, &tm);
		scnprintf(part, PATH_MAX, "%s/%s" SEGMENT_PART, dir, name);
		scnprintf(path, PATH_MAX, "%s/%s" SEGMENT_WHOLE, dir, name);
		start++;
	} while (!access(part, F_OK) || !access(path, F_OK));
}

/* The size of the records of a profile, or -errno */
static off_t data_size(const char *profile)
{
	char path[PATH_MAX];
	struct stat st;

	scnprintf(path, sizeof(path), "%s/data", profile);
	return stat(path, &st) ? -errno : st.st_size;
}

bool segment__has_records(const char *part)
{
	return data_size(part) > 0;
}

static bool ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), end_len = strlen(end);

	return len > end_len && !strcmp(name + len - end_len, end);
}

static bool is_part(const char *dir __maybe_unused, struct dirent *d)
{
	return d->d_name[0] != '.' && ends_with(d->d_name, SEGMENT_PART);
}

static bool is_whole(const char *dir __maybe_unused, struct dirent *d)
{
	return d->d_name[0] != '.' && ends_with(d->d_name, SEGMENT_WHOLE);
}

/* When the last records of a profile were written, as time(), or 0 */
static time_t data_end(const char *profile)
{
	char path[PATH_MAX];
	struct stat st;

	scnprintf(path, sizeof(path), "%s/data", profile);
	return stat(path, &st) ? 0 : st.st_mtime;
}

/*
 * Has the profile @last all that is in @part? Where that was killed before the seam with @last, it
 * has no part of the time that is its own.
 */
static bool is_copy(const char *part, const char *last)
{
	struct profile_window window;
	char err[64];

	return last[0] && data_end(last) + 1 >= data_end(part) &&
	       profile_window__read(&window, part, err, sizeof(err)) == -ENOENT;
}

/**
 * segments__recover - see to what a recorder has left that was killed
 * @nr: so many were there and are segments now: the report is of what was written
 *
 * What has no records is removed. Profiles have symbols of kernels in common then. 0 or -errno
 */
int segments__recover(const char *dir, u32 *nr)
{
	struct strlist *list = lsdir(dir, is_part);
	struct str_node *node;
	char last[PATH_MAX] = "";
	int ret = 0;

	*nr = 0;
	if (!list)
		return -errno;
	strlist__for_each_entry(node, list) {
		char part[PATH_MAX], path[PATH_MAX];
		int err;

		scnprintf(part, sizeof(part), "%s/%s", dir, node->s);
		if (!segment__has_records(part) || is_copy(part, last)) {
			rm_rf_perf_data(part);
			continue;
		}
		scnprintf(path, sizeof(path), "%.*s" SEGMENT_WHOLE,
			  (int)(strlen(part) - strlen(SEGMENT_PART)), part);
		kernels__keep(dir, part);
		err = rename(part, path) ? -errno : 0;
		scnprintf(last, sizeof(last), "%s", path);
		ret = ret ?: err;
		*nr += !err;
	}
	strlist__delete(list);
	return ret;
}

/* What files have on the disk: for nftw(), which has no argument */
static u64 blocks;

static int add_blocks(const char *path __maybe_unused, const struct stat *st,
		      int type __maybe_unused, struct FTW *ftw __maybe_unused)
{
	/* What it shares with others is not counted here. */
	if (!S_ISREG(st->st_mode) || st->st_nlink == 1)
		blocks += st->st_blocks;
	return 0;
}

/* Bytes on the disk, without the symbols of kernels */
static u64 size_on_disk(const char *profile)
{
	blocks = 0;
	nftw(profile, add_blocks, MAX_OPEN_DIRS, FTW_PHYS);
	return blocks * BLOCK_SIZE_OF_STAT;
}

/**
 * struct segment_entry - a profile that is written
 * @size: bytes on the disk, without what profiles share: kernels.c
 * @end: when it was
 */
struct segment_entry {
	char	name[NAME_MAX + 1];
	u64	size;
	time_t	end;
};

static void segment_entry__path(const struct segment_entry *entry, const char *dir, char *path)
{
	scnprintf(path, PATH_MAX, "%s/%s", dir, entry->name);
}

/* @known: the same of the last time, if it was there. false: what has that name is not ours */
static bool segment_entry__init(struct segment_entry *entry, const char *dir, const char *name,
				const struct segment_entry *known)
{
	char path[PATH_MAX];
	struct stat st;

	scnprintf(entry->name, sizeof(entry->name), "%s", name);
	segment_entry__path(entry, dir, path);
	if (data_size(path) < 0 || stat(path, &st))
		return false;
	entry->end = st.st_mtime;
	entry->size = known && known->end == entry->end ? known->size : size_on_disk(path);
	return true;
}

/*
 * Lists those that are there now, the oldest first. There may be a thousand of them, and somebody
 * may have moved some away: each is looked for each time, and measured the first time. 0 or -errno
 */
static int segments__list(struct segments *segs)
{
	struct strlist *list = lsdir(segs->dir, is_whole);
	struct segment_entry *entries;
	struct str_node *node;
	size_t nr = 0, i = 0;

	if (!list)
		return -errno;
	entries = calloc(strlist__nr_entries(list) + 1, sizeof(*entries));
	/* In the order of their names, which is that of time */
	strlist__for_each_entry(node, list) {
		int cmp = -1;

		if (!entries)
			break;
		while (i < segs->nr && cmp < 0) {
			cmp = strcmp(segs->entries[i].name, node->s);
			i += cmp < 0;
		}
		nr += segment_entry__init(&entries[nr], segs->dir, node->s,
					  cmp ? NULL : &segs->entries[i]);
	}
	strlist__delete(list);
	if (!entries)
		return -ENOMEM;
	free(segs->entries);
	segs->entries = entries;
	segs->nr = nr;
	return 0;
}

void segments__exit(struct segments *segs)
{
	zfree(&segs->entries);
	segs->nr = 0;
}

/* 0 or -errno; -ENOTEMPTY: what is not of a profile stays in its directory */
static int segments__remove(struct segments *segs, size_t i)
{
	const struct segment_entry *entry = &segs->entries[i];
	char path[PATH_MAX], data[PATH_MAX];
	int ret = 0;

	segment_entry__path(entry, segs->dir, path);
	scnprintf(data, sizeof(data), "%s/data", path);
	/* The most of it first: whatever else is in it, it is no profile any more. */
	if (unlink(data))
		ret = -errno;
	else if (rm_rf_perf_data(path))
		ret = -ENOTEMPTY;
	if (ret)
		scnprintf(segs->left, sizeof(segs->left), "%s", entry->name);
	return ret;
}

/**
 * segments__limit - remove the oldest ones until @limits are kept
 * @now: as time()
 * @dropped: so many are added
 *
 * The next one is taken to be as large as the last one. That stays in any case. 0, or -errno: one
 * cannot be removed
 */
int segments__limit(struct segments *segs, const struct segments_limits *limits, time_t now,
		    struct segments_dropped *dropped)
{
	int ret = segments__list(segs);
	size_t nr = ret ? 0 : segs->nr;
	u64 size = nr ? segs->entries[nr - 1].size : 0, kernels = kernels__drop_unused(segs->dir);

	for (size_t i = 0; i < nr; i++)
		size += segs->entries[i].size;
	for (size_t i = 0; i + 1 < nr; i++) {
		const struct segment_entry *entry = &segs->entries[i];
		bool is_old = limits->keep && entry->end < now &&
			      (u64)(now - entry->end) > limits->keep;
		int err;

		if (!is_old && (!limits->max_size || size + kernels <= limits->max_size))
			break;
		err = segments__remove(segs, i);
		ret = ret ?: err;
		/* The next one goes. */
		if (err && err != -ENOTEMPTY)
			continue;
		size -= entry->size;
		kernels = kernels__drop_unused(segs->dir);
		dropped->by_age += is_old;
		dropped->by_size += !is_old;
	}
	return ret;
}

/* Is there no room on the disk for another one like @last? */
static bool is_full(const char *dir, const struct segment_entry *last)
{
	struct statvfs st;

	return !statvfs(dir, &st) && ((u64)st.f_bavail * st.f_frsize < last->size || !st.f_favail);
}

/**
 * segments__make_room - remove the oldest ones if the disk is full
 *
 * The last one stays. So many were removed: none if a recorder has failed for another reason
 */
int segments__make_room(struct segments *segs)
{
	size_t nr = segments__list(segs) ? 0 : segs->nr;
	int nr_removed = 0;

	for (size_t i = 0; i + 1 < nr && is_full(segs->dir, &segs->entries[nr - 1]); i++)
		nr_removed += !segments__remove(segs, i);
	return nr_removed;
}
