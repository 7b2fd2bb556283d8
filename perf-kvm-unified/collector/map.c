// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified guest-map, run in a guest: writes all that the host needs to
 * put names to samples of it. perf's own code says what perf record in the guest
 * would say; which CR3 belongs to which process is what only this adds.
 *
 * Room: collector/, what runs in a guest, as root.
 * Calls: format lib
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/vm_sockets.h>
#ifdef HAVE_LIBBPF_SUPPORT
#include <bpf/libbpf.h>
#endif
#include <api/fs/fs.h>

#include "util/debug.h"
#include "util/env.h"
#include "util/event.h"
#include "util/evlist.h"
#include "util/header.h"
#include "util/intlist.h"
#include "util/machine.h"
#include "util/map.h"
#include "util/namespaces.h"
#include "util/symbol.h"
#include "util/symbol_conf.h"
#include "util/synthetic-events.h"
#include "util/tool.h"
#include "util/tsc.h"
#include "kvm-unified/format/records.h"
#include "kvm-unified/format/spaces.h"
#include "kvm-unified/format/stream.h"
#include "kvm-unified/lib/map-output.h"
#include "kvm-unified/lib/warnings.h"
#include "kvm-unified/lib/write.h"
#include "build-ids.h"
#include "cgroups.h"
#include "follow.h"
#include "history.h"
#include "map.h"
#include "modules.h"
#include "orc.h"
#include "passes.h"
#include "perf-map.h"
#include "symbols.h"
#include "tasks.h"

/* One of them is not interrupted. */
#define CLOCK_TRIES		16

/* How often a guest that is followed is looked at: its buffers have to last. */
#define LOOK_EVERY_MS		200

/* How often its clock is read meanwhile: NTP corrects it slowly. */
#define CLOCK_EVERY_LOOKS	(10 * MSEC_PER_SEC / LOOK_EVERY_MS)

/* About ten times a second, on a slow machine */
#define DRAIN_EVERY_RECORDS	256

/* What was followed may take so much of the largest map that is read (GUEST_STREAM_MAX_SIZE). */
#define FOLLOWED_MAX_SIZE	(160ULL << 20)

/* So much of a map is kept in memory while a guest is followed. */
#define SPOOL_MAX_SIZE		(32 << 20)

/**
 * struct guest_map - the map that is being made
 * @fd: where it is written to
 * @out: where that goes in the end, if it is only kept in memory, else -1
 */
struct guest_map {
	struct perf_tool tool;
	int	fd;
	int	out;
	u64	nr_maps;
	u64	nr_build_ids;
	u64	last_time;
	struct guest_follow *follow;	/* or NULL */
	u64	nr_records;
	u64	nr_bytes;		/* of what was followed */
	u64	nr_dropped;
	struct module_look modules;	/* of the start, if it is followed */
	struct guest_kernel_events kernel_events;
	struct guest_build_ids *build_ids;
	struct intlist *jit_pids;	/* with code that is in no file */
};

/* A record is a multiple of this long. */
#define RECORD_ALIGN		sizeof(u64)
#define KALLSYMS_CHUNK		(UINT16_MAX - RECORD_ALIGN -			\
				 sizeof(struct perf_record_guest_kallsyms))

/* Code that a process has made for itself may be described in /tmp/perf-<pid>.map. */
static int note_jit(struct guest_map *map, const struct perf_record_mmap2 *mmap2)
{
	int ret;

	if (!guest_mmap2__may_be_own_code(mmap2))
		return 0;
	ret = intlist__add(map->jit_pids, mmap2->pid);
	return ret == -EEXIST ? 0 : ret;
}

