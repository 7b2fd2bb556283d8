/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_CGROUPS_H
#define __PERF_KVM_UNIFIED_MEMORY_CGROUPS_H

#include <stddef.h>
#include <linux/types.h>

struct guest_mem;
struct guest_offsets;
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

u32 guest_cgroups__find(struct guest_cgroups *c, const struct guest_offsets *o,
			struct guest_mem *mem, u64 task);
const char *guest_cgroups__path(const struct guest_cgroups *c, u32 nr);
void guest_cgroups__exit(struct guest_cgroups *c);

#endif /* __PERF_KVM_UNIFIED_MEMORY_CGROUPS_H */
