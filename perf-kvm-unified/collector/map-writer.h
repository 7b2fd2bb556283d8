/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_MAP_WRITER_H
#define __PERF_KVM_UNIFIED_COLLECTOR_MAP_WRITER_H

#include <stdbool.h>
#include <linux/types.h>

#include "util/tool.h"
#include "follow.h"
#include "modules.h"

struct guest_build_ids;
struct guest_history;
struct guest_tasks;
struct intlist;
union perf_event;

/**
 * struct map_writer - a guest map that is being written
 * @fd: where it is written to, whoever opens and closes that
 * @nr_maps: maps of processes, and @nr_build_ids: those with a build-id
 * @last_time: of what was followed, ns of CLOCK_BOOTTIME
 * @follow: what follows the guest, or NULL
 * @nr_records: of the snapshot
 * @nr_bytes: of what was followed, and @nr_dropped: how many records were too much of it
 * @modules: of the start, if the guest is followed
 * @jit_pids: processes with code that is in no file
 */
struct map_writer {
	struct perf_tool tool;
	int	fd;
	u64	nr_maps;
	u64	nr_build_ids;
	u64	last_time;
	struct guest_follow *follow;
	u64	nr_records;
	u64	nr_bytes;
	u64	nr_dropped;
	struct module_look modules;
	struct guest_kernel_events kernel_events;
	struct guest_build_ids *build_ids;
	struct intlist *jit_pids;
};

int map_writer__init(struct map_writer *writer);
void map_writer__exit(struct map_writer *writer);

int map_writer__add_followed(union perf_event *event, u64 time, void *arg);
int map_writer__write_clock(struct map_writer *writer);
int map_writer__write_snapshot(struct map_writer *writer, const struct guest_tasks *tasks,
			       bool follow);
int map_writer__write_rest(struct map_writer *writer, const struct guest_tasks *tasks,
			   struct guest_history *history, u64 nr_lost);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_MAP_WRITER_H */
