// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of what KVM says of an x86 vCPU for PERF_SAMPLE_VCPU. Part of x86.c.
 *
 * The vCPU has no hardware behind it: CR3 is in KVM's cache of registers, and instead of
 * the vendor's the test's own callback is asked for the rest.
 */
#include <kunit/test.h>

#define TEST_CR3		0x5678000
#define TEST_VCPU_ID		3
#define TEST_VPID		7
#define TEST_EXIT_REASON	0x876543210ULL
#define TEST_ISA		(0xa5ULL << PERF_VCPU_ISA_SHIFT)

static u64 perf_data_flags_seen;

static void perf_data_of_vendor(struct kvm_vcpu *vcpu, struct perf_sample_vcpu *data)
{
	perf_data_flags_seen = data->flags;
	data->flags |= TEST_ISA | PERF_VCPU_EXIT_REASON_VALID;
	data->vpid = TEST_VPID;
	data->exit_reason = TEST_EXIT_REASON;
}

/* A vCPU that has run, and whose host is asked now */
static struct kvm_vcpu *perf_data_vcpu(struct kunit *test)
{
	struct kvm_vcpu *vcpu = kunit_kzalloc(test, sizeof(*vcpu), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, vcpu);
	vcpu->kvm = kunit_kzalloc(test, sizeof(*vcpu->kvm), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, vcpu->kvm);
	vcpu->vcpu_id = TEST_VCPU_ID;
	vcpu->arch.last_vmentry_cpu = 1;
	vcpu->arch.cr3 = TEST_CR3;
	kvm_register_mark_available(vcpu, VCPU_REG_CR3);
	return vcpu;
}

static struct perf_sample_vcpu perf_data_of(struct kvm_vcpu *vcpu)
{
	struct perf_sample_vcpu data = {};

	kvm_arch_vcpu_get_perf_data(vcpu, &data);
	return data;
}

static void perf_data_expect_host(struct kunit *test, struct kvm_vcpu *vcpu, u64 flags)
{
	struct perf_sample_vcpu data = perf_data_of(vcpu);

	KUNIT_EXPECT_EQ(test, data.flags, PERF_VCPU_LOADED | TEST_ISA | flags);
	KUNIT_EXPECT_EQ(test, data.vcpu_id, TEST_VCPU_ID);
	KUNIT_EXPECT_EQ(test, data.vpid, TEST_VPID);
	KUNIT_EXPECT_EQ(test, data.pt_root, 0);
	KUNIT_EXPECT_EQ(test, data.exit_reason,
			flags & PERF_VCPU_EXIT_REASON_VALID ? TEST_EXIT_REASON : 0);
}

static void perf_data_expect_guest(struct kunit *test, struct kvm_vcpu *vcpu, u64 flags)
{
	struct perf_sample_vcpu data;

	vcpu->arch.handling_intr_from_guest = KVM_HANDLING_IRQ;
	data = perf_data_of(vcpu);
	KUNIT_EXPECT_EQ(test, data.flags, PERF_VCPU_LOADED | PERF_VCPU_IN_GUEST |
			PERF_VCPU_EXIT_REASON_VALID | TEST_ISA | flags);
	KUNIT_EXPECT_EQ(test, data.vcpu_id, TEST_VCPU_ID);
	KUNIT_EXPECT_EQ(test, data.vpid, TEST_VPID);
	KUNIT_EXPECT_EQ(test, data.pt_root, flags & PERF_VCPU_PT_ROOT_VALID ? TEST_CR3 : 0);
	KUNIT_EXPECT_EQ(test, data.exit_reason, TEST_EXIT_REASON);
}

static void perf_data_in_host(struct kunit *test)
{
	perf_data_expect_host(test, perf_data_vcpu(test), PERF_VCPU_EXIT_REASON_VALID);
}

static void perf_data_in_guest(struct kunit *test)
{
	perf_data_expect_guest(test, perf_data_vcpu(test), PERF_VCPU_PT_ROOT_VALID);
}

/* As kvm_arch_vcpu_create() leaves it */
static void perf_data_never_run(struct kunit *test)
{
	struct kvm_vcpu *vcpu = perf_data_vcpu(test);

	vcpu->arch.last_vmentry_cpu = -1;
	perf_data_expect_host(test, vcpu, 0);
	/* In the NMI of the first exit the CPU is not noted yet. */
	perf_data_expect_guest(test, vcpu, PERF_VCPU_PT_ROOT_VALID);
}

