/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_IMAGE_H
#define __PERF_KVM_UNIFIED_MEMORY_IMAGE_H

#include <stddef.h>

struct guest_paging;
struct guest_run;
struct kernel_symbols;

int guest_image__find(struct guest_paging *p, struct guest_run *runs, size_t max, size_t *nr);
int guest_image__symbols(struct guest_paging *p, const struct guest_run *runs, size_t nr,
			 struct kernel_symbols *symbols);

#endif /* __PERF_KVM_UNIFIED_MEMORY_IMAGE_H */
