/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_INTERVALS_H
#define __PERF_KVM_UNIFIED_AXIS_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "types.h"

/**
 * struct vcpu_interval - what a vCPU did from @start to before @end
 * @cpu: the host's CPU that it was on, or was on last
 * @hit: GUEST_USER, GUEST_KERNEL, EXIT: what the sample nearby hit
 * @exit_reason: @isa: of the last exit before, if @isa is one of PERF_VCPU_ISA_*
 * @why: VMM: what KVM_RUN returned if negative, else a KVM_EXIT_* code
 * @woken: PREEMPTED: it had slept, and was not on a CPU before
 * @vmm_works: HALTED: meanwhile, a thread worked for the VM, and was none of its vCPUs'
 * @vcpu: PREEMPTED: the vCPU (an index) that had the CPU, or TIME_AXIS_NONE
 * @task: PREEMPTED: the task that had the CPU, or TIME_AXIS_NONE
 * @shared: PREEMPTED: the tasks among which it is to be shared, as from
 *	time_axis__share(), when all is known; or TIME_AXIS_NONE
 */
struct vcpu_interval {
	u64	start;
	u64	end;
	u64	exit_reason;
	enum vcpu_time_kind kind;
	u32	cpu;
	u32	hit;
	u32	isa;
	s32	why;
	u32	vcpu;
	u32	task;
	u32	shared;
	bool	woken;
	bool	vmm_works;
};

struct vcpu_intervals { DECLARE_QUEUE(struct vcpu_interval); };

bool vcpu_interval__continues(const struct vcpu_interval *a, const struct vcpu_interval *b);
int vcpu_intervals__add(struct vcpu_intervals *list, const struct vcpu_interval *interval);
void vcpu_intervals__exit(struct vcpu_intervals *list);

#endif /* __PERF_KVM_UNIFIED_AXIS_INTERVALS_H */
