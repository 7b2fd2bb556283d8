/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUEST_ELF_H
#define __PERF_KVM_UNIFIED_GUEST_ELF_H

#include <stdbool.h>

bool guest_elf__is_modest(const char *path);

#endif /* __PERF_KVM_UNIFIED_GUEST_ELF_H */
