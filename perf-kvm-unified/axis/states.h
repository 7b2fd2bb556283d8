/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_STATES_H
#define __PERF_KVM_UNIFIED_AXIS_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct axis_causes;
struct axis_gaps;
struct axis_span;
struct axis_vcpu;

/**
 * struct axis_until - how far to go
 * @time: all that has happened until then is known, and what has begun
 * @silent: the same of axis_span.near after it: not before @time, or where all is known that
 *	is to come, so long before the end of the axis. That there is no sample says more then.
 * @final: or all there is
 */
struct axis_until {
	u64	time;
	u64	silent;
	bool	final;
};

/* What is the same for all vCPUs */
struct states_input {
	const struct axis_span *span;
	const struct axis_gaps *gaps;
	const struct axis_causes *causes;
};

int vcpu_states__advance(const struct states_input *in, struct axis_vcpu *vcpu,
			 const struct axis_until *until);
void vcpu_states__drop_samples(struct axis_vcpu *vcpu, size_t nr);

#endif /* __PERF_KVM_UNIFIED_AXIS_STATES_H */
