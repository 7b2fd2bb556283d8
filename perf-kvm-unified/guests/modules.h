/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_MODULES_H
#define __PERF_KVM_UNIFIED_GUESTS_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct guest_symbols_module;
struct kvm_guest;

int kvm_guest__add_module(struct kvm_guest *guest, const struct guest_symbols_module *module,
			  bool is_bpf, const char *text, size_t len);
bool kvm_guest__is_changing_module(const struct kvm_guest *guest, u64 address);
int kvm_guest__place_modules(struct kvm_guest *guest, u64 time);
void kvm_guest__free_modules(struct kvm_guest *guest);

#endif /* __PERF_KVM_UNIFIED_GUESTS_MODULES_H */
