/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_CGROUPS_H
#define __PERF_KVM_UNIFIED_GUESTS_CGROUPS_H

#include <sys/types.h>

struct kvm_guest;
struct thread;

int kvm_guest__set_cgroup(struct kvm_guest *guest, pid_t pid, const char *path);
const char *kvm_guest__cgroup(const struct kvm_guest *guest, struct thread *thread);
void kvm_guest__free_cgroups(struct kvm_guest *guest);

#endif /* __PERF_KVM_UNIFIED_GUESTS_CGROUPS_H */