static int write_event(struct guest_map *map, const union perf_event *event)
{
	int ret = 0;

	if (event->header.type == PERF_RECORD_MMAP2) {
		map->nr_maps++;
		if (event->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
			map->nr_build_ids++;
		ret = note_jit(map, &event->mmap2);
	}
	return ret ?: write_all(map->fd, event, event->header.size);
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
	struct guest_map *map = container_of(tool, struct guest_map, tool);
	int ret = 0;

	/* With thousands of processes, this takes as long as the buffers last. */
	if (map->follow && ++map->nr_records % DRAIN_EVERY_RECORDS == 0)
		ret = guest_follow__drain(map->follow);
	if (ret)
		return ret;
	if (lacks_build_id(event))
		ret = guest_build_ids__find(map->build_ids, &event->mmap2);
	return ret ?: write_event(map, event);
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

static int process_followed(union perf_event *event, u64 time, void *arg)
{
	struct guest_map *map = arg;
	struct perf_record_guest_time rec = {
		.header.type = PERF_RECORD_GUEST_TIME,
		.header.size = sizeof(rec),
		/* One that came late, of a CPU that was away for long, is not earlier. */
		.time = max(time, map->last_time),
	};
	int ret = 0;

	if (is_of_thread(event))
		return 0;
	map->nr_bytes += event->header.size;
	if (map->nr_bytes > FOLLOWED_MAX_SIZE) {
		map->nr_dropped++;
		return 0;
	}
	/* Kernels before 5.12 say none, and later ones not that of each file. */
	if (lacks_build_id(event))
		ret = guest_build_ids__find_past(map->build_ids, &event->mmap2, time);
	if (!ret && rec.time != map->last_time)
		ret = write_all(map->fd, &rec, sizeof(rec));
	map->last_time = rec.time;
	return ret ?: write_event(map, event);
}

/*
 * A dummy event, so that the file is one that perf script and so on can read.
 * Its records have no sample id after them.
 */
static int write_attr(struct guest_map *map)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
	};

	return perf_event__synthesize_attr(&map->tool, &attr, 0, NULL, process_event);
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

static int write_kind(struct guest_map *map, bool follow)
{
	struct perf_record_guest_map rec = {
		.header.type = PERF_RECORD_GUEST_MAP,
		.header.size = sizeof(rec),
		.flags = (follow ? GUEST_MAP_FOLLOWED : 0) |
			 (guest_has_pti() ? GUEST_MAP_PTI : 0),
	};

	return write_all(map->fd, &rec, sizeof(rec));
}

static int write_missed(struct guest_map *map, const struct guest_tasks *tasks, u64 nr_lost)
{
	struct perf_record_guest_missed rec = {
		.header.type = PERF_RECORD_GUEST_MISSED,
		.header.size = sizeof(rec),
		.spaces = tasks->nr_unread,
		.events = nr_lost,
	};

	return write_all(map->fd, &rec, sizeof(rec));
}

/*
 * TSC and clock of the same moment: of some tries, the one in which least time went
 * by between two looks at the TSC. A vCPU can be preempted in any of them.
 */
static int write_clock(struct guest_map *map)
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
	return write_all(map->fd, &rec, sizeof(rec));
}

static int write_spaces(struct guest_map *map, const struct guest_spaces *spaces)
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

		ret = write_all(map->fd, &rec, sizeof(rec));
	}
	return ret;
}

static int write_kallsyms(struct guest_map *map)
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
		ret = write_all(map->fd, rec, rec->header.size);
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

static int write_kernel_changes(struct guest_map *map)
{
	struct module_look after;
	int ret = read_modules(&after);

	if (!ret)
		ret = module_looks__write_changes(&map->modules, &after,
						  &map->kernel_events.modules, map->fd);
	module_look__exit(&after);
	return ret ?: guest_bpf_events__write(&map->kernel_events.programs, map->fd);
}

static int write_header(int fd)
{
	return perf_header__write_pipe(fd) < 0 ? -errno : 0;
}

/* All that there is now */
static int write_snapshot(struct guest_map *map, const struct guest_tasks *tasks, bool follow)
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
	ret = write_attr(map);
	if (!ret)
		ret = write_kind(map, follow);
	if (!ret)
		ret = write_clock(map);
	if (!ret)
		ret = perf_event__synthesize_kernel_mmap(&map->tool, process_event, machine);
	if (!ret)
		ret = perf_event__synthesize_modules(&map->tool, process_event, machine);
	if (!ret && follow)
		ret = read_modules(&map->modules);
	/* Those of programs are found in another way, see process_event(). */
	symbol_conf.no_buildid_mmap2 = true;
	if (!ret)
		ret = perf_event__synthesize_threads(&map->tool, process_event, machine,
						     /*needs_mmap=*/true, /*mmap_data=*/false,
						     /*nr_threads_synthesize=*/1);
	if (!ret)
		ret = guest_tasks__write_cgroups(tasks, map->fd);
	machine__delete(machine);
	perf_env__exit(&host_env);
	return ret;
}

