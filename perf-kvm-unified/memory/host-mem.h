/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_HOST_MEM_H
#define __PERF_KVM_UNIFIED_MEMORY_HOST_MEM_H

#include <linux/types.h>

#include "slots.h"

/* Pages that are copied at once */
#define HOST_MEM_BATCH		16U

/**
 * struct host_mem - a guest's memory, read out of its VMM
 * @kvm: where it is there
 * @pagemap: the VMM's /proc/<pid>/pagemap, which says what is there without touching it. The
 *	descriptor stays that of this process, and of its memory, when the pid is another one's
 * @pages: that were copied
 * @absent: that had nothing in them: never touched, given back by a balloon, or swapped out
 * @holes: that are no memory
 */
struct host_mem {
	struct kvm_memory kvm;
	int	pagemap;
	u64	pages;
	u64	absent;
	u64	holes;
};

int host_mem__open(struct host_mem *mem);
void host_mem__close(struct host_mem *mem);
int host_mem__read(struct host_mem *mem, u64 gpa, unsigned int nr, void *buf, s32 *status);

#endif /* __PERF_KVM_UNIFIED_MEMORY_HOST_MEM_H */
