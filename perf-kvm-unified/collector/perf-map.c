// SPDX-License-Identifier: GPL-2.0
/*
 * In a guest: which /tmp/perf-PID.map is whose. Processes write them, and nobody removes them: one
 * may be of an earlier process of that pid, or of one that has it in another pid namespace.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/zalloc.h>

#include "util/debug.h"
#include "util/event.h"
#include "util/map.h"
#include "util/namespaces.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/sort.h"
#include "kvm-unified/lib/warnings.h"
#include "build-ids.h"
#include "open-regular.h"
#include "perf-map.h"

/* Seconds of doubt: both times are coarse, and the clock may be set by a little. */
#define OLDER_MARGIN	1

/* Its number in /proc/PID/stat, counted from the state, which is after the name: proc(5) */
#define STAT_STARTTIME	(22 - 3)

/* Enough for a line of /proc/PID/stat, which has numbers and one name */
#define STAT_LINE_LEN	1024

/* A file without a name, from which no program was started: it has no build-id, nor a print. */
static bool is_shared_memory(const struct perf_record_mmap2 *mmap2)
{
	return str_ends_with(mmap2->filename, " (deleted)") &&
	       !(mmap2->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID);
}

/*
 * Can a process have made the code of that map for itself? It is in memory, which may have a name
 * (prctl(PR_SET_VMA_ANON_NAME)), or in a file that stands for memory, to have it mapped twice.
 */
bool guest_mmap2__may_be_own_code(const struct perf_record_mmap2 *mmap2)
{
	const char *name = mmap2->filename;

	return is_anon_memory(name) || is_no_dso_memory(name) || strstarts(name, "[anon:") ||
	       strstarts(name, "[anon_shmem:") || strstarts(name, "/memfd:") ||
	       is_shared_memory(mmap2);
}

/*
 * When a process began, ns of CLOCK_BOOTTIME, by its /proc/PID/stat; @ticks_per_s: sysconf(3)'s
 * _SC_CLK_TCK. 0: it cannot be told
 */
u64 process__start_ns(const char *stat, long ticks_per_s)
{
	/* The name may have any character. */
	const char *field = strrchr(stat, ')');
	unsigned long long ticks;
	char *end;

	if (!field || ticks_per_s <= 0)
		return 0;
	field += strspn(field, ") ");
	for (int i = 0; *field && i < STAT_STARTTIME; i++) {
		field += strcspn(field, " ");
		field += strspn(field, " ");
	}
	ticks = strtoull(field, &end, 10);
	if (end == field || ticks > ULLONG_MAX / NSEC_PER_SEC)
		return 0;
	return ticks * NSEC_PER_SEC / ticks_per_s;
}

/* The same of a process that is there */
u64 process__read_start_ns(pid_t pid)
{
	char path[PATH_MAX], line[STAT_LINE_LEN];
	u64 start = 0;
	FILE *file;

	scnprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fgets(line, sizeof(line), file))
		start = process__start_ns(line, sysconf(_SC_CLK_TCK));
	fclose(file);
	return start;
}

/*
 * Was a file written to last before its process was there? @mtime: s of CLOCK_REALTIME;
 * @start: ns of CLOCK_BOOTTIME; @offset: by how many ns the former is ahead of the latter
 */
bool perf_map__is_older(time_t mtime, u64 start, s64 offset)
{
	return mtime < ((s64)start + offset) / (s64)NSEC_PER_SEC - OLDER_MARGIN;
}

/* The pid by which the process knows itself, in its pid namespace */
pid_t process__ns_pid(pid_t pid)
{
	struct nsinfo *nsi = nsinfo__new(pid);
	pid_t ret = nsi ? nsinfo__nstgid(nsi) : pid;

	nsinfo__put(nsi);
	return ret;
}

/*
 * The file that a process has written, as perf looks for it: by its pid in its own pid namespace
 * and root directory, or, if it is gone, where perf's own is. A link may lead to a file of others.
 */
