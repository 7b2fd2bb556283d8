/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_FOREIGN_MAPS_H
#define __PERF_KVM_UNIFIED_GUESTS_FOREIGN_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

/**
 * struct foreign_map - a map in the profile that is of another guest, or of another boot
 * @pid: of the VMM
 * @nr_kernel: @nr_kernel_named: samples of the guest's kernel, see struct kvm_guest
 */
struct foreign_map {
	pid_t	pid;
	u64	nr_kernel;
	u64	nr_kernel_named;
};

/* The foreign maps of a profile */
struct foreign_maps {
	struct foreign_map *entries;
	size_t	nr;
};

/* Is the map of the guest that the VMM @pid runs one of them? @maps: or NULL */
static inline bool foreign_maps__has(const struct foreign_maps *maps, pid_t pid)
{
	for (size_t i = 0; maps && i < maps->nr; i++) {
		if (maps->entries[i].pid == pid)
			return true;
	}
	return false;
}

#endif /* __PERF_KVM_UNIFIED_GUESTS_FOREIGN_MAPS_H */
