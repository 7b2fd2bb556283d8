// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of PERF_SAMPLE_VCPU: what of the hypervisor's data an event gets, and how
 * a sample holds it. What the data are is KVM's own business, and tested there.
 */
#include <kunit/test.h>
#include <linux/perf_event.h>

#include "internal.h"

/* A sample is its header, PERF_SAMPLE_TID's pid and tid, and PERF_SAMPLE_VCPU's words. */
#define SIZE_WITHOUT_VCPU	(sizeof(struct perf_event_header) + 8)
#define SIZE_NOT_LOADED		(SIZE_WITHOUT_VCPU + 8)
#define SIZE_LOADED		(SIZE_WITHOUT_VCPU + 32)

struct vcpu_sample_test {
	struct perf_event	*event;
	struct perf_buffer	*rb;
};

/* What is to be seen of it in a sample differs in each byte. */
static const struct perf_sample_vcpu in_guest = {
	.flags		= PERF_VCPU_LOADED | PERF_VCPU_IN_GUEST | PERF_VCPU_PT_ROOT_VALID |
			  PERF_VCPU_EXIT_REASON_VALID |
			  (u64)PERF_VCPU_ISA_SVM << PERF_VCPU_ISA_SHIFT,
	.pt_root	= 0x0807060504030201,
	.vcpu_id	= 0x14131211,
	.vpid		= 0x24232221,
	.exit_reason	= 0x3837363534333231,
};

static const struct perf_sample_vcpu in_host = {
	.flags		= PERF_VCPU_LOADED | PERF_VCPU_EXIT_REASON_VALID,
	.vcpu_id	= 3,
	.vpid		= 5,
	.exit_reason	= 7,
};

/* Behind the flags there are three words. */
#define WORDS	(3ULL << PERF_VCPU_WORDS_SHIFT)

static void new_event(struct kunit *test, u64 sample_type)
{
	struct vcpu_sample_test *ctx = test->priv;
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_SOFTWARE,
		.config		= PERF_COUNT_SW_CPU_CLOCK,
		.size		= sizeof(attr),
		.sample_period	= NSEC_PER_SEC,
		.sample_type	= PERF_SAMPLE_TID | sample_type,
		.disabled	= 1,
	};

	ctx->event = perf_event_create_kernel_counter(&attr, 0, NULL, NULL, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ctx->event);
	/* What perf_event_open() does besides */
	perf_event__header_size(ctx->event);
	perf_event__id_header_size(ctx->event);
	ctx->rb = rb_alloc(1, 0, -1, RING_BUFFER_WRITABLE);
	KUNIT_ASSERT_NOT_NULL(test, ctx->rb);
	WRITE_ONCE(ctx->event->rb, ctx->rb);
}

/* Returns the sample that an event makes of the data that there are. */
static const void *sample_of_data(struct kunit *test, struct perf_sample_data *data)
{
	struct vcpu_sample_test *ctx = test->priv;
	struct perf_output_handle handle;
	struct perf_event_header header;
	struct pt_regs regs = {};

	perf_fetch_caller_regs(&regs);
	preempt_disable();
	perf_prepare_sample(data, ctx->event, &regs);
	perf_prepare_header(&header, data, ctx->event, &regs);
	if (!perf_output_begin(&handle, data, ctx->event, header.size)) {
		perf_output_sample(&handle, &header, data, ctx->event);
		perf_output_end(&handle);
	}
	preempt_enable();
	return ctx->rb->data_pages[0];
}

/* The same of what a hypervisor says, for an event that samples guests or does not */
static const void *sample_of(struct kunit *test, const struct perf_sample_vcpu *vcpu,
			     bool sample_guest)
{
	struct perf_sample_data data;

	perf_sample_data_init(&data, 0, 0);
	data.vcpu = *vcpu;
	perf_sample_finish_vcpu(&data, sample_guest);
	return sample_of_data(test, &data);
}

static unsigned int sample_size(const void *sample)
{
	return ((const struct perf_event_header *)sample)->size;
}

static const struct perf_sample_vcpu *sample_vcpu(const void *sample)
{
	return sample + SIZE_WITHOUT_VCPU;
}

/* The words of the ABI, by their offsets and not by a struct of the kernel's */
static void vcpu_sample_layout(struct kunit *test)
{
	const void *sample, *vcpu;

	new_event(test, PERF_SAMPLE_VCPU);
	sample = sample_of(test, &in_guest, true);
	KUNIT_EXPECT_EQ(test, sample_size(sample), SIZE_LOADED);
	vcpu = sample + SIZE_WITHOUT_VCPU;
	KUNIT_EXPECT_EQ(test, *(const u64 *)vcpu, 0x30233);
	KUNIT_EXPECT_EQ(test, *(const u64 *)(vcpu + 8), 0x0807060504030201);
	KUNIT_EXPECT_EQ(test, *(const u32 *)(vcpu + 16), 0x14131211);
	KUNIT_EXPECT_EQ(test, *(const u32 *)(vcpu + 20), 0x24232221);
	KUNIT_EXPECT_EQ(test, *(const u64 *)(vcpu + 24), 0x3837363534333231);
}

