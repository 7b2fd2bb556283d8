/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_KVM_GUESTS_H
#define __PERF_KVM_UNIFIED_KVM_GUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/list.h>
#include <linux/types.h>

#include "guest-space.h"
#include "kvm-vms.h"

struct hashmap;
struct machine;
struct perf_sample;
struct perf_session;

/*
 * Pids of the pseudo processes that stand for a CR3 without a known owner,
 * above any pid that a kernel hands out (PID_MAX_LIMIT is 4 Mi).
 */
#define KVM_GUEST_PSEUDO_PID	0x40000000

/* More of these than any guest needs get one row: a CR3 costs the guest nothing. */
#define KVM_GUEST_MAX_PSEUDO	4096

/**
 * struct kvm_guest - a VM of a session, with what is known of its inside
 * @pid: of the VMM; that and KVM_GUEST_PSEUDO_PID for the guests of a guest
 * @nested: the guests of a guest, of which nothing is known
 * @has_map: a guest map was loaded: @spaces and the text of its kernel are known
 * @unnamed: pseudo pid by page table root, for CR3s without an owner
 * @kernel_start: @kernel_end: the kernel's text, 0 if not known
 * @nr_user: samples of guest user mode, @nr_user_named: those whose CR3 has an
 *	 owner in the map
 * @nr_kernel: samples where a guest has its kernel's image, and not modules or
 *	 BPF programs; @nr_kernel_named: those within the kernel of the map
 * @nr_foreign_files: files of the map that were found in its root directory but
 *	 with another build-id
 */
struct kvm_guest {
	struct list_head node;
	pid_t		 pid;
	char		 name[GUEST_VM_NAME_LEN];
	struct machine	 *machine;
	bool		 nested;
	bool		 has_map;
	bool		 kernel_loaded;
	char		 *root;
	struct guest_spaces spaces;
	struct hashmap	 *unnamed;
	u64		 kernel_start;
	u64		 kernel_end;
	u64		 nr_user;
	u64		 nr_user_named;
	u64		 nr_kernel;
	u64		 nr_kernel_named;
	u64		 nr_foreign_files;
};

struct kvm_guests {
	struct kvm_vms	 vms;
	struct list_head guests;
};

/* Whether kvm_guests__open() loads the guest maps that are in the directory */
extern bool kvm_guests__use_maps;

int kvm_guests__open(struct perf_session *session);
void kvm_guests__delete(struct perf_session *session);
void kvm_guests__resolve(struct perf_session *session, struct perf_sample *sample);

struct kvm_guest *kvm_guests__find(struct perf_session *session, pid_t pid);
struct kvm_guest *kvm_guests__findnew(struct perf_session *session, pid_t pid);
struct kvm_guest *kvm_guests__find_name(struct perf_session *session, const char *name);

/* Files of a perf.data directory */
#define KVM_GUESTS_VMS		"vms"
#define KVM_GUEST_MAP_FMT	"guest_map__%d"
#define KVM_GUEST_KALLSYMS_FMT	"kcore_dir__%d"	/* and /kallsyms in it */

int guest_map__check(const char *path, char *err, size_t errlen);
int guest_map__extract_kallsyms(const char *path, int fd, char *err, size_t errlen);
int kvm_guest__load_map(struct kvm_guest *guest, const char *path, const char *kallsyms,
			int kallsyms_fd, char *err, size_t errlen);
bool kvm_guest__map_is_foreign(const struct kvm_guest *guest);
bool kvm_guest__map_names_nobody(const struct kvm_guest *guest);

/* Where the files that guest maps name are looked for: NAME=DIR, or DIR for all */
int kvm_guests__add_root(const char *arg);
const char *kvm_guests__unused_root(struct perf_session *session);

#endif /* __PERF_KVM_UNIFIED_KVM_GUESTS_H */
