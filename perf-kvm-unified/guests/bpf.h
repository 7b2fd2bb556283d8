/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_BPF_H
#define __PERF_KVM_UNIFIED_GUESTS_BPF_H

struct kvm_guest;

int kvm_guest__load_bpf(struct kvm_guest *guest);

#endif /* __PERF_KVM_UNIFIED_GUESTS_BPF_H */
