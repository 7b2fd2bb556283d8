/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_RAM_H
#define __PERF_KVM_UNIFIED_MEMORY_RAM_H

#include <stddef.h>
#include <linux/types.h>

#include "stats.h"
#include "phys.h"

/* How many of @len bytes at @addr are in the page that they begin in */
static inline size_t guest_page__part(u64 addr, size_t len)
{
	size_t left = GUEST_PAGE_SIZE - addr % GUEST_PAGE_SIZE;

	return len < left ? len : left;
}

/**
 * struct guest_ram - the guest's physical memory, with a bound on what is read of it
 * @phys: that it is read from
 * @max_gpa: there is none at this address and above
 * @left: what this look may still cost, see guest_ram__read()
 * @stats: that all of a guest counts in
 */
struct guest_ram {
	struct guest_phys *phys;
	u64	max_gpa;
	u64	left;
	struct guest_look_stats stats;
};

void guest_ram__refill(struct guest_ram *ram);
int guest_ram__spend(struct guest_ram *ram, u64 cost);
int guest_ram__read(struct guest_ram *ram, u64 gpa, void *buf, size_t len);
void guest_ram__forget(struct guest_ram *ram);
u64 guest_ram__tsc(const struct guest_ram *ram);

#endif /* __PERF_KVM_UNIFIED_MEMORY_RAM_H */
