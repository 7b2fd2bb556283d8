/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_PATH_H
#define __PERF_KVM_UNIFIED_MEMORY_PATH_H

#include <stddef.h>
#include <linux/types.h>

struct guest_kernel;

int guest_path__read(struct guest_kernel *k, u64 dentry, u64 mnt, char *buf, size_t size);

#endif /* __PERF_KVM_UNIFIED_MEMORY_PATH_H */
