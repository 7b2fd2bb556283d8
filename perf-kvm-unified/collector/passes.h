/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_PASSES_H
#define __PERF_KVM_UNIFIED_COLLECTOR_PASSES_H

#include <stddef.h>

struct guest_tasks;

int guest_tasks__read(struct guest_tasks *t, char *err, size_t errlen);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_PASSES_H */
