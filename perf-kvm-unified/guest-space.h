/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUEST_SPACE_H
#define __PERF_KVM_UNIFIED_GUEST_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

/**
 * struct guest_space - one address space of a guest
 * @pt_root: bits 51..12 of CR3, the others 0
 * @pid: the process that owns it, in the guest's numbers
 */
struct guest_space {
	u64	pt_root;
	pid_t	pid;
};

/**
 * struct guest_spaces - the address spaces of a guest
 * @sorted: whether @entries is sorted, which guest_spaces__find() sees to
 */
struct guest_spaces {
	struct guest_space *entries;
	size_t	nr;
	size_t	allocated;
	bool	sorted;
};

u64 guest_cr3__pt_root(u64 cr3);

int guest_spaces__add(struct guest_spaces *spaces, u64 pt_root, pid_t pid);
const struct guest_space *guest_spaces__find(struct guest_spaces *spaces, u64 cr3);
void guest_spaces__exit(struct guest_spaces *spaces);

#endif /* __PERF_KVM_UNIFIED_GUEST_SPACE_H */
