/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_PROFILE_H
#define __PERF_KVM_UNIFIED_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

struct hashmap;

/* What a sample is time of, seen from the level that a profile is of */
enum profile_class {
	PROFILE_OS,
	PROFILE_USER,
	PROFILE_IDLE,
	PROFILE_VM,	/* host level: a VM ran */
	PROFILE_BLANK,	/* guest level: the vCPU did not run the guest */
	PROFILE_NR_CLASSES
};

/**
 * struct profile_key - what makes a row of its own
 * @function: @module, @comm: as in the table; the profile makes its own copies
 * @comm: @pid: "" and -1 where rows are not per process
 */
struct profile_key {
	enum profile_class class;
	const char	*function;
	const char	*module;
	const char	*comm;
	pid_t		pid;
};

struct profile_row {
	struct profile_key key;
	u64		samples;
};

/**
 * struct profile - the samples of one level: the host, or one guest
 * @total: sum of all rows
 * @classes: sums by class
 */
struct profile {
	struct hashmap	*rows;
	u64		total;
	u64		classes[PROFILE_NR_CLASSES];
};

int profile__init(struct profile *p);
void profile__exit(struct profile *p);
int profile__add(struct profile *p, const struct profile_key *key, u64 samples);
struct profile_row **profile__sorted(const struct profile *p, size_t *nr);
double profile__percent(const struct profile *p, u64 samples);

u64 profile__blank(u64 duration_ns, u64 period_ns, u64 seen);

#endif /* __PERF_KVM_UNIFIED_PROFILE_H */
