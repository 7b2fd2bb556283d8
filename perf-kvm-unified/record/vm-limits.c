// SPDX-License-Identifier: GPL-2.0
/*
 * What limits the CPU time of VMs: the CPU controller of the cgroups that vCPUs' threads are in
 * (cgroup-v2.rst, and sched-bwc.rst for both versions), and SCHED_DEADLINE (sched_setattr(2)).
 * Looked at before and after a measurement: how often a cgroup's limit held its tasks back
 * meanwhile is the difference.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/zalloc.h>
#include <api/fs/fs.h>

#include "util/hashmap.h"
#include "kvm-unified/format/vm-limits.h"
#include "kvm-unified/format/vms.h"
#include "kvm-unified/lib/name-map.h"
#include "proc-file.h"
#include "vm-limits.h"

#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE	6
#endif
/* tools/arch/x86 has the numbers of few system calls, in the place of the C library's file. */
#if defined(__x86_64__) && !defined(__NR_sched_getattr)
#define __NR_sched_getattr	315
#endif

/* A line of /proc/<pid>/cgroup is hierarchy:controllers:path. The second version's is 0. */
#define V2_HIERARCHY	"0"
#define CPU_CONTROLLER	"cpu"

/* As in sched_getattr(2): the first version of struct sched_attr */
struct deadline_attr {
	u32	size;
	u32	policy;
	u64	flags;
	s32	nice;
	u32	priority;
	u64	runtime;	/* ns */
	u64	deadline;
	u64	period;		/* 0: the deadline */
};

/**
 * struct cgroup_limit - a cgroup's own limit, as its files have it
 * @quota: ns in each @period, or 0: it has none
 * @first: how often it had held tasks back when it was looked at first
 * @times: ... and last
 * @looked: number of the look at which it was
 * @counted: and that was before the measurement
 */
struct cgroup_limit {
	u64	quota;
	u64	period;
	u64	first;
	u64	times;
	u32	looked;
	bool	counted;
};