/* Notes when each process began that has made code, or called execve(), if it was followed. */
static void note_begins(struct guest_map *map, const struct guest_history *history)
{
	for (size_t i = 0; i < history->nr; i++) {
		const struct guest_task_event *event = &history->events[i];
		struct int_node *node = intlist__find(map->jit_pids, event->pid);

		if (node && event->kind != GUEST_TASK_EXIT)
			node->priv = (void *)max((unsigned long)node->priv,
						 (unsigned long)event->time);
	}
}

/* Writes the symbols that the process of @node has for its own code. 0 or -errno */
static int write_own_symbols(struct guest_map *map, struct perf_maps *perf_maps,
			     const struct int_node *node, size_t *left)
{
	int in = perf_maps__open(perf_maps, node->i, (unsigned long)node->priv);
	int ret = 0;

	if (in >= 0) {
		ret = guest_symbols__write_perf_map(map->fd, node->i, in, left);
		close(in);
	}
	return ret ?: guest_symbols__write_jitdumps(map->fd, node->i, left);
}

/* Writes the symbols that processes have for their own code. 0 or -errno */
static int write_symbols(struct guest_map *map, const struct guest_history *history)
{
	size_t left = GUEST_SYMBOLS_MAX_SIZE;
	struct perf_maps perf_maps = { };
	struct int_node *node;
	int ret = 0;

	note_begins(map, history);
	intlist__for_each_entry(node, map->jit_pids) {
		ret = perf_maps__add(&perf_maps, node->i);
		if (ret)
			goto out;
	}
	perf_maps__sort(&perf_maps);
	intlist__for_each_entry(node, map->jit_pids) {
		ret = write_own_symbols(map, &perf_maps, node, &left);
		if (ret)
			goto out;
	}
	perf_maps__warn(&perf_maps);
out:
	perf_maps__exit(&perf_maps);
	return ret;
}

/* Writes what is known only at the end. 0 or -errno */
static int write_rest(struct guest_map *map, const struct guest_tasks *tasks,
		      struct guest_history *history, u64 nr_lost)
{
	struct guest_spaces spaces = { };
	int ret;

	ret = guest_history__spaces(history, tasks, &spaces);
	if (!ret)
		ret = write_spaces(map, &spaces);
	guest_spaces__exit(&spaces);
	if (!ret && map->follow)
		ret = write_kernel_changes(map);
	if (!ret)
		ret = write_kallsyms(map);
	if (!ret)
		ret = guest_orc__write_own(map->fd);
	if (!ret)
		ret = guest_symbols__write_vdso(map->fd);
	if (!ret)
		ret = write_symbols(map, history);
	if (!ret && !map->follow)
		ret = write_clock(map);
	if (!ret)
		ret = write_missed(map, tasks, nr_lost);
	return ret ?: guest_stream__write_end(map->fd);
}

/*
 * A guest that is followed is not to be busy with its map while it is measured: what
 * comes is kept in memory until the end, if it is not too much.
 */
static int open_spool(struct guest_map *map)
{
	map->out = map->fd;
	map->fd = memfd_create("guest-map", MFD_CLOEXEC);
	if (map->fd >= 0)
		return 0;
	map->fd = map->out;
	map->out = -1;
	return -errno;
}

static int empty_spool(struct guest_map *map)
{
	char buf[BUFSIZ];
	int ret = 0;
	ssize_t n;

	if (lseek(map->fd, 0, SEEK_SET))
		return -errno;
	while (!ret && (n = read(map->fd, buf, sizeof(buf))) > 0)
		ret = write_all(map->out, buf, n);
	if (!ret && (n < 0 || ftruncate(map->fd, 0) || lseek(map->fd, 0, SEEK_SET)))
		ret = -errno;
	return ret;
}

