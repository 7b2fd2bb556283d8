/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_STALLS_H
#define __PERF_KVM_UNIFIED_REPORT_STALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "takers.h"

/* Why a vCPU stood still */
enum stall_kind {
	STALL_STOLEN,	/* it had a CPU, and something else got it */
	STALL_WAKE_UP,	/* it had slept, and was woken up */
	STALL_NR_OF_THIEVES,
	STALL_THROTTLED = STALL_NR_OF_THIEVES, /* a limit of its own */
	STALL_STOPPED,	/* a signal, for example */
	STALL_NR	/* it did not */
};

/*
 * Buckets of numbers: each power of two has so many, so that a number is known to 1 in 32 of
 * itself, to either side of the middle. Those below are exact.
 */
#define BUCKETS_IN_POWER	16
#define BUCKETS_NR		((64 - 4 + 1) * BUCKETS_IN_POWER)

/**
 * struct stall_hist - how long waits were
 * @counts: by bucket, BUCKETS_NR of them; NULL: none yet
 * @nr: @ns: of all waits
 * @max: ns, the longest
 */
struct stall_hist {
	u64	*counts;
	u64	nr;
	u64	ns;
	u64	max;
};

/**
 * struct stall - a wait
 * @start: when it began, on the clock of the axis
 * @takers: who had the CPU in it
 */
struct stall {
	u64	start;
	u64	end;
	u64	ns;
	enum stall_kind kind;
	struct takers takers;
};

/**
 * struct vcpu_stalls - the waits of a vCPU
 * @hists: @longest: by kind
 * @now: the wait that it is in, if @now.end is not 0
 */
struct vcpu_stalls {
	struct stall_hist hists[STALL_NR];
	struct stall	longest[STALL_NR];
	struct stall	now;
};

/**
 * struct stalls
 * @vcpus: by their number
 */
struct stalls {
	struct vcpu_stalls *vcpus;
	u32		nr_vcpus;
	size_t		allocated;
};

int stall_hist__add(struct stall_hist *hist, u64 ns);
int stall_hist__merge(struct stall_hist *hist, const struct stall_hist *from);
u64 stall_hist__quantile(const struct stall_hist *hist, double quantile);
void stall_hist__exit(struct stall_hist *hist);

void stalls__exit(struct stalls *stalls);
int stalls__add(struct stalls *stalls, u32 vcpu, const struct vcpu_interval *interval,
		enum stall_kind kind, const struct taker *taker, u64 ns);
int stalls__finish(struct stalls *stalls);
const char *stall_kind__name(enum stall_kind kind);

#endif /* __PERF_KVM_UNIFIED_REPORT_STALLS_H */
