// SPDX-License-Identifier: GPL-2.0
/*
 * Sums of time while intervals come in: as many as there are different things that time
 * was spent on. What these are called is found out when all is known.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "kvm-unified/lib/hash-map.h"
#include "tally.h"

/* 1 KiB each */
#define PIECE_HITS	64

static size_t entry__hash(long key, void *ctx __maybe_unused)
{
	u64 words[sizeof(struct axis_what) / sizeof(u64)];
	u64 hash = 0;

	memcpy(words, (const void *)key, sizeof(words));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		hash = hash_64(hash ^ words[i], 32);
	return hash;
}

static bool is_same(const struct axis_what *a, const struct axis_what *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static bool entry__equal(long a, long b, void *ctx __maybe_unused)
{
	return is_same((const struct axis_what *)a, (const struct axis_what *)b);
}

/* 0 or -ENOMEM */
int tally__init(struct tally *tally)
{
	*tally = (struct tally) { .others = hash_map__new(entry__hash, entry__equal, NULL) };
	return tally->others ? 0 : -ENOMEM;
}

static void tally_entry__delete(struct tally_entry *entry)
{
	if (entry)
		free(entry->counts);
	free(entry);
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
			tally_entry__delete(entry->pvalue);
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

/* Adds time that a sample's hit alone describes. 0 or -ENOMEM */
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

static struct tally_entry *tally__new_entry(struct tally *tally, const struct axis_what *key)
{
	struct tally_entry *entry = zalloc(sizeof(*entry));

	if (!entry)
		return NULL;
	entry->key = *key;
	if (!hashmap__add(tally->others, &entry->key, entry))
		return entry;
	tally_entry__delete(entry);
	return NULL;
}

/* The sum of a column that is no time: only entries that need one have room. NULL: no memory */
static struct tally_sum *tally_entry__findnew_sum(struct tally_entry *entry, u32 column)
{
	if (column == PROFILE_TIME)
		return &entry->time;
	if (!entry->counts)
		entry->counts = calloc(PROFILE_MAX_COLUMNS, sizeof(*entry->counts));
	return entry->counts ? &entry->counts[column] : NULL;
}

/* Adds time with @key, whose kind is below TALLY_KINDS. 0 or -ENOMEM */
int tally__add(struct tally *tally, const struct axis_what *key, u32 column, u64 sum)
{
	struct tally_entry **last = &tally->last[key->kind];
	struct tally_sum *sums;

	if (!*last || !is_same(&(*last)->key, key)) {
		struct tally_entry *entry;

		if (!hashmap__find(tally->others, key, &entry))
			entry = tally__new_entry(tally, key);
		if (!entry)
			return -ENOMEM;
		*last = entry;
	}
	sums = tally_entry__findnew_sum(*last, column);
	if (!sums)
		return -ENOMEM;
	sums->sum += sum;
	sums->nr++;
	return 0;
}

/* NULL: nothing of it was added */
const struct tally_sum *tally_entry__sum(const struct tally_entry *entry, u32 column)
{
	if (column == PROFILE_TIME)
		return &entry->time;
	return entry->counts ? &entry->counts[column] : NULL;
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

		time->all += entry->time.sum;
		if (entry->key.kind == kind)
			time->part += entry->time.sum;
	}
}
