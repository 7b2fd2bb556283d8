// SPDX-License-Identifier: GPL-2.0
/*
 * In a guest: the build-ids of the files that processes have mapped. perf opens the
 * file of that name for each map, which may be another one by now, or is gone, or in
 * a directory that the process sees and perf does not. Here, what is mapped is
 * opened, and each file once, as thousands of processes map the same few.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "util/build-id.h"
#include "util/event.h"
#include "util/hashmap.h"
#include "util/symbol.h"
#include "guest-build-ids.h"

/* Not by what the map says: on some file systems that is the same for several files. */
struct file_build_id {
	dev_t	dev;
	ino_t	ino;
	struct build_id bid;
};

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

/**
 * guest_build_ids__find - put the build-id of a file into the record of its map
 * @ids: those that are known already
 * @mmap2: a map that there is; unchanged if its file has no build-id
 *
 * Needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE for /proc/<pid>/map_files. 0 or -ENOMEM
 */
int guest_build_ids__find(struct hashmap *ids, struct perf_record_mmap2 *mmap2)
{
	struct file_build_id key = { }, *file;
	char path[PATH_MAX];
	struct stat st;

	scnprintf(path, sizeof(path), "/proc/%u/map_files/%" PRI_lx64 "-%" PRI_lx64,
		  mmap2->pid, mmap2->start, mmap2->start + mmap2->len);
	if (stat(path, &st))
		return 0;
	key.dev = st.st_dev;
	key.ino = st.st_ino;
	if (!hashmap__find(ids, &key, &file)) {
		file = memdup(&key, sizeof(key));
		if (!file)
			return -ENOMEM;
		/* A process that is gone says nothing about the file. */
		if (filename__read_build_id(path, &file->bid) <= 0 ||
		    hashmap__add(ids, file, file)) {
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
