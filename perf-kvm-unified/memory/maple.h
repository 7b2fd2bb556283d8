/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_MAPLE_H
#define __PERF_KVM_UNIFIED_MEMORY_MAPLE_H

#include <linux/types.h>

struct guest_mem;

typedef int (*guest_maple_cb)(void *arg, u64 entry, u64 first, u64 last);

int guest_maple__walk(struct guest_mem *mem, u64 root, guest_maple_cb cb, void *arg);

#endif /* __PERF_KVM_UNIFIED_MEMORY_MAPLE_H */
