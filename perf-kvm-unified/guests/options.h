/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_OPTIONS_H
#define __PERF_KVM_UNIFIED_GUESTS_OPTIONS_H

#include <stdbool.h>
#include <linux/list.h>

struct strlist;

/**
 * struct kvm_guests_options - what the user wants of the guests of a session
 * @use_maps: load the guest maps that are in the profile
 * @skipped_maps: names of guests whose map in the profile is not to be used, or NULL: none
 * @roots: directories with the files of guests
 */
struct kvm_guests_options {
	bool		 use_maps;
	struct strlist	 *skipped_maps;
	struct list_head roots;
};

void kvm_guests_options__init(struct kvm_guests_options *options);
void kvm_guests_options__exit(struct kvm_guests_options *options);

int kvm_guests_options__skip_map(struct kvm_guests_options *options, const char *name);
bool kvm_guests_options__skips_map(const struct kvm_guests_options *options, const char *name);

int kvm_guests_options__add_root(struct kvm_guests_options *options, const char *arg);
bool kvm_guests_options__has_two_roots(const struct kvm_guests_options *options,
				       const char **name);
const char *kvm_guests_options__root(const struct kvm_guests_options *options, const char *name);

/* A root for one guest */
struct guest_root {
	struct list_head node;
	char		 *name;		/* NULL: all guests */
	char		 *dir;		/* as realpath() gives it */
};

#endif /* __PERF_KVM_UNIFIED_GUESTS_OPTIONS_H */
