// SPDX-License-Identifier: GPL-2.0
/*
 * Checks guest maps, which come out of a guest and are not trusted: whether each record is as long
 * as what it holds, and how much there is of all. No guest is needed for that.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/kernel.h>

#include "util/build-id.h"
#include "util/debug.h"
#include "util/event.h"
#include "util/guest-orc.h"
#include "kvm-unified/format/records.h"
#include "kvm-unified/format/spaces.h"
#include "kvm-unified/format/stream.h"
#include "kvm-unified/lib/errors.h"
#include "kvm-unified/lib/number-map.h"
#include "machine.h"
#include "map-check.h"
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
 * struct map_check - a guest map that is being checked
 * @reader: gets what is sound
 * @time: of the records that come, 0: before the guest was followed
 * @maps_of_pid: how many each has, and @nr_...: of all
 * @symbols_size: bytes of text
 * @cost: of all, estimated, in bytes of memory
 * @names: hashes of the names that processes have had: perf keeps each
 */
struct map_check {
	struct guest_map_reader *reader;
	u64		 time;
	u32		 nr_comms;
	u32		 nr_forks;
	u32		 nr_kernel_maps;
	u32		 nr_user_maps;
	u32		 nr_followed_maps;
	u32		 nr_spaces;
	u32		 nr_kallsyms;
	u32		 nr_orc;
	u64		 symbols_size;
	u64		 cost;
	struct hashmap	 *maps_of_pid;
	struct hashmap	 *names;
};

/* Not to be taken over, and no reason to do without the rest of the map */
#define IGNORE			1