static int close_spool(struct guest_map *map, int ret)
{
	if (!ret)
		ret = empty_spool(map);
	close(map->fd);
	map->fd = map->out;
	return ret;
}

static volatile sig_atomic_t stop;

static void on_stop(int sig __maybe_unused)
{
	stop = 1;
}

/* Its end is the sign to stop: of a pipe or a socket, not of a terminal or a file. */
static bool stdin_is_a_line(void)
{
	struct stat st;

	return !fstat(STDIN_FILENO, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

static bool stdin_has_ended(void)
{
	char buf[256];
	ssize_t n = read(STDIN_FILENO, buf, sizeof(buf));

	return !n || (n < 0 && errno != EINTR && errno != EAGAIN);
}

/* Follows the guest until a signal comes or standard input ends. 0 or -errno */
static int follow_until_stopped(struct guest_map *map, struct guest_follow *follow)
{
	struct pollfd fd = {
		.fd = stdin_is_a_line() ? STDIN_FILENO : -1,
		.events = POLLIN,
	};

	for (unsigned int looks = 1; !stop; looks++) {
		int ret;

		if (poll(&fd, 1, LOOK_EVERY_MS) > 0 && stdin_has_ended())
			break;
		ret = guest_follow__look(follow);
		if (!ret && looks % CLOCK_EVERY_LOOKS == 0)
			ret = write_clock(map);
		if (!ret && lseek(map->fd, 0, SEEK_CUR) > SPOOL_MAX_SIZE)
			ret = empty_spool(map);
		if (ret)
			return ret;
	}
	return 0;
}

static void read_ns_pids(struct guest_tasks *tasks)
{
	for (size_t i = 0; i < tasks->nr; i++) {
		struct guest_task *task = &tasks->entries[i];
		struct nsinfo *nsi = task->pt_root && task->pid ? nsinfo__new(task->pid) : NULL;

		if (nsi && nsinfo__in_pidns(nsi))
			task->ns_pid = nsinfo__nstgid(nsi);
		nsinfo__put(nsi);
	}
}

/* The snapshot, and what happens from then on. 0 or -errno */
static int write_followed(struct guest_map *map, struct guest_follow *follow,
			  const struct guest_tasks *tasks, struct guest_history *history,
			  u64 *nr_lost)
{
	int ret = write_snapshot(map, tasks, /*follow=*/true);

	/* The sign for whoever waits for it that the guest is followed */
	if (!ret)
		ret = write_header(map->out);
	if (!ret)
		ret = follow_until_stopped(map, follow);
	/* The map's last clock, up to which all is known */
	if (!ret)
		ret = write_clock(map);
	if (!ret)
		ret = guest_follow__end(follow, &tasks->layout, history, &map->kernel_events,
					nr_lost);
	*nr_lost += map->nr_dropped;
	return close_spool(map, ret);
}

/* 0, or -errno with the rest of a sentence about the map in @err */
static int write_map(struct guest_map *map, struct guest_tasks *tasks,
		     struct guest_follow *follow, char *err, size_t errlen)
{
	struct guest_history history = { };
	u64 nr_lost = 0;
	int ret;

	if (follow) {
		ret = open_spool(map);
		if (!ret)
			ret = write_followed(map, follow, tasks, &history, &nr_lost);
	} else {
		ret = write_header(map->fd);
		if (!ret)
			ret = write_snapshot(map, tasks, /*follow=*/false);
	}
	if (!ret)
		ret = write_rest(map, tasks, &history, nr_lost);
	guest_history__exit(&history);
	if (ret)
		scnprintf(err, errlen, "%s", strerror(-ret));
	else if (nr_lost)
		unified_warning("%" PRIu64 " events of processes were lost: names of those may be missing or wrong\n",
				nr_lost);
	return ret;
}

/*
 * Is standard input a connection of the host? In a guest, CID 2 is the host, whatever the VMM
 * (VMADDR_CID_HOST in linux/vm_sockets.h); what comes from the guest itself has another. 0 or
 * -errno, after a message
 */
static int check_peer(void)
{
	struct sockaddr_vm peer = { };
	socklen_t len = sizeof(peer);

	if (getpeername(STDIN_FILENO, (struct sockaddr *)&peer, &len) ||
	    peer.svm_family != AF_VSOCK) {
		pr_err("--from-host: standard input is no vsock connection\n");
		return -EPERM;
	}
	if (peer.svm_cid == VMADDR_CID_HOST)
		return 0;
	pr_err("--from-host: the connection is of CID %u, and not of the host\n", peer.svm_cid);
	return -EPERM;
}

/* Have the map written by @map. 0 or -errno, after a message */
static int make_map(struct guest_map *map, const char *output, bool want_follow)
{
	struct guest_follow *follow = NULL;
	struct guest_tasks tasks = { };
	bool created = false;
	char err[512];
	int ret = 0;

	if (want_follow) {
		/* Before any process is looked at, so that none is missed. */
		signal(SIGINT, on_stop);
		signal(SIGTERM, on_stop);
		signal(SIGHUP, on_stop);
		follow = guest_follow__start(process_followed, map, err, sizeof(err));
		if (!follow) {
			pr_err("Cannot follow the guest's processes: %s\n", err);
			return -EOPNOTSUPP;
		}
		map->follow = follow;
	}

	ret = guest_tasks__read(&tasks, err, sizeof(err));
	if (ret && !follow && guest_tasks__may_do_without(ret)) {
		unified_warning("Cannot read which process has which CR3: %s.\n"
				"The kernel's functions will have names; what processes do will be by CR3, without.\n",
				err);
		tasks.nr_unread = guest_tasks__count_programs();
	} else if (ret) {
		pr_err("Cannot read which process has which CR3: %s\n", err);
		goto out;
	} else if (tasks.nr_unread) {
		unified_warning("The CR3 of %zu processes could not be read, they will have no names\n",
				tasks.nr_unread);
	}
	read_ns_pids(&tasks);

	map->fd = map_output__open(output, &created);
	if (map->fd < 0) {
		ret = -EIO;
		goto out;
	}
	ret = write_map(map, &tasks, follow, err, sizeof(err));
	if (close(map->fd) && !ret) {
		ret = -errno;
		scnprintf(err, sizeof(err), "%s", strerror(-ret));
	}
	if (ret) {
		pr_err("Cannot write the map: %s\n", err);
		if (created)
			unlink(output);
	} else {
		pr_debug("%zu processes in %d passes, %" PRIu64 " maps, %" PRIu64 " with a build-id\n",
			 tasks.nr, tasks.passes, map->nr_maps, map->nr_build_ids);
	}
out:
	guest_follow__delete(follow);
	guest_tasks__exit(&tasks);
	return ret;
}

/**
 * guest_map__write_own - write a map of the guest that this runs in
 * @output: the path, or "-"
 * @follow: until the input pipe ends, take down what processes do
 * @from_host: only if standard input is a vsock connection of the host
 *
 * 0 or -errno, after a message
 */
int guest_map__write_own(const char *output, bool follow, bool from_host)
{
	struct guest_map map = { .fd = -1, .out = -1 };
	int ret;

	if (from_host && check_peer())
		return -EPERM;
	if (geteuid()) {
		pr_err("perf kvm unified guest-map has to run as root in the guest: it reads\n"
		       "the kernel's memory and the maps of all processes.\n");
		return -EPERM;
	}

#ifdef HAVE_LIBBPF_SUPPORT
	/* It prints the whole of a program that the kernel refuses. */
	if (!verbose)
		libbpf_set_print(NULL);
#endif
	perf_tool__init(&map.tool, /*ordered_events=*/false);
	map.jit_pids = intlist__new(NULL);
	map.build_ids = guest_build_ids__new();
	if (map.jit_pids && map.build_ids) {
		ret = make_map(&map, output, follow);
	} else {
		pr_err("Out of memory\n");
		ret = -ENOMEM;
	}
	module_look__exit(&map.modules);
	guest_kernel_events__exit(&map.kernel_events);
	guest_build_ids__delete(map.build_ids);
	intlist__delete(map.jit_pids);
	return ret;
}
