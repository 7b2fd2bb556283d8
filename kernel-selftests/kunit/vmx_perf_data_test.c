// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of what VMX says of a vCPU for PERF_SAMPLE_VCPU. Part of vmx.c.
 *
 * There is no VMCS here: whatever reads it where it must not takes a fault, or, if kvm_intel
 * is loaded on an Intel CPU, a VM-instruction error and KVM's warning of it.
 */
#include <kunit/test.h>

#define TEST_ARCH_CR3	0x5678000
#define TEST_VPID	7
#define TEST_ISA	((u64)PERF_VCPU_ISA_VMX << PERF_VCPU_ISA_SHIFT)

static struct kvm_vcpu *vmx_perf_data_vcpu(struct kunit *test)
{
	struct vcpu_vmx *vmx = kunit_kzalloc(test, sizeof(*vmx), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, vmx);
	vmx->exit_reason.full = EXIT_REASON_HLT;
	vmx->vpid = TEST_VPID;
	vmx->vcpu.arch.cr3 = TEST_ARCH_CR3;
	return &vmx->vcpu;
}

static void vmx_perf_data_in_host(struct kunit *test)
{
	struct perf_vcpu_data data = { .flags = PERF_VCPU_EXIT_REASON_VALID };

	vmx_get_perf_data(vmx_perf_data_vcpu(test), false, &data);
	KUNIT_EXPECT_EQ(test, data.flags, PERF_VCPU_EXIT_REASON_VALID | TEST_ISA);
	KUNIT_EXPECT_EQ(test, data.exit_reason, EXIT_REASON_HLT);
	KUNIT_EXPECT_EQ(test, data.vpid, TEST_VPID);
	KUNIT_EXPECT_EQ(test, data.pt_root, 0);
}

/* vmcs01 and vmcs02 may be changing places. */
static void vmx_perf_data_in_host_nested(struct kunit *test)
{
	struct perf_vcpu_data data = { .flags = PERF_VCPU_EXIT_REASON_VALID };
	struct kvm_vcpu *vcpu = vmx_perf_data_vcpu(test);

	vcpu->arch.hflags = HF_GUEST_MASK;
	vmx_get_perf_data(vcpu, false, &data);
	KUNIT_EXPECT_EQ(test, data.vpid, TEST_VPID);
	KUNIT_EXPECT_EQ(test, data.pt_root, 0);
}

static void vmx_perf_data_never_run(struct kunit *test)
{
	struct perf_vcpu_data data = {};

	vmx_get_perf_data(vmx_perf_data_vcpu(test), false, &data);
	KUNIT_EXPECT_EQ(test, data.flags, TEST_ISA);
	KUNIT_EXPECT_EQ(test, data.exit_reason, 0);
	KUNIT_EXPECT_EQ(test, data.vpid, 0);
}

static void vmx_expect_behind_exception_or_nmi(struct kunit *test, u64 flags)
{
	struct perf_vcpu_data data = { .flags = flags | PERF_VCPU_IN_GUEST };
	struct kvm_vcpu *vcpu = vmx_perf_data_vcpu(test);

	to_vmx(vcpu)->exit_reason.full = EXIT_REASON_EXCEPTION_NMI;
	vmx_get_perf_data(vcpu, true, &data);
	KUNIT_EXPECT_EQ(test, data.flags, flags | TEST_ISA);
	KUNIT_EXPECT_EQ(test, data.exit_reason, EXIT_REASON_EXCEPTION_NMI);
	KUNIT_EXPECT_EQ(test, data.pt_root, 0);
}

/*
 * An interrupt became pending behind the guest's #PF, with shadow paging, or in the handler
 * of an NMI.
 */
static void vmx_perf_data_behind_exception_or_nmi(struct kunit *test)
{
	vmx_expect_behind_exception_or_nmi(test, PERF_VCPU_EXIT_REASON_VALID);
	vmx_expect_behind_exception_or_nmi(test, PERF_VCPU_EXIT_REASON_VALID |
					   PERF_VCPU_PROTECTED);
}

/* TDX: CR3 is not in a VMCS that the host may read. */
static void vmx_perf_data_protected(struct kunit *test)
{
	const u64 flags = PERF_VCPU_EXIT_REASON_VALID | PERF_VCPU_IN_GUEST | PERF_VCPU_PROTECTED;
	struct perf_vcpu_data data = { .flags = flags };

	vmx_get_perf_data(vmx_perf_data_vcpu(test), true, &data);
	KUNIT_EXPECT_EQ(test, data.flags, flags | TEST_ISA);
	KUNIT_EXPECT_EQ(test, data.pt_root, 0);
}

static struct kunit_case vmx_perf_data_cases[] = {
	KUNIT_CASE(vmx_perf_data_in_host),
	KUNIT_CASE(vmx_perf_data_in_host_nested),
	KUNIT_CASE(vmx_perf_data_never_run),
	KUNIT_CASE(vmx_perf_data_behind_exception_or_nmi),
	KUNIT_CASE(vmx_perf_data_protected),
	{},
};

static struct kunit_suite vmx_perf_data_suite = {
	.name		= "kvm_vmx_perf_data",
	.test_cases	= vmx_perf_data_cases,
};

kunit_test_suite(vmx_perf_data_suite);
