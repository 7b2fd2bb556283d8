/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_LOAD_H
#define __PERF_KVM_UNIFIED_GUESTS_LOAD_H

#include <stddef.h>
#include <linux/types.h>

struct guest_map_data;
struct guest_space;
struct kvm_guest;

int guest_map__note_pid(struct guest_map_data *map, const struct guest_space *space);
int kvm_guest__load_map(struct kvm_guest *guest, const char *path, const char *kallsyms,
			int kallsyms_fd, char *err, size_t errlen);
void kvm_guest__replay(struct kvm_guest *guest, u64 time);
void kvm_guest__unload_map(struct kvm_guest *guest);

#endif /* __PERF_KVM_UNIFIED_GUESTS_LOAD_H */
