/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_STATES_H
#define __PERF_KVM_UNIFIED_AXIS_STATES_H

struct axis_gaps;
struct axis_span;
struct axis_vcpu;
struct vcpu_intervals;

int vcpu_states__build(const struct axis_span *span, const struct axis_gaps *gaps,
		       const struct axis_vcpu *vcpu, struct vcpu_intervals *states);

#endif /* __PERF_KVM_UNIFIED_AXIS_STATES_H */
