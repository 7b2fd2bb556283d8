// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of what SVM says of a vCPU for PERF_SAMPLE_VCPU. Part of svm.c.
 */
#include <kunit/test.h>

#define TEST_ASID	7
#define TEST_ISA	((u64)PERF_VCPU_ISA_SVM << PERF_VCPU_ISA_SHIFT)

/* With @flags, as kvm_arch_vcpu_get_perf_data() has them by then; @vmcb02: that is current */
static void __svm_perf_data_expect(struct kunit *test, bool vmcb02, u64 flags, u64 exit_code,
				   bool valid)
{
	struct vcpu_svm *svm = kunit_kzalloc(test, sizeof(*svm), GFP_KERNEL);
	struct perf_sample_vcpu data = { .flags = flags };

	KUNIT_ASSERT_NOT_NULL(test, svm);
	svm->vmcb = kunit_kzalloc(test, sizeof(*svm->vmcb), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, svm->vmcb);
	svm->vmcb->control.exit_code = exit_code;
	svm->vmcb->control.asid = TEST_ASID;
	if (vmcb02)
		svm->nested.vmcb02.ptr = svm->vmcb;
	else
		svm->vmcb01.ptr = svm->vmcb;

	svm_get_perf_data(&svm->vcpu, &data);
	KUNIT_EXPECT_EQ(test, data.flags,
			flags | TEST_ISA | (valid ? PERF_VCPU_EXIT_REASON_VALID : 0));
	KUNIT_EXPECT_EQ(test, data.vpid, TEST_ASID);
	if (valid)
		KUNIT_EXPECT_EQ(test, data.exit_reason, exit_code);
}

static void svm_perf_data_expect(struct kunit *test, u64 flags, u64 exit_code, bool valid)
{
	__svm_perf_data_expect(test, false, flags, exit_code, valid);
}

static void svm_perf_data_in_guest(struct kunit *test)
{
	svm_perf_data_expect(test, PERF_VCPU_LOADED | PERF_VCPU_IN_GUEST, SVM_EXIT_INTR, true);
}

static void svm_perf_data_in_host(struct kunit *test)
{
	svm_perf_data_expect(test, PERF_VCPU_LOADED, SVM_EXIT_NPF, true);
}

/* Exit codes have 64 bits. */
static void svm_perf_data_long_code(struct kunit *test)
{
	svm_perf_data_expect(test, PERF_VCPU_LOADED, BIT_ULL(63) | SVM_EXIT_HLT, true);
}

/* In host mode the exit code of L2 may be one that emulation has made up for L1. */
static void svm_perf_data_nested(struct kunit *test)
{
	__svm_perf_data_expect(test, true, PERF_VCPU_LOADED | PERF_VCPU_NESTED, SVM_EXIT_CPUID,
			       false);
	/* L2 has been left, and its VMCB not yet. */
	__svm_perf_data_expect(test, true, PERF_VCPU_LOADED, SVM_EXIT_CPUID, false);
	__svm_perf_data_expect(test, true,
			       PERF_VCPU_LOADED | PERF_VCPU_NESTED | PERF_VCPU_IN_GUEST,
			       SVM_EXIT_INTR, true);
}

static void svm_perf_data_failed_vmrun(struct kunit *test)
{
	svm_perf_data_expect(test, PERF_VCPU_LOADED, SVM_EXIT_ERR, false);
}

static struct kunit_case svm_perf_data_cases[] = {
	KUNIT_CASE(svm_perf_data_in_guest),
	KUNIT_CASE(svm_perf_data_in_host),
	KUNIT_CASE(svm_perf_data_long_code),
	KUNIT_CASE(svm_perf_data_nested),
	KUNIT_CASE(svm_perf_data_failed_vmrun),
	{},
};

static struct kunit_suite svm_perf_data_suite = {
	.name		= "kvm_svm_perf_data",
	.test_cases	= svm_perf_data_cases,
};

kunit_test_suite(svm_perf_data_suite);
