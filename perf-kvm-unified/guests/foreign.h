/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_FOREIGN_H
#define __PERF_KVM_UNIFIED_GUESTS_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "foreign-maps.h"

struct kvm_guest;
struct patterns;
struct perf_session;

bool kvm_guest__map_is_foreign(const struct kvm_guest *guest);
bool kvm_guest__map_names_nobody(const struct kvm_guest *guest);

int foreign_maps__find(struct foreign_maps *maps, struct perf_session *session);
void foreign_maps__warn(const struct foreign_maps *maps, struct perf_session *session,
			struct patterns *vms);
void foreign_maps__exit(struct foreign_maps *maps);

void foreign_map__describe(const struct foreign_map *map, const struct kvm_guest *guest,
			   u64 nr_all, char *buf, size_t size);

#endif /* __PERF_KVM_UNIFIED_GUESTS_FOREIGN_H */
