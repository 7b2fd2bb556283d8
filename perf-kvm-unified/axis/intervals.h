/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_INTERVALS_H
#define __PERF_KVM_UNIFIED_AXIS_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/build_bug.h>
#include <linux/types.h>

#include "types.h"

/* What there is of an interval but its time: see struct vcpu_interval */
#define DECLARE_AXIS_WHAT(tag)	\
struct tag {			\
	u64	exit_reason;	\
	enum vcpu_time_kind kind; \
	u32	cpu;		\
	u32	hit;		\
	s32	why;		\
	u32	vcpu;		\
	u32	task;		\
	u32	shared;		\
	u16	isa;		\
	bool	woken;		\
	bool	vmm_works;	\
}

/**
 * struct vcpu_interval - what a vCPU did from @start to before @end
 * @what: all but when: it is hashed and compared as a whole, so that no byte of it is without a
 *	meaning; the same as what follows
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
	union {
		DECLARE_AXIS_WHAT();
		DECLARE_AXIS_WHAT(axis_what) what;
	};
};

static_assert(sizeof(struct axis_what) == 40);
static_assert(TIME_AXIS_ISA_BITS <= 16);

/* Is it the time of code of the guest? Then @hit tells all that there is of it. */
static inline bool vcpu_interval__is_guest(const struct vcpu_interval *interval)
{
	return interval->kind == VCPU_TIME_GUEST_USER ||
	       interval->kind == VCPU_TIME_GUEST_KERNEL;
}

struct vcpu_intervals { DECLARE_QUEUE(struct vcpu_interval); };

bool vcpu_interval__continues(const struct vcpu_interval *a, const struct vcpu_interval *b);
int vcpu_intervals__add(struct vcpu_intervals *list, const struct vcpu_interval *interval);
void vcpu_intervals__exit(struct vcpu_intervals *list);

#endif /* __PERF_KVM_UNIFIED_AXIS_INTERVALS_H */
