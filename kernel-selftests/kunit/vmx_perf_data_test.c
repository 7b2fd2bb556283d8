// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of what VMX says of a vCPU for PERF_SAMPLE_VCPU. Part of vmx.c.
 *
 * There is no VMCS here: whatever reads it takes a fault, or, if kvm_intel is loaded on an
 * Intel CPU, a VM-instruction error and KVM's warning of it.
 */
#include <kunit/test.h>

#define TEST_VPID	7
#define TEST_ISA	((u64)PERF_VCPU_ISA_VMX << PERF_VCPU_ISA_SHIFT)

static struct vcpu_vmx *vmx_perf_data_vcpu(struct kunit *test)
{
	struct vcpu_vmx *vmx = kunit_kzalloc(test, sizeof(*vmx), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, vmx);
	vmx->vcpu.kvm = kunit_kzalloc(test, sizeof(struct kvm_vmx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, vmx->vcpu.kvm);
	vmx->vpid = TEST_VPID;
	return vmx;
}

/* With @flags, as kvm_arch_vcpu_get_perf_data() has them by then */
static void vmx_perf_data_expect(struct kunit *test, u64 flags, u32 exit_reason, bool valid)
{
	struct vcpu_vmx *vmx = vmx_perf_data_vcpu(test);
	struct perf_sample_vcpu data = { .flags = flags };

	vmx->vt.exit_reason.full = exit_reason;
	vmx_get_perf_data(&vmx->vcpu, &data);
	KUNIT_EXPECT_EQ(test, data.flags,
			flags | TEST_ISA | (valid ? PERF_VCPU_EXIT_REASON_VALID : 0));
	KUNIT_EXPECT_EQ(test, data.vpid, TEST_VPID);
	if (valid)
		KUNIT_EXPECT_EQ(test, data.exit_reason, exit_reason);
}

static void vmx_perf_data_in_guest(struct kunit *test)
{
	vmx_perf_data_expect(test, PERF_VCPU_LOADED | PERF_VCPU_IN_GUEST,
			     EXIT_REASON_EXTERNAL_INTERRUPT, true);
}

static void vmx_perf_data_in_host(struct kunit *test)
{
	vmx_perf_data_expect(test, PERF_VCPU_LOADED, EXIT_REASON_HLT, true);
}

/* vmcs01 and vmcs02 may be changing places. */
static void vmx_perf_data_nested(struct kunit *test)
{
	vmx_perf_data_expect(test, PERF_VCPU_LOADED | PERF_VCPU_NESTED, EXIT_REASON_HLT, true);
}

/* Bits next to the basic exit reason, e.g. of an exit from an enclave, are kept. */
static void vmx_perf_data_modifiers(struct kunit *test)
{
	vmx_perf_data_expect(test, PERF_VCPU_LOADED, EXIT_REASON_HLT | BIT(27), true);
}

static void vmx_perf_data_failed_entry(struct kunit *test)
{
	vmx_perf_data_expect(test, PERF_VCPU_LOADED, VMX_EXIT_REASONS_FAILED_VMENTRY |
			     EXIT_REASON_INVALID_STATE, false);
	/* What KVM notes if the instruction itself has failed */
	vmx_perf_data_expect(test, PERF_VCPU_LOADED, EXIT_REASON_UNDEFINED, false);
}

/* A TD's vCPU has no VPID that is in a struct vcpu_vmx, or none that is known. */
static void vmx_perf_data_td(struct kunit *test)
{
	struct perf_sample_vcpu data = {};
	struct vcpu_vmx *vmx;

	if (!IS_ENABLED(CONFIG_KVM_INTEL_TDX))
		kunit_skip(test, "no CONFIG_KVM_INTEL_TDX");
	vmx = vmx_perf_data_vcpu(test);
	vmx->vcpu.kvm->arch.vm_type = KVM_X86_TDX_VM;
	vmx->vt.exit_reason.full = EXIT_REASON_EXTERNAL_INTERRUPT;
	vmx_get_perf_data(&vmx->vcpu, &data);
	KUNIT_EXPECT_EQ(test, data.flags, TEST_ISA | PERF_VCPU_EXIT_REASON_VALID);
	KUNIT_EXPECT_EQ(test, data.exit_reason, EXIT_REASON_EXTERNAL_INTERRUPT);
	KUNIT_EXPECT_EQ(test, data.vpid, 0);
}

static struct kunit_case vmx_perf_data_cases[] = {
	KUNIT_CASE(vmx_perf_data_in_guest),
	KUNIT_CASE(vmx_perf_data_in_host),
	KUNIT_CASE(vmx_perf_data_nested),
	KUNIT_CASE(vmx_perf_data_modifiers),
	KUNIT_CASE(vmx_perf_data_failed_entry),
	KUNIT_CASE(vmx_perf_data_td),
	{},
};

static struct kunit_suite vmx_perf_data_suite = {
	.name		= "kvm_vmx_perf_data",
	.test_cases	= vmx_perf_data_cases,
};

kunit_test_suite(vmx_perf_data_suite);
