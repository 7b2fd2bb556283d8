/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_PROGRAMS_H
#define __PERF_KVM_UNIFIED_GUESTS_PROGRAMS_H

#include <stddef.h>

struct build_id;
struct kvm_guest;

int kvm_guest__add_program(struct kvm_guest *guest, const struct build_id *bid,
			   const char *text, size_t len);
int kvm_guest__load_program(struct kvm_guest *guest, const char *name, const struct build_id *bid);
int kvm_guest__load_programs(struct kvm_guest *guest);
void kvm_guest__free_programs(struct kvm_guest *guest);

#endif /* __PERF_KVM_UNIFIED_GUESTS_PROGRAMS_H */
