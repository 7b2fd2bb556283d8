/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_VMCOREINFO_H
#define __PERF_KVM_UNIFIED_MEMORY_VMCOREINFO_H

#include <linux/types.h>

struct guest_ram;

int guest_vmcoreinfo__root(const char *text, u64 *root);
int guest_vmcoreinfo__find_root(struct guest_ram *ram, u64 *root);

#endif /* __PERF_KVM_UNIFIED_MEMORY_VMCOREINFO_H */