static int read_file(const struct limits_scan *scan, const char *cgroup, const char *file,
		     char **text)
{
	char path[PATH_MAX];
	size_t len;

	if (snprintf(path, sizeof(path), "%s%s/%s", scan->mount, cgroup, file) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	return filename__read_str(path, text, &len);
}

/* A number of microseconds, or 0 */
static u64 read_usec(const struct limits_scan *scan, const char *cgroup, const char *file)
{
	char *text = NULL;
	s64 usec = 0;

	if (!read_file(scan, cgroup, file, &text))
		usec = strtoll(text, NULL, 10);
	free(text);
	return usec > 0 ? usec : 0;
}

/* "30000 100000" in cpu.max, or "max 100000"; two files in the first version */
static void read_quota(const struct limits_scan *scan, const char *cgroup,
		       struct cgroup_limit *limit)
{
	u64 quota = 0, period = 0;
	char *text = NULL;

	if (!read_file(scan, cgroup, "cpu.max", &text)) {
		if (sscanf(text, "%" SCNu64 " %" SCNu64, &quota, &period) != 2)
			quota = 0;
	} else {
		quota = read_usec(scan, cgroup, "cpu.cfs_quota_us");
		period = read_usec(scan, cgroup, "cpu.cfs_period_us");
	}
	free(text);
	limit->quota = period ? quota * NSEC_PER_USEC : 0;
	limit->period = period * NSEC_PER_USEC;
}

/* The same file in both versions */
static u64 read_times(const struct limits_scan *scan, const char *cgroup)
{
	static const char key[] = "nr_throttled ";
	char *text = NULL, *line;
	u64 times = 0;

	if (read_file(scan, cgroup, "cpu.stat", &text))
		return 0;
	line = strstr(text, key);
	if (line)
		times = strtoull(line + strlen(key), NULL, 10);
	free(text);
	return times;
}

/* Finds what is known of a cgroup, and looks at it once in a look. NULL: no memory */
static struct cgroup_limit *find_cgroup(struct limits_scan *scan, const char *cgroup)
{
	struct cgroup_limit *limit;
	char *key;

	if (!hashmap__find(scan->cgroups, cgroup, &limit)) {
		limit = zalloc(sizeof(*limit));
		key = strdup(cgroup);
		if (!limit || !key || hashmap__add(scan->cgroups, key, limit)) {
			free(limit);
			free(key);
			return NULL;
		}
		limit->first = read_times(scan, cgroup);
		limit->counted = scan->nr == 1;
	}
	if (limit->looked == scan->nr)
		return limit;
	read_quota(scan, cgroup, limit);
	limit->times = read_times(scan, cgroup);
	limit->looked = scan->nr;
	return limit;
}

/* Adds the limits of a cgroup and of those above it, not the root's. 0 or -errno */
static int add_cgroups(struct limits_scan *scan, struct kvm_limits *limits, pid_t pid,
		       char *cgroup)
{
	int ret = 0;

	while (!ret && cgroup[0] && strcmp(cgroup, "/")) {
		const struct cgroup_limit *found = find_cgroup(scan, cgroup);
		struct kvm_limit limit = { .pid = pid, .cgroup = cgroup };

		if (!found)
			return -ENOMEM;
		limit.quota = found->quota;
		limit.period = found->period;
		limit.counted = found->counted && scan->nr > 1;
		/* One that was made again begins at 0. */
		if (found->counted && found->times > found->first)
			limit.times = found->times - found->first;
		if (limit.quota || limit.times)
			ret = kvm_limits__set(limits, &limit);
		*strrchr(cgroup, '/') = '\0';
	}
	return ret;
}

/* Is it the hierarchy that has the CPU controller? @v2: of the second version */
static bool has_cpu_controller(const char *hierarchy, char *controllers, bool *v2)
{
	char *save, *name;

	*v2 = !strcmp(hierarchy, V2_HIERARCHY) && !*controllers;
	if (*v2)
		return true;
	for (name = strtok_r(controllers, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		if (!strcmp(name, CPU_CONTROLLER))
			return true;
	}
	return false;
}

/*
 * The path of a thread's cgroup in the hierarchy with the CPU controller, in @text, which is of
 * /proc/<pid>/task/<tid>/cgroup and is taken apart. NULL: none, or it is out of reach from here
 */
static char *cgroup_of(char *text)
{
	char *save, *found = NULL;
	bool v2, found_v2 = true;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *controllers = strchr(line, ':');
		char *path = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!path)
			continue;
		*controllers++ = '\0';
		*path++ = '\0';
		/* Where the first version has the controller, the second has it not. */
		if (!has_cpu_controller(line, controllers, &v2) || (v2 && found && !found_v2))
			continue;
		found = path;
		found_v2 = v2;
	}
	return found && found[0] == '/' && !strstr(found, "/..") ? found : NULL;
}

/*
 * @last: the cgroup of the VM's thread before, which is known; gets this one's. 0, -ENOENT: there
 * is no such thread, or another -errno
 */
static int look_at_cgroup(struct limits_scan *scan, struct kvm_limits *limits,
			  const struct kvm_vm *vm, u32 tid, char **last)
{
	char name[32], *text, *cgroup;
	size_t len;
	int ret = 0;

	scnprintf(name, sizeof(name), "task/%u/cgroup", tid);
	text = read_proc_file(scan->proc, kvm_vm__vmm(vm), name, &len);
	if (!text)
		return -ENOENT;
	cgroup = cgroup_of(text);
	if (cgroup && (!*last || strcmp(*last, cgroup))) {
		free(*last);
		*last = strdup(cgroup);
		ret = *last ? add_cgroups(scan, limits, vm->pid, cgroup) : -ENOMEM;
	}
	free(text);
	return ret;
}

/* Has @a less time than @b? */
static bool is_less(const struct kvm_limit *a, const struct kvm_limit *b)
{
	return (double)a->quota * b->period < (double)b->quota * a->period;
}

