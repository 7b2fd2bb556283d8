/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_PERF_MAP_H
#define __PERF_KVM_UNIFIED_COLLECTOR_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <linux/types.h>

struct perf_record_mmap2;

/* Where a JIT compiler describes its code, below a root: Documentation/jit-interface.txt */
#define PERF_MAP_FMT	"tmp/perf-%d.map"

/* Which file it is */
struct perf_map_file {
	dev_t	dev;
	ino_t	ino;
};

/**
 * struct perf_maps - the files that processes have written to say what code they have made
 * @files: of each process that has one; ascending once perf_maps__sort() was called
 * @nr_old: so many were not opened as they are older than their process
 * @nr_shared: so many were not opened as another process has the same
 */
struct perf_maps {
	struct perf_map_file *files;
	size_t	nr;
	size_t	allocated;
	size_t	nr_old;
	size_t	nr_shared;
};

bool guest_mmap2__may_be_own_code(const struct perf_record_mmap2 *mmap2);
u64 process__start_ns(const char *stat, long ticks_per_s);
u64 process__read_start_ns(pid_t pid);
pid_t process__ns_pid(pid_t pid);
bool perf_map__is_older(time_t mtime, u64 start, s64 offset);

int perf_maps__add(struct perf_maps *maps, pid_t pid);
void perf_maps__sort(struct perf_maps *maps);
int perf_maps__open(struct perf_maps *maps, pid_t pid, u64 since);
void perf_maps__warn(const struct perf_maps *maps);
void perf_maps__exit(struct perf_maps *maps);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_PERF_MAP_H */
