/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_GUEST_MEM_H
#define __PERF_KVM_UNIFIED_COLLECTOR_GUEST_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/**
 * struct guest_mem - the guest kernel's virtual memory
 * @read: copies @len bytes at kernel address @va; 0, or -errno and @buf is
 *	  undefined. Only called with addresses in the kernel half.
 * @forget: what is read from here on is as it is from here on, and not as it was when something
 *	  near to it was read; NULL: it always is
 */
struct guest_mem {
	int (*read)(struct guest_mem *mem, u64 va, void *buf, size_t len);
	void (*forget)(struct guest_mem *mem);
};

static inline void guest_mem__forget(struct guest_mem *mem)
{
	if (mem->forget)
		mem->forget(mem);
}

/*
 * True for an aligned address in the kernel half. With 4-level paging bits
 * 63..47 of a canonical address are equal, with 5-level paging 63..56 (Intel
 * SDM vol. 1, 3.3.7.1 "Canonical Addressing"; AMD APM vol. 2, 5.3.1): the
 * weaker test is enough to keep LIST_POISON, NULL and user addresses out, the
 * memory behind says the rest.
 */
static inline bool kernel_ptr(u64 va)
{
	return va >> 56 == 0xff && !(va & 7);
}

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_GUEST_MEM_H */
