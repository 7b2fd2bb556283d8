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
 * @vcpu: @task: @shared: @isa: @exit_reason: @why: @woken: @vmm_works: as in
 *	struct vcpu_interval and struct axis_sample
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
	bool	vmm_works;
};

/* What was added, and how often: for a column that is no time, so many samples were taken */
struct tally_sum {
	u64	sum;
	u64	nr;
};

struct tally_entry {
	struct tally_key key;
	struct tally_sum sums[PROFILE_MAX_COLUMNS];
};

/*
 * Sums by number of what was hit. They are in pieces, those that are used: a vCPU hits what is
 * of its own guest, and there are many guests.
 */
struct hit_sums {
	struct tally_sum **pieces;
	size_t	nr_pieces;
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
/* A part of the time, ns */
struct time_share {
	u64	part;
	u64	all;
};

struct tally_sum *hit_sums__next(const struct hit_sums *hits, u32 *hit);
int tally__add(struct tally *tally, const struct tally_key *key, u32 column, u64 sum);
void tally__add_part(const struct tally *tally, u32 kind, struct time_share *time);

#endif /* __PERF_KVM_UNIFIED_REPORT_TALLY_H */
