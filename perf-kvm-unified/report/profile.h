/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_PROFILE_H
#define __PERF_KVM_UNIFIED_REPORT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

/*
 * What a table counts: the first column is time, in ns, the others are events. Of a profile
 * with more events than that, the rest is left out.
 */
#define PROFILE_TIME		0U
#define PROFILE_MAX_COLUMNS	9U

/*
 * What time was spent for, seen from the level that a profile is of. At guest level, those
 * from PROFILE_STEAL to PROFILE_BLOCKED are what a vCPU did not get of the time that it wanted.
 */
enum profile_class {
	PROFILE_OS,
	PROFILE_USER,
	PROFILE_IDLE,
	PROFILE_HALT_POLL, /* idle, and KVM kept the CPU to wait for the end of that */
	PROFILE_VM,	/* a VM ran; at guest level, one of the guest's own */
	PROFILE_HOST,	/* guest level: the host worked for the guest */
	PROFILE_STEAL,	/* wanted a CPU, and something else had it */
	PROFILE_EXIT,	/* KVM, or an interrupt of the host */
	PROFILE_VMM,	/* in the VMM, as KVM_RUN had to return for the guest */
	PROFILE_STOPPED, /* in the VMM, as a signal has made KVM_RUN return */
	PROFILE_THROTTLED, /* wanted a CPU, and a limit of its own forbade it */
	PROFILE_BLOCKED, /* waited in KVM for the host */
	PROFILE_LOST,
	PROFILE_UNKNOWN,
	PROFILE_NR_CLASSES
};

/* How the module of a VM begins, at host level: the pid of its VMM comes after it. */
#define PROFILE_VM_MODULE	"(VM pid "

/* What makes a row of its own; a row has no more than that. */
#define PROFILE_SORT_SYM	(1U << 0)
#define PROFILE_SORT_DSO	(1U << 1)
#define PROFILE_SORT_COMM	(1U << 2)
#define PROFILE_SORT_PID	(1U << 3)
#define PROFILE_SORT_CGROUP	(1U << 4)

/**
 * struct profile_key - what time was spent on
 * @function: @module, @comm: as in the table
 * @comm: @pid: "" and -1 where rows are not per process
 * @ns_pid: the pid in the process's own pid namespace, 0: no other
 * @cgroup: of a guest's process, the guest's: one pointer for each path; NULL: not known
 */
struct profile_key {
	enum profile_class class;
	const char	*function;
	const char	*module;
	const char	*comm;
	pid_t		pid;
	pid_t		ns_pid;
	const char	*cgroup;
};

/**
 * struct profile_row - a row of a table, see tables__rows()
 * @sums: by column
 * @samples: its time in periods, set by profile_rows__sort()
 */
struct profile_row {
	struct profile_key key;
	u64		sums[PROFILE_MAX_COLUMNS];
	u64		samples;
};

/**
 * struct profile - the time of one level: the host, a guest, a vCPU
 * @totals: sums of all rows, by column
 * @classes: ns, sums by class
 */
struct profile {
	u64		totals[PROFILE_MAX_COLUMNS];
	u64		classes[PROFILE_NR_CLASSES];
};

void profile__add(struct profile *p, enum profile_class class, u32 column, u64 sum);
static inline bool profile_class__is_taken(enum profile_class class)
{
	return class >= PROFILE_STEAL && class <= PROFILE_BLOCKED;
}

double percent_of(u64 part, u64 whole);
double profile__percent(const struct profile *p, u64 time);
u64 profile__samples(u64 time, u64 period);
int profile_rows__sort(struct profile_row *rows, size_t nr, u64 period);
struct profile_key profile_key__reduce(const struct profile_key *key, unsigned int sort);
const char *profile_key__class_row(const struct profile_key *key);
const char *profile_class__name(enum profile_class class);

#endif /* __PERF_KVM_UNIFIED_REPORT_PROFILE_H */
