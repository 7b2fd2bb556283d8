/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_BUILD_IDS_H
#define __PERF_KVM_UNIFIED_COLLECTOR_BUILD_IDS_H

#include <linux/types.h>

struct guest_build_ids;
struct perf_record_mmap2;

s64 guest_clock_offset(void);

struct guest_build_ids *guest_build_ids__new(void);
int guest_build_ids__find(struct guest_build_ids *ids, struct perf_record_mmap2 *mmap2);
int guest_build_ids__find_past(struct guest_build_ids *ids, struct perf_record_mmap2 *mmap2,
			       u64 time);
void guest_build_ids__delete(struct guest_build_ids *ids);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_BUILD_IDS_H */
