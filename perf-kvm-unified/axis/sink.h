/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_SINK_H
#define __PERF_KVM_UNIFIED_AXIS_SINK_H

#include <linux/types.h>

#include "host-walk.h"
#include "intervals.h"

/**
 * struct axis_sink - who gets the intervals
 * @vcpu: what a vCPU did, in order and without a gap, from the start to the end of the axis
 * @cpu: the same of a CPU of the host
 *
 * Of several vCPUs and CPUs, one after the other's come in any order. What is not 0
 * ends all, and is returned.
 */
struct axis_sink {
	int	(*vcpu)(u32 vcpu, const struct vcpu_interval *interval, void *arg);
	cpu_interval_cb cpu;
	void	*arg;
};

#endif /* __PERF_KVM_UNIFIED_AXIS_SINK_H */