static void vcpu_sample_not_loaded(struct kunit *test)
{
	const struct perf_sample_vcpu none = {};
	const void *sample;

	new_event(test, PERF_SAMPLE_VCPU);
	sample = sample_of(test, &none, true);
	KUNIT_EXPECT_EQ(test, sample_size(sample), SIZE_NOT_LOADED);
	KUNIT_EXPECT_EQ(test, sample_vcpu(sample)->flags, 0);
}

static void vcpu_sample_bit_not_set(struct kunit *test)
{
	struct perf_sample_data data;

	new_event(test, 0);
	perf_sample_data_init(&data, 0, 0);
	KUNIT_EXPECT_EQ(test, sample_size(sample_of_data(test, &data)), SIZE_WITHOUT_VCPU);
}

/* What the stack has of another sample is not for this one: no vCPU is loaded here. */
static void vcpu_sample_asks_anew(struct kunit *test)
{
	struct perf_sample_data data;
	const void *sample;

	new_event(test, PERF_SAMPLE_VCPU);
	perf_sample_data_init(&data, 0, 0);
	data.vcpu = in_guest;
	sample = sample_of_data(test, &data);
	KUNIT_EXPECT_EQ(test, sample_size(sample), SIZE_NOT_LOADED);
	KUNIT_EXPECT_EQ(test, sample_vcpu(sample)->flags, 0);
}

/* That a guest was interrupted, and nothing of it */
static void vcpu_sample_exclude_guest(struct kunit *test)
{
	const void *sample;

	new_event(test, PERF_SAMPLE_VCPU);
	sample = sample_of(test, &in_guest, false);
	KUNIT_EXPECT_EQ(test, sample_size(sample), SIZE_NOT_LOADED);
	KUNIT_EXPECT_EQ(test, sample_vcpu(sample)->flags, PERF_VCPU_EXCLUDED);
}

/* All that is the host's */
static void vcpu_sample_exclude_guest_in_host(struct kunit *test)
{
	struct perf_sample_vcpu expected = in_host;
	const void *sample;

	new_event(test, PERF_SAMPLE_VCPU);
	sample = sample_of(test, &in_host, false);
	expected.flags |= WORDS;
	KUNIT_EXPECT_EQ(test, sample_size(sample), SIZE_LOADED);
	KUNIT_EXPECT_MEMEQ(test, sample_vcpu(sample), &expected, sizeof(expected));
}

/* A hypervisor that fills in more than the flags say: none of it is to be seen. */
static void vcpu_sample_not_loaded_is_no_leak(struct kunit *test)
{
	const struct perf_sample_vcpu not_loaded = {
		.flags		= 0,
		.pt_root	= 0x0807060504030201,
		.exit_reason	= 7,
	};
	const void *sample;

	new_event(test, PERF_SAMPLE_VCPU);
	sample = sample_of(test, &not_loaded, true);
	KUNIT_EXPECT_EQ(test, sample_size(sample), SIZE_NOT_LOADED);
	KUNIT_EXPECT_EQ(test, *(const u64 *)(sample + SIZE_NOT_LOADED), 0);
}

static int vcpu_sample_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct vcpu_sample_test), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

static void vcpu_sample_exit(struct kunit *test)
{
	struct vcpu_sample_test *ctx = test->priv;

	/* It is called if there was no memory for it, too. */
	if (!ctx)
		return;
	if (ctx->rb) {
		WRITE_ONCE(ctx->event->rb, NULL);
		synchronize_rcu();
		rb_free(ctx->rb);
	}
	if (!IS_ERR_OR_NULL(ctx->event))
		perf_event_release_kernel(ctx->event);
}

static struct kunit_case vcpu_sample_cases[] = {
	KUNIT_CASE(vcpu_sample_layout),
	KUNIT_CASE(vcpu_sample_not_loaded),
	KUNIT_CASE(vcpu_sample_bit_not_set),
	KUNIT_CASE(vcpu_sample_asks_anew),
	KUNIT_CASE(vcpu_sample_exclude_guest),
	KUNIT_CASE(vcpu_sample_exclude_guest_in_host),
	KUNIT_CASE(vcpu_sample_not_loaded_is_no_leak),
	{},
};

static struct kunit_suite vcpu_sample_suite = {
	.name		= "perf_vcpu_sample",
	.init		= vcpu_sample_init,
	.exit		= vcpu_sample_exit,
	.test_cases	= vcpu_sample_cases,
};

kunit_test_suite(vcpu_sample_suite);
