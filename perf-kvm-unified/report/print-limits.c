// SPDX-License-Identifier: GPL-2.0
/*
 * By which limits VMs were throttled, for people and in JSON, and which VMs were stopped.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#include "util/session.h"
#include "kvm-unified/format/vm-limits.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/measure/measurement.h"
#include "overview.h"
#include "print-limits.h"
#include "print.h"

/* So many lines: of the VMs that are first in the overview */
#define LIMITS_SHOWN	8
/* Percent of a VM's time: signals are also sent to have a thread do something else. */
#define STOPPED_MIN	1.0

/* The next limit that has held back the vCPUs of a VM, or may have; NULL: there is no other one */
static const struct kvm_limit *next_limit(const struct measurement *m, u32 vm,
					  const struct kvm_limit *last)
{
	const struct kvm_guests *guests = m->session->kvm_guests;
	const struct kvm_limit *limit = last;

	if (!guests)
		return NULL;
	do {
		limit = kvm_limits__next(&guests->vms.limits, m->vms[vm].guest->pid, limit);
	} while (limit && !kvm_limit__may_hold(limit));
	return limit;
}

/*
 * "# throttled: hazel, by the limit of cgroup /vms/hazel: 30 ms in each 100 ms; it held tasks back
 * in 33 periods of the recording". In each of these, several of its vCPUs may have waited, or none.
 */
void print_limit(const char *vm, const struct kvm_limit *limit, FILE *fp)
{
	fprintf(fp, "# throttled: %s, by ", vm);
	if (limit->cgroup[0])
		fprintf(fp, "%s of cgroup %s", limit->quota ? "the limit" : "a limit",
			limit->cgroup);
	else
		fputs("SCHED_DEADLINE", fp);
	if (limit->quota)
		fprintf(fp, ": %g ms in each %g ms", (double)limit->quota / NSEC_PER_MSEC,
			(double)limit->period / NSEC_PER_MSEC);
	else
		fputs(" that was taken away meanwhile", fp);
	if (limit->counted)
		fprintf(fp, "; it held tasks back in %" PRIu64 " period%s of the recording",
			limit->times, limit->times == 1 ? "" : "s");
	if (!limit->cgroup[0])
		fputs("; long waits after halts are [unknown]", fp);
	fputc('\n', fp);
}

/* A line for each VM that was stopped, as the overview begins with those that are stolen from */
void print_stopped(const struct measurement *m, const struct overview *overview, FILE *fp)
{
	u32 nr = 0, more = 0;

	for (u32 i = 0; i < overview->nr; i++) {
		const struct overview_vm *vm = &overview->vms[i];
		double percent = profile__percent(&vm->profile,
						  vm->profile.classes[PROFILE_STOPPED]);

		if (percent < STOPPED_MIN)
			continue;
		if (nr++ < LIMITS_SHOWN)
			fprintf(fp, "# stopped: %s, %.2f %%; when and how long at once: --stalls\n",
				m->vms[vm->vm].name, percent);
		else
			more++;
	}
	if (more)
		fprintf(fp, "# stopped: %u more VMs\n", more);
}

/* Has a limit of its own held the VM back, or is it why that is not known? */
static bool may_be_held_back(const struct measurement *m, const struct overview_vm *vm)
{
	const struct kvm_guests *guests = m->session->kvm_guests;

	return vm->profile.classes[PROFILE_THROTTLED] ||
	       (vm->profile.classes[PROFILE_UNKNOWN] && guests &&
		kvm_limits__deadline(&guests->vms.limits, m->vms[vm->vm].guest->pid));
}

/* Prints a line for each limit by which VMs have lost time. */
void print_limits(const struct measurement *m, const struct overview *overview, FILE *fp)
{
	u32 nr = 0, more = 0;

	for (u32 i = 0; i < overview->nr; i++) {
		const struct overview_vm *vm = &overview->vms[i];
		const struct kvm_limit *limit = NULL;

		if (!may_be_held_back(m, vm))
			continue;
		if (!next_limit(m, vm->vm, NULL)) {
			if (nr++ < LIMITS_SHOWN)
				fprintf(fp, "# throttled: %s, by a limit that is not in the profile: it came and went, or the profile is cut\n",
					m->vms[vm->vm].name);
			else
				more++;
		}
		while ((limit = next_limit(m, vm->vm, limit))) {
			if (nr++ < LIMITS_SHOWN)
				print_limit(m->vms[vm->vm].name, limit, fp);
			else
				more++;
		}
	}
	if (more)
		fprintf(fp, "# throttled: %u more limits, which JSON has\n", more);
}

/* "limits": [...] of a VM, with a comma in front, if there are any */
void print_json_limits(const struct measurement *m, u32 vm, FILE *fp)
{
	const struct kvm_limit *limit = NULL;
	bool first = true;

	while ((limit = next_limit(m, vm, limit))) {
		fputs(first ? ",\n     \"limits\": [{" : ", {", fp);
		first = false;
		print_json_member("kind", limit->cgroup[0] ? "cgroup" : "SCHED_DEADLINE", fp);
		if (limit->cgroup[0]) {
			fputs(", ", fp);
			print_json_member("cgroup", limit->cgroup, fp);
		}
		if (limit->quota)
			fprintf(fp, ", \"quota_ns\": %" PRIu64 ", \"period_ns\": %" PRIu64,
				limit->quota, limit->period);
		if (limit->counted)
			fprintf(fp, ", \"times\": %" PRIu64, limit->times);
		fputc('}', fp);
	}
	if (!first)
		fputc(']', fp);
}
