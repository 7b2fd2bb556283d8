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
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/magic.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/zalloc.h>

#include "util/build-id.h"
#include "util/event.h"
#include "util/symbol.h"
#include "kvm-unified/format/records.h"
#include "kvm-unified/lib/file-print.h"
#include "kvm-unified/lib/hash-map.h"
#include "kvm-unified/lib/warnings.h"
#include "build-ids.h"

/* Not in every <linux/magic.h> */
#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC	0x65735546
#endif
#ifndef CIFS_SUPER_MAGIC
#define CIFS_SUPER_MAGIC	0xFF534D42
#endif
#ifndef SMB2_SUPER_MAGIC
#define SMB2_SUPER_MAGIC	0xFE534D42
#endif

/*
 * How coarse the times of files can be, and how far the clock that they are of can be
 * from where it would be had nobody set it, in ns
 */
#define CTIME_MARGIN	(3LL * NSEC_PER_SEC)

/*
 * Not by what the map says: on some file systems that is the same for several files.
 * @ctime: a file that was written to is read again
 * @known: false if it can have been written to since without a new ctime
 * @is_print: @bid is none, but what file_print() makes of the file
 * @bid: of size 0 if it has neither
 */
struct file_build_id {
	dev_t	dev;
	ino_t	ino;
	s64	ctime;
	bool	known;
	bool	is_print;
	struct build_id bid;
};

/* So many bytes are read of files without a build-id: the guest has other things to do. */
#define PRINTS_MAX_READ		(512U << 20)

/*
 * @clock_offset: CLOCK_REALTIME less CLOCK_BOOTTIME, in ns, when it was made
 * @left: bytes that may still be read of files without a build-id
 */
struct guest_build_ids {
	struct hashmap *files;
	s64	clock_offset;
	size_t	left;
};

static s64 ns(const struct timespec *ts)
{
	return (s64)ts->tv_sec * NSEC_PER_SEC + ts->tv_nsec;
}

/*
 * CLOCK_REALTIME less CLOCK_BOOTTIME, in ns. Not more than it is, however long this is
 * interrupted: files look younger then.
 */
s64 guest_clock_offset(void)
{
	struct timespec real, boot;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return ns(&real) - ns(&boot);
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

	return a->ino == b->ino && a->dev == b->dev;
}

/* NULL: no memory */
struct guest_build_ids *guest_build_ids__new(void)
{
	struct guest_build_ids *ids = zalloc(sizeof(*ids));

	if (!ids)
		return NULL;
	symbol__elf_init();
	ids->clock_offset = guest_clock_offset();
	ids->left = PRINTS_MAX_READ;
	ids->files = hash_map__new(file__hash, file__equal, NULL);
	if (!ids->files)
		zfree(&ids);
	return ids;
}

void guest_build_ids__delete(struct guest_build_ids *ids)
{
	struct hashmap_entry *entry;
	size_t bkt;

	if (!ids)
		return;
	hashmap__for_each_entry(ids->files, entry, bkt)
		free(entry->pvalue);
	hashmap__free(ids->files);
	free(ids);
}

static void map_files_path(const struct perf_record_mmap2 *mmap2, char *path, size_t size)
{
	scnprintf(path, size, "/proc/%u/map_files/%" PRI_lx64 "-%" PRI_lx64,
		  mmap2->pid, mmap2->start, mmap2->start + mmap2->len);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       ns(&a->st_ctim) == ns(&b->st_ctim);
}

/* Makes what stands for the build-id of a file that has none; @fd: the file */
static void make_print(struct guest_build_ids *ids, int fd, struct file_build_id *file)
{
	ssize_t nr = file_print(fd, ids->left, file->bid.data);

	if (nr == -EFBIG && ids->left && ids->left < FILE_PRINT_MAX_READ) {
		unified_warning("Files without a build-id have more symbols than are read (%u MiB): functions of some have no names\n",
				PRINTS_MAX_READ >> 20);
		ids->left = 0;
	}
	if (nr < 0)
		return;
	ids->left -= nr;
	file->bid.size = FILE_PRINT_SIZE;
	file->is_print = true;
}

/*
 * Into @file, or what it has instead. False if the file of @path is not, or not any more, the
 * one of @st. O_NONBLOCK: who holds a lease on a file has others wait for it when they open it.
 */
static bool read_build_id(struct guest_build_ids *ids, const char *path, const struct stat *st,
			  struct file_build_id *file)
{
	int path_fd = open(path, O_PATH | O_CLOEXEC), fd = -1;
	char self[PATH_MAX];
	struct stat now;
	bool ret = false;

