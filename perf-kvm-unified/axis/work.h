/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_WORK_H
#define __PERF_KVM_UNIFIED_AXIS_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "kvm-unified/lib/queue.h"

/*
 * Times of samples of threads that work for a VM and run none of its vCPUs; in order, if not
 * @unsorted
 */
struct vm_work {
	DECLARE_QUEUE(u64);
	bool unsorted;
};

/**
 * struct axis_work - when the host worked for VMs, apart from their vCPUs' threads
 * @vms: by the caller's number of the VM, @nr_vms of them; what is needed still
 */
struct axis_work {
	struct vm_work *vms;
	u32	nr_vms;
	size_t	allocated_vms;
};

/* From @start to before @end */
struct work_piece {
	u64	start;
	u64	end;
};

int axis_work__add(struct axis_work *work, u32 vm, u64 time);
bool axis_work__find(const struct axis_work *work, u32 vm, u64 period, u64 time,
		     struct work_piece *piece);
int axis_work__sort(struct axis_work *work);
void axis_work__forget(struct axis_work *work, u64 time);
void axis_work__exit(struct axis_work *work);

#endif /* __PERF_KVM_UNIFIED_AXIS_WORK_H */
