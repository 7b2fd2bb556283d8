// SPDX-License-Identifier: GPL-2.0
/*
 * Reader of guest maps. What a guest says is checked as a whole before any of it
 * is taken over, and what happened while the guest was followed is kept until the
 * samples have come to that time.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>
#include <internal/lib.h>

#include "util/build-id.h"
#include "util/debug.h"
#include "util/event.h"
#include "util/guest-orc.h"
#include "util/machine.h"
#include "util/thread.h"
#include "kvm-unified/format/records.h"
#include "kvm-unified/format/stream.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/file-print.h"
#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/number-map.h"
#include "kvm-unified/lib/warnings.h"
#include "cgroups.h"
#include "guest.h"
#include "kernel.h"
#include "load.h"
#include "machine.h"
#include "modules.h"
#include "orc.h"
#include "programs.h"
#include "symbol-text.h"

/*
 * What a guest may say at most. perf's data structures are made for what there
 * is on a machine, and take quadratic time if it is much more.
 */
#define GUEST_MAP_MAX_COMMS		(1U << 18)
#define GUEST_MAP_MAX_FORKS		(1U << 20)
#define GUEST_MAP_MAX_KERNEL_MAPS	4096
#define GUEST_MAP_MAX_USER_MAPS		(1U << 18)
#define GUEST_MAP_MAX_FOLLOWED_MAPS	(1U << 20)
#define GUEST_MAP_MAX_SPACES		(1U << 21)
#define GUEST_MAP_MAX_SYMBOL_PIDS	1024
#define GUEST_MAP_MAX_NAMES		(1U << 16)
/* A kernel with all its modules has a quarter of that, and of that size. */
#define GUEST_MAP_MAX_KALLSYMS		(1U << 20)
#define GUEST_MAP_MAX_KALLSYMS_SIZE	(64U << 20)
/* So many entries, of 10 bytes, of the tables that it is unwound by */
#define GUEST_MAP_MAX_ORC		(2U << 20)
/* A JIT compiler's 100,000 functions have a tenth of that. */
#define GUEST_MAP_MAX_SYMBOLS_SIZE	(64U << 20)

/*
 * Each may be had, but not all at once: what perf needs of memory for a map is
 * estimated from what a record becomes. An hour of a guest with 2,000 processes that
 * starts 50 more each second has 220 MiB.
 */
#define GUEST_MAP_MAX_COST		(256ULL << 20)
/*
 * What the collector writes last is not to lack room because of what a long time has
 * before it: the symbols of the kernel and all its modules, without which the map would
 * be refused, and before those the address spaces, of twice as many processes as above.
 */
#define GUEST_MAP_LEFT_FOR_SYMBOLS	(64ULL << 20)
#define GUEST_MAP_LEFT_FOR_SPACES	(48ULL << 20)
/* An address space, sorted and searched, and the process that has ended */
#define GUEST_SPACE_COST		120
/* A map of a process; what is kept of a record besides what it says */
#define GUEST_MAP_COST			136
#define GUEST_KEPT_COST			32
#define GUEST_LONG_RECORD		256
/* A symbol besides its name */
#define GUEST_SYMBOL_COST		150
/* An entry, and the address of its code; a table, which a piece may be */
#define GUEST_ORC_COST			14
#define GUEST_ORC_TABLE_COST		128

/**
 * struct guest_map_load - a guest map that is being read
 * @guest: that it is of, or NULL: only checked
 * @checking: only symbols are taken over, which have to be there before maps are
 * @kallsyms_fd: for the kernel's symbols, -1: not wanted
 * @time: of the records that come, 0: before the guest was followed
 * @maps_of_pid: how many each has, and @nr_...: of all
 * @kallsyms_size: @symbols_size: bytes of text
 * @cost: of all, estimated, in bytes of memory
 * @names: hashes of the names that processes have had: perf keeps each
 * @nr_ignored: records that are beyond what is taken, of a guest that was followed
 *	for long, or lies
 */
