/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_VCPU_ROWS_H
#define __PERF_KVM_UNIFIED_REPORT_VCPU_ROWS_H

#include <stddef.h>

#include "profile.h"
#include "thieves.h"

struct axis_vcpu;
struct measurement;
struct vcpu_interval;

/* Who the time is charged to that the host works for a guest */
enum attribution {
	ATTRIBUTION_CPU_SWITCH,		/* the host: a guest has what it executes itself */
	ATTRIBUTION_DOMAIN_SWITCH,	/* the guest */
};

/* Long enough for any row of a vCPU that is not a function */
#define VCPU_ROW_NAME_LEN	(THIEF_NAME_LEN + 32)

enum profile_class vcpu_interval__class(const struct measurement *m, enum attribution charge_to,
					const struct vcpu_interval *interval);
struct profile_key vcpu_interval__key(const struct measurement *m, enum attribution charge_to,
				      const struct axis_vcpu *vcpu,
				      const struct thieves *thieves,
				      const struct vcpu_interval *interval, char *name);
const char *vcpu_interval__exit_name(const struct vcpu_interval *interval, char *buf, size_t size);

#endif /* __PERF_KVM_UNIFIED_REPORT_VCPU_ROWS_H */
