/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_FILES_H
#define __PERF_KVM_UNIFIED_GUESTS_FILES_H

#include <stdbool.h>
#include <stddef.h>

struct build_id;
struct dso;
struct kvm_guest;

/* How guest_file_name() calls what is no file of the host: "]" and the name in the guest follow. */
#define GUEST_FILE_PREFIX	"/[guest:"

/* Each byte of what files without a build-id have for one: no file has that. */
#define GUEST_NO_BUILD_ID_BYTE	0xff

/* What the guest's kernel puts after the name of a file that has gone */
#define GUEST_FILE_DELETED	" (deleted)"

bool guest_file__is_deleted(const char *name);
bool guest_file_name(struct kvm_guest *guest, const char *name, const struct build_id *bid,
		     const struct build_id *print, char *buf, size_t size);
void kvm_guest__free_files(struct kvm_guest *guest);
void guest_module_name(const char *name, char *buf, size_t size);

const char *guest_file__path(const struct kvm_guest *guest, const struct dso *dso);
const char *guest_file__elsewhere(const struct kvm_guest *guest, const struct dso *dso);
const char *guest_file__without_build_id(const struct kvm_guest *guest, const struct dso *dso);

#endif /* __PERF_KVM_UNIFIED_GUESTS_FILES_H */
