// SPDX-License-Identifier: GPL-2.0
/*
 * Takes over what a guest map says, processes and their maps only after all of it was checked
 * (map-check.c). What happened while the guest was followed is kept until the samples have come to
 * that time.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "util/build-id.h"
#include "util/debug.h"
#include "util/event.h"
#include "kvm-unified/format/records.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/errors.h"
#include "kvm-unified/lib/file-print.h"
#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/number-map.h"
#include "kvm-unified/lib/warnings.h"
#include "cgroups.h"
#include "guest.h"
#include "kernel.h"
#include "load.h"
#include "machine.h"
#include "map-check.h"
#include "map-kallsyms.h"
#include "modules.h"
#include "orc.h"
#include "programs.h"

/* So many processes, and the vDSO, may have symbols of code of their own: they are searched. */
#define GUEST_MAP_MAX_SYMBOL_PIDS	1024

static int kvm_guest__apply_mmap(struct kvm_guest *guest, const union perf_event *event, u64 time)
{
	struct build_id bid, print;
	struct guest_mmap map;

	if (event->header.type == PERF_RECORD_MMAP) {
		map = (struct guest_mmap) {
			.pid = event->mmap.pid,
			.start = event->mmap.start,
			.len = event->mmap.len,
			.pgoff = event->mmap.pgoff,
			.prot = PROT_EXEC,
			.name = event->mmap.filename,
		};
	} else {
		map = (struct guest_mmap) {
			.pid = event->mmap2.pid,
			.start = event->mmap2.start,
			.len = event->mmap2.len,
			.pgoff = event->mmap2.pgoff,
			.prot = event->mmap2.prot,
			.flags = event->mmap2.flags,
			.name = event->mmap2.filename,
		};
		if (event->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID &&
		    event->mmap2.__reserved_1 == GUEST_MMAP2_FILE_PRINT) {
			build_id__init(&print, event->mmap2.build_id, event->mmap2.build_id_size);
			if (print.size == FILE_PRINT_SIZE)
				map.print = &print;
		} else if (event->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
			build_id__init(&bid, event->mmap2.build_id, event->mmap2.build_id_size);
			if (build_id__is_defined(&bid))
				map.bid = &bid;
		}
	}
	map.time = time;
	if (!guest_event__is_kernel(event))
		return kvm_guest__add_map(guest, &map);
	/* A module that was not there all the time comes when it is its time. */
	if (kvm_guest__is_changing_module(guest, map.start) &&
	    !strstarts(map.name, KERNEL_MAP_NAME))
		return 0;
	return kvm_guest__add_kernel_map(guest, &map);
}

static int kvm_guest__apply_comm(struct kvm_guest *guest, const union perf_event *event)
{
	bool exec = event->header.misc & PERF_RECORD_MISC_COMM_EXEC;
	char comm[sizeof(event->comm.comm)];

	if (!guest_pid__is_valid(event->comm.pid) || event->comm.pid != event->comm.tid)
		return 0;
	strlcpy(comm, event->comm.comm, sizeof(comm));
	text__make_printable(comm);
	return kvm_guest__comm(guest, event->comm.pid, comm, exec);
}

/*
 * Has the process @pid ended at @time? Its first thread has; others may go on, with
 * the address space. One of the same number may come later, which takes its place.
 */
static bool kvm_guest__is_gone(const struct kvm_guest *guest, pid_t pid, u64 time)
{
	long until;

	return guest_pid__is_valid(pid) &&
	       hashmap__find(guest->map.until_of_pid, (long)pid, &until) && (u64)until <= time;
}

/* Notes when the last program, or process, of that number began. 0 or -ENOMEM */
static int guest_map__note_from(struct guest_map_data *map, const struct guest_space *space)
{
	long from;

	if (hashmap__find(map->from_of_pid, (long)space->pid, &from) && (u64)from >= space->from)
		return 0;
	return hashmap__set(map->from_of_pid, (long)space->pid, (long)space->from, NULL, NULL);
}

