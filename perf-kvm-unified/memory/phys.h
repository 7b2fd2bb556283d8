/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_PHYS_H
#define __PERF_KVM_UNIFIED_MEMORY_PHYS_H

#include <stddef.h>
#include <linux/types.h>

/* The page size of x86 guests */
#define GUEST_PAGE_SHIFT	12
#define GUEST_PAGE_SIZE		((u64)1 << GUEST_PAGE_SHIFT)

/**
 * struct guest_phys - the guest's physical memory
 * @read: copies @len bytes at guest-physical address @gpa, which do not cross a 4 KiB page;
 *	  0, -EFAULT: the guest has no memory there, -ENODATA: it has, but nothing is in it (never
 *	  touched, swapped out, ballooned), -EDQUOT: the budget of this look is used up, or another
 *	  -errno
 * @forget: reads the memory as it is now from here on. What was read before may be kept, with some
 *	  pages around it: to be called before what may have changed is looked at again. NULL:
 *	  nothing is kept
 * @tsc: what the guest's TSC is now; 0: that is not known, as with NULL
 */
struct guest_phys {
	int (*read)(struct guest_phys *phys, u64 gpa, void *buf, size_t len);
	void (*forget)(struct guest_phys *phys);
	u64 (*tsc)(struct guest_phys *phys);
};

#endif /* __PERF_KVM_UNIFIED_MEMORY_PHYS_H */
