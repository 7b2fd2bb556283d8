// SPDX-License-Identifier: GPL-2.0
/*
 * What the time of a vCPU is called: each name that there is, with literal input.
 */
#include <errno.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <uapi/linux/kvm.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "kvm-unified/axis/types.h"
#include "kvm-unified/measure/measurement.h"
#include "kvm-unified/report/vcpu-rows.h"
#include "vcpu-rows.h"

/* AMD APM, Volume 2, Appendix C */
#define SVM_EXIT_HLT	0x78
/* One that has no name */
#define SVM_EXIT_NEW	0x6fff

/* All with a time line. @to_guest: the host's work is charged to the guest */
static const struct {
	struct vcpu_interval interval;
	bool		 to_guest;
	enum profile_class class;
	const char	*name;
} cases[] = {
	{ { .kind = VCPU_TIME_GUEST_USER }, false, PROFILE_USER, "main" },
	{ { .kind = VCPU_TIME_GUEST_KERNEL, .hit = 1 }, false, PROFILE_OS, "schedule" },
	{ { .kind = VCPU_TIME_EXIT, .isa = PERF_VCPU_ISA_SVM, .exit_reason = SVM_EXIT_HLT },
	  false, PROFILE_EXIT, "[exit] (hlt)" },
	{ { .kind = VCPU_TIME_EXIT, .isa = PERF_VCPU_ISA_SVM, .exit_reason = SVM_EXIT_NEW },
	  false, PROFILE_EXIT, "[exit] (exit 0x6fff)" },
	{ { .kind = VCPU_TIME_EXIT }, false, PROFILE_EXIT, "[exit] (not known)" },
	{ { .kind = VCPU_TIME_EXIT, .isa = PERF_VCPU_ISA_SVM, .exit_reason = SVM_EXIT_HLT },
	  true, PROFILE_HOST, "[host] (exit: hlt)" },
	{ { .kind = VCPU_TIME_VMM, .why = KVM_EXIT_IO }, false, PROFILE_VMM, "[vmm] (IO)" },
	{ { .kind = VCPU_TIME_VMM, .why = KVM_EXIT_IO }, true, PROFILE_HOST, "[host] (VMM: IO)" },
	{ { .kind = VCPU_TIME_VMM, .why = KVM_EXIT_INTR }, false, PROFILE_STOPPED,
	  "[stopped] (by a signal)" },
	{ { .kind = VCPU_TIME_VMM, .why = -EINTR }, true, PROFILE_STOPPED,
	  "[stopped] (by a signal)" },
	{ { .kind = VCPU_TIME_STOPPED }, false, PROFILE_STOPPED,
	  "[stopped] (by a signal, a tracer or its cgroup)" },
	{ { .kind = VCPU_TIME_HALT_POLL }, false, PROFILE_HALT_POLL, "[halt-poll]" },
	{ { .kind = VCPU_TIME_HALTED }, false, PROFILE_IDLE, "[idle] (halt_exit)" },
	{ { .kind = VCPU_TIME_HALTED, .vmm_works = true }, false, PROFILE_IDLE,
	  "[idle] (halt_exit), with the VMM at work for it" },
	{ { .kind = VCPU_TIME_PREEMPTED, .task = TIME_AXIS_NONE, .vcpu = TIME_AXIS_NONE }, false,
	  PROFILE_STEAL, "[steal] (on something not sampled)" },
	{ { .kind = VCPU_TIME_PREEMPTED, .task = TIME_AXIS_NONE, .vcpu = 1 }, false,
	  PROFILE_STEAL, "[steal] (on VM other: vcpu3)" },
	{ { .kind = VCPU_TIME_THROTTLED }, false, PROFILE_THROTTLED,
	  "[throttled] (by its own limit)" },
	{ { .kind = VCPU_TIME_BLOCKED }, false, PROFILE_BLOCKED, "[blocked] (in the host)" },
	{ { .kind = VCPU_TIME_RUN }, false, PROFILE_UNKNOWN, "[ran] (not sampled)" },
	{ { .kind = VCPU_TIME_LOST }, true, PROFILE_LOST, "[lost]" },
	{ { .kind = VCPU_TIME_ABSENT }, false, PROFILE_UNKNOWN, "[absent]" },
	{ { .kind = VCPU_TIME_UNKNOWN }, false, PROFILE_UNKNOWN, "[unknown]" },
};

static bool is_called(const struct measurement *m, const struct vcpu_interval *interval,
		      bool to_guest, enum profile_class class, const char *expected)
{
	char name[VCPU_ROW_NAME_LEN];
	const struct profile_key key =
		vcpu_interval__key(m, to_guest ? ATTRIBUTION_DOMAIN_SWITCH :
						 ATTRIBUTION_CPU_SWITCH,
				   &m->axis.vcpus[0], /*thieves=*/NULL, interval, name);

	if (key.class == class && !strcmp(key.function, expected))
		return true;
	pr_debug("kind %d: '%s' of class %s, not '%s'\n", interval->kind, key.function,
		 profile_class__name(key.class), expected);
	return false;
}

int test__vcpu_rows(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct hit hits[] = {
		{ .key = { .class = PROFILE_USER, .function = "main" } },
		{ .key = { .class = PROFILE_OS, .function = "schedule" } },
	};
	struct hit *by_idx[] = { &hits[0], &hits[1] };
	struct measured_vm vms[] = { { .name = "this" }, { .name = "other" } };
	struct axis_vcpu vcpus[] = { { .vm = 0 }, { .vm = 1, .id = 3 } };
	struct measurement m = {
		.hits.by_idx = by_idx,
		.vms = vms,
		.nr_vms = ARRAY_SIZE(vms),
		.axis = { .vcpus = vcpus, .nr_vcpus = ARRAY_SIZE(vcpus), .span.timeline = true },
	};
	const struct vcpu_interval vmm = { .kind = VCPU_TIME_VMM, .why = KVM_EXIT_INTR };
	u32 kinds = 0;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		TEST_ASSERT_VAL("row", is_called(&m, &cases[i].interval, cases[i].to_guest,
						 cases[i].class, cases[i].name));
		kinds |= 1U << cases[i].interval.kind;
	}
	TEST_ASSERT_EQUAL("kinds", (int)kinds, (1 << VCPU_TIME_NR) - 1);

	/* From samples alone, it is not known why KVM_RUN returned. */
	m.axis.span.timeline = false;
	TEST_ASSERT_VAL("without a time line",
			is_called(&m, &vmm, false, PROFILE_VMM, "[vmm] (user space)"));
	return TEST_OK;
}
