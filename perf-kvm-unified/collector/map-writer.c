// SPDX-License-Identifier: GPL-2.0
/*
 * The records of a guest map, as the guest that this runs in has them: processes, their maps and
 * address spaces, symbols and the clock.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <api/fs/fs.h>

#include "util/debug.h"
#include "util/env.h"
#include "util/event.h"
#include "util/intlist.h"
#include "util/machine.h"
#include "util/map.h"
#include "util/symbol_conf.h"
#include "util/synthetic-events.h"
#include "util/tsc.h"
#include "kvm-unified/format/records.h"
#include "kvm-unified/format/spaces.h"
#include "kvm-unified/format/stream.h"
#include "kvm-unified/lib/write.h"
#include "build-ids.h"
#include "cgroups.h"
#include "history.h"
#include "map-writer.h"
#include "orc.h"
#include "passes.h"
#include "perf-map.h"
#include "symbols.h"
#include "tasks.h"

/* One of them is not interrupted. */
#define CLOCK_TRIES		16

/* About ten times a second, on a slow machine */
#define DRAIN_EVERY_RECORDS	256

/* What was followed may take so much of the largest map that is read (GUEST_STREAM_MAX_SIZE). */
#define FOLLOWED_MAX_SIZE	(160ULL << 20)

/* A record is a multiple of this long. */
#define RECORD_ALIGN		sizeof(u64)
#define KALLSYMS_CHUNK		(UINT16_MAX - RECORD_ALIGN -			\
				 sizeof(struct perf_record_guest_kallsyms))

/* 0 or -ENOMEM; map_writer__exit() comes after it in any case. */
int map_writer__init(struct map_writer *writer)
{
	*writer = (struct map_writer) {
		.fd = -1,
		.build_ids = guest_build_ids__new(),
		.jit_pids = intlist__new(NULL),
	};
	perf_tool__init(&writer->tool, /*ordered_events=*/false);
	return writer->build_ids && writer->jit_pids ? 0 : -ENOMEM;
}

void map_writer__exit(struct map_writer *writer)
{
	module_look__exit(&writer->modules);
	guest_kernel_events__exit(&writer->kernel_events);
	guest_build_ids__delete(writer->build_ids);
	intlist__delete(writer->jit_pids);
}

/* Code that a process has made for itself may be described in /tmp/perf-<pid>.map. */
static int note_jit(struct map_writer *writer, const struct perf_record_mmap2 *mmap2)
{
	int ret;

	if (!guest_mmap2__may_be_own_code(mmap2))
		return 0;
	ret = intlist__add(writer->jit_pids, mmap2->pid);
	return ret == -EEXIST ? 0 : ret;
}

static int write_event(struct map_writer *writer, const union perf_event *event)
{
	int ret = 0;

	if (event->header.type == PERF_RECORD_MMAP2) {
		writer->nr_maps++;
		if (event->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
			writer->nr_build_ids++;
		ret = note_jit(writer, &event->mmap2);
	}
	return ret ?: write_all(writer->fd, event, event->header.size);
}

/* Is it a mapping of a file whose build-id is not known? [heap] and //anon are no files. */
static bool lacks_build_id(const union perf_event *event)
{
	return event->header.type == PERF_RECORD_MMAP2 && event->mmap2.filename[0] == '/' &&
	       event->mmap2.filename[1] != '/' &&
	       !(event->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID);
}

static int process_event(const struct perf_tool *tool, union perf_event *event,
			 struct perf_sample *sample __maybe_unused,
			 struct machine *machine __maybe_unused)
{
	struct map_writer *writer = container_of(tool, struct map_writer, tool);
	int ret = 0;

	/* With thousands of processes, this takes as long as the buffers last. */
	if (writer->follow && ++writer->nr_records % DRAIN_EVERY_RECORDS == 0)
		ret = guest_follow__drain(writer->follow);
	if (ret)
		return ret;
	if (lacks_build_id(event))
		ret = guest_build_ids__find(writer->build_ids, &event->mmap2);
	return ret ?: write_event(writer, event);
}

/* Threads have the address space, and here the name, of their process. */
static bool is_of_thread(const union perf_event *event)
{
	switch (event->header.type) {
	case PERF_RECORD_FORK:
		return event->fork.pid == event->fork.ppid;
	case PERF_RECORD_COMM:
		return event->comm.pid != event->comm.tid;
	case PERF_RECORD_EXIT:
		return event->fork.pid != event->fork.tid;
	default:
		return false;
	}
}

/* Writes what has happened, of guest_follow__start() with the writer as its @arg. 0 or -errno */
int map_writer__add_followed(union perf_event *event, u64 time, void *arg)
{
	struct map_writer *writer = arg;
	struct perf_record_guest_time rec = {
		.header.type = PERF_RECORD_GUEST_TIME,
		.header.size = sizeof(rec),
		/* One that came late, of a CPU that was away for long, is not earlier. */
		.time = max(time, writer->last_time),
	};
	int ret = 0;

	if (is_of_thread(event))
		return 0;
	writer->nr_bytes += event->header.size;
	if (writer->nr_bytes > FOLLOWED_MAX_SIZE) {
		writer->nr_dropped++;
		return 0;
	}
	/* Kernels before 5.12 say none, and later ones not that of each file. */
	if (lacks_build_id(event))
		ret = guest_build_ids__find_past(writer->build_ids, &event->mmap2, time);
	if (!ret && rec.time != writer->last_time)
		ret = write_all(writer->fd, &rec, sizeof(rec));
	writer->last_time = rec.time;
	return ret ?: write_event(writer, event);
}

/*
 * A dummy event, so that the file is one that perf script and so on can read.
 * Its records have no sample id after them.
 */
static int write_attr(struct map_writer *writer)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
	};

	return perf_event__synthesize_attr(&writer->tool, &attr, 0, NULL, process_event);
}

