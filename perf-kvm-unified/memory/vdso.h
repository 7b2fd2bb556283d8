/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_VDSO_H
#define __PERF_KVM_UNIFIED_MEMORY_VDSO_H

struct guest_kernel;
struct guest_text;

int guest_vdso__symbols(struct guest_kernel *k, struct guest_text *text);

#endif /* __PERF_KVM_UNIFIED_MEMORY_VDSO_H */
