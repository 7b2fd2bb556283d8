// SPDX-License-Identifier: GPL-2.0
/*
 * A profile: time, by what it was spent on. No session, no I/O.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "util/hashmap.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/sort.h"
#include "profile.h"

static size_t row__hash(long key, void *ctx __maybe_unused)
{
	const struct profile_key *k = (const struct profile_key *)key;

	return str_hash(k->function) ^ (str_hash(k->module) * 31) ^ (k->pid * 1021UL) ^ k->class;
}

static bool row__equal(long key1, long key2, void *ctx __maybe_unused)
{
	const struct profile_key *a = (const struct profile_key *)key1;
	const struct profile_key *b = (const struct profile_key *)key2;

	return a->class == b->class && a->pid == b->pid && a->ns_pid == b->ns_pid &&
	       !strcmp(a->function, b->function) && !strcmp(a->module, b->module) &&
	       !strcmp(a->comm, b->comm);
}

int profile__init(struct profile *p)
{
	memset(p, 0, sizeof(*p));
	p->rows = hashmap__new(row__hash, row__equal, NULL);
	if (IS_ERR(p->rows)) {
		p->rows = NULL;
		return -ENOMEM;
	}
	return 0;
}

static void row__delete(struct profile_row *row)
{
	free((void *)row->key.function);
	free((void *)row->key.module);
	free((void *)row->key.comm);
	free(row);
}

static struct profile_row *row__new(const struct profile_key *key)
{
	struct profile_row *row = zalloc(sizeof(*row));

	if (!row)
		return NULL;

	row->key = *key;
	row->key.function = strdup(key->function);
	row->key.module = strdup(key->module);
	row->key.comm = strdup(key->comm);
	if (!row->key.function || !row->key.module || !row->key.comm) {
		row__delete(row);
		return NULL;
	}
	return row;
}

void profile__exit(struct profile *p)
{
	for (u32 i = 0; i < p->nr; i++)
		row__delete(p->by_idx[i]);
	zfree(&p->by_idx);
	hashmap__free(p->rows);
	p->rows = NULL;
}

/* The row of @key, which is added if need be, or NULL: no memory */
struct profile_row *profile__findnew(struct profile *p, const struct profile_key *key)
{
	struct profile_row *row;

	if (hashmap__find(p->rows, key, &row))
		return row;

	if (grow_array(p->by_idx, p->nr, p->allocated))
		return NULL;
	row = row__new(key);
	if (!row)
		return NULL;
	if (hashmap__add(p->rows, &row->key, row)) {
		row__delete(row);
		return NULL;
	}
	row->idx = p->nr;
	p->by_idx[p->nr++] = row;
	return row;
}

/* Adds to a column of the row of @key; to its class, if it is time. 0 or -ENOMEM */
int profile__add(struct profile *p, const struct profile_key *key, u32 column, u64 sum)
{
	struct profile_row *row;

	if (!sum)
		return 0;

	row = profile__findnew(p, key);
	if (!row)
		return -ENOMEM;
	row->sums[column] += sum;
	p->totals[column] += sum;
	if (column == PROFILE_TIME)
		p->classes[key->class] += sum;
	return 0;
}

/* Most time first, and the same order for the same profile */
static int row__cmp(const void *_a, const void *_b)
{
	const struct profile_row *a = *(const struct profile_row **)_a;
	const struct profile_row *b = *(const struct profile_row **)_b;
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

/* What is left of a row's time when its whole samples are taken out */
static u64 row__remainder(const struct profile_row *row, u64 period)
{
	return row->sums[PROFILE_TIME] - row->samples * period;
}

/*
 * Rounds the rows so that they add up to the rounded total: those that miss least
 * to one more sample get it. @rows has most time first, and then most samples, too.
 */
static int round_rows(struct profile_row **rows, u32 nr, u64 total, u64 period)
{
	u64 missing = profile__samples(total, period), limit = 0;
	u64 *remainders;

	if (!period || !nr)
		return 0;

	remainders = calloc(nr, sizeof(*remainders));
	if (!remainders)
		return -ENOMEM;
	for (u32 i = 0; i < nr; i++) {
		rows[i]->samples = rows[i]->sums[PROFILE_TIME] / period;
		missing -= rows[i]->samples;
		remainders[i] = row__remainder(rows[i], period);
	}
	sort_array(remainders, nr, sizeof(*remainders), sort_cmp_u64);
	if (missing)
		limit = remainders[nr - min_t(u64, missing, nr)];
	free(remainders);

	/* Those above the limit, and then as many of those at it as are needed */
	for (u32 i = 0; i < nr && missing; i++) {
		if (row__remainder(rows[i], period) > limit) {
			rows[i]->samples++;
			missing--;
		}
	}
	for (u32 i = 0; i < nr && missing; i++) {
		if (rows[i]->samples * period <= rows[i]->sums[PROFILE_TIME] &&
		    row__remainder(rows[i], period) == limit) {
			rows[i]->samples++;
			missing--;
		}
	}
	return 0;
}

/**
 * profile__sorted - the rows, most time first
 * @period: ns that a sample stands for
 *
 * Sets the rows' samples, so that they add up to those of all the time in rows.
 * The array is to be freed, the rows stay the profile's. NULL: no memory
 */
struct profile_row **profile__sorted(const struct profile *p, u64 period, size_t *nr)
{
	struct profile_row **rows;
	u64 total = 0;

	/* One more: an empty profile is not an error */
	rows = calloc(p->nr + 1, sizeof(*rows));
	if (!rows)
		return NULL;
	if (p->nr) {
		memcpy(rows, p->by_idx, p->nr * sizeof(*rows));
		qsort(rows, p->nr, sizeof(*rows), row__cmp);
	}
	for (u32 i = 0; i < p->nr; i++)
		total += rows[i]->sums[PROFILE_TIME];
	if (round_rows(rows, p->nr, total, period)) {
		free(rows);
		return NULL;
	}
	*nr = p->nr;
	return rows;
}

double profile__percent(const struct profile *p, u64 time)
{
	return p->totals[PROFILE_TIME] ? 100.0 * time / p->totals[PROFILE_TIME] : 0;
}

/* What a row is called that says no more than its class */
const char *profile_key__class_row(const struct profile_key *key)
{
	switch (key->class) {
	case PROFILE_IDLE:	return "[idle]";
	case PROFILE_HOST:	return "[host]";
	case PROFILE_STEAL:	return "[steal]";
	case PROFILE_LOST:	return "[lost]";
	case PROFILE_UNKNOWN:	return "[unknown]";
	case PROFILE_VM:	return key->function;	/* which VM */
	case PROFILE_OS:	return "[kernel]";
	case PROFILE_USER:	return "[user]";
	case PROFILE_NR_CLASSES:
	default:		return "";
	}
}

const char *profile_class__name(enum profile_class class)
{
	static const char *const names[PROFILE_NR_CLASSES] = {
		[PROFILE_OS]		= "OS",
		[PROFILE_USER]		= "USER",
		[PROFILE_IDLE]		= "IDLE",
		[PROFILE_VM]		= "VM",
		[PROFILE_HOST]		= "HOST",
		[PROFILE_STEAL]		= "steal",
		[PROFILE_LOST]		= "lost",
		[PROFILE_UNKNOWN]	= "unknown",
	};

	return names[class];
}
