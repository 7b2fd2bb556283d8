/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_TALLY_H
#define __PERF_KVM_UNIFIED_REPORT_TALLY_H

#include <stdbool.h>
#include <linux/types.h>

#include "kvm-unified/axis/intervals.h"
#include "kvm-unified/axis/types.h"
#include "profile.h"

struct hashmap;

/* As many as there are of enum vcpu_time_kind, or of enum cpu_time_kind */
#define TALLY_KINDS	VCPU_TIME_NR

/* What was added, and how often: for a column that is no time, so many samples were taken */
struct tally_sum {
	u64	sum;
	u64	nr;
};

/*
 * @key: what intervals have in common that are not told by a hit alone; of the host's CPUs, its
 *	kind is one of enum cpu_time_kind
 * @counts: of the columns that are no time; NULL: there are none
 */
struct tally_entry {
	struct axis_what key;
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
int tally__add(struct tally *tally, const struct axis_what *key, u32 column, u64 sum);
const struct tally_sum *tally_entry__sum(const struct tally_entry *entry, u32 column);
void tally__add_part(const struct tally *tally, u32 kind, struct time_share *time);

#endif /* __PERF_KVM_UNIFIED_REPORT_TALLY_H */
