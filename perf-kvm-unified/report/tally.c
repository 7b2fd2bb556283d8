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

/* 1 KiB each */
#define PIECE_HITS	64

static size_t entry__hash(long _key, void *ctx __maybe_unused)
{
	const struct tally_key *key = (const struct tally_key *)_key;
	const u64 words[] = {
		(u64)key->vcpu << 32 | key->task, (u64)key->hit << 32 | key->shared,
		(u64)key->kind << 32 | (u32)key->why, key->exit_reason,
	};
	u64 hash = 0;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		hash = hash_64(hash ^ words[i], 32);
	return hash;
}

static bool entry__equal(long _a, long _b, void *ctx __maybe_unused)
{
	const struct tally_key *a = (const struct tally_key *)_a;
	const struct tally_key *b = (const struct tally_key *)_b;

	return a->kind == b->kind && a->hit == b->hit && a->vcpu == b->vcpu &&
	       a->task == b->task && a->shared == b->shared && a->isa == b->isa &&
	       a->exit_reason == b->exit_reason && a->why == b->why && a->woken == b->woken &&
	       a->vmm_works == b->vmm_works;
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

static void hit_sums__exit(struct hit_sums *hits)
{
	for (size_t i = 0; i < hits->nr_pieces; i++)
		free(hits->pieces[i]);
	free(hits->pieces);
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
		hit_sums__exit(&tally->hits[i]);
	*tally = (struct tally) { };
}

/* For @hit, and for as many pieces again as there are. 0 or -ENOMEM */
static int hit_sums__make_room(struct hit_sums *hits, u32 hit)
{
	size_t nr = max((size_t)hit / PIECE_HITS + 1, hits->nr_pieces * 2);
	struct tally_sum **pieces = reallocarray(hits->pieces, nr, sizeof(*pieces));

	if (!pieces)
		return -ENOMEM;
	memset(pieces + hits->nr_pieces, 0, (nr - hits->nr_pieces) * sizeof(*pieces));
	hits->pieces = pieces;
	hits->nr_pieces = nr;
	return 0;
}

/* The sum with the lowest number from *@hit on, which becomes its number; NULL: no more */
struct tally_sum *hit_sums__next(const struct hit_sums *hits, u32 *hit)
{
	for (; *hit / PIECE_HITS < hits->nr_pieces; ++*hit) {
		struct tally_sum *piece = hits->pieces[*hit / PIECE_HITS];

		if (!piece)
			*hit |= PIECE_HITS - 1;
		else if (piece[*hit % PIECE_HITS].sum)
			return &piece[*hit % PIECE_HITS];
	}
	return NULL;
}

/* Of what a sample's hit says all of. 0 or -ENOMEM */
int tally__add_hit(struct tally *tally, u32 hit, u32 column, u64 sum)
{
	struct hit_sums *hits = &tally->hits[column];
	struct tally_sum **piece;

	if (hit / PIECE_HITS >= hits->nr_pieces && hit_sums__make_room(hits, hit))
		return -ENOMEM;
	piece = &hits->pieces[hit / PIECE_HITS];
	if (!*piece)
		*piece = calloc(PIECE_HITS, sizeof(**piece));
	if (!*piece)
		return -ENOMEM;
	(*piece)[hit % PIECE_HITS].sum += sum;
	(*piece)[hit % PIECE_HITS].nr++;
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
	entry->sums[column].sum += sum;
	entry->sums[column].nr++;
	return 0;
}

/* All of its time, and what is of @kind */
void tally__add_part(const struct tally *tally, u32 kind, struct time_share *time)
{
	const struct tally_sum *sum;
	struct hashmap_entry *it;
	size_t bkt;

	for (u32 hit = 0; (sum = hit_sums__next(&tally->hits[PROFILE_TIME], &hit)); hit++)
		time->all += sum->sum;
	hashmap__for_each_entry(tally->others, it, bkt) {
		const struct tally_entry *entry = it->pvalue;

		time->all += entry->sums[PROFILE_TIME].sum;
		if (entry->key.kind == kind)
			time->part += entry->sums[PROFILE_TIME].sum;
	}
}
