/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_FOREIGN_H
#define __PERF_KVM_UNIFIED_GUESTS_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

struct kvm_guest;
struct perf_session;

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

/* Those of a profile */
struct foreign_maps {
	struct foreign_map *entries;
	size_t	nr;
};

bool kvm_guest__map_is_foreign(const struct kvm_guest *guest);
bool kvm_guest__map_names_nobody(const struct kvm_guest *guest);

int foreign_maps__find(struct foreign_maps *maps, struct perf_session *session);
bool foreign_maps__has(const struct foreign_maps *maps, pid_t pid);
void foreign_maps__warn(const struct foreign_maps *maps, struct perf_session *session);
void foreign_maps__exit(struct foreign_maps *maps);

void foreign_map__describe(const struct foreign_map *map, const struct kvm_guest *guest,
			   u64 nr_all, char *buf, size_t size);

#endif /* __PERF_KVM_UNIFIED_GUESTS_FOREIGN_H */
