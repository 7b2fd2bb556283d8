/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_CONFINED_LOOK_H
#define __PERF_KVM_UNIFIED_MEMORY_CONFINED_LOOK_H

#include <stdbool.h>
#include <linux/compiler.h>
#include <linux/types.h>

struct guest_tsc;

void __noreturn confined_look(int control, int out, u64 max_gpa, const struct guest_tsc *tsc,
			      bool late, unsigned int cpu_seconds);

#endif /* __PERF_KVM_UNIFIED_MEMORY_CONFINED_LOOK_H */