/*
 * The kernel lists what it does, not what the CPU would need: a kernel that was
 * booted with pti=on has it on any CPU.
 */
static bool guest_has_pti(void)
{
	char path[PATH_MAX], *line = NULL;
	size_t size = 0;
	bool pti = false;
	FILE *file;

	scnprintf(path, sizeof(path), "%s/cpuinfo", procfs__mountpoint() ?: "/proc");
	file = fopen(path, "r");
	if (!file)
		return false;
	while (getline(&line, &size, file) > 0) {
		if (!strstarts(line, "flags"))
			continue;
		pti = strstr(line, " pti ") || strstr(line, " pti\n");
		break;
	}
	free(line);
	fclose(file);
	return pti;
}

static int write_kind(struct map_writer *writer, bool follow)
{
	struct perf_record_guest_map rec = {
		.header.type = PERF_RECORD_GUEST_MAP,
		.header.size = sizeof(rec),
		.flags = (follow ? GUEST_MAP_FOLLOWED : 0) |
			 (guest_has_pti() ? GUEST_MAP_PTI : 0),
	};

	return write_all(writer->fd, &rec, sizeof(rec));
}

static int write_missed(struct map_writer *writer, const struct guest_tasks *tasks, u64 nr_lost)
{
	struct perf_record_guest_missed rec = {
		.header.type = PERF_RECORD_GUEST_MISSED,
		.header.size = sizeof(rec),
		.spaces = tasks->nr_unread,
		.events = nr_lost,
	};

	return write_all(writer->fd, &rec, sizeof(rec));
}

/*
 * TSC and clock of the same moment: of some tries, the one in which least time went
 * by between two looks at the TSC. A vCPU can be preempted in any of them.
 */
int map_writer__write_clock(struct map_writer *writer)
{
	struct perf_record_guest_clock rec = {
		.header.type = PERF_RECORD_GUEST_CLOCK,
		.header.size = sizeof(rec),
	};
	u64 best = ~0ULL;

	for (int i = 0; i < CLOCK_TRIES; i++) {
		struct timespec ts;
		u64 before = rdtsc(), after;

		clock_gettime(CLOCK_BOOTTIME, &ts);
		after = rdtsc();
		if (after - before >= best)
			continue;
		best = after - before;
		rec.tsc = before + best / 2;
		rec.time = ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
	}
	return write_all(writer->fd, &rec, sizeof(rec));
}

static int write_spaces(struct map_writer *writer, const struct guest_spaces *spaces)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < spaces->nr; i++) {
		const struct guest_space *space = &spaces->entries[i];
		struct perf_record_guest_space rec = {
			.header.type = PERF_RECORD_GUEST_SPACE,
			.header.size = sizeof(rec),
			.pt_root = space->pt_root,
			.from = space->from,
			.until = space->until,
			.pid = space->pid,
			.ns_pid = space->ns_pid,
		};

		ret = write_all(writer->fd, &rec, sizeof(rec));
	}
	return ret;
}

static int write_kallsyms(struct map_writer *writer)
{
	struct perf_record_guest_kallsyms *rec;
	char path[PATH_MAX];
	int fd, ret = 0;

	scnprintf(path, sizeof(path), "%s/kallsyms", procfs__mountpoint() ?: "/proc");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		ret = -errno;
		pr_err("%s: %s\n", path, strerror(-ret));
		return ret;
	}

	rec = zalloc(UINT16_MAX);
	if (!rec) {
		close(fd);
		return -ENOMEM;
	}
	rec->header.type = PERF_RECORD_GUEST_KALLSYMS;
	while (!ret) {
		ssize_t n = read(fd, rec->data, KALLSYMS_CHUNK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			ret = -errno;
			pr_err("%s: %s\n", path, strerror(-ret));
		}
		if (n <= 0)
			break;
		rec->len = n;
		rec->header.size = PERF_ALIGN(sizeof(*rec) + n, RECORD_ALIGN);
		memset(rec->data + n, 0, rec->header.size - sizeof(*rec) - n);
		ret = write_all(writer->fd, rec, rec->header.size);
	}

	free(rec);
	close(fd);
	return ret;
}

