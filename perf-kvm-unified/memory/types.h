/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_TYPES_H
#define __PERF_KVM_UNIFIED_MEMORY_TYPES_H

#include <stddef.h>

struct guest_offsets;
struct guest_task_layout;

int guest_types__read(const void *raw, size_t len, struct guest_task_layout *layout,
		      struct guest_offsets *offsets, char *err, size_t errlen);

#endif /* __PERF_KVM_UNIFIED_MEMORY_TYPES_H */
