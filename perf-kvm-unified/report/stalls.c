// SPDX-License-Identifier: GPL-2.0
/*
 * How long vCPUs have stood still, each time. No session, no I/O.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "kvm-unified/axis/intervals.h"
#include "kvm-unified/lib/array.h"
#include "stalls.h"

#define POWER_BITS	4	/* of BUCKETS_IN_POWER */

/* Numbers below BUCKETS_IN_POWER have a bucket each, then come the powers of two. */
static size_t bucket_of(u64 ns)
{
	unsigned int power = ns ? fls64(ns) - 1 : 0, shift;

	if (power < POWER_BITS)
		return ns;
	shift = power - POWER_BITS;
	return (shift + 1) * BUCKETS_IN_POWER + (ns >> shift) % BUCKETS_IN_POWER;
}

/* A number in the middle of a bucket */
static u64 bucket_middle(size_t bucket)
{
	unsigned int shift;

	if (bucket < BUCKETS_IN_POWER)
		return bucket;
	shift = bucket / BUCKETS_IN_POWER - 1;
	return ((u64)(BUCKETS_IN_POWER + bucket % BUCKETS_IN_POWER) << shift) +
	       ((1ULL << shift) >> 1);
}

/* 0 or -ENOMEM */
static int stall_hist__init(struct stall_hist *hist)
{
	if (!hist->counts)
		hist->counts = calloc(BUCKETS_NR, sizeof(*hist->counts));
	return hist->counts ? 0 : -ENOMEM;
}

/* 0 or -ENOMEM */
int stall_hist__add(struct stall_hist *hist, u64 ns)
{
	if (stall_hist__init(hist))
		return -ENOMEM;
	hist->counts[bucket_of(ns)]++;
	hist->nr++;
	hist->ns += ns;
	hist->max = max(hist->max, ns);
	return 0;
}

/* Adds what is in @from. 0 or -ENOMEM */
int stall_hist__merge(struct stall_hist *hist, const struct stall_hist *from)
{
	if (!from->counts)
		return 0;
	if (stall_hist__init(hist))
		return -ENOMEM;
	for (size_t i = 0; i < BUCKETS_NR; i++)
		hist->counts[i] += from->counts[i];
	hist->nr += from->nr;
	hist->ns += from->ns;
	hist->max = max(hist->max, from->max);
	return 0;
}

/* The ns that so many of all waits, from 0 to 1, have not taken longer than; 0 if there are none */
u64 stall_hist__quantile(const struct stall_hist *hist, double quantile)
{
	double part = ceil(quantile * hist->nr);
	u64 wanted = max_t(u64, part, 1), nr = 0;

	/* The longest is known. */
	if (wanted >= hist->nr)
		return hist->max;
	for (size_t i = 0; i < BUCKETS_NR; i++) {
		nr += hist->counts[i];
		if (nr >= wanted)
			return min(bucket_middle(i), hist->max);
	}
	return hist->max;
}

void stall_hist__exit(struct stall_hist *hist)
{
	free(hist->counts);
	*hist = (struct stall_hist) { };
}

void stalls__exit(struct stalls *stalls)
{
	for (u32 i = 0; i < stalls->nr_vcpus; i++) {
		struct vcpu_stalls *vcpu = &stalls->vcpus[i];

		for (int kind = 0; kind < STALL_NR; kind++) {
			stall_hist__exit(&vcpu->hists[kind]);
			takers__exit(&vcpu->longest[kind].takers);
		}
		takers__exit(&vcpu->now.takers);
	}
	free(stalls->vcpus);
	*stalls = (struct stalls) { };
}

/* Makes sure that there is a vCPU of number @vcpu. 0 or -ENOMEM */
static int stalls__add_vcpu(struct stalls *stalls, u32 vcpu)
{
	while (stalls->nr_vcpus <= vcpu) {
		if (grow_array(stalls->vcpus, stalls->nr_vcpus, stalls->allocated))
			return -ENOMEM;
		stalls->vcpus[stalls->nr_vcpus++] = (struct vcpu_stalls) { };
	}
	return 0;
}

/* The wait that a vCPU was in is over. 0 or -ENOMEM */
static int vcpu_stalls__close(struct vcpu_stalls *vcpu)
{
	enum stall_kind kind = vcpu->now.kind;
	struct stall over = vcpu->now, longest = vcpu->longest[kind];
	int ret = 0;

	if (over.ns)
		ret = stall_hist__add(&vcpu->hists[kind], over.ns);
	/* The memory of the one that is not kept is for the next. */
	if (over.ns > longest.ns) {
		vcpu->longest[kind] = over;
		over = longest;
	}
	vcpu->now = (struct stall) { .takers = over.takers };
	takers__clear(&vcpu->now.takers);
	return ret;
}

/**
 * stalls__add - what a vCPU did, in the order of time
 * @kind: why it stood still; STALL_NR: it did not
 * @taker: if it waited for a CPU, who had that
 * @ns: of the interval that are asked for
 *
 * A wait comes in pieces, by who had the CPU: those that follow each other are one. 0 or -ENOMEM
 */
int stalls__add(struct stalls *stalls, u32 vcpu, const struct vcpu_interval *interval,
		enum stall_kind kind, const struct taker *taker, u64 ns)
{
	bool waits = kind < STALL_NR;
	struct vcpu_stalls *vs;
	struct stall *now;
	int ret = stalls__add_vcpu(stalls, vcpu);

	if (ret)
		return ret;
	vs = &stalls->vcpus[vcpu];
	now = &vs->now;
	if (now->end && (!waits || now->end != interval->start || now->kind != kind))
		ret = vcpu_stalls__close(vs);
	if (ret || !waits)
		return ret;
	if (!now->end) {
		now->start = interval->start;
		now->kind = kind;
	}
	now->end = interval->end;
	now->ns += ns;
	return ns && kind < STALL_NR_OF_THIEVES ? takers__add(&now->takers, taker, ns) : 0;
}

/* Ends what goes on, when there is no more to come. 0 or -ENOMEM */
int stalls__finish(struct stalls *stalls)
{
	int ret = 0;

	for (u32 i = 0; !ret && i < stalls->nr_vcpus; i++) {
		if (stalls->vcpus[i].now.end)
			ret = vcpu_stalls__close(&stalls->vcpus[i]);
	}
	return ret;
}

const char *stall_kind__name(enum stall_kind kind)
{
	static const char *const names[STALL_NR] = {
		[STALL_STOLEN]	  = "stolen",
		[STALL_WAKE_UP]	  = "wake-up",
		[STALL_THROTTLED] = "throttled",
		[STALL_STOPPED]	  = "stopped",
	};

	return names[kind];
}
