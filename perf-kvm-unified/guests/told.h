/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_TOLD_H
#define __PERF_KVM_UNIFIED_GUESTS_TOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

struct guest_symbols;
struct kvm_guest;

struct guest_symbols *kvm_guest__symbols(const struct kvm_guest *guest, pid_t pid);
bool kvm_guest__has_told(const struct kvm_guest *guest, pid_t pid, u64 start, u64 end);

#endif /* __PERF_KVM_UNIFIED_GUESTS_TOLD_H */