bool guest_event__is_kernel(const union perf_event *event)
{
	return (event->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}

/* Is the string that a record ends with all in the record? */
static bool record__has_string(const union perf_event *event, size_t offset)
{
	return event->header.size > offset &&
	       memchr((const char *)event + offset, '\0', event->header.size - offset);
}

/*
 * @cost: @left: bytes, the latter to be left of what may be had. 0 or -E2BIG: there is room for
 * others, which may be smaller, as before
 */
static int charge(struct map_check *check, u64 cost, u64 left)
{
	if (check->cost + cost + left > GUEST_MAP_MAX_COST)
		return -E2BIG;
	check->cost += cost;
	return 0;
}

/* Charges a record of a process for what is kept for later, or becomes of it, if that is more. */
static int charge_event(struct map_check *check, const union perf_event *event)
{
	u32 type = event->header.type, size = event->header.size;
	u64 cost = check->time ? size + GUEST_KEPT_COST : 0;

	if (type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2)
		cost = max_t(u64, cost, GUEST_MAP_COST);
	if (type == PERF_RECORD_GUEST_CGROUP)
		cost = size + GUEST_KEPT_COST;
	/* There are not many files, but one with a long name has it twice. */
	if (size > GUEST_LONG_RECORD)
		cost += 2 * size;
	return charge(check, cost, check->time ?
		      GUEST_MAP_LEFT_FOR_SPACES + GUEST_MAP_LEFT_FOR_SYMBOLS : 0);
}

/* All that the map tells of at once. 0, -ENOMEM or -E2BIG */
static int set_maps_of_pid(struct map_check *check, pid_t pid, long nr)
{
	int ret = hashmap__set(check->maps_of_pid, pid, nr, NULL, NULL);

	return ret ?: hashmap__size(check->maps_of_pid) > GUEST_MAX_PROCESSES ? -E2BIG : 0;
}

static int count_map(struct map_check *check, bool kernel, pid_t pid)
{
	long nr = 0;

	if (kernel)
		return ++check->nr_kernel_maps > GUEST_MAP_MAX_KERNEL_MAPS ? -E2BIG : 0;

	hashmap__find(check->maps_of_pid, (long)pid, &nr);
	if (check->time) {
		/* Those of a process that has ended are forgotten. */
		if (nr >= GUEST_MAX_MAPS_OF_PID ||
		    ++check->nr_followed_maps > GUEST_MAP_MAX_FOLLOWED_MAPS)
			return IGNORE;
	} else if (nr >= GUEST_MAX_MAPS_OF_PID ||
		   ++check->nr_user_maps > GUEST_MAP_MAX_USER_MAPS) {
		return -E2BIG;
	}
	return set_maps_of_pid(check, pid, nr + 1);
}

/* Counts maps again: after execve() a process has none, after fork() those of its parent. */
static int recount_maps(struct map_check *check, const union perf_event *event)
{
	long nr = 0;

	if (event->header.type == PERF_RECORD_COMM &&
	    !(event->header.misc & PERF_RECORD_MISC_COMM_EXEC))
		return 0;
	if (event->header.type == PERF_RECORD_FORK)
		hashmap__find(check->maps_of_pid, (long)event->fork.ppid, &nr);
	return set_maps_of_pid(check, event->fork.pid, nr);
}

/* Counts the name of a process; threads' names are not taken. */
static int count_comm(struct map_check *check, pid_t pid, const char *comm)
{
	long hash = str_hash(comm), nr;

	if (!check->time && ++check->nr_comms > GUEST_MAP_MAX_COMMS)
		return -E2BIG;
	if (!hashmap__find(check->names, hash, NULL)) {
		if (hashmap__size(check->names) >= GUEST_MAP_MAX_NAMES ||
		    hashmap__add(check->names, hash, 0))
			return -E2BIG;
	}
	return hashmap__find(check->maps_of_pid, (long)pid, &nr) ? 0 :
	       set_maps_of_pid(check, pid, 0);
}

/*
 * Is a record of a process as long as it has to be? It is counted. 0, -errno, or
 * IGNORE: there are more than are taken
 */
static int check_and_count(struct map_check *check, const union perf_event *event)
{
	bool kernel = guest_event__is_kernel(event);
	int ret;

	switch (event->header.type) {
	case PERF_RECORD_MMAP:
		if (!record__has_string(event, offsetof(struct perf_record_mmap, filename)))
			return -EINVAL;
		return count_map(check, kernel, event->mmap.pid);
	case PERF_RECORD_MMAP2:
		if (!record__has_string(event, offsetof(struct perf_record_mmap2, filename)))
			return -EINVAL;
		if ((event->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) &&
		    event->mmap2.build_id_size > BUILD_ID_SIZE)
			return -EINVAL;
		return count_map(check, kernel, event->mmap2.pid);
	case PERF_RECORD_COMM:
		if (!record__has_string(event, offsetof(struct perf_record_comm, comm)))
			return -EINVAL;
		ret = count_comm(check, event->comm.pid, event->comm.comm);
		if (ret || !check->time)
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
		if (!check->time)
			return IGNORE;
		break;
	default:
		return 0;
	}
	if (++check->nr_forks > GUEST_MAP_MAX_FORKS)
		return IGNORE;
	if (event->header.type != PERF_RECORD_EXIT)
		return recount_maps(check, event);
	/* It may be its first thread only, which counts a few maps less. */
	hashmap__delete(check->maps_of_pid, (long)event->fork.pid, NULL, NULL);
	return 0;
}

/* The same, and charges it. Of a guest that was followed, a part is better than nothing. */
static int check_process(struct map_check *check, const union perf_event *event)
{
	int ret = check_and_count(check, event) ?: charge_event(check, event);

	if (ret == -E2BIG && check->time)
		ret = IGNORE;
	check->reader->nr_ignored += ret == IGNORE && check->time;
	return ret;
}

static int check_kallsyms(struct map_check *check, const union perf_event *event)
{
	const struct perf_record_guest_kallsyms *rec = (const void *)event;
	u32 nr_lines;

	if (event->header.size < sizeof(*rec) ||
	    rec->len > event->header.size - sizeof(*rec))
		return -EINVAL;
	nr_lines = guest_text__count_lines(rec->data, rec->len);
	check->nr_kallsyms += nr_lines;
	check->reader->kallsyms_size += rec->len;
	if (check->nr_kallsyms > GUEST_MAP_MAX_KALLSYMS ||
	    check->reader->kallsyms_size > GUEST_MAP_MAX_KALLSYMS_SIZE ||
	    charge(check, rec->len + (u64)nr_lines * GUEST_SYMBOL_COST, 0))
		return -E2BIG;
	return 0;
}

/* Of functions of a file */
static bool program_is_sound(const struct perf_record_guest_symbols *rec)
{
	const struct guest_symbols_file *file = (const void *)rec->data;

	return rec->len >= sizeof(*file) && file->build_id_size &&
	       file->build_id_size <= sizeof(file->build_id);
}

/* Of a module or BPF program that came or went */
static bool module_is_sound(const struct perf_record_guest_symbols *rec)
{
	const struct guest_symbols_module *module = (const void *)rec->data;

	return rec->len >= sizeof(*module) && module->len &&
	       module->start + module->len >= module->start &&
	       (module->start & GUEST_KERNEL_SPACE) && module->from <= module->until &&
	       memchr(module->name, '\0', sizeof(module->name));
}

static int check_symbols(struct map_check *check, const union perf_event *event)
{
	const struct perf_record_guest_symbols *rec = (const void *)event;
	u64 cost;

	if (event->header.size < sizeof(*rec) || rec->len > event->header.size - sizeof(*rec))
		return -EINVAL;
	/* The text and, besides, the names; a piece is to be worth the search for its pid. */
	cost = (guest_text__count_lines(rec->data, rec->len) + 1ULL) * GUEST_SYMBOL_COST;
	if (check->symbols_size + rec->len > GUEST_MAP_MAX_SYMBOLS_SIZE ||
	    charge(check, cost + 2 * rec->len, 0)) {
		check->reader->nr_ignored++;
		return IGNORE;
	}
	check->symbols_size += rec->len;
	switch (rec->pid) {
	case GUEST_SYMBOLS_OF_FILE:
		return program_is_sound(rec) ? 0 : -EINVAL;
	case GUEST_SYMBOLS_OF_MODULE:
	case GUEST_SYMBOLS_OF_BPF:
		return module_is_sound(rec) ? 0 : -EINVAL;
	default:
		return 0;
	}
}

/* Those of ORC tables that are too many are left out: callers are missing then. */
static int check_orc(struct map_check *check, const union perf_event *event)
{
	const struct perf_record_guest_orc *rec = (const void *)event;
	const size_t entry = sizeof(s32) + sizeof(struct guest_orc_entry);

	if (event->header.size < sizeof(*rec) ||
	    rec->nr > (event->header.size - sizeof(*rec)) / entry)
		return -EINVAL;
	if (check->nr_orc + rec->nr > GUEST_MAP_MAX_ORC ||
	    charge(check, GUEST_ORC_TABLE_COST + (u64)rec->nr * GUEST_ORC_COST, 0)) {
		pr_debug("A guest map has more of ORC tables than is taken\n");
		return IGNORE;
	}
	check->nr_orc += rec->nr;
	return 0;
}

static int check_space(struct map_check *check, const union perf_event *event)
{
	if (event->header.size < sizeof(struct perf_record_guest_space))
		return -EINVAL;
	if (++check->nr_spaces > GUEST_MAP_MAX_SPACES ||
	    charge(check, GUEST_SPACE_COST, GUEST_MAP_LEFT_FOR_SYMBOLS)) {
		check->reader->nr_ignored++;
		return IGNORE;
	}
	return 0;
}

/* What kind of a map it is. 0, -EINVAL, or -EPROTO: one that is not known here */
static int check_kind(const union perf_event *event)
{
	const struct perf_record_guest_map *kind = (const void *)event;

	if (event->header.size < sizeof(*kind))
		return -EINVAL;
	return kind->flags & ~GUEST_MAP_KNOWN ? -EPROTO : 0;
}

/* The time of the records that come after it */
static int check_time(struct map_check *check, const union perf_event *event)
{
	const struct perf_record_guest_time *time = (const void *)event;

	if (event->header.size < sizeof(*time) || !time->time || time->time < check->time ||
	    time->time == GUEST_TIME_NONE)
		return -EINVAL;
	check->time = time->time;
	return 0;
}

/* 0, IGNORE, or -errno: the map is none */
static int check_record(struct map_check *check, const union perf_event *event)
{
	switch (event->header.type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_GUEST_CGROUP:
		return check_process(check, event);
	case PERF_RECORD_GUEST_SPACE:
		return check_space(check, event);
	case PERF_RECORD_GUEST_KALLSYMS:
		return check_kallsyms(check, event);
	case PERF_RECORD_GUEST_SYMBOLS:
		return check_symbols(check, event);
	case PERF_RECORD_GUEST_ORC:
		return check_orc(check, event);
	case PERF_RECORD_GUEST_MAP:
		return check_kind(event);
	case PERF_RECORD_GUEST_MISSED:
		return event->header.size < sizeof(struct perf_record_guest_missed) ? -EINVAL : 0;
	case PERF_RECORD_GUEST_CLOCK:
		return event->header.size < sizeof(struct perf_record_guest_clock) ? -EINVAL : 0;
	case PERF_RECORD_GUEST_TIME:
		return check_time(check, event);
	default:
		return IGNORE;	/* Attributes, features: not needed here */
	}
}

static int process_record(const union perf_event *event, void *arg)
{
	struct map_check *check = arg;
	int ret = check_record(check, event);

	if (ret == IGNORE)
		return 0;
	if (ret || !check->reader->take)
		return ret;
	return check->reader->take(event, check->time, check->reader->arg);
}

/* A file descriptor, or -errno and the rest of a sentence in @err */
static int open_map(const char *path, char *err, size_t errlen)
{
	struct stat st;
	int fd, ret = 0;

	/* It is read more than once. A pipe without a writer must not block here. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st))
		ret = fail(err, errlen, -errno, "cannot be opened: %s", strerror(errno));
	else if (!S_ISREG(st.st_mode))
		ret = fail(err, errlen, -EINVAL, "is not a regular file");
	if (ret && fd >= 0)
		close(fd);
	return ret ?: fd;
}

/**
 * guest_map__read - read a guest map, and check it on the way
 * @path: the map
 * @reader: gets its records, and what there was of some
 *
 * 0, or -errno and the rest of a sentence about the map in @err: the reader has got what stands
 * before the place where it is bad. What the reader returns is returned, too.
 */
int guest_map__read(const char *path, struct guest_map_reader *reader, char *err, size_t errlen)
{
	struct map_check check = { .reader = reader };
	int fd, ret;

	fd = open_map(path, err, errlen);
	if (fd < 0)
		return fd;
	check.maps_of_pid = number_map__new();
	check.names = number_map__new();
	if (check.maps_of_pid && check.names) {
		scnprintf(err, errlen, "is corrupt");
		ret = guest_stream__read(fd, process_record, &check, err, errlen);
	} else {
		ret = -ENOMEM;
	}
	hashmap__free(check.maps_of_pid);
	hashmap__free(check.names);
	close(fd);
	switch (ret) {
	case -E2BIG:
		return fail(err, errlen, ret,
			    "has more processes, maps or symbols than any real guest");
	case -EPROTO:
		return fail(err, errlen, ret,
			    "was made by a newer perf: it has what this one does not know");
	case -ENOMEM:
	case -ENOSPC:
		return fail(err, errlen, ret, "cannot be read in: %s", strerror(-ret));
	default:
		return ret;
	}
}

/* 0 if @path is a whole guest map, else -errno and the rest of a sentence about it in @err */
int guest_map__check(const char *path, char *err, size_t errlen)
{
	struct guest_map_reader reader = { };

	return guest_map__read(path, &reader, err, errlen);
}
