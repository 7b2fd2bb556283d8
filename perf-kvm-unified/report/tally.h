/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_TALLY_H
#define __PERF_KVM_UNIFIED_REPORT_TALLY_H

#include <stdbool.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "kvm-unified/axis/types.h"
#include "profile.h"

struct hashmap;

/* As many as there are of enum vcpu_time_kind, or of enum cpu_time_kind */
#define TALLY_KINDS	VCPU_TIME_NR

/**
 * struct tally_key - what intervals have in common that are not told by a hit alone
 * @kind: enum vcpu_time_kind, or enum cpu_time_kind
 * @vcpu: @task: @shared: @isa: @exit_reason: @why: @woken: @vmm_works: as in
 *	struct vcpu_interval and struct axis_sample
 * @hit: of a sample; @cpu: of what is no sample, if rows are told apart by it, else TIME_AXIS_NONE
 */
struct tally_key {
	u64	exit_reason;
	union {
		u32	hit;
		u32	cpu;
	};
	u32	vcpu;
	u32	task;
	u32	shared;
	s32	why;
	u8	kind;
	u8	isa;
	bool	woken;
	bool	vmm_works;
};

/* It is hashed and compared as a whole: no byte of it is without a meaning. */
static_assert(sizeof(struct tally_key) == 32);
static_assert(TIME_AXIS_ISA_BITS <= 8);

/* What was added, and how often: for a column that is no time, so many samples were taken */
struct tally_sum {
	u64	sum;
	u64	nr;
};

/* @counts: of the columns that are no time; NULL: there are none */
struct tally_entry {
	struct tally_key key;
	struct tally_sum time;
	struct tally_sum *counts;
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
 * @last: of these, by their kinds, the one that was added to last
 */
struct tally {
	struct hit_sums hits[PROFILE_MAX_COLUMNS];
	struct hashmap *others;
	struct tally_entry *last[TALLY_KINDS];
};

/* A part of the time, ns */
struct time_share {
	u64	part;
	u64	all;
};

int tally__init(struct tally *tally);
void tally__exit(struct tally *tally);
int tally__add_hit(struct tally *tally, u32 hit, u32 column, u64 sum);
struct tally_sum *hit_sums__next(const struct hit_sums *hits, u32 *hit);
int tally__add(struct tally *tally, const struct tally_key *key, u32 column, u64 sum);
const struct tally_sum *tally_entry__sum(const struct tally_entry *entry, u32 column);
void tally__add_part(const struct tally *tally, u32 kind, struct time_share *time);

#endif /* __PERF_KVM_UNIFIED_REPORT_TALLY_H */