/* Remembers from and until when there is a process of that number, and whether it is one. */
int guest_map__note_pid(struct guest_map_data *map, const struct guest_space *space)
{
	long until;
	int ret = guest_map__note_from(map, space);

	if (!ret && hashmap__find(map->until_of_pid, (long)space->pid, NULL))
		ret = hashmap__set(map->several, (long)space->pid, 0, NULL, NULL);
	if (ret)
		return ret;
	if (hashmap__find(map->until_of_pid, (long)space->pid, &until) &&
	    (u64)until >= space->until)
		return 0;
	return hashmap__set(map->until_of_pid, (long)space->pid, (long)space->until, NULL, NULL);
}

/* A record that was checked becomes true. 0 or -errno */
static int kvm_guest__apply(struct kvm_guest *guest, const union perf_event *event, u64 time)
{
	const struct perf_record_guest_cgroup *cgroup;

	switch (event->header.type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return kvm_guest__apply_mmap(guest, event, time);
	case PERF_RECORD_COMM:
		return kvm_guest__apply_comm(guest, event);
	case PERF_RECORD_FORK:
		/* A thread has the address space of its process. */
		if (!guest_pid__is_valid(event->fork.pid) ||
		    !guest_pid__is_valid(event->fork.ppid) ||
		    event->fork.pid == event->fork.ppid)
			return 0;
		return kvm_guest__fork(guest, event->fork.pid, event->fork.ppid);
	case PERF_RECORD_GUEST_CGROUP:
		cgroup = (const void *)event;
		if (!guest_pid__is_valid(cgroup->pid))
			return 0;
		return kvm_guest__set_cgroup(guest, cgroup->pid, cgroup->path);
	case PERF_RECORD_EXIT:
		if (event->fork.pid == event->fork.tid &&
		    kvm_guest__is_gone(guest, event->fork.pid, time))
			kvm_guest__exit(guest, event->fork.pid);
		return 0;
	default:
		return 0;
	}
}

/*
 * As kvm_guest__apply(), but what is too much of something is left out: the rest is
 * true. 0 or -ENOMEM
 */
static int kvm_guest__use(struct kvm_guest *guest, const union perf_event *event, u64 time)
{
	int ret = kvm_guest__apply(guest, event, time);

	if (ret != -E2BIG)
		return ret;
	if (!guest->left_out)
		unified_warning("Guest %s: it has more processes, maps or files than any real guest, not all of them are used\n",
				guest->name);
	guest->left_out = true;
	return 0;
}

/* Keeps a record for when its time has come. 0 or -ENOMEM */
static int kvm_guest__keep(struct kvm_guest *guest, const union perf_event *event, u64 time)
{
	struct guest_replay *replay = &guest->map.replay;
	struct guest_replay_entry *entry;

	if (grow_array(replay->entries, replay->nr, replay->allocated))
		return -ENOMEM;
	entry = &replay->entries[replay->nr];
	entry->time = time;
	entry->event = memdup(event, event->header.size);
	if (!entry->event)
		return -ENOMEM;
	replay->nr++;
	return 0;
}

/**
 * kvm_guest__replay - take over what has happened in the guest up to now
 * @time: ns of the guest's CLOCK_BOOTTIME, or GUEST_TIME_NONE: all of it
 */
void kvm_guest__replay(struct kvm_guest *guest, u64 time)
{
	struct guest_replay *replay = &guest->map.replay;

	while (replay->next < replay->nr && replay->entries[replay->next].time <= time) {
		struct guest_replay_entry *entry = &replay->entries[replay->next++];

		guest->nr_changes++;
		if (kvm_guest__use(guest, entry->event, entry->time))
			pr_debug("guest %s: a record of its map could not be used\n", guest->name);
		zfree(&entry->event);
	}
}

static void kvm_guest__free_replay(struct kvm_guest *guest)
{
	struct guest_replay *replay = &guest->map.replay;

	for (size_t i = replay->next; i < replay->nr; i++)
		free(replay->entries[i].event);
	zfree(&replay->entries);
	replay->nr = 0;
	replay->next = 0;
}

/**
 * struct map_taker - who takes over what a map says
 * @guest: that it is of
 * @kallsyms_fd: for the kernel's symbols, -1: not wanted
 * @nr_ignored: records that were sound, of which the guest has too many
 */
struct map_taker {
	struct kvm_guest *guest;
	int		 kallsyms_fd;
	u64		 nr_ignored;
};