/* Each thread has its own: of a VM's, the least is kept. 0 or -errno */
static int look_at_deadline(struct kvm_limits *limits, const struct kvm_vm *vm, u32 tid)
{
	struct deadline_attr attr = { };
	struct kvm_limit limit = { .pid = vm->pid, .cgroup = (char *)"" };
	const struct kvm_limit *known = kvm_limits__deadline(limits, vm->pid);

	if (syscall(__NR_sched_getattr, tid, &attr, sizeof(attr), 0) ||
	    attr.policy != SCHED_DEADLINE)
		return 0;
	limit.quota = attr.runtime;
	limit.period = attr.period ?: attr.deadline;
	if (known && !is_less(&limit, known))
		return 0;
	return kvm_limits__set(limits, &limit);
}

/* 0, -ENOENT: none of its threads is there any more, or another -errno */
static int look_at_vm(struct limits_scan *scan, struct kvm_limits *limits,
		      const struct kvm_vm *vm)
{
	bool there = false;
	char *last = NULL;
	int ret = 0;

	for (u32 i = 0; !ret && i < vm->nr_vcpus; i++) {
		u32 tid = vm->vcpus[i].tid;

		if (!tid)
			continue;
		ret = look_at_deadline(limits, vm, tid);
		if (!ret && scan->mount)
			ret = look_at_cgroup(scan, limits, vm, tid, &last);
		there |= !ret;
		ret = ret == -ENOENT ? 0 : ret;
	}
	free(last);
	return ret ?: there ? 0 : -ENOENT;
}

/* Keeps what was known of a VM that has ended. 0 or -errno */
static int keep_limits(struct kvm_limits *limits, const struct kvm_limits *old, pid_t pid)
{
	const struct kvm_limit *limit = NULL;
	int ret = 0;

	while (!ret && (limit = kvm_limits__next(old, pid, limit)))
		ret = kvm_limits__set(limits, limit);
	return ret;
}

/* SCHED_DEADLINE that was there, and is not any more, may have held the VM back. 0 or -errno */
static int keep_deadline(struct kvm_limits *limits, const struct kvm_limits *old, pid_t pid)
{
	const struct kvm_limit *was = kvm_limits__deadline(old, pid);
	struct kvm_limit gone = { .pid = pid, .cgroup = (char *)"" };

	if (!was || kvm_limits__deadline(limits, pid))
		return 0;
	return kvm_limits__set(limits, &gone);
}

/**
 * limits_scan__look - find out what limits the VMs that there are
 * @vms: gets these limits in place of those that it has; those of VMs that have ended stay
 *
 * For the first time before the measurement. What cannot be read is not known. 0, -ENOMEM, or
 * -E2BIG: there are too many
 */
int limits_scan__look(struct limits_scan *scan, struct kvm_vms *vms)
{
	struct kvm_limits old = vms->limits;
	int ret = 0;

	if (!scan->cgroups)
		scan->cgroups = name_map__new();
	if (!scan->cgroups)
		return -ENOMEM;
	scan->nr++;
	vms->limits = (struct kvm_limits) { };
	for (size_t i = 0; !ret && i < vms->nr; i++) {
		ret = look_at_vm(scan, &vms->limits, &vms->entries[i]);
		if (ret == -ENOENT)
			ret = keep_limits(&vms->limits, &old, vms->entries[i].pid);
		else if (!ret)
			ret = keep_deadline(&vms->limits, &old, vms->entries[i].pid);
	}
	kvm_limits__exit(&old);
	return ret;
}

void limits_scan__exit(struct limits_scan *scan)
{
	struct hashmap_entry *entry;
	size_t bkt;

	if (!scan->cgroups)
		return;
	hashmap__for_each_entry(scan->cgroups, entry, bkt) {
		zfree(&entry->pkey);
		zfree(&entry->pvalue);
	}
	hashmap__free(scan->cgroups);
	scan->cgroups = NULL;
}
