// SPDX-License-Identifier: GPL-2.0
/*
 * In a guest: the build-ids of the files that processes have mapped. perf opens the
 * file of that name for each map, which may be another one by now, or is gone, or in
 * a directory that the process sees and perf does not. Here, what is mapped is
 * opened, and each file once, as thousands of processes map the same few.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/zalloc.h>

#include "util/build-id.h"
#include "util/event.h"
#include "util/hashmap.h"
#include "util/symbol.h"
#include "guest-build-ids.h"

/* How coarse a file's times can be, and how far its clock can be set meanwhile, in ns */
#define CTIME_MARGIN	NSEC_PER_SEC

/*
 * Not by what the map says: on some file systems that is the same for several files.
 * @ctime: a file that was written to is another one
 */
struct file_build_id {
	dev_t	dev;
	ino_t	ino;
	u64	ctime;
	struct build_id bid;
};

static u64 ns(const struct timespec *ts)
{
	return ts->tv_sec * NSEC_PER_SEC + ts->tv_nsec;
}

static size_t file__hash(long key, void *ctx __maybe_unused)
{
	const struct file_build_id *file = (const struct file_build_id *)key;

	return hash_bits(file->ino ^ ((u64)file->dev << 32), sizeof(size_t) * 8);
}

static bool file__equal(long key1, long key2, void *ctx __maybe_unused)
{
	const struct file_build_id *a = (const struct file_build_id *)key1;
	const struct file_build_id *b = (const struct file_build_id *)key2;

	return a->ino == b->ino && a->dev == b->dev && a->ctime == b->ctime;
}

/* NULL: no memory */
struct hashmap *guest_build_ids__new(void)
{
	struct hashmap *ids = hashmap__new(file__hash, file__equal, NULL);

	return IS_ERR(ids) ? NULL : ids;
}

void guest_build_ids__delete(struct hashmap *ids)
{
	struct hashmap_entry *entry;
	size_t bkt;

	if (!ids)
		return;
	hashmap__for_each_entry(ids, entry, bkt)
		free(entry->pvalue);
	hashmap__free(ids);
}

static void map_files_path(const struct perf_record_mmap2 *mmap2, char *path, size_t size)
{
	scnprintf(path, size, "/proc/%u/map_files/%" PRI_lx64 "-%" PRI_lx64,
		  mmap2->pid, mmap2->start, mmap2->start + mmap2->len);
}

static struct file_build_id file_key(const struct stat *st)
{
	return (struct file_build_id) {
		.dev = st->st_dev,
		.ino = st->st_ino,
		.ctime = ns(&st->st_ctim),
	};
}

/* Of the file of @path if it still is @file: by now it may be another, or a pipe. */
static bool read_build_id(const char *path, struct file_build_id *file)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	struct file_build_id found;
	char self[PATH_MAX];
	struct stat st;
	bool ret = false;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st)) {
		found = file_key(&st);
		scnprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
		ret = file__equal((long)&found, (long)file, NULL) &&
		      filename__read_build_id(self, &file->bid) > 0;
	}
	close(fd);
	return ret;
}

/* 0, without a build-id too, or -ENOMEM */
static int find_file(struct hashmap *ids, const char *path, const struct stat *st,
		     struct perf_record_mmap2 *mmap2)
{
	const struct file_build_id key = file_key(st);
	struct file_build_id *file;

	if (!hashmap__find(ids, &key, &file)) {
		file = memdup(&key, sizeof(key));
		if (!file)
			return -ENOMEM;
		/* A process that is gone says nothing about the file. */
		if (!read_build_id(path, file) || hashmap__add(ids, file, file)) {
			free(file);
			return 0;
		}
	}

	memset(mmap2->build_id, 0, sizeof(mmap2->build_id));
	memcpy(mmap2->build_id, file->bid.data, file->bid.size);
	mmap2->build_id_size = file->bid.size;
	mmap2->__reserved_1 = 0;
	mmap2->__reserved_2 = 0;
	mmap2->header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	return 0;
}

/**
 * guest_build_ids__find - put the build-id of a file into the record of its map
 * @ids: those that are known already
 * @mmap2: a map that there is; unchanged if its file has no build-id
 *
 * Needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE for /proc/<pid>/map_files. 0 or -ENOMEM
 */
int guest_build_ids__find(struct hashmap *ids, struct perf_record_mmap2 *mmap2)
{
	char path[PATH_MAX];
	struct stat st;

	map_files_path(mmap2, path, sizeof(path));
	return stat(path, &st) ? 0 : find_file(ids, path, &st, mmap2);
}

static bool is_inode(const struct stat *st, const struct perf_record_mmap2 *mmap2)
{
	return st->st_ino == mmap2->ino && major(st->st_dev) == mmap2->maj &&
	       minor(st->st_dev) == mmap2->min;
}

/* By the name: overlayfs and btrfs have other devices in stat() than in maps. */
static bool is_inode_of_name(const char *link, const struct stat *st,
			     const struct perf_record_mmap2 *mmap2)
{
	char name[PATH_MAX];
	ssize_t len = readlink(link, name, sizeof(name) - 1);

	if (len < 0)
		return false;
	name[len] = '\0';
	return st->st_ino == mmap2->ino && !strcmp(name, mmap2->filename);
}

/* Was the file left alone since @time, of CLOCK_BOOTTIME? */
static bool is_unchanged(const struct stat *st, u64 time)
{
	struct timespec boot, real;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_REALTIME, &real);
	return ns(&st->st_ctim) + CTIME_MARGIN < ns(&real) - (ns(&boot) - time);
}

/**
 * guest_build_ids__find_past - the same, of a map that there was at a time
 * @ids: those that are known already
 * @mmap2: the map, as the kernel told of it; unchanged if it cannot be said for sure
 *	   which file it had, or that has no build-id
 * @time: of CLOCK_BOOTTIME, in ns
 *
 * Its process may be another program by now, or another process, or be gone: then the
 * file of that name is taken if it is the same inode and older. 0 or -ENOMEM
 */
int guest_build_ids__find_past(struct hashmap *ids, struct perf_record_mmap2 *mmap2, u64 time)
{
	char path[PATH_MAX];
	struct stat st;

	map_files_path(mmap2, path, sizeof(path));
	if (!stat(path, &st) && (is_inode(&st, mmap2) || is_inode_of_name(path, &st, mmap2)))
		return find_file(ids, path, &st, mmap2);
	if (!stat(mmap2->filename, &st) && S_ISREG(st.st_mode) && is_inode(&st, mmap2) &&
	    is_unchanged(&st, time))
		return find_file(ids, mmap2->filename, &st, mmap2);
	return 0;
}
