/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_VCPU_H
#define __PERF_KVM_UNIFIED_AXIS_VCPU_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "intervals.h"
#include "types.h"

/**
 * struct axis_vcpu - a vCPU
 * @vm: number of the VM, the caller's
 * @id: as in KVM_CREATE_VCPU
 * @at_start: @at_end: whether it was there then
 * @halted: it is known to have been halted when the measurement started
 * @last: what it was seen at, at the end: HALTED, BLOCKED, VMM; RUN: it could run; any
 *	other: nobody has looked
 * @events: @samples: @looks: its own, in the order of time after time_axis__build()
 * @intervals: the result, without a gap from the axis' start to its end
 */
struct axis_vcpu {
	u32	vm;
	u32	id;
	bool	at_start;
	bool	at_end;
	bool	halted;
	enum vcpu_time_kind last;
	struct axis_event *events;
	size_t	nr_events, allocated_events;
	const struct axis_sample **samples;
	size_t	nr_samples;
	const struct axis_look *looks;
	size_t	nr_looks;
	struct vcpu_intervals intervals;
};

#endif /* __PERF_KVM_UNIFIED_AXIS_VCPU_H */