/* Functions of a file; all records of one file stand together. 0 or -errno */
static int take_program(struct map_taker *taker, const struct perf_record_guest_symbols *rec)
{
	const struct guest_symbols_file *file = (const void *)rec->data;
	struct build_id bid;

	build_id__init(&bid, file->build_id, file->build_id_size);
	return kvm_guest__add_program(taker->guest, &bid, rec->data + sizeof(*file),
				      rec->len - sizeof(*file));
}

/* A module or BPF program that came or went; all records of one stand together. 0 or -errno */
static int take_module(struct map_taker *taker, const struct perf_record_guest_symbols *rec)
{
	const struct guest_symbols_module *module = (const void *)rec->data;
	int ret;

	ret = kvm_guest__add_module(taker->guest, module, rec->pid == GUEST_SYMBOLS_OF_BPF,
				    rec->data + sizeof(*module), rec->len - sizeof(*module));
	taker->nr_ignored += ret == -E2BIG;
	return ret == -E2BIG ? 0 : ret;
}

static int take_symbols(struct map_taker *taker, const struct perf_record_guest_symbols *rec)
{
	switch (rec->pid) {
	case GUEST_SYMBOLS_OF_FILE:
		return take_program(taker, rec);
	case GUEST_SYMBOLS_OF_MODULE:
	case GUEST_SYMBOLS_OF_BPF:
		return take_module(taker, rec);
	default:
		break;
	}
	if (!rec->len || !guest_pid__is_valid(rec->pid))
		return 0;
	if (taker->guest->map.nr_symbols >= GUEST_MAP_MAX_SYMBOL_PIDS) {
		taker->nr_ignored++;
		return 0;
	}
	return kvm_guest__add_symbols(taker->guest, rec->pid, rec->data, rec->len);
}

static int take_orc(struct kvm_guest *guest, const struct perf_record_guest_orc *rec)
{
	return rec->nr ? kvm_guest__add_orc(guest, rec) : 0;
}

static int take_space(struct guest_map_data *map, const struct perf_record_guest_space *rec)
{
	const struct guest_space space = {
		.pt_root = rec->pt_root,
		.from = rec->from,
		.until = rec->until,
		.pid = rec->pid,
		.ns_pid = guest_pid__is_valid(rec->ns_pid) ? rec->ns_pid : 0,
	};

	if (!guest_pid__is_valid(space.pid))
		return 0;
	return guest_map__note_pid(map, &space) ?: guest_spaces__add(&map->spaces, &space);
}

static void take_kind(struct guest_map_data *map, const struct perf_record_guest_map *kind)
{
	map->spaces.pti = kind->flags & GUEST_MAP_PTI;
	map->followed = kind->flags & GUEST_MAP_FOLLOWED;
}

static void take_missed(struct guest_map_data *map, const struct perf_record_guest_missed *missed)
{
	map->missed_spaces = missed->spaces;
	map->missed_events = missed->events;
}

/* One that goes back is no clock; the rest of the map is as good as before. */
static void take_clock(struct guest_map_data *map, const struct perf_record_guest_clock *clock)
{
	if (guest_clock__add(&map->clock, clock->tsc, clock->time))
		map->bad_clock = true;
}

/* Takes over what is known before the first process and map is there. 0 or -errno */
static int take_ahead(const union perf_event *event, u64 time __maybe_unused, void *arg)
{
	struct map_taker *taker = arg;
	struct guest_map_data *map = &taker->guest->map;
	const void *rec = event;

	switch (event->header.type) {
	case PERF_RECORD_GUEST_SPACE:
		return take_space(map, rec);
	case PERF_RECORD_GUEST_KALLSYMS:
		return taker->kallsyms_fd < 0 ? 0 :
		       guest_kallsyms__write(event, taker->kallsyms_fd);
	case PERF_RECORD_GUEST_SYMBOLS:
		return take_symbols(taker, rec);
	case PERF_RECORD_GUEST_ORC:
		return take_orc(taker->guest, rec);
	case PERF_RECORD_GUEST_MAP:
		take_kind(map, rec);
		return 0;
	case PERF_RECORD_GUEST_MISSED:
		take_missed(map, rec);
		return 0;
	case PERF_RECORD_GUEST_CLOCK:
		take_clock(map, rec);
		return 0;
	default:
		return 0;
	}
}

