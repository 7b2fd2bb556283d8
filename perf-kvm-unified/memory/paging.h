/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_PAGING_H
#define __PERF_KVM_UNIFIED_MEMORY_PAGING_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "kvm-unified/collector/guest-mem.h"

struct guest_ram;

/* Pages whose translation is remembered, a power of two */
#define GUEST_PAGING_TLB	1024

/**
 * struct guest_paging - an address space of the guest
 * @mem: for the walker, reads it
 * @ram: the memory that it is in
 * @root: physical address of its top page table
 * @levels: of page tables, 4 or 5
 * @tlb: pages that were translated: of a virtual address, 1: none
 */
struct guest_paging {
	struct guest_mem mem;
	struct guest_ram *ram;
	u64	root;
	int	levels;
	struct {
		u64	va;
		u64	pa;
	} tlb[GUEST_PAGING_TLB];
};

/**
 * struct guest_run - addresses that are mapped one after the other, in the same way
 * @va: @size: in bytes, multiples of a page
 * @writable: @executable: as the page tables say
 */
struct guest_run {
	u64	va;
	u64	size;
	bool	writable;
	bool	executable;
};

void guest_paging__init(struct guest_paging *p, struct guest_ram *ram, u64 root, int levels);
void guest_paging__flush(struct guest_paging *p);
int guest_paging__translate(struct guest_paging *p, u64 va, u64 *pa);
int guest_paging__read(struct guest_paging *p, u64 va, void *buf, size_t len);
int guest_paging__runs(struct guest_paging *p, u64 start, u64 end,
		       struct guest_run *runs, size_t max, size_t *nr);

#endif /* __PERF_KVM_UNIFIED_MEMORY_PAGING_H */
