// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the flags of PERF_SAMPLE_VCPU on x86. Part of x86.c.
 */
#include <kunit/test.h>

static struct kvm_vcpu *perf_data_vcpu(struct kunit *test)
{
	struct kvm_vcpu *vcpu = kunit_kzalloc(test, sizeof(*vcpu), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, vcpu);
	return vcpu;
}

/* As kvm_arch_vcpu_create() leaves it */
static void perf_data_never_run(struct kunit *test)
{
	struct kvm_vcpu *vcpu = perf_data_vcpu(test);

	vcpu->arch.last_vmentry_cpu = -1;
	KUNIT_EXPECT_EQ(test, kvm_vcpu_perf_flags(vcpu, false), 0);
	/* In the NMI of the first exit the CPU is not noted yet. */
	KUNIT_EXPECT_EQ(test, kvm_vcpu_perf_flags(vcpu, true),
			PERF_VCPU_IN_GUEST | PERF_VCPU_EXIT_REASON_VALID);
}

static void perf_data_has_run(struct kunit *test)
{
	struct kvm_vcpu *vcpu = perf_data_vcpu(test);

	vcpu->arch.last_vmentry_cpu = 1;
	KUNIT_EXPECT_EQ(test, kvm_vcpu_perf_flags(vcpu, false), PERF_VCPU_EXIT_REASON_VALID);
}

static void perf_data_nested(struct kunit *test)
{
	struct kvm_vcpu *vcpu = perf_data_vcpu(test);

	vcpu->arch.hflags = HF_GUEST_MASK;
	KUNIT_EXPECT_EQ(test, kvm_vcpu_perf_flags(vcpu, true),
			PERF_VCPU_IN_GUEST | PERF_VCPU_NESTED | PERF_VCPU_EXIT_REASON_VALID);
}

static void perf_data_protected(struct kunit *test)
{
	struct kvm_vcpu *vcpu = perf_data_vcpu(test);

	vcpu->arch.guest_state_protected = true;
	KUNIT_EXPECT_EQ(test, kvm_vcpu_perf_flags(vcpu, true),
			PERF_VCPU_IN_GUEST | PERF_VCPU_PROTECTED | PERF_VCPU_EXIT_REASON_VALID);
}

struct perf_data_softirq {
	struct tasklet_struct	tasklet;
	struct kvm_vcpu		*vcpu;
	u64			flags;
};

static void perf_data_in_softirq(struct tasklet_struct *tasklet)
{
	struct perf_data_softirq *ctx = from_tasklet(ctx, tasklet, tasklet);

	ctx->flags = kvm_vcpu_perf_flags(ctx->vcpu, true);
}

/* In a softirq of the interrupt that the guest was running into: host */
static void perf_data_softirq_is_host(struct kunit *test)
{
	struct perf_data_softirq *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	ctx->vcpu = perf_data_vcpu(test);
	tasklet_setup(&ctx->tasklet, perf_data_in_softirq);
	tasklet_schedule(&ctx->tasklet);
	tasklet_kill(&ctx->tasklet);
	KUNIT_EXPECT_EQ(test, ctx->flags, PERF_VCPU_EXIT_REASON_VALID);
}

static struct kunit_case perf_data_cases[] = {
	KUNIT_CASE(perf_data_never_run),
	KUNIT_CASE(perf_data_has_run),
	KUNIT_CASE(perf_data_nested),
	KUNIT_CASE(perf_data_protected),
	KUNIT_CASE(perf_data_softirq_is_host),
	{},
};

static struct kunit_suite perf_data_suite = {
	.name		= "kvm_x86_perf_data",
	.test_cases	= perf_data_cases,
};

kunit_test_suite(perf_data_suite);
