/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_PATH_H
#define __PERF_KVM_UNIFIED_MEMORY_PATH_H

#include <stddef.h>
#include <linux/types.h>

struct guest_kernel;

/**
 * struct guest_path - a path that is made from its end
 * @start: of the room for it
 * @at: where it begins
 */
struct guest_path {
	char	*start;
	char	*at;
};

void guest_path__begin(struct guest_path *p, char *buf, size_t size);
int guest_path__prepend(struct guest_path *p, const char *text);
int guest_path__prepend_name(struct guest_path *p, struct guest_kernel *k, u64 at);
int guest_path__read(struct guest_kernel *k, u64 dentry, u64 mnt, char *buf, size_t size);

#endif /* __PERF_KVM_UNIFIED_MEMORY_PATH_H */
