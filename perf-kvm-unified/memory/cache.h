/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_CACHE_H
#define __PERF_KVM_UNIFIED_MEMORY_CACHE_H

#include <stddef.h>
#include <linux/types.h>

#include "ram.h"

struct guest_kernel;

/**
 * struct guest_cached_file - a file, as far as the guest has it in its page cache
 * @mapping: its struct address_space
 * @size: in bytes
 * @index: of the page of it that is in @page, ~0: none
 */
struct guest_cached_file {
	struct guest_kernel *kernel;
	u64	mapping;
	u64	size;
	u64	index;
	char	page[GUEST_PAGE_SIZE];
};

int guest_xarray__find(struct guest_kernel *k, u64 head, u64 index, u64 *entry);
void guest_cached_file__init(struct guest_cached_file *file, struct guest_kernel *k, u64 mapping,
			     u64 size);
int guest_cached_file__read(struct guest_cached_file *file, u64 offset, void *buf, size_t len);

#endif /* __PERF_KVM_UNIFIED_MEMORY_CACHE_H */
