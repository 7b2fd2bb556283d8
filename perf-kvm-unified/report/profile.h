/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_PROFILE_H
#define __PERF_KVM_UNIFIED_REPORT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

struct hashmap;

/*
 * What a table counts: the first column is time, in ns, the others are events. Of a profile
 * with more events than that, the rest is left out.
 */
#define PROFILE_TIME		0U
#define PROFILE_MAX_COLUMNS	9U

/* What time was spent for, seen from the level that a profile is of */
enum profile_class {
	PROFILE_OS,
	PROFILE_USER,
	PROFILE_IDLE,
	PROFILE_VM,	/* a VM ran; at guest level, one of the guest's own */
	PROFILE_HOST,	/* guest level: the host worked for the guest */
	PROFILE_STEAL,	/* guest level: the host did something else, or KVM's work */
	PROFILE_LOST,
	PROFILE_UNKNOWN,
	PROFILE_NR_CLASSES
};

/**
 * struct profile_key - what makes a row of its own
 * @function: @module, @comm: as in the table; the profile makes its own copies
 * @comm: @pid: "" and -1 where rows are not per process
 * @ns_pid: the pid in the process's own pid namespace, 0: no other
 */
struct profile_key {
	enum profile_class class;
	const char	*function;
	const char	*module;
	const char	*comm;
	pid_t		pid;
	pid_t		ns_pid;
};

/**
 * struct profile_row
 * @idx: rows have numbers, in the order in which they came
 * @sums: by column
 * @samples: its time in periods, set by profile__sorted()
 */
struct profile_row {
	struct profile_key key;
	u32		idx;
	u64		sums[PROFILE_MAX_COLUMNS];
	u64		samples;
};

/**
 * struct profile - the time of one level: the host, a guest, a vCPU
 * @by_idx: the rows by their numbers, @nr of them
 * @totals: sums of all rows, by column
 * @classes: ns, sums by class
 */
struct profile {
	struct hashmap	*rows;
	struct profile_row **by_idx;
	u32		nr;
	u32		allocated;
	u64		totals[PROFILE_MAX_COLUMNS];
	u64		classes[PROFILE_NR_CLASSES];
};

int profile__init(struct profile *p);
void profile__exit(struct profile *p);
struct profile_row *profile__findnew(struct profile *p, const struct profile_key *key);
int profile__add(struct profile *p, const struct profile_key *key, u32 column, u64 sum);
struct profile_row **profile__sorted(const struct profile *p, u64 period, size_t *nr);
double profile__percent(const struct profile *p, u64 time);
u64 profile__samples(u64 time, u64 period);
const char *profile_key__class_row(const struct profile_key *key);
const char *profile_class__name(enum profile_class class);

#endif /* __PERF_KVM_UNIFIED_REPORT_PROFILE_H */
