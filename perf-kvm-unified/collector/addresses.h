/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_ADDRESSES_H
#define __PERF_KVM_UNIFIED_COLLECTOR_ADDRESSES_H

#include <stddef.h>
#include <linux/types.h>

struct guest_kcore;
struct guest_task_layout;

/* Addresses of the kernel's symbols, 0: not found */
struct guest_ksyms {
	u64	init_task;
	u64	init_mm;
	u64	page_offset_base;
	u64	phys_base;
	u64	sme_me_mask;
};

int guest_ksyms__read(struct guest_ksyms *s, const char *kallsyms, char *err, size_t errlen);
int guest_task_layout__locate(struct guest_task_layout *l, const struct guest_ksyms *s,
			      struct guest_kcore *k, char *err, size_t errlen);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_ADDRESSES_H */
