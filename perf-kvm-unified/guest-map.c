// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified guest-map: run in a guest, writes all that the host needs to
 * put names to samples of it. perf's own code says what perf record in the guest
 * would say; which CR3 belongs to which process is what only this adds.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <api/fs/fs.h>
#include <internal/lib.h>
#include <subcmd/parse-options.h>

#include "util/debug.h"
#include "util/event.h"
#include "util/evlist.h"
#include "util/header.h"
#include "util/machine.h"
#include "util/symbol.h"
#include "util/symbol_conf.h"
#include "util/synthetic-events.h"
#include "util/tool.h"
#include "guest-records.h"
#include "guest-stream.h"
#include "guest-tasks.h"
#include "kvm-unified.h"

struct guest_map {
	struct perf_tool tool;
	int	fd;
	u64	nr_maps;
	u64	nr_build_ids;
};

/* A record is a multiple of this long. */
#define RECORD_ALIGN		sizeof(u64)
#define KALLSYMS_CHUNK		(UINT16_MAX - RECORD_ALIGN -			\
				 sizeof(struct perf_record_guest_kallsyms))

static int write_all(int fd, const void *buf, size_t len)
{
	return writen(fd, buf, len) == (ssize_t)len ? 0 : -errno;
}

static int process_event(const struct perf_tool *tool, union perf_event *event,
			 struct perf_sample *sample __maybe_unused,
			 struct machine *machine __maybe_unused)
{
	struct guest_map *map = container_of(tool, struct guest_map, tool);

	if (event->header.type == PERF_RECORD_MMAP2) {
		map->nr_maps++;
		if (event->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
			map->nr_build_ids++;
	}
	return write_all(map->fd, event, event->header.size);
}

/*
 * A dummy event, so that the file is one that perf script and so on can read.
 * Its records have no sample id behind them.
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

static int write_spaces(struct guest_map *map, const struct guest_tasks *tasks)
{
	for (size_t i = 0; i < tasks->nr; i++) {
		const struct guest_task *task = &tasks->entries[i];
		struct perf_record_guest_space rec = {
			.header.type = PERF_RECORD_GUEST_SPACE,
			.header.size = sizeof(rec),
			.pt_root = task->pt_root,
			.from = task->start_ns,
			.until = ~0ULL,
			.pid = task->pid,
		};
		int ret;

		if (!task->pt_root)
			continue;
		ret = write_all(map->fd, &rec, sizeof(rec));
		if (ret)
			return ret;
	}
	return 0;
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

static int write_map(struct guest_map *map, const struct guest_tasks *tasks,
		     struct machine *machine)
{
	int ret;

	if (perf_header__write_pipe(map->fd) < 0)
		return -errno;

	ret = write_attr(map);
	if (!ret)
		ret = perf_event__synthesize_kernel_mmap(&map->tool, process_event, machine);
	if (!ret)
		ret = perf_event__synthesize_modules(&map->tool, process_event, machine);
	if (!ret)
		ret = perf_event__synthesize_threads(&map->tool, process_event, machine,
						     /*needs_mmap=*/true, /*mmap_data=*/false,
						     /*nr_threads_synthesize=*/1);
	if (!ret)
		ret = write_spaces(map, tasks);
	if (!ret)
		ret = write_kallsyms(map);
	if (!ret)
		ret = guest_stream__write_end(map->fd);
	return ret;
}

/*
 * A file that is there already is kept as perf does it, under another name;
 * devices and pipes are just written to. *@created: may be removed if it fails
 */
static int open_output(const char *output, bool *created)
{
	struct stat st;
	int fd;

	*created = false;
	if (strcmp(output, "-")) {
		bool exists = !stat(output, &st);

		if (exists && S_ISREG(st.st_mode) && st.st_size) {
			char old[PATH_MAX];

			scnprintf(old, sizeof(old), "%s.old", output);
			if (rename(output, old)) {
				pr_err("%s: %s\n", old, strerror(errno));
				return -1;
			}
		}
		*created = !exists || S_ISREG(st.st_mode);
		fd = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (fd < 0)
			pr_err("%s: %s\n", output, strerror(errno));
		return fd;
	}
	if (isatty(STDOUT_FILENO)) {
		pr_err("The map is binary: redirect it to a file, or use -o FILE\n");
		return -1;
	}
	/* Whatever else is printed must not get into the map. */
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		pr_err("Cannot write to standard output: %s\n", strerror(errno));
		return -1;
	}
	return fd;
}

int cmd_kvm_unified_guest_map(int argc, const char **argv)
{
	const char *output = "-";
	const struct option options[] = {
		OPT_STRING('o', "output", &output, "file",
			   "file to write the map to (default: standard output)"),
		OPT_INCR('v', "verbose", &verbose, "be more verbose"),
		OPT_END()
	};
	const char *const usage[] = {
		"perf kvm unified guest-map [-o <file>]",
		NULL
	};
	struct guest_tasks tasks = { };
	struct guest_map map = { .fd = -1 };
	struct machine *machine;
	bool created;
	char err[512];
	int ret;

	argc = parse_options(argc, argv, options, usage, 0);
	if (argc)
		usage_with_options(usage, options);

	if (geteuid()) {
		pr_err("perf kvm unified guest-map has to run as root in the guest: it reads\n"
		       "the kernel's memory and the maps of all processes.\n");
		return 1;
	}

	ret = guest_tasks__read(&tasks, err, sizeof(err));
	if (ret) {
		pr_err("Cannot read which process has which CR3: %s\n", err);
		return 1;
	}
	if (tasks.nr_unread)
		pr_warning("The CR3 of %zu processes could not be read, they will have no names\n",
			   tasks.nr_unread);

	map.fd = open_output(output, &created);
	if (map.fd < 0) {
		guest_tasks__exit(&tasks);
		return 1;
	}

	symbol_conf.buildid_mmap2 = true;
	perf_tool__init(&map.tool, /*ordered_events=*/false);
	machine = machine__new_host();
	if (!machine) {
		pr_err("Out of memory\n");
		ret = -ENOMEM;
		goto out;
	}
	ret = write_map(&map, &tasks, machine);
	machine__delete(machine);
	if (close(map.fd) && !ret)
		ret = -errno;
	map.fd = -1;
	if (ret) {
		pr_err("Cannot write the map: %s\n", strerror(-ret));
		if (created)
			unlink(output);
	} else {
		pr_debug("%zu processes in %d passes, %" PRIu64 " maps, %" PRIu64 " with a build-id\n",
			 tasks.nr, tasks.passes, map.nr_maps, map.nr_build_ids);
	}
out:
	if (map.fd >= 0)
		close(map.fd);
	guest_tasks__exit(&tasks);
	return ret ? 1 : 0;
}
