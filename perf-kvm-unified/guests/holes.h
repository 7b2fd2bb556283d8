/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_HOLES_H
#define __PERF_KVM_UNIFIED_GUESTS_HOLES_H

#include <stdbool.h>
#include <linux/types.h>

struct maps;
struct perf_record_mmap2;

bool maps__find_hole(struct maps *maps, u64 end, const char *own_code,
		     struct perf_record_mmap2 *hole);

#endif /* __PERF_KVM_UNIFIED_GUESTS_HOLES_H */
