/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_ORC_H
#define __PERF_KVM_UNIFIED_MEMORY_ORC_H

struct guest_kernel;
struct guest_modules;
struct guest_writer;

int guest_orc__write(struct guest_writer *w, struct guest_kernel *k,
		     const struct guest_modules *modules);

#endif /* __PERF_KVM_UNIFIED_MEMORY_ORC_H */
