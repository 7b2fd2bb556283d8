// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of what SVM says of a vCPU for PERF_SAMPLE_VCPU. Part of svm.c.
 */
#include <kunit/test.h>

#define TEST_SAVE_CR3	0x1234000
#define TEST_ARCH_CR3	0x5678000
#define TEST_ASID	7
#define TEST_ISA	((u64)PERF_VCPU_ISA_SVM << PERF_VCPU_ISA_SHIFT)

static struct kvm_vcpu *svm_perf_data_vcpu(struct kunit *test)
{
	struct vcpu_svm *svm = kunit_kzalloc(test, sizeof(*svm), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, svm);
	svm->vmcb = kunit_kzalloc(test, sizeof(*svm->vmcb), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, svm->vmcb);
	svm->vmcb->control.exit_code = SVM_EXIT_INTR;
	svm->vmcb->control.asid = TEST_ASID;
	svm->vmcb->save.cr3 = TEST_SAVE_CR3;
	svm->vcpu.arch.cr3 = TEST_ARCH_CR3;
	return &svm->vcpu;
}

static void svm_perf_data_in_guest(struct kunit *test)
{
	struct perf_vcpu_data data = { .flags = PERF_VCPU_EXIT_REASON_VALID };

	svm_get_perf_data(svm_perf_data_vcpu(test), true, &data);
	KUNIT_EXPECT_EQ(test, data.flags, PERF_VCPU_EXIT_REASON_VALID |
			PERF_VCPU_PT_ROOT_VALID | TEST_ISA);
	KUNIT_EXPECT_EQ(test, data.exit_reason, SVM_EXIT_INTR);
	KUNIT_EXPECT_EQ(test, data.vpid, TEST_ASID);
	/* vcpu->arch.cr3 is of the exit before, unless CR3 loads are intercepted. */
	KUNIT_EXPECT_EQ(test, data.pt_root, npt_enabled ? TEST_SAVE_CR3 : TEST_ARCH_CR3);
}

static void svm_perf_data_in_host(struct kunit *test)
{
	struct perf_vcpu_data data = { .flags = PERF_VCPU_EXIT_REASON_VALID };

	svm_get_perf_data(svm_perf_data_vcpu(test), false, &data);
	KUNIT_EXPECT_EQ(test, data.flags, PERF_VCPU_EXIT_REASON_VALID | TEST_ISA);
	KUNIT_EXPECT_EQ(test, data.exit_reason, SVM_EXIT_INTR);
	KUNIT_EXPECT_EQ(test, data.vpid, TEST_ASID);
	KUNIT_EXPECT_EQ(test, data.pt_root, 0);
}

static void svm_expect_behind_nmi(struct kunit *test, u64 flags)
{
	struct perf_vcpu_data data = { .flags = flags | PERF_VCPU_IN_GUEST };
	struct kvm_vcpu *vcpu = svm_perf_data_vcpu(test);

	to_svm(vcpu)->vmcb->control.exit_code = SVM_EXIT_NMI;
	svm_get_perf_data(vcpu, true, &data);
	KUNIT_EXPECT_EQ(test, data.flags, flags | TEST_ISA);
	KUNIT_EXPECT_EQ(test, data.exit_reason, SVM_EXIT_NMI);
	KUNIT_EXPECT_EQ(test, data.pt_root, 0);
}

/* The NMI is over: an interrupt has become pending in its handler. */
static void svm_perf_data_behind_nmi(struct kunit *test)
{
	svm_expect_behind_nmi(test, PERF_VCPU_EXIT_REASON_VALID);
	svm_expect_behind_nmi(test, PERF_VCPU_EXIT_REASON_VALID | PERF_VCPU_PROTECTED);
}

static void svm_perf_data_never_run(struct kunit *test)
{
	struct perf_vcpu_data data = {};

	svm_get_perf_data(svm_perf_data_vcpu(test), false, &data);
	KUNIT_EXPECT_EQ(test, data.flags, TEST_ISA);
	KUNIT_EXPECT_EQ(test, data.exit_reason, 0);
	KUNIT_EXPECT_EQ(test, data.vpid, 0);
}

/* SEV-ES: the save area is not the guest's, which is in an encrypted page. */
static void svm_perf_data_protected(struct kunit *test)
{
	const u64 flags = PERF_VCPU_EXIT_REASON_VALID | PERF_VCPU_IN_GUEST | PERF_VCPU_PROTECTED;
	struct perf_vcpu_data data = { .flags = flags };

	svm_get_perf_data(svm_perf_data_vcpu(test), true, &data);
	KUNIT_EXPECT_EQ(test, data.flags, flags | TEST_ISA);
	KUNIT_EXPECT_EQ(test, data.pt_root, 0);
}

static struct kunit_case svm_perf_data_cases[] = {
	KUNIT_CASE(svm_perf_data_in_guest),
	KUNIT_CASE(svm_perf_data_in_host),
	KUNIT_CASE(svm_perf_data_behind_nmi),
	KUNIT_CASE(svm_perf_data_never_run),
	KUNIT_CASE(svm_perf_data_protected),
	{},
};

static struct kunit_suite svm_perf_data_suite = {
	.name		= "kvm_svm_perf_data",
	.test_cases	= svm_perf_data_cases,
};

kunit_test_suite(svm_perf_data_suite);