/* The NMI is over: an interrupt has become pending in its handler. */
static void perf_data_behind_nmi(struct kunit *test)
{
	struct kvm_vcpu *vcpu = perf_data_vcpu(test);

	vcpu->arch.handling_intr_from_guest = KVM_HANDLING_NMI;
	perf_data_expect_host(test, vcpu, PERF_VCPU_EXIT_REASON_VALID);
}

static void perf_data_nested(struct kunit *test)
{
	struct kvm_vcpu *vcpu = perf_data_vcpu(test);

	vcpu->arch.hflags = HF_GUEST_MASK;
	perf_data_expect_host(test, vcpu, PERF_VCPU_NESTED | PERF_VCPU_EXIT_REASON_VALID);
	perf_data_expect_guest(test, vcpu, PERF_VCPU_NESTED | PERF_VCPU_PT_ROOT_VALID);
	/* The vendor's part depends on that. */
	KUNIT_EXPECT_EQ(test, perf_data_flags_seen & (PERF_VCPU_NESTED | PERF_VCPU_IN_GUEST),
			PERF_VCPU_NESTED | PERF_VCPU_IN_GUEST);
}

static void perf_data_smm(struct kunit *test)
{
	struct kvm_vcpu *vcpu = perf_data_vcpu(test);

	if (!IS_ENABLED(CONFIG_KVM_SMM))
		kunit_skip(test, "no CONFIG_KVM_SMM");
	vcpu->arch.hflags = HF_SMM_MASK;
	perf_data_expect_host(test, vcpu, PERF_VCPU_SMM | PERF_VCPU_EXIT_REASON_VALID);
	perf_data_expect_guest(test, vcpu, PERF_VCPU_SMM | PERF_VCPU_PT_ROOT_VALID);
}

/* In host mode its exit reason may be one that the guest has asked for. */
static void perf_data_protected(struct kunit *test)
{
	struct kvm_vcpu *vcpu = perf_data_vcpu(test);

	/* A debug TD */
	vcpu->kvm->arch.has_protected_state = true;
	perf_data_expect_host(test, vcpu, PERF_VCPU_PROTECTED);
	perf_data_expect_guest(test, vcpu, PERF_VCPU_PROTECTED);

	vcpu = perf_data_vcpu(test);
	vcpu->arch.guest_state_protected = true;
	perf_data_expect_host(test, vcpu, PERF_VCPU_PROTECTED);
	perf_data_expect_guest(test, vcpu, PERF_VCPU_PROTECTED);
}

struct perf_data_softirq {
	struct tasklet_struct	tasklet;
	struct kvm_vcpu		*vcpu;
	struct perf_sample_vcpu	data;
};

static void perf_data_in_softirq(struct tasklet_struct *tasklet)
{
	struct perf_data_softirq *ctx = from_tasklet(ctx, tasklet, tasklet);

	ctx->data = perf_data_of(ctx->vcpu);
}

/* In a softirq of the interrupt that the guest was running into: host */
static void perf_data_softirq_is_host(struct kunit *test)
{
	struct perf_data_softirq *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	ctx->vcpu = perf_data_vcpu(test);
	ctx->vcpu->arch.handling_intr_from_guest = KVM_HANDLING_IRQ;
	tasklet_setup(&ctx->tasklet, perf_data_in_softirq);
	tasklet_schedule(&ctx->tasklet);
	tasklet_kill(&ctx->tasklet);
	KUNIT_EXPECT_EQ(test, ctx->data.flags,
			PERF_VCPU_LOADED | TEST_ISA | PERF_VCPU_EXIT_REASON_VALID);
	KUNIT_EXPECT_EQ(test, ctx->data.pt_root, 0);
}

static int perf_data_init(struct kunit *test)
{
	static_call_update(kvm_x86_get_perf_data, perf_data_of_vendor);
	return 0;
}

/* There is none yet if no vendor's module is loaded. */
static void perf_data_exit(struct kunit *test)
{
	static_call_update(kvm_x86_get_perf_data, kvm_x86_ops.get_perf_data);
}

static struct kunit_case perf_data_cases[] = {
	KUNIT_CASE(perf_data_in_host),
	KUNIT_CASE(perf_data_in_guest),
	KUNIT_CASE(perf_data_never_run),
	KUNIT_CASE(perf_data_behind_nmi),
	KUNIT_CASE(perf_data_nested),
	KUNIT_CASE(perf_data_smm),
	KUNIT_CASE(perf_data_protected),
	KUNIT_CASE(perf_data_softirq_is_host),
	{},
};

static struct kunit_suite perf_data_suite = {
	.name		= "kvm_x86_perf_data",
	.init		= perf_data_init,
	.exit		= perf_data_exit,
	.test_cases	= perf_data_cases,
};

kunit_test_suite(perf_data_suite);
