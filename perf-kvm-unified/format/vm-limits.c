// SPDX-License-Identifier: GPL-2.0
/*
 * The limits on the CPU time of VMs, in memory and as records of the profile.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "util/event.h"
#include "kvm-unified/lib/array.h"
#include "records.h"
#include "text-record.h"
#include "vm-limits.h"

/* More than the VMs of a host have; each VM's are sought among all. */
#define KVM_LIMITS_MAX	(1U << 14)

/* Takes a copy of *@limit in the place of the one of that VM and cgroup. 0, -ENOMEM, or -E2BIG */
int kvm_limits__set(struct kvm_limits *limits, const struct kvm_limit *limit)
{
	struct kvm_limit copy = *limit, *entry = limits->entries, *end = entry + limits->nr;

	while (entry < end && (entry->pid != limit->pid || strcmp(entry->cgroup, limit->cgroup)))
		entry++;
	if (entry < end) {
		copy.cgroup = entry->cgroup;
		*entry = copy;
		return 0;
	}
	if (limits->nr == KVM_LIMITS_MAX)
		return -E2BIG;
	if (grow_array(limits->entries, limits->nr, limits->allocated))
		return -ENOMEM;
	copy.cgroup = strdup(limit->cgroup);
	if (!copy.cgroup)
		return -ENOMEM;
	limits->entries[limits->nr++] = copy;
	return 0;
}

/* The next limit of VM @pid, after @last, which may be NULL. NULL: there is no other one */
const struct kvm_limit *kvm_limits__next(const struct kvm_limits *limits, pid_t pid,
					 const struct kvm_limit *last)
{
	const struct kvm_limit *end = limits->entries + limits->nr;

	for (const struct kvm_limit *limit = last ? last + 1 : limits->entries; limit < end;
	     limit++) {
		if (limit->pid == pid)
			return limit;
	}
	return NULL;
}

/* Has it held tasks back while it was recorded, or may it have? */
bool kvm_limit__may_hold(const struct kvm_limit *limit)
{
	return !limit->counted || limit->times || !limit->cgroup[0];
}

/* Is there such a limit of VM @pid? */
bool kvm_limits__may_hold(const struct kvm_limits *limits, pid_t pid)
{
	const struct kvm_limit *limit = NULL;

	while ((limit = kvm_limits__next(limits, pid, limit))) {
		if (kvm_limit__may_hold(limit))
			return true;
	}
	return false;
}

/* The limit of VM @pid's threads that are or were SCHED_DEADLINE; NULL: there are none */
const struct kvm_limit *kvm_limits__deadline(const struct kvm_limits *limits, pid_t pid)
{
	const struct kvm_limit *limit = NULL;

	do {
		limit = kvm_limits__next(limits, pid, limit);
	} while (limit && limit->cgroup[0]);
	return limit;
}

void kvm_limits__exit(struct kvm_limits *limits)
{
	for (size_t i = 0; i < limits->nr; i++)
		zfree(&limits->entries[i].cgroup);
	zfree(&limits->entries);
	limits->nr = 0;
	limits->allocated = 0;
}

static int kvm_limit__write(const struct kvm_limit *limit, int fd)
{
	struct perf_record_guest_vm_limit rec = {
		.header.type = PERF_RECORD_GUEST_VM_LIMIT,
		.pid = limit->pid,
		.flags = limit->counted ? GUEST_LIMIT_COUNTED : 0,
		.quota = limit->quota,
		.period = limit->period,
		.times = limit->times,
	};

	return text_record__write(fd, &rec.header, sizeof(rec), limit->cgroup);
}

/* A record each. 0 or -errno */
int kvm_limits__write(const struct kvm_limits *limits, int fd)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < limits->nr; i++)
		ret = kvm_limit__write(&limits->entries[i], fd);
	return ret;
}

/* Makes @path fit for a terminal */
static void sanitize_path(char *path)
{
	for (; *path; path++) {
		if (!isascii(*path) || !isprint(*path))
			*path = '_';
	}
}

/* Takes over a PERF_RECORD_GUEST_VM_LIMIT. 0 or -errno: -EINVAL if it makes no sense */
int kvm_limits__process(struct kvm_limits *limits, const union perf_event *event)
{
	const struct perf_record_guest_vm_limit *rec = (const void *)event;
	char cgroup[PATH_MAX];
	struct kvm_limit limit;

	if (rec->header.size < sizeof(*rec) || (rec->quota && !rec->period))
		return -EINVAL;
	scnprintf(cgroup, sizeof(cgroup), "%.*s", (int)(rec->header.size - sizeof(*rec)),
		  rec->cgroup);
	sanitize_path(cgroup);
	limit = (struct kvm_limit) {
		.pid = rec->pid,
		.cgroup = cgroup,
		.quota = rec->quota,
		.period = rec->period,
		.times = rec->times,
		.counted = rec->flags & GUEST_LIMIT_COUNTED,
	};
	return kvm_limits__set(limits, &limit);
}
