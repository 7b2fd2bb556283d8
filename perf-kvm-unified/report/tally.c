// SPDX-License-Identifier: GPL-2.0
/*
 * Sums of time while intervals come in: as many as there are different things that time
 * was spent on. What these are called is found out when all is known.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "util/hashmap.h"
#include "tally.h"

/* For so many hits more than the one that is new there is room at once. */
#define MORE_HITS	1024

static size_t entry__hash(long _key, void *ctx __maybe_unused)
{
	const struct tally_key *key = (const struct tally_key *)_key;
	u64 hash = ((u64)key->vcpu << 32 | key->task) ^ hash_64(key->exit_reason, 64);

	hash = hash_64(hash, 64) ^ ((u64)key->hit << 32 | key->shared);
	return hash_64(hash, 64) ^ ((u64)key->kind << 32 | (u32)key->why);
}

static bool entry__equal(long _a, long _b, void *ctx __maybe_unused)
{
	const struct tally_key *a = (const struct tally_key *)_a;
	const struct tally_key *b = (const struct tally_key *)_b;

	return a->kind == b->kind && a->hit == b->hit && a->vcpu == b->vcpu &&
	       a->task == b->task && a->shared == b->shared && a->isa == b->isa &&
	       a->exit_reason == b->exit_reason && a->why == b->why && a->woken == b->woken;
}

/* 0 or -ENOMEM */
int tally__init(struct tally *tally)
{
	*tally = (struct tally) { .others = hashmap__new(entry__hash, entry__equal, NULL) };
	if (!IS_ERR(tally->others))
		return 0;
	tally->others = NULL;
	return -ENOMEM;
}

void tally__exit(struct tally *tally)
{
	struct hashmap_entry *entry;
	size_t bkt;

	if (tally->others) {
		hashmap__for_each_entry(tally->others, entry, bkt)
			free(entry->pvalue);
	}
	hashmap__free(tally->others);
	for (u32 i = 0; i < PROFILE_MAX_COLUMNS; i++)
		free(tally->hits[i].sums);
	*tally = (struct tally) { };
}

/* Of what a sample's hit says all of. 0 or -ENOMEM */
int tally__add_hit(struct tally *tally, u32 hit, u32 column, u64 sum)
{
	struct hit_sums *hits = &tally->hits[column];

	if (hit >= hits->nr) {
		size_t nr = (size_t)hit + 1 + MORE_HITS;
		u64 *sums = reallocarray(hits->sums, nr, sizeof(*sums));

		if (!sums)
			return -ENOMEM;
		memset(sums + hits->nr, 0, (nr - hits->nr) * sizeof(*sums));
		hits->sums = sums;
		hits->nr = nr;
	}
	hits->sums[hit] += sum;
	return 0;
}

/* Of what @key says. 0 or -ENOMEM */
int tally__add(struct tally *tally, const struct tally_key *key, u32 column, u64 sum)
{
	struct tally_entry *entry;

	if (!hashmap__find(tally->others, key, &entry)) {
		entry = zalloc(sizeof(*entry));
		if (!entry)
			return -ENOMEM;
		entry->key = *key;
		if (hashmap__add(tally->others, &entry->key, entry)) {
			free(entry);
			return -ENOMEM;
		}
	}
	entry->sums[column] += sum;
	return 0;
}