static int read_modules(struct module_look *modules)
{
	const char *proc = procfs__mountpoint() ?: "/proc";
	char modules_path[PATH_MAX], kallsyms_path[PATH_MAX];

	scnprintf(modules_path, sizeof(modules_path), "%s/modules", proc);
	scnprintf(kallsyms_path, sizeof(kallsyms_path), "%s/kallsyms", proc);
	return module_look__read(modules, modules_path, kallsyms_path);
}

static int write_kernel_changes(struct map_writer *writer)
{
	struct module_look after;
	int ret = read_modules(&after);

	if (!ret)
		ret = module_looks__write_changes(&writer->modules, &after,
						  &writer->kernel_events.modules, writer->fd);
	module_look__exit(&after);
	return ret ?: guest_bpf_events__write(&writer->kernel_events.programs, writer->fd);
}

/* All that there is now. 0 or -errno */
int map_writer__write_snapshot(struct map_writer *writer, const struct guest_tasks *tasks,
			       bool follow)
{
	struct perf_env host_env;
	struct machine *machine;
	int ret;

	perf_env__init(&host_env);
	machine = machine__new_host(&host_env);
	if (!machine) {
		perf_env__exit(&host_env);
		return -ENOMEM;
	}
	symbol_conf.no_buildid_mmap2 = false;
	ret = write_attr(writer);
	if (!ret)
		ret = write_kind(writer, follow);
	if (!ret)
		ret = map_writer__write_clock(writer);
	if (!ret)
		ret = perf_event__synthesize_kernel_mmap(&writer->tool, process_event, machine);
	if (!ret)
		ret = perf_event__synthesize_modules(&writer->tool, process_event, machine);
	if (!ret && follow)
		ret = read_modules(&writer->modules);
	/* Those of programs are found in another way, see process_event(). */
	symbol_conf.no_buildid_mmap2 = true;
	if (!ret)
		ret = perf_event__synthesize_threads(&writer->tool, process_event, machine,
						     /*needs_mmap=*/true, /*mmap_data=*/false,
						     /*nr_threads_synthesize=*/1);
	if (!ret)
		ret = guest_tasks__write_cgroups(tasks, writer->fd);
	machine__delete(machine);
	perf_env__exit(&host_env);
	return ret;
}

/* Notes when each process began that has made code, or called execve(), if it was followed. */
static void note_begins(struct map_writer *writer, const struct guest_history *history)
{
	for (size_t i = 0; i < history->nr; i++) {
		const struct guest_task_event *event = &history->events[i];
		struct int_node *node = intlist__find(writer->jit_pids, event->pid);

		if (node && event->kind != GUEST_TASK_EXIT)
			node->priv = (void *)max((unsigned long)node->priv,
						 (unsigned long)event->time);
	}
}

/* Writes the symbols that the process of @node has for its own code. 0 or -errno */
static int write_own_symbols(struct map_writer *writer, struct perf_maps *perf_maps,
			     const struct int_node *node, size_t *left)
{
	int in = perf_maps__open(perf_maps, node->i, (unsigned long)node->priv);
	int ret = 0;

	if (in >= 0) {
		ret = guest_symbols__write_perf_map(writer->fd, node->i, in, left);
		close(in);
	}
	return ret ?: guest_symbols__write_jitdumps(writer->fd, node->i, left);
}

/* Writes the symbols that processes have for their own code. 0 or -errno */
static int write_symbols(struct map_writer *writer, const struct guest_history *history)
{
	size_t left = GUEST_SYMBOLS_MAX_SIZE;
	struct perf_maps perf_maps = { };
	struct int_node *node;
	int ret = 0;

	note_begins(writer, history);
	intlist__for_each_entry(node, writer->jit_pids) {
		ret = perf_maps__add(&perf_maps, node->i);
		if (ret)
			goto out;
	}
	perf_maps__sort(&perf_maps);
	intlist__for_each_entry(node, writer->jit_pids) {
		ret = write_own_symbols(writer, &perf_maps, node, &left);
		if (ret)
			goto out;
	}
	perf_maps__warn(&perf_maps);
out:
	perf_maps__exit(&perf_maps);
	return ret;
}

/* Writes what is known only at the end. 0 or -errno */
int map_writer__write_rest(struct map_writer *writer, const struct guest_tasks *tasks,
			   struct guest_history *history, u64 nr_lost)
{
	struct guest_spaces spaces = { };
	int ret;

	ret = guest_history__spaces(history, tasks, &spaces);
	if (!ret)
		ret = write_spaces(writer, &spaces);
	guest_spaces__exit(&spaces);
	if (!ret && writer->follow)
		ret = write_kernel_changes(writer);
	if (!ret)
		ret = write_kallsyms(writer);
	if (!ret)
		ret = guest_orc__write_own(writer->fd);
	if (!ret)
		ret = guest_symbols__write_vdso(writer->fd);
	if (!ret)
		ret = write_symbols(writer, history);
	if (!ret && !writer->follow)
		ret = map_writer__write_clock(writer);
	if (!ret)
		ret = write_missed(writer, tasks, nr_lost);
	return ret ?: guest_stream__write_end(writer->fd);
}
