/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_ORC_H
#define __PERF_KVM_UNIFIED_GUESTS_ORC_H

struct kvm_guest;
struct perf_record_guest_orc;

int kvm_guest__add_orc(struct kvm_guest *guest, const struct perf_record_guest_orc *rec);
void kvm_guest__finish_orc(struct kvm_guest *guest);
void kvm_guest__free_orc(struct kvm_guest *guest);

#endif /* __PERF_KVM_UNIFIED_GUESTS_ORC_H */
