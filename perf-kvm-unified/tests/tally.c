// SPDX-License-Identifier: GPL-2.0
/*
 * Sums of time by what it was spent on, with literal input.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "util/hashmap.h"
#include "kvm-unified/report/tally.h"
#include "tally.h"

/* Each differs from the first in one member. */
static const struct axis_what keys[] = {
	{ },
	{ .exit_reason = 1ULL << 63 },
	{ .hit = 1 },
	{ .cpu = 1 },
	{ .vcpu = 1 },
	{ .task = 1 },
	{ .shared = 1 },
	{ .why = -1 },
	{ .kind = TALLY_KINDS - 1 },
	{ .isa = 1 },
	{ .woken = true },
	{ .vmm_works = true },
};

/* NULL: there is none */
static const struct tally_entry *find(const struct tally *tally, const struct axis_what *key)
{
	struct tally_entry *entry;

	return hashmap__find(tally->others, key, &entry) ? entry : NULL;
}

/* In turns, so that the last one of a kind is another one each time. 0 or -ENOMEM */
static int add_in_turns(struct tally *tally)
{
	int ret = 0;

	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; !ret && i < ARRAY_SIZE(keys); i++)
			ret = tally__add(tally, &keys[i], PROFILE_TIME, 10 * i + round);
	}
	/* Once more the same: the last one of its kind */
	return ret ?: tally__add(tally, &keys[ARRAY_SIZE(keys) - 1], PROFILE_TIME, 1000);
}

static int check_sums(const struct tally *tally)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const struct tally_entry *entry = find(tally, &keys[i]);
		bool is_last = i == ARRAY_SIZE(keys) - 1;
		const struct tally_sum *time;

		TEST_ASSERT_VAL("an entry for each key", entry);
		time = tally_entry__sum(entry, PROFILE_TIME);
		TEST_ASSERT_VAL("time", time->sum == 20 * i + 1 + (is_last ? 1000 : 0));
		TEST_ASSERT_VAL("how often", time->nr == (is_last ? 3U : 2U));
		TEST_ASSERT_VAL("no counts", !tally_entry__sum(entry, 1));
	}
	return TEST_OK;
}

static int check_counts(struct tally *tally)
{
	const struct tally_entry *entry = find(tally, &keys[0]);

	TEST_ASSERT_VAL("count", tally__add(tally, &keys[0], 1, 7) == 0);
	TEST_ASSERT_VAL("last column",
			tally__add(tally, &keys[0], PROFILE_MAX_COLUMNS - 1, 9) == 0);
	TEST_ASSERT_VAL("a count", tally_entry__sum(entry, 1)->sum == 7U);
	TEST_ASSERT_VAL("none", tally_entry__sum(entry, 2)->sum == 0U);
	TEST_ASSERT_VAL("of the last column",
			tally_entry__sum(entry, PROFILE_MAX_COLUMNS - 1)->sum == 9U);
	TEST_ASSERT_VAL("time as before", tally_entry__sum(entry, PROFILE_TIME)->sum == 1U);
	return TEST_OK;
}

/* What sums of hits and of entries are together, and what of them is of a kind */
static int check_part(struct tally *tally)
{
	struct time_share share = { };
	u32 hit = 0;

	TEST_ASSERT_VAL("hit", tally__add_hit(tally, 1000, PROFILE_TIME, 100000) == 0);
	TEST_ASSERT_VAL("again", tally__add_hit(tally, 1000, PROFILE_TIME, 1) == 0);
	TEST_ASSERT_VAL("the sum",
			hit_sums__next(&tally->hits[PROFILE_TIME], &hit)->sum == 100001U);
	TEST_ASSERT_VAL("its number", hit == 1000U);
	hit++;
	TEST_ASSERT_VAL("no more", !hit_sums__next(&tally->hits[PROFILE_TIME], &hit));
	tally__add_part(tally, TALLY_KINDS - 1, &share);
	TEST_ASSERT_VAL("of the kind", share.part == 2 * 80 + 1U);
	TEST_ASSERT_VAL("all", share.all == 100001 + 20 * 66 + ARRAY_SIZE(keys) + 1000);
	return TEST_OK;
}

/* No member of a key is left out, whichever was added before. */
int test__tally(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct tally tally;
	int ret;

	TEST_ASSERT_VAL("a tally", tally__init(&tally) == 0);
	TEST_ASSERT_VAL("keys", add_in_turns(&tally) == 0);
	TEST_ASSERT_VAL("as many entries as keys", hashmap__size(tally.others) == ARRAY_SIZE(keys));
	ret = check_sums(&tally) ?: check_counts(&tally) ?: check_part(&tally);
	tally__exit(&tally);
	return ret;
}
