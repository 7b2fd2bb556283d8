// SPDX-License-Identifier: GPL-2.0
/*
 * A profile: samples counted by what they hit. No session, no I/O.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "util/hashmap.h"
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

	return a->class == b->class && a->pid == b->pid &&
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
	struct hashmap_entry *entry;
	size_t bkt;

	if (!p->rows)
		return;
	hashmap__for_each_entry(p->rows, entry, bkt)
		row__delete(entry->pvalue);
	hashmap__free(p->rows);
	p->rows = NULL;
}

/* Counts @samples for the row of @key, which is added if need be. 0 or -ENOMEM */
int profile__add(struct profile *p, const struct profile_key *key, u64 samples)
{
	struct profile_row *row;

	if (!samples)
		return 0;

	if (!hashmap__find(p->rows, key, &row)) {
		row = row__new(key);
		if (!row)
			return -ENOMEM;
		if (hashmap__add(p->rows, &row->key, row)) {
			row__delete(row);
			return -ENOMEM;
		}
	}
	row->samples += samples;
	p->total += samples;
	p->classes[key->class] += samples;
	return 0;
}

/* Most samples first, and the same order for the same profile */
static int row__cmp(const void *_a, const void *_b)
{
	const struct profile_row *a = *(const struct profile_row **)_a;
	const struct profile_row *b = *(const struct profile_row **)_b;
	int ret;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	ret = strcmp(a->key.function, b->key.function);
	if (!ret)
		ret = strcmp(a->key.module, b->key.module);
	if (!ret)
		ret = a->key.pid < b->key.pid ? -1 : a->key.pid > b->key.pid;
	return ret;
}

/* The rows, to be freed as an array; they stay the profile's. NULL: no memory */
struct profile_row **profile__sorted(const struct profile *p, size_t *nr)
{
	struct profile_row **rows;
	struct hashmap_entry *entry;
	size_t bkt, i = 0;

	/* One more: an empty profile is not an error */
	rows = calloc(hashmap__size(p->rows) + 1, sizeof(*rows));
	if (!rows)
		return NULL;
	hashmap__for_each_entry(p->rows, entry, bkt)
		rows[i++] = entry->pvalue;
	qsort(rows, i, sizeof(*rows), row__cmp);
	*nr = i;
	return rows;
}

double profile__percent(const struct profile *p, u64 samples)
{
	return p->total ? 100.0 * samples / p->total : 0;
}

/**
 * profile__blank - the samples that a vCPU has not got
 * @duration_ns: of the measurement
 * @period_ns: between two samples of a CPU that is never without one
 * @seen: samples of the vCPU in the guest
 *
 * Never less than 0: a period that is only an average may give more samples
 * than there is time for.
 */
u64 profile__blank(u64 duration_ns, u64 period_ns, u64 seen)
{
	u64 whole = period_ns ? (duration_ns + period_ns / 2) / period_ns : 0;

	return whole > seen ? whole - seen : 0;
}