static int open_perf_map(pid_t pid, struct stat *st)
{
	char path[PATH_MAX];
	int fd, root;

	scnprintf(path, sizeof(path), "/proc/%d/root", pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0 && errno != ENOENT && errno != ESRCH)
		return -1;
	if (root < 0) {
		scnprintf(path, sizeof(path), "/" PERF_MAP_FMT, pid);
		return open_regular(AT_FDCWD, path, O_NOFOLLOW, st);
	}
	scnprintf(path, sizeof(path), PERF_MAP_FMT, process__ns_pid(pid));
	fd = open_regular(root, path, O_NOFOLLOW, st);
	close(root);
	return fd;
}

static int file__cmp(const void *_a, const void *_b)
{
	const struct perf_map_file *a = _a, *b = _b;

	return sort_cmp(a->dev, b->dev) ?: sort_cmp(a->ino, b->ino);
}

/* Takes down which file a process has, if any. 0 or -ENOMEM */
int perf_maps__add(struct perf_maps *maps, pid_t pid)
{
	struct stat st;
	int fd = open_perf_map(pid, &st);

	if (fd < 0)
		return 0;
	close(fd);
	if (grow_array(maps->files, maps->nr, maps->allocated))
		return -ENOMEM;
	maps->files[maps->nr++] = (struct perf_map_file) { .dev = st.st_dev, .ino = st.st_ino };
	return 0;
}

/* Sorts the files, when all are added. */
void perf_maps__sort(struct perf_maps *maps)
{
	sort_array(maps->files, maps->nr, sizeof(*maps->files), file__cmp);
}

/* Have several processes it? */
static bool is_shared(const struct perf_maps *maps, const struct stat *st)
{
	const struct perf_map_file key = { .dev = st->st_dev, .ino = st->st_ino };
	const struct perf_map_file *file = NULL, *end = maps->files + maps->nr;

	if (maps->nr)
		file = bsearch(&key, maps->files, maps->nr, sizeof(key), file__cmp);
	if (!file)
		return false;
	return (file > maps->files && !file__cmp(file - 1, file)) ||
	       (file + 1 < end && !file__cmp(file + 1, file));
}

/**
 * perf_maps__open - open what a process has told of its own code, if it is for sure of that process
 * @maps: all of them, sorted; what is not opened is counted
 * @since: when it came, or called execve(), ns of CLOCK_BOOTTIME; 0: by its start alone
 *
 * A descriptor, or -1: there is none
 */
int perf_maps__open(struct perf_maps *maps, pid_t pid, u64 since)
{
	const u64 start = max(since, process__read_start_ns(pid));
	struct stat st;
	int fd = open_perf_map(pid, &st);
	bool older, shared;

	if (fd < 0)
		return -1;
	older = perf_map__is_older(st.st_mtime, start, guest_clock_offset());
	shared = is_shared(maps, &st);
	if (!older && !shared)
		return fd;
	pr_debug("Process %d: its " PERF_MAP_FMT " is %s\n", pid, process__ns_pid(pid),
		 older ? "older than it" : "another one's, too");
	maps->nr_old += older;
	maps->nr_shared += !older;
	close(fd);
	return -1;
}

/* Says what was not opened, and why: a line for each reason */
void perf_maps__warn(const struct perf_maps *maps)
{
	if (maps->nr_old)
		unified_warning("%zu processes are younger than the /tmp/perf-PID.map of their pid, which is not read: code that they have made has no names\n",
				maps->nr_old);
	if (maps->nr_shared)
		unified_warning("%zu processes have the /tmp/perf-PID.map of another one, as in pid namespaces with one /tmp: none is read, and code that they have made has no names\n",
				maps->nr_shared);
}

void perf_maps__exit(struct perf_maps *maps)
{
	zfree(&maps->files);
	maps->nr = 0;
	maps->allocated = 0;
}
