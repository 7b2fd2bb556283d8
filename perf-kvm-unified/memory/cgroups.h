/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_CGROUPS_H
#define __PERF_KVM_UNIFIED_MEMORY_CGROUPS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct guest_kernel;
struct hashmap;

/**
 * struct guest_cgroups - the cgroups that processes of the guest were seen in
 * @paths: by number, from 1 on: @paths[0] is that of number 1. As in /proc/PID/cgroup
 * @size: bytes of all
 * @numbers: by the kernel's id of the cgroup, which no other one gets as long as the guest runs
 */
struct guest_cgroups {
	char	**paths;
	size_t	nr;
	size_t	allocated;
	size_t	size;
	struct hashmap *numbers;
};

/**
 * struct guest_cgroup - what was read of the cgroup that a task is in
 * @set: address of its css_set; 0: that and all else is not known
 * @id: of the cgroup
 * @nr: its number, if it has one already; else 0
 * @path: if not, where in @buf its path is
 */
struct guest_cgroup {
	u64	set;
	u64	id;
	u32	nr;
	const char *path;
	char	buf[PATH_MAX];
};

void guest_cgroup__read(struct guest_cgroup *cgroup, const struct guest_cgroups *known,
			struct guest_kernel *k, u64 task);
bool guest_cgroup__has(const struct guest_cgroup *cgroup, struct guest_kernel *k, u64 task);
u32 guest_cgroups__findnew(struct guest_cgroups *c, const struct guest_cgroup *cgroup);
const char *guest_cgroups__path(const struct guest_cgroups *c, u32 nr);
void guest_cgroups__exit(struct guest_cgroups *c);

#endif /* __PERF_KVM_UNIFIED_MEMORY_CGROUPS_H */
