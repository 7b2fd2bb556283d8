/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_FORMAT_SPACES_H
#define __PERF_KVM_UNIFIED_FORMAT_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

/* A time that is not known, and the end of what has none */
#define GUEST_TIME_NONE		(~0ULL)

/**
 * struct guest_space - an address space of a guest, while it was one process's
 * @pt_root: bits 51..12 of CR3, the others 0
 * @from: @until: the time it was, [from, until), ns of the guest's CLOCK_BOOTTIME;
 *	@until GUEST_TIME_NONE: alive when the guest was looked at last
 * @pid: the process that owned it, in the guest's numbers
 * @ns_pid: in the numbers of the process's own pid namespace, 0: the same
 */
struct guest_space {
	u64	pt_root;
	u64	from;
	u64	until;
	pid_t	pid;
	pid_t	ns_pid;
};

/**
 * struct guest_spaces - the address spaces of a guest
 * @outer: of each entry, once sorted, the last one before it that ends later
 * @sorted: whether @entries is sorted, which guest_spaces__find() sees to
 * @pti: the guest isolates page tables: bit 12 of CR3 is that of user mode
 */
struct guest_spaces {
	struct guest_space *entries;
	size_t	*outer;
	size_t	nr;
	size_t	allocated;
	bool	sorted;
	bool	pti;
};

u64 guest_cr3__pt_root(u64 cr3);
u64 guest_spaces__root(const struct guest_spaces *spaces, u64 cr3);

int guest_spaces__add(struct guest_spaces *spaces, const struct guest_space *space);
const struct guest_space *guest_spaces__find(struct guest_spaces *spaces, u64 cr3, u64 time,
					     bool *ambiguous);
void guest_spaces__exit(struct guest_spaces *spaces);

#endif /* __PERF_KVM_UNIFIED_FORMAT_SPACES_H */