	if (path_fd < 0)
		return false;
	scnprintf(self, sizeof(self), "/proc/self/fd/%d", path_fd);
	if (!fstat(path_fd, &now) && is_same(&now, st))
		fd = open(self, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0) {
		scnprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
		file->is_print = false;
		if (filename__read_build_id(self, &file->bid) <= 0) {
			file->bid.size = 0;
			make_print(ids, fd, file);
		}
		ret = !fstat(fd, &now) && is_same(&now, st);
		close(fd);
	}
	close(path_fd);
	return ret;
}

/* Was the file left alone since @time, of CLOCK_BOOTTIME? */
static bool is_unchanged(const struct guest_build_ids *ids, const struct stat *st, u64 time)
{
	s64 offset = guest_clock_offset();

	return offset - ids->clock_offset < CTIME_MARGIN / 2 &&
	       ns(&st->st_ctim) + CTIME_MARGIN < (s64)time + offset;
}

static u64 boottime_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ns(&ts);
}

static struct file_build_id *find_or_add(struct guest_build_ids *ids, const struct stat *st)
{
	const struct file_build_id key = { .dev = st->st_dev, .ino = st->st_ino };
	struct file_build_id *file;

	if (hashmap__find(ids->files, &key, &file))
		return file;
	file = memdup(&key, sizeof(key));
	if (file && hashmap__add(ids->files, file, file))
		zfree(&file);
	return file;
}

/*
 * Reads regular files only, as reading others may have effects. 0, also without a build-id, or
 * -ENOMEM
 */
static int find_file(struct guest_build_ids *ids, const char *path, const struct stat *st,
		     struct perf_record_mmap2 *mmap2)
{
	struct file_build_id *file;

	if (!S_ISREG(st->st_mode))
		return 0;
	file = find_or_add(ids, st);
	if (!file)
		return -ENOMEM;
	if (!file->known || file->ctime != ns(&st->st_ctim)) {
		u64 now = boottime_ns();

		file->known = false;
		/* A process that is gone says nothing about the file. */
		if (!read_build_id(ids, path, st, file))
			return 0;
		file->ctime = ns(&st->st_ctim);
		file->known = is_unchanged(ids, st, now);
	}
	if (!file->bid.size)
		return 0;

	memset(mmap2->build_id, 0, sizeof(mmap2->build_id));
	memcpy(mmap2->build_id, file->bid.data, file->bid.size);
	mmap2->build_id_size = file->bid.size;
	mmap2->__reserved_1 = file->is_print ? GUEST_MMAP2_FILE_PRINT : 0;
	mmap2->__reserved_2 = 0;
	mmap2->header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	return 0;
}

/**
 * guest_build_ids__find - put the build-id of a file into the record of its map
 * @ids: those that are known already
 * @mmap2: a map that there is; unchanged if its file has no build-id, nor what stands for one
 *
 * Needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE for /proc/<pid>/map_files. 0 or -ENOMEM
 */
int guest_build_ids__find(struct guest_build_ids *ids, struct perf_record_mmap2 *mmap2)
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

/* Compares by the name: overlayfs and btrfs have other devices in stat() than in maps. */
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

/* Are its times of this machine's clock? */
static bool is_local(const char *path)
{
	struct statfs fs;

	if (statfs(path, &fs))
		return false;
	switch ((u32)fs.f_type) {
	case NFS_SUPER_MAGIC:
	case V9FS_MAGIC:
	case FUSE_SUPER_MAGIC:
	case SMB_SUPER_MAGIC:
	case CIFS_SUPER_MAGIC:
	case SMB2_SUPER_MAGIC:
	case CEPH_SUPER_MAGIC:
	case AFS_SUPER_MAGIC:
	case CODA_SUPER_MAGIC:
	case OCFS2_SUPER_MAGIC:
		return false;
	default:
		return true;
	}
}

/**
 * guest_build_ids__find_past - the same, of a map that there was at a time
 * @ids: those that are known already
 * @mmap2: the map, as the kernel told of it; unchanged if it cannot be said for sure
 *	   which file it had, or that has no build-id
 * @time: of CLOCK_BOOTTIME, in ns
 *
 * Its process may be another program by now, or another process, or be gone: then the
 * file of that name is tried. It has to be the inode that was mapped, and older than the
 * map: inodes are used again, and files are written to. 0 or -ENOMEM
 */
int guest_build_ids__find_past(struct guest_build_ids *ids, struct perf_record_mmap2 *mmap2,
			       u64 time)
{
	char map_files[PATH_MAX];
	const char *path;
	struct stat st;

	map_files_path(mmap2, map_files, sizeof(map_files));
	if (!stat(map_files, &st) &&
	    (is_inode(&st, mmap2) || is_inode_of_name(map_files, &st, mmap2)))
		path = map_files;
	else if (!stat(mmap2->filename, &st) && is_inode(&st, mmap2))
		path = mmap2->filename;
	else
		return 0;
	if (!is_unchanged(ids, &st, time) || !is_local(path))
		return 0;
	return find_file(ids, path, &st, mmap2);
}