/* Takes over processes and maps, or keeps what is to come later. 0 or -errno */
static int take_process(const union perf_event *event, u64 time, void *arg)
{
	struct kvm_guest *guest = arg;

	switch (event->header.type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_GUEST_CGROUP:
		return time ? kvm_guest__keep(guest, event, time) : kvm_guest__use(guest, event, 0);
	default:
		return 0;
	}
}

void kvm_guest__unload_map(struct kvm_guest *guest)
{
	struct guest_map_data *map = &guest->map;

	guest_spaces__exit(&map->spaces);
	guest_clock__exit(&map->clock);
	kvm_guest__free_symbols(guest);
	kvm_guest__free_programs(guest);
	kvm_guest__free_modules(guest);
	kvm_guest__free_replay(guest);
	kvm_guest__free_orc(guest);
	hashmap__free(map->until_of_pid);
	hashmap__free(map->several);
	hashmap__free(map->from_of_pid);
	*map = (struct guest_map_data) { };
}

/* @size: that it has in the map @path, in bytes, or 0: it was written from that just now */
static void kvm_guest__check_kallsyms(struct kvm_guest *guest, const char *path,
				      const char *kallsyms, u64 size)
{
	struct stat st;

	if (access(kallsyms, R_OK) || stat(kallsyms, &st)) {
		const char *why = strerror(errno);

		if (!kvm_guest__use_given_kallsyms(guest))
			unified_warning("Guest %s: its kernel's functions stay without names: %s: %s\n"
					"--guest-map %s=%s takes them from the map.\n",
					guest->name, kallsyms, why, guest->name, path);
	} else if (!S_ISREG(st.st_mode)) {
		/* It may have no end. */
		unified_warning("Guest %s: its kernel's functions stay without names: %s is not a file.\n"
				"--guest-map %s=%s takes them from the map.\n",
				guest->name, kallsyms, guest->name, path);
		kvm_guest__take_kallsyms(guest, "");
	} else if (size && (u64)st.st_size != size) {
		unified_warning("Guest %s: %s has %" PRIu64 " bytes, and %" PRIu64 " in its map:\n"
				"its kernel's functions have no names, or wrong ones. --guest-map %s=%s takes them from the map.\n",
				guest->name, kallsyms, (u64)st.st_size, size, guest->name, path);
	}
}

/**
 * kvm_guest__load_map - take over what a guest map says
 * @path: the map
 * @kallsyms: the name of a file with its /proc/kallsyms
 * @kallsyms_fd: that file, to be written from the map, or -1: it is there already
 *
 * A map that is not whole changes nothing. 0, or -errno and the rest of a
 * sentence about the map in @err.
 */
int kvm_guest__load_map(struct kvm_guest *guest, const char *path, const char *kallsyms,
			int kallsyms_fd, char *err, size_t errlen)
{
	struct map_taker taker = { .guest = guest, .kallsyms_fd = kallsyms_fd };
	struct guest_map_reader ahead = { .take = take_ahead, .arg = &taker };
	struct guest_map_reader processes = { .take = take_process, .arg = guest };
	int ret;

	guest->map.until_of_pid = number_map__new();
	guest->map.several = number_map__new();
	guest->map.from_of_pid = number_map__new();
	if (guest->map.until_of_pid && guest->map.several && guest->map.from_of_pid)
		ret = guest_map__read(path, &ahead, err, errlen);
	else
		ret = fail(err, errlen, -ENOMEM, "cannot be read in: %s", strerror(ENOMEM));
	if (!ret)
		ret = guest_map__read(path, &processes, err, errlen);
	if (!ret)
		ret = kvm_guest__comm(guest, 0, "kernel", false);
	/* Even if it is not there: without it, perf takes this machine's. */
	if (!ret && !kvm_guest__take_kallsyms(guest, kallsyms))
		ret = fail(err, errlen, -ENOMEM, "cannot be read in: %s", strerror(ENOMEM));
	if (ret) {
		kvm_guest__unload_map(guest);
		return ret;
	}

	kvm_guest__finish_orc(guest);
	guest->has_map = true;
	guest->map.missed_events += ahead.nr_ignored + taker.nr_ignored;
	kvm_guest__check_kallsyms(guest, path, kallsyms, kallsyms_fd < 0 ? ahead.kallsyms_size : 0);
	pr_debug("guest %s: %zu address spaces from %s\n", guest->name, guest->map.spaces.nr, path);
	return 0;
}
