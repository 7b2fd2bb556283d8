// SPDX-License-Identifier: GPL-2.0
/*
 * What the rows of a table are made of: what time was spent on, and how much of it. No
 * session, no I/O.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "kvm-unified/lib/sort.h"
#include "profile.h"

/* Adds to a column, and to the class, if it is time. */
void profile__add(struct profile *p, enum profile_class class, u32 column, u64 sum)
{
	p->totals[column] += sum;
	if (column == PROFILE_TIME)
		p->classes[class] += sum;
}

/* Most time first, and the same order for the same profile */
static int row__cmp(const void *_a, const void *_b)
{
	const struct profile_row *a = _a, *b = _b;
	int ret;

	for (u32 i = PROFILE_TIME; i < PROFILE_MAX_COLUMNS; i++) {
		if (a->sums[i] != b->sums[i])
			return a->sums[i] > b->sums[i] ? -1 : 1;
	}
	ret = strcmp(a->key.function, b->key.function);
	if (!ret)
		ret = strcmp(a->key.module, b->key.module);
	if (!ret)
		ret = strcmp(a->key.comm, b->key.comm);
	if (!ret)
		ret = a->key.pid < b->key.pid ? -1 : a->key.pid > b->key.pid;
	return ret;
}

/**
 * profile__samples - @time in samples, rounded
 * @period: ns that a sample stands for; 0 if that is not known, as is the result
 */
u64 profile__samples(u64 time, u64 period)
{
	return period ? time / period + (time % period >= period - period / 2) : 0;
}

/* The rest of a row's time, without its whole samples */
static u64 row__remainder(const struct profile_row *row, u64 period)
{
	return row->sums[PROFILE_TIME] - row->samples * period;
}

/*
 * Rounds the rows so that they add up to the rounded total: those that miss least
 * to one more sample get it. @rows has most time first, and then most samples, too.
 */
static int round_rows(struct profile_row *rows, size_t nr, u64 total, u64 period)
{
	u64 missing = profile__samples(total, period), limit = 0;
	u64 *remainders;

	if (!period || !nr)
		return 0;

	remainders = calloc(nr, sizeof(*remainders));
	if (!remainders)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		rows[i].samples = rows[i].sums[PROFILE_TIME] / period;
		missing -= rows[i].samples;
		remainders[i] = row__remainder(&rows[i], period);
	}
	sort_array(remainders, nr, sizeof(*remainders), sort_cmp_u64);
	if (missing)
		limit = remainders[nr - min_t(u64, missing, nr)];
	free(remainders);

	/* Those above the limit, and then as many of those at it as are needed */
	for (size_t i = 0; i < nr && missing; i++) {
		if (row__remainder(&rows[i], period) > limit) {
			rows[i].samples++;
			missing--;
		}
	}
	for (size_t i = 0; i < nr && missing; i++) {
		if (rows[i].samples * period <= rows[i].sums[PROFILE_TIME] &&
		    row__remainder(&rows[i], period) == limit) {
			rows[i].samples++;
			missing--;
		}
	}
	return 0;
}

/**
 * profile_rows__sort - most time first
 * @period: ns that a sample stands for
 *
 * Sets the rows' samples, so that they add up to those of all the time in rows.
 * 0 or -ENOMEM
 */
int profile_rows__sort(struct profile_row *rows, size_t nr, u64 period)
{
	u64 total = 0;

	sort_array(rows, nr, sizeof(*rows), row__cmp);
	for (size_t i = 0; i < nr; i++)
		total += rows[i].sums[PROFILE_TIME];
	return round_rows(rows, nr, total, period);
}

double percent_of(u64 part, u64 whole)
{
	return whole ? 100.0 * part / whole : 0;
}

double profile__percent(const struct profile *p, u64 time)
{
	return percent_of(time, p->totals[PROFILE_TIME]);
}

/* The name of a row that tells no more than its class */
const char *profile_key__class_row(const struct profile_key *key)
{
	switch (key->class) {
	case PROFILE_IDLE:	return "[idle]";
	case PROFILE_HALT_POLL:	return "[halt-poll]";
	case PROFILE_HOST:	return "[host]";
	case PROFILE_STEAL:	return "[steal]";
	case PROFILE_EXIT:	return "[exit]";
	case PROFILE_VMM:	return "[vmm]";
	case PROFILE_STOPPED:	return "[stopped]";
	case PROFILE_THROTTLED:	return "[throttled]";
	case PROFILE_BLOCKED:	return "[blocked]";
	case PROFILE_LOST:	return "[lost]";
	case PROFILE_UNKNOWN:	return "[unknown]";
	case PROFILE_VM:	return key->function;	/* which VM */
	case PROFILE_OS:	return "[kernel]";
	case PROFILE_USER:	return "[user]";
	case PROFILE_NR_CLASSES:
	default:		return "";
	}
}

/* @key with only what rows are sorted by: PROFILE_SORT_* */
struct profile_key profile_key__reduce(const struct profile_key *key, unsigned int sort)
{
	struct profile_key reduced = *key;

	if (!(sort & PROFILE_SORT_COMM))
		reduced.comm = "";
	if (!(sort & PROFILE_SORT_PID)) {
		reduced.pid = -1;
		reduced.ns_pid = 0;
	}
	if (!(sort & (PROFILE_SORT_PID | PROFILE_SORT_CGROUP)))
		reduced.cgroup = NULL;
	if (!(sort & PROFILE_SORT_DSO))
		reduced.module = "";
	if (!(sort & PROFILE_SORT_SYM)) {
		bool code = key->class == PROFILE_OS || key->class == PROFILE_USER;

		reduced.function = "";
		/* What is no code, or has no name left, is called what it is. */
		if (!code || (!reduced.module[0] && !reduced.comm[0] && reduced.pid < 0))
			reduced.module = profile_key__class_row(key);
	}
	return reduced;
}

const char *profile_class__name(enum profile_class class)
{
	static const char *const names[PROFILE_NR_CLASSES] = {
		[PROFILE_OS]		= "OS",
		[PROFILE_USER]		= "USER",
		[PROFILE_IDLE]		= "IDLE",
		[PROFILE_HALT_POLL]	= "halt-poll",
		[PROFILE_VM]		= "VM",
		[PROFILE_HOST]		= "HOST",
		[PROFILE_STEAL]		= "steal",
		[PROFILE_EXIT]		= "exit",
		[PROFILE_VMM]		= "vmm",
		[PROFILE_STOPPED]	= "stopped",
		[PROFILE_THROTTLED]	= "throttled",
		[PROFILE_BLOCKED]	= "blocked",
		[PROFILE_LOST]		= "lost",
		[PROFILE_UNKNOWN]	= "unknown",
	};

	return names[class];
}
