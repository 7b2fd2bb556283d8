// SPDX-License-Identifier: GPL-2.0
/*
 * What the time of a vCPU is to its guest, and what its row is called, by what the vCPU was at.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <linux/kernel.h>
#include <uapi/linux/kvm.h>

#include "util/vcpu-sample.h"
#include "kvm-unified/measure/measurement.h"
#include "exits.h"
#include "vcpu-rows.h"

/* Long enough for an exit reason of KVM or of a CPU */
#define REASON_LEN	32

/* @name: NULL if it depends on more than the kind; vcpu_interval__key() has it */
static const struct {
	enum profile_class class;
	const char	*name;
} kinds[VCPU_TIME_NR] = {
	[VCPU_TIME_GUEST_USER]	 = { PROFILE_USER },
	[VCPU_TIME_GUEST_KERNEL] = { PROFILE_OS },
	[VCPU_TIME_EXIT]	 = { PROFILE_EXIT },
	[VCPU_TIME_VMM]		 = { PROFILE_VMM },
	[VCPU_TIME_STOPPED]	 = { PROFILE_STOPPED,
				     "[stopped] (by a signal, a tracer or its cgroup)" },
	[VCPU_TIME_HALT_POLL]	 = { PROFILE_HALT_POLL, "[halt-poll]" },
	[VCPU_TIME_HALTED]	 = { PROFILE_IDLE },
	[VCPU_TIME_PREEMPTED]	 = { PROFILE_STEAL },
	[VCPU_TIME_THROTTLED]	 = { PROFILE_THROTTLED, "[throttled] (by its own limit)" },
	[VCPU_TIME_BLOCKED]	 = { PROFILE_BLOCKED, "[blocked] (in the host)" },
	[VCPU_TIME_RUN]		 = { PROFILE_UNKNOWN, "[ran] (not sampled)" },
	[VCPU_TIME_LOST]	 = { PROFILE_LOST, "[lost]" },
	[VCPU_TIME_ABSENT]	 = { PROFILE_UNKNOWN, "[absent]" },
	[VCPU_TIME_UNKNOWN]	 = { PROFILE_UNKNOWN, "[unknown]" },
};

/* A signal is no work for the guest: it is to stop the VM, or to have the thread do something. */
static bool is_signal(s32 why)
{
	return why == KVM_EXIT_INTR || why == -EINTR;
}

/* The class that an interval of a vCPU is to its guest */
enum profile_class vcpu_interval__class(const struct measurement *m, enum attribution charge_to,
					const struct vcpu_interval *interval)
{
	enum profile_class class = kinds[interval->kind].class;

	/* Without the time line, it is not known why KVM_RUN returned. */
	if (class == PROFILE_VMM && m->axis.span.timeline && is_signal(interval->why))
		return PROFILE_STOPPED;
	if (charge_to == ATTRIBUTION_DOMAIN_SWITCH &&
	    (class == PROFILE_EXIT || class == PROFILE_VMM))
		return PROFILE_HOST;
	return class;
}

/* The exit reason that KVM was at, or was at last; @buf: for one without a name */
const char *vcpu_interval__exit_name(const struct vcpu_interval *interval, char *buf, size_t size)
{
	if (!interval->isa)
		return "not known";
	return vcpu_exit_reason__name(interval->isa, interval->exit_reason, buf, size);
}

static void name_exit(const struct vcpu_interval *interval, enum profile_class class, char *name)
{
	char reason[REASON_LEN];

	scnprintf(name, VCPU_ROW_NAME_LEN, "%s%s)",
		  class == PROFILE_HOST ? "[host] (exit: " : "[exit] (",
		  vcpu_interval__exit_name(interval, reason, sizeof(reason)));
}

static void name_vmm(const struct measurement *m, const struct vcpu_interval *interval,
		     enum profile_class class, char *name)
{
	char why[REASON_LEN];

	if (class == PROFILE_STOPPED)
		scnprintf(name, VCPU_ROW_NAME_LEN, "[stopped] (by a signal)");
	else
		scnprintf(name, VCPU_ROW_NAME_LEN, "%s%s)",
			  class == PROFILE_HOST ? "[host] (VMM: " : "[vmm] (",
			  m->axis.span.timeline ?
			  kvm_exit__name(interval->why, why, sizeof(why)) : "user space");
}

static void name_steal(const struct measurement *m, const struct axis_vcpu *vcpu,
		       const struct thieves *thieves, const struct vcpu_interval *interval,
		       char *name)
{
	const struct thief thief = thief__find(m, vcpu, interval);
	char who[THIEF_NAME_LEN];

	thief__name(m, &thief, thieves, who, sizeof(who));
	scnprintf(name, VCPU_ROW_NAME_LEN, "[steal] (%s)", who);
}

/**
 * vcpu_interval__key - the row of an interval of @vcpu in its guest's table
 * @thieves: those of the table; NULL: tasks that had a CPU go by their names alone
 * @name: room of VCPU_ROW_NAME_LEN, to stay as long as the key
 */
struct profile_key vcpu_interval__key(const struct measurement *m, enum attribution charge_to,
				      const struct axis_vcpu *vcpu,
				      const struct thieves *thieves,
				      const struct vcpu_interval *interval, char *name)
{
	struct profile_key key = {
		.class = vcpu_interval__class(m, charge_to, interval),
		.function = kinds[interval->kind].name ?: name,
		.module = "",
		.comm = "",
		.pid = -1,
	};

	switch (interval->kind) {
	case VCPU_TIME_GUEST_USER:
	case VCPU_TIME_GUEST_KERNEL:
		return m->hits.by_idx[interval->hit]->key;
	case VCPU_TIME_EXIT:
		name_exit(interval, key.class, name);
		break;
	case VCPU_TIME_VMM:
		name_vmm(m, interval, key.class, name);
		break;
	case VCPU_TIME_HALTED:
		key.function = interval->vmm_works ?
			       "[idle] (halt_exit), with the VMM at work for it" :
			       "[idle] (halt_exit)";
		break;
	case VCPU_TIME_PREEMPTED:
		name_steal(m, vcpu, thieves, interval, name);
		break;
	case VCPU_TIME_STOPPED:
	case VCPU_TIME_HALT_POLL:
	case VCPU_TIME_THROTTLED:
	case VCPU_TIME_BLOCKED:
	case VCPU_TIME_RUN:
	case VCPU_TIME_LOST:
	case VCPU_TIME_ABSENT:
	case VCPU_TIME_UNKNOWN:
	case VCPU_TIME_NR:
	default:
		break;
	}
	return key;
}
