/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_FILES_H
#define __PERF_KVM_UNIFIED_GUESTS_FILES_H

#include <stddef.h>

struct build_id;
struct kvm_guest;

void guest_text__sanitize(char *str);
void guest_file_name(struct kvm_guest *guest, const char *name,
		     const struct build_id *bid, char *buf, size_t size);
void kvm_guest__free_files(struct kvm_guest *guest);
void guest_module_name(const char *name, char *buf, size_t size);

#endif /* __PERF_KVM_UNIFIED_GUESTS_FILES_H */
