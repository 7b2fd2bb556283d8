/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_VCPU_H
#define __PERF_KVM_UNIFIED_AXIS_VCPU_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "intervals.h"
#include "labels.h"
#include "machine.h"
#include "types.h"
#include "waits.h"

/**
 * struct axis_vcpu - a vCPU
 * @vm: number of the VM, the caller's
 * @id: as in KVM_CREATE_VCPU
 * @at_start: @at_end: whether it was there then
 * @halted: it is known to have been halted when the measurement started
 * @limited: a limit of its own is known to have held it back, or may have
 * @deadline: SCHED_DEADLINE may have held it back when it was woken up
 * @last: what it was seen at, at the end: HALTED, BLOCKED, VMM, STOPPED; RUN: it could run;
 *	any other: nobody has looked
 * @events: @samples: @looks: its own, those that are needed still
 * @unsorted: they are not in the order of time, yet
 * @machine: @labels: @wait: how far each of the three steps has come; the last in the
 *	first of @labelled, if @waits
 * @states: what it did, with time in KVM_RUN not split by what ran
 * @labelled: the same, split, with waits that are not split by who had the CPU
 * @nr_told: so many of @labelled are known to the CPUs
 * @told: and all until then
 */
struct axis_vcpu {
	u32	vm;
	u32	id;
	bool	at_start;
	bool	at_end;
	bool	halted;
	bool	limited;
	bool	deadline;
	bool	unsorted;
	bool	waits;
	enum vcpu_time_kind last;
	struct vcpu_changes events;
	struct axis_samples samples;
	struct axis_looks looks;
	struct vcpu_machine machine;
	struct run_labels labels;
	struct wait_walk wait;
	struct vcpu_intervals states;
	struct vcpu_intervals labelled;
	size_t	nr_told;
	u64	told;
};

#endif /* __PERF_KVM_UNIFIED_AXIS_VCPU_H */
