/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_STATES_H
#define __PERF_KVM_UNIFIED_AXIS_STATES_H

#include <linux/types.h>

struct axis_vcpu;
struct time_axis;
struct vcpu_interval;
struct vcpu_intervals;

int vcpu_intervals__add(struct vcpu_intervals *list, const struct vcpu_interval *interval);
void vcpu_intervals__exit(struct vcpu_intervals *list);

int vcpu_states__build(const struct time_axis *ta, const struct axis_vcpu *vcpu,
		       struct vcpu_intervals *states);

#endif /* __PERF_KVM_UNIFIED_AXIS_STATES_H */
