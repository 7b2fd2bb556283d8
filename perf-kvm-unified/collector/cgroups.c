// SPDX-License-Identifier: GPL-2.0
/*
 * The cgroups that the guest's processes are in, of cgroup v2's hierarchy, by /proc/PID/cgroup.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "util/event.h"
#include "kvm-unified/format/records.h"
#include "kvm-unified/format/text-record.h"
#include "cgroups.h"
#include "tasks.h"

/* The line of v2's hierarchy: "0::/system.slice/cron.service" */
#define V2_LINE		"0::"

/* What the kernel puts after the path of a directory that is removed */
#define REMOVED		" (deleted)"

/**
 * guest_cgroup__parse - the cgroup in what /proc/PID/cgroup has
 * @text: lines
 * @path: result, of @size bytes
 *
 * Return: 0; -ENOENT: it is in none, or that is removed
 */
int guest_cgroup__parse(const char *text, char *path, size_t size)
{
	while (!strstarts(text, V2_LINE)) {
		text = strchr(text, '\n');
		if (!text++)
			return -ENOENT;
	}
	text += strlen(V2_LINE);
	scnprintf(path, size, "%.*s", (int)strcspn(text, "\n"), text);
	return *path == '/' && !str_ends_with(path, REMOVED) ? 0 : -ENOENT;
}

static int read_cgroup(pid_t pid, char *path, size_t size)
{
	char name[64], text[2 * PATH_MAX];
	FILE *fp;
	size_t len;

	scnprintf(name, sizeof(name), "/proc/%d/cgroup", pid);
	fp = fopen(name, "re");
	if (!fp)
		return -errno;
	len = fread(text, 1, sizeof(text) - 1, fp);
	fclose(fp);
	text[len] = '\0';
	return guest_cgroup__parse(text, path, size);
}

static int write_cgroup(int fd, pid_t pid, const char *path)
{
	struct perf_record_guest_cgroup rec = {
		.header.type = PERF_RECORD_GUEST_CGROUP,
		.pid = pid,
	};

	return text_record__write(fd, &rec.header, sizeof(rec), path);
}

/* Those of programs, to a guest map. 0 or -errno */
int guest_tasks__write_cgroups(const struct guest_tasks *tasks, int fd)
{
	char path[PATH_MAX];
	int ret = 0;

	for (size_t i = 0; !ret && i < tasks->nr; i++) {
		const struct guest_task *task = &tasks->entries[i];

		if (task->pt_root && task->pid && !read_cgroup(task->pid, path, sizeof(path)))
			ret = write_cgroup(fd, task->pid, path);
	}
	return ret;
}
