// SPDX-License-Identifier: GPL-2.0
/*
 * The symbols of guests' kernels, in the directory of a recording without an end. They are most of
 * what a profile has of a guest, and the same in each profile until the guest is booted again. So a
 * file of symbols is kept once, in the directory kernels/, and the profiles have hard links to it.
 * A profile that is copied elsewhere is whole, and a file goes with the last profile that has it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <api/fs/fs.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "util/event.h"
#include "util/header.h"
#include "util/strlist.h"
#include "util/util.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/format/records.h"
#include "kvm-unified/format/stream.h"
#include "kernels.h"

#define KERNELS_DIR		"kernels"
#define KALLSYMS_NAME		"kallsyms"
/* Of the directories in a profile that have a guest's symbols */
#define KALLSYMS_DIR_PREFIX	"kcore_dir__"
/* Hex digits of the hash of what is in a file */
#define KEPT_NAME_LEN		8

static bool is_kallsyms_dir(const char *dir __maybe_unused, struct dirent *d)
{
	return strstarts(d->d_name, KALLSYMS_DIR_PREFIX);
}

/* Is it called as keep_file() does it? All else there is somebody's. */
static bool is_kept(const char *dir __maybe_unused, struct dirent *d)
{
	return strlen(d->d_name) == KEPT_NAME_LEN &&
	       strspn(d->d_name, "0123456789abcdef") == KEPT_NAME_LEN;
}

/* Is the file @path the same as @text, of @size bytes? */
static bool has_text(const char *path, const char *text, size_t size)
{
	struct stat st;
	size_t len;
	char *have;
	bool same;

	if (stat(path, &st) || (size_t)st.st_size != size || filename__read_str(path, &have, &len))
		return false;
	same = len == size && !memcmp(have, text, size);
	free(have);
	return same;
}

/* @file becomes a link to @kept. At any time there is one of them. 0 or -errno */
static int replace_by_link(const char *file, const char *kept)
{
	char tmp[PATH_MAX];
	int ret = 0;

	scnprintf(tmp, sizeof(tmp), "%s.tmp", file);
	unlink(tmp);
	if (link(kept, tmp))
		return -errno;
	if (rename(tmp, file))
		ret = -errno;
	/* Where both were links to the same file, rename() has done nothing. */
	unlink(tmp);
	return ret;
}

static u32 hash_of(const char *text, size_t size)
{
	u32 hash = size;

	for (size_t i = 0; i < size; i++)
		hash = hash_64(hash + (unsigned char)text[i], BITS_PER_TYPE(hash));
	return hash;
}

/*
 * The files that are kept are called by what is in them. 0 or -errno; -EEXIST: another one has that
 * name
 */
static int keep_file(const char *dir, const char *file)
{
	char kept[PATH_MAX], *text;
	size_t size;
	int ret = filename__read_str(file, &text, &size);

	if (ret)
		return ret;
	scnprintf(kept, sizeof(kept), "%s/%0*x", dir, KEPT_NAME_LEN, hash_of(text, size));
	if (!link(file, kept))
		ret = 0;
	else if (errno != EEXIST)
		ret = -errno;
	else
		ret = has_text(kept, text, size) ? replace_by_link(file, kept) : -EEXIST;
	free(text);
	return ret;
}

static int write_other(const union perf_event *event, void *file)
{
	if (event->header.type == PERF_RECORD_GUEST_KALLSYMS)
		return 0;
	return fwrite(event, event->header.size, 1, file) == 1 ? 0 : -EIO;
}

/* Writes the map @path to @file without the kernel's symbols. 0 or -errno */
static int write_rest(const char *path, FILE *file)
{
	const struct perf_pipe_file_header head = { .magic = PERF_MAGIC_LE, .size = sizeof(head) };
	char err[128];
	int ret = fwrite(&head, sizeof(head), 1, file) == 1 ? 0 : -EIO;

	if (!ret)
		ret = guest_stream__read_file(path, write_other, file, err, sizeof(err));
	if (!ret && fflush(file))
		ret = -errno;
	return ret ?: guest_stream__write_end(fileno(file));
}

/* Their text is in a file beside the map @path. 0 or -errno: the map is as it was then */
static int drop_kallsyms(const char *path)
{
	char tmp[PATH_MAX];
	FILE *file;
	int fd, ret;

	scnprintf(tmp, sizeof(tmp), "%s.tmp", path);
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file) {
		ret = -errno;
		if (fd >= 0)
			close(fd);
		return ret;
	}
	ret = write_rest(path, file);
	if (fclose(file) && !ret)
		ret = -errno;
	if (!ret && rename(tmp, path))
		ret = -errno;
	if (ret)
		unlink(tmp);
	return ret;
}

/* @name: of the directory in @profile with a guest's symbols. 0 or -errno */
static int keep_guest(const char *dir, const char *profile, const char *name)
{
	char kept[PATH_MAX], path[PATH_MAX];
	int ret;

	scnprintf(kept, sizeof(kept), "%s/" KERNELS_DIR, dir);
	if (mkdir(kept, 0700) && errno != EEXIST)
		return -errno;
	scnprintf(path, sizeof(path), "%s/%s/" KALLSYMS_NAME, profile, name);
	ret = keep_file(kept, path);
	if (ret)
		return ret;
	scnprintf(path, sizeof(path), "%s/" KVM_GUEST_MAP_PREFIX "%s", profile,
		  name + strlen(KALLSYMS_DIR_PREFIX));
	return drop_kallsyms(path);
}

/**
 * kernels__keep - keep the symbols of the guests of @profile once in @dir
 *
 * 0 or -errno: a profile has what it had, where the file system has no hard links for one
 */
int kernels__keep(const char *dir, const char *profile)
{
	struct strlist *list = lsdir(profile, is_kallsyms_dir);
	struct str_node *node;
	int ret = list ? 0 : -errno;

	if (!list)
		return ret;
	strlist__for_each_entry(node, list) {
		int err = keep_guest(dir, profile, node->s);

		ret = ret ?: err;
	}
	strlist__delete(list);
	return ret;
}

/* Removes what no profile has any more. Bytes on the disk of what stays */
u64 kernels__drop_unused(const char *dir)
{
	char kernels[PATH_MAX], path[PATH_MAX];
	struct strlist *list;
	struct str_node *node;
	u64 size = 0;

	scnprintf(kernels, sizeof(kernels), "%s/" KERNELS_DIR, dir);
	list = lsdir(kernels, is_kept);
	if (!list)
		return 0;
	strlist__for_each_entry(node, list) {
		struct stat st;

		scnprintf(path, sizeof(path), "%s/%s", kernels, node->s);
		if (stat(path, &st) || (st.st_nlink == 1 && !unlink(path)))
			continue;
		size += st.st_blocks * BLOCK_SIZE_OF_STAT;
	}
	strlist__delete(list);
	return size;
}