struct guest_map_load {
	struct kvm_guest *guest;
	bool		 checking;
	int		 kallsyms_fd;
	u64		 time;
	u32		 nr_comms;
	u32		 nr_forks;
	u32		 nr_kernel_maps;
	u32		 nr_user_maps;
	u32		 nr_followed_maps;
	u32		 nr_spaces;
	u32		 nr_kallsyms;
	u32		 nr_orc;
	u64		 nr_ignored;
	u64		 kallsyms_size;
	u64		 symbols_size;
	u64		 cost;
	struct hashmap	 *maps_of_pid;
	struct hashmap	 *names;
};

/* Not to be taken over, and no reason to do without the rest of the map */
#define IGNORE			1

/* Is the string that a record ends with all in the record? */
static bool record__has_string(const union perf_event *event, size_t offset)
{
	return event->header.size > offset &&
	       memchr((const char *)event + offset, '\0', event->header.size - offset);
}

static bool misc__is_kernel(u16 misc)
{
	return (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}

/*
 * @left: to be left of what may be had. 0 or -E2BIG: there is room for others, which may
 * be smaller, as before
 */
static int guest_map__charge(struct guest_map_load *load, u64 cost, u64 left)
{
	if (load->cost + cost + left > GUEST_MAP_MAX_COST)
		return -E2BIG;
	load->cost += cost;
	return 0;
}

/* Charges a record of a process: what is kept for later, and then what becomes of it. */
static int guest_map__charge_event(struct guest_map_load *load, const union perf_event *event)
{
	u32 type = event->header.type, size = event->header.size;
	u64 cost = load->time ? size + GUEST_KEPT_COST : 0;

	if (type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2)
		cost = max_t(u64, cost, GUEST_MAP_COST);
	if (type == PERF_RECORD_GUEST_CGROUP)
		cost = size + GUEST_KEPT_COST;
	/* There are not many files, but one with a long name has it twice. */
	if (size > GUEST_LONG_RECORD)
		cost += 2 * size;
	return guest_map__charge(load, cost, load->time ?
				 GUEST_MAP_LEFT_FOR_SPACES + GUEST_MAP_LEFT_FOR_SYMBOLS : 0);
}

/* All that the map tells of at once. 0, -ENOMEM or -E2BIG */
static int guest_map__set_maps_of_pid(struct guest_map_load *load, pid_t pid, long nr)
{
	int ret = hashmap__set(load->maps_of_pid, pid, nr, NULL, NULL);

	return ret ?: hashmap__size(load->maps_of_pid) > GUEST_MAX_PROCESSES ? -E2BIG : 0;
}

static int guest_map__count_map(struct guest_map_load *load, bool kernel, pid_t pid)
{
	long nr = 0;

	if (kernel)
		return ++load->nr_kernel_maps > GUEST_MAP_MAX_KERNEL_MAPS ? -E2BIG : 0;

	hashmap__find(load->maps_of_pid, (long)pid, &nr);
	if (load->time) {
		/* Those of a process that has ended are forgotten. */
		if (nr >= GUEST_MAX_MAPS_OF_PID ||
		    ++load->nr_followed_maps > GUEST_MAP_MAX_FOLLOWED_MAPS)
			return IGNORE;
	} else if (nr >= GUEST_MAX_MAPS_OF_PID ||
		   ++load->nr_user_maps > GUEST_MAP_MAX_USER_MAPS) {
		return -E2BIG;
	}
	return guest_map__set_maps_of_pid(load, pid, nr + 1);
}

/* Counts maps again: after execve() a process has none, after fork() those of its parent. */
static int guest_map__recount_maps(struct guest_map_load *load, const union perf_event *event)
{
	long nr = 0;

	if (event->header.type == PERF_RECORD_COMM &&
	    !(event->header.misc & PERF_RECORD_MISC_COMM_EXEC))
		return 0;
	if (event->header.type == PERF_RECORD_FORK)
		hashmap__find(load->maps_of_pid, (long)event->fork.ppid, &nr);
	return guest_map__set_maps_of_pid(load, event->fork.pid, nr);
}

/* Counts the name of a process; threads' names are not taken. */
static int guest_map__count_comm(struct guest_map_load *load, pid_t pid, const char *comm)
{
	long hash = str_hash(comm), nr;

	if (!load->time && ++load->nr_comms > GUEST_MAP_MAX_COMMS)
		return -E2BIG;
	if (!hashmap__find(load->names, hash, NULL)) {
		if (hashmap__size(load->names) >= GUEST_MAP_MAX_NAMES ||
		    hashmap__add(load->names, hash, 0))
			return -E2BIG;
	}
	return hashmap__find(load->maps_of_pid, (long)pid, &nr) ? 0 :
	       guest_map__set_maps_of_pid(load, pid, 0);
}

/*
 * Is a record of a process as long as it has to be? It is counted. 0, -errno, or
 * IGNORE: there are more than are taken
 */
static int guest_map__check_event(struct guest_map_load *load, const union perf_event *event)
{
	bool kernel = misc__is_kernel(event->header.misc);
	int ret;

	switch (event->header.type) {
	case PERF_RECORD_MMAP:
		if (!record__has_string(event, offsetof(struct perf_record_mmap, filename)))
			return -EINVAL;
		return guest_map__count_map(load, kernel, event->mmap.pid);
	case PERF_RECORD_MMAP2:
		if (!record__has_string(event, offsetof(struct perf_record_mmap2, filename)))
			return -EINVAL;
		if ((event->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) &&
		    event->mmap2.build_id_size > BUILD_ID_SIZE)
			return -EINVAL;
		return guest_map__count_map(load, kernel, event->mmap2.pid);
	case PERF_RECORD_COMM:
		if (!record__has_string(event, offsetof(struct perf_record_comm, comm)))
			return -EINVAL;
		ret = guest_map__count_comm(load, event->comm.pid, event->comm.comm);
		if (ret || !load->time)
			return ret;
		break;
	case PERF_RECORD_GUEST_CGROUP:
		if (!record__has_string(event, sizeof(struct perf_record_guest_cgroup)))
			return -EINVAL;
		return 0;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		if (event->header.size < sizeof(event->fork))
			return -EINVAL;
		/* What the kernel says of a process that there is says nothing new. */
		if (!load->time)
			return IGNORE;
		break;
	default:
		return 0;
	}
	if (++load->nr_forks > GUEST_MAP_MAX_FORKS)
		return IGNORE;
	if (event->header.type != PERF_RECORD_EXIT)
		return guest_map__recount_maps(load, event);
	/* It may be its first thread only, which counts a few maps less. */
	hashmap__delete(load->maps_of_pid, (long)event->fork.pid, NULL, NULL);
	return 0;
}

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
	if (!misc__is_kernel(event->header.misc))
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

static int guest_map__process_kallsyms(struct guest_map_load *load, const union perf_event *event)
{
	int fd = load->kallsyms_fd;
	const struct perf_record_guest_kallsyms *rec = (const void *)event;
	u32 nr_lines;
	char *data;
	int ret = 0;

	if (event->header.size < sizeof(*rec) ||
	    rec->len > event->header.size - sizeof(*rec))
		return -EINVAL;
	nr_lines = guest_text__count_lines(rec->data, rec->len);
	load->nr_kallsyms += nr_lines;
	load->kallsyms_size += rec->len;
	if (load->nr_kallsyms > GUEST_MAP_MAX_KALLSYMS ||
	    load->kallsyms_size > GUEST_MAP_MAX_KALLSYMS_SIZE ||
	    guest_map__charge(load, rec->len + (u64)nr_lines * GUEST_SYMBOL_COST, 0))
		return -E2BIG;
	if (fd < 0 || !rec->len)
		return 0;

	data = memdup(rec->data, rec->len);
	if (!data)
		return -ENOMEM;
	for (u32 i = 0; i < rec->len; i++) {
		if (!isprint((unsigned char)data[i]) && data[i] != '\n' && data[i] != '\t')
			data[i] = '?';
	}
	if (writen(fd, data, rec->len) != (ssize_t)rec->len)
		ret = -errno;
	free(data);
	return ret;
}

/* Functions of a file; all records of one file stand together. 0 or -errno */
static int guest_map__process_program(struct guest_map_load *load,
				      const struct perf_record_guest_symbols *rec)
{
	const struct guest_symbols_file *file = (const void *)rec->data;
	struct build_id bid;

	if (rec->len < sizeof(*file) || !file->build_id_size ||
	    file->build_id_size > sizeof(file->build_id))
		return -EINVAL;
	if (!load->guest || !load->checking)
		return 0;
	build_id__init(&bid, file->build_id, file->build_id_size);
	return kvm_guest__add_program(load->guest, &bid, rec->data + sizeof(*file),
				      rec->len - sizeof(*file));
}

/* A module or BPF program that came or went; all records of one stand together. 0 or -errno */
static int guest_map__process_module(struct guest_map_load *load,
				     const struct perf_record_guest_symbols *rec)
{
	const struct guest_symbols_module *module = (const void *)rec->data;
	int ret;

	if (rec->len < sizeof(*module) || !module->len ||
	    module->start + module->len < module->start || !(module->start & GUEST_KERNEL_SPACE) ||
	    module->from > module->until || !memchr(module->name, '\0', sizeof(module->name)))
		return -EINVAL;
	if (!load->guest || !load->checking)
		return 0;
	ret = kvm_guest__add_module(load->guest, module, rec->pid == GUEST_SYMBOLS_OF_BPF,
				    rec->data + sizeof(*module), rec->len - sizeof(*module));
	load->nr_ignored += ret == -E2BIG;
	return ret == -E2BIG ? 0 : ret;
}

static int guest_map__process_symbols(struct guest_map_load *load, const union perf_event *event)
{
	const struct perf_record_guest_symbols *rec = (const void *)event;
	u64 cost;

	if (event->header.size < sizeof(*rec) || rec->len > event->header.size - sizeof(*rec))
		return -EINVAL;
	/* The text and, besides, the names; a piece is to be worth the search for its pid. */
	cost = (guest_text__count_lines(rec->data, rec->len) + 1ULL) * GUEST_SYMBOL_COST;
	if (load->symbols_size + rec->len > GUEST_MAP_MAX_SYMBOLS_SIZE ||
	    guest_map__charge(load, cost + 2 * rec->len, 0)) {
		load->nr_ignored++;
		return 0;
	}
	load->symbols_size += rec->len;
	if (rec->pid == GUEST_SYMBOLS_OF_FILE)
		return guest_map__process_program(load, rec);
	if (rec->pid == GUEST_SYMBOLS_OF_MODULE || rec->pid == GUEST_SYMBOLS_OF_BPF)
		return guest_map__process_module(load, rec);
	if (!load->guest || !load->checking || !rec->len || !guest_pid__is_valid(rec->pid))
		return 0;
	if (load->guest->map.nr_symbols >= GUEST_MAP_MAX_SYMBOL_PIDS) {
		load->nr_ignored++;
		return 0;
	}
	return kvm_guest__add_symbols(load->guest, rec->pid, rec->data, rec->len);
}

/* Takes ORC tables, but for those that are too many: callers are missing then. */
static int guest_map__process_orc(struct guest_map_load *load, const union perf_event *event)
{
	const struct perf_record_guest_orc *rec = (const void *)event;
	const size_t entry = sizeof(s32) + sizeof(struct guest_orc_entry);

	if (event->header.size < sizeof(*rec) ||
	    rec->nr > (event->header.size - sizeof(*rec)) / entry)
		return -EINVAL;
	if (load->nr_orc + rec->nr > GUEST_MAP_MAX_ORC ||
	    guest_map__charge(load, GUEST_ORC_TABLE_COST + (u64)rec->nr * GUEST_ORC_COST, 0)) {
		pr_debug("A guest map has more of ORC tables than is taken\n");
		return 0;
	}
	load->nr_orc += rec->nr;
	if (!load->guest || !load->checking || !rec->nr)
		return 0;
	return kvm_guest__add_orc(load->guest, rec);
}

static int guest_map__process_space(struct guest_map_load *load, const union perf_event *event)
{
	const struct perf_record_guest_space *rec = (const void *)event;
	const struct guest_space space = {
		.pt_root = rec->pt_root,
		.from = rec->from,
		.until = rec->until,
		.pid = rec->pid,
		.ns_pid = guest_pid__is_valid(rec->ns_pid) ? rec->ns_pid : 0,
	};

	if (event->header.size < sizeof(*rec))
		return -EINVAL;
	if (++load->nr_spaces > GUEST_MAP_MAX_SPACES ||
	    guest_map__charge(load, GUEST_SPACE_COST, GUEST_MAP_LEFT_FOR_SYMBOLS)) {
		load->nr_ignored++;
		return 0;
	}
	/* All are known before the first of the others is taken over. */
	if (!load->guest || !load->checking || !guest_pid__is_valid(space.pid))
		return 0;
	return guest_map__note_pid(&load->guest->map, &space) ?:
	       guest_spaces__add(&load->guest->map.spaces, &space);
}

/* The clock, and what kind of a map it is */
static int guest_map__process_frame(struct guest_map_load *load, const union perf_event *event)
{
	const struct perf_record_guest_missed *missed = (const void *)event;
	const struct perf_record_guest_clock *clock = (const void *)event;
	const struct perf_record_guest_map *kind = (const void *)event;
	const struct perf_record_guest_time *time = (const void *)event;
	struct kvm_guest *guest = load->checking ? load->guest : NULL;

	switch (event->header.type) {
	case PERF_RECORD_GUEST_MAP:
		if (event->header.size < sizeof(*kind))
			return -EINVAL;
		if (kind->flags & ~GUEST_MAP_KNOWN)
			return -EPROTO;
		if (guest) {
			guest->map.spaces.pti = kind->flags & GUEST_MAP_PTI;
			guest->map.followed = kind->flags & GUEST_MAP_FOLLOWED;
		}
		return 0;
	case PERF_RECORD_GUEST_MISSED:
		if (event->header.size < sizeof(*missed))
			return -EINVAL;
		if (guest) {
			guest->map.missed_spaces = missed->spaces;
			guest->map.missed_events = missed->events;
		}
		return 0;
	case PERF_RECORD_GUEST_CLOCK:
		if (event->header.size < sizeof(*clock))
			return -EINVAL;
		/* One that goes back is no clock; the rest of the map is as good as before. */
		if (guest && guest_clock__add(&guest->map.clock, clock->tsc, clock->time))
			guest->map.bad_clock = true;
		return 0;
	case PERF_RECORD_GUEST_TIME:
		if (event->header.size < sizeof(*time) || !time->time ||
		    time->time < load->time || time->time == GUEST_TIME_NONE)
			return -EINVAL;
		load->time = time->time;
		return 0;
	default:
		return 0;
	}
}

static int guest_map__process(const union perf_event *event, void *arg)
{
	struct guest_map_load *load = arg;
	int ret;

	switch (event->header.type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_GUEST_CGROUP:
		ret = guest_map__check_event(load, event) ?: guest_map__charge_event(load, event);
		/* If a guest was followed, what there is room for is better than nothing. */
		if (ret == -E2BIG && load->time)
			ret = IGNORE;
		load->nr_ignored += ret == IGNORE && load->time;
		if (ret == IGNORE)
			return 0;
		if (ret || !load->guest || load->checking)
			return ret;
		if (load->time)
			return kvm_guest__keep(load->guest, event, load->time);
		return kvm_guest__use(load->guest, event, 0);
	case PERF_RECORD_GUEST_SPACE:
		return guest_map__process_space(load, event);
	case PERF_RECORD_GUEST_KALLSYMS:
		return guest_map__process_kallsyms(load, event);
	case PERF_RECORD_GUEST_SYMBOLS:
		return guest_map__process_symbols(load, event);
	case PERF_RECORD_GUEST_ORC:
		return guest_map__process_orc(load, event);
	case PERF_RECORD_GUEST_MAP:
	case PERF_RECORD_GUEST_MISSED:
	case PERF_RECORD_GUEST_CLOCK:
	case PERF_RECORD_GUEST_TIME:
		return guest_map__process_frame(load, event);
	default:
		return 0;	/* Attributes, features: not needed here */
	}
}

static int guest_map__read(const char *path, struct guest_map_load *load, char *err, size_t errlen)
{
	struct stat st;
	int fd, ret;

	/* It is read more than once. A pipe without a writer must not block here. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st)) {
		ret = -errno;
		scnprintf(err, errlen, "cannot be opened: %s", strerror(-ret));
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		scnprintf(err, errlen, "is not a regular file");
		ret = -EINVAL;
		goto out;
	}

	load->maps_of_pid = number_map__new();
	load->names = number_map__new();
	if (!load->maps_of_pid || !load->names) {
		ret = -ENOMEM;
	} else {
		scnprintf(err, errlen, "is corrupt");
		ret = guest_stream__read(fd, guest_map__process, load, err, errlen);
	}
	hashmap__free(load->maps_of_pid);
	hashmap__free(load->names);
	if (ret == -E2BIG)
		scnprintf(err, errlen, "has more processes, maps or symbols than any real guest");
	else if (ret == -EPROTO)
		scnprintf(err, errlen, "was made by a newer perf: it has what this one does not know");
	else if (ret == -ENOMEM || ret == -ENOSPC)
		scnprintf(err, errlen, "cannot be read in: %s", strerror(-ret));
out:
	if (fd >= 0)
		close(fd);
	return ret;
}

/* 0 if @path is a whole guest map, else -errno and the rest of a sentence */
int guest_map__check(const char *path, char *err, size_t errlen)
{
	struct guest_map_load load = { .kallsyms_fd = -1 };

	return guest_map__read(path, &load, err, errlen);
}

/* Writes the /proc/kallsyms that is in the map at @path to @fd. As above */
int guest_map__extract_kallsyms(const char *path, int fd, char *err, size_t errlen)
{
	struct guest_map_load load = { .kallsyms_fd = fd };

	return guest_map__read(path, &load, err, errlen);
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
	struct guest_map_load check = {
		.guest = guest, .checking = true, .kallsyms_fd = kallsyms_fd,
	};
	struct guest_map_load load = { .guest = guest, .kallsyms_fd = -1 };
	int ret;

	guest->map.until_of_pid = number_map__new();
	guest->map.several = number_map__new();
	guest->map.from_of_pid = number_map__new();
	if (!guest->map.until_of_pid || !guest->map.several || !guest->map.from_of_pid) {
		scnprintf(err, errlen, "cannot be read in: %s", strerror(ENOMEM));
		ret = -ENOMEM;
	} else {
		ret = guest_map__read(path, &check, err, errlen);
	}
	if (!ret)
		ret = guest_map__read(path, &load, err, errlen);
	if (!ret)
		ret = kvm_guest__comm(guest, 0, "kernel", false);
	/* Even if it is not there: without it, perf takes this machine's. */
	if (!ret && !kvm_guest__take_kallsyms(guest, kallsyms)) {
		scnprintf(err, errlen, "cannot be read in: %s", strerror(ENOMEM));
		ret = -ENOMEM;
	}
	if (ret) {
		kvm_guest__unload_map(guest);
		return ret;
	}

	kvm_guest__finish_orc(guest);
	guest->has_map = true;
	guest->map.missed_events += check.nr_ignored;
	kvm_guest__check_kallsyms(guest, path, kallsyms, kallsyms_fd < 0 ? check.kallsyms_size : 0);
	pr_debug("guest %s: %zu address spaces from %s\n", guest->name, guest->map.spaces.nr, path);
	return 0;
}
