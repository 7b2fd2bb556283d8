/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_TALLY_H
#define __PERF_KVM_UNIFIED_REPORT_TALLY_H

#include <stdbool.h>
#include <linux/types.h>

#include "profile.h"

struct hashmap;

/**
 * struct tally_key - what intervals have in common that are not told by a hit alone
 * @kind: enum vcpu_time_kind, or enum cpu_time_kind
 * @vcpu: @task: @shared: @isa: @exit_reason: @why: @woken: as in struct vcpu_interval and
 *	struct axis_sample
 * @hit: of a sample
 */
struct tally_key {
	u64	exit_reason;
	u32	kind;
	u32	hit;
	u32	vcpu;
	u32	task;
	u32	shared;
	u32	isa;
	s32	why;
	bool	woken;
};

struct tally_entry {
	struct tally_key key;
	u64	sums[PROFILE_MAX_COLUMNS];
};

/* Sums by number of what was hit, @nr of them */
struct hit_sums {
	u64	*sums;
	size_t	nr;
};

/**
 * struct tally - what is counted of a vCPU, or of all CPUs of the host
 * @hits: by column, and by what samples hit
 * @others: all other entries, by their keys
 */
struct tally {
	struct hit_sums hits[PROFILE_MAX_COLUMNS];
	struct hashmap *others;
};

int tally__init(struct tally *tally);
void tally__exit(struct tally *tally);
int tally__add_hit(struct tally *tally, u32 hit, u32 column, u64 sum);
int tally__add(struct tally *tally, const struct tally_key *key, u32 column, u64 sum);

#endif /* __PERF_KVM_UNIFIED_REPORT_TALLY_H */
