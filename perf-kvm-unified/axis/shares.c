// SPDX-License-Identifier: GPL-2.0
/*
 * Whose the windows are that have no sample: in proportion to those that have some.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "util/hashmap.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/number-map.h"
#include "kvm-unified/lib/sort.h"
#include "shares.h"

/* A sum of weights has this many bits at most, so that a product of two of them fits. */
#define WEIGHT_BITS	31

/*
 * The samples of @task in windows of a group, and the time that they stand for there.
 * @weight: what it is to get of the windows without samples, in proportion
 */
struct share {
	u64	nr;
	u64	time;
	u64	weight;
	u32	task;
};

/* The windows that begin with a switch to the same task: their samples and their time */
struct share_group {
	struct share	**shares;
	size_t		nr_shares, allocated_shares;
	u64		nr;
	u64		time;
	u64		weight;
};

/* 0 or -ENOMEM; shares__exit() in any case */
int shares__init(struct shares *s)
{
	s->groups = number_map__new();
	s->shares = number_map__new();
	return s->groups && s->shares ? 0 : -ENOMEM;
}

void shares__exit(struct shares *s)
{
	struct hashmap_entry *entry;
	size_t bkt;

	if (s->shares) {
		hashmap__for_each_entry(s->shares, entry, bkt)
			free(entry->pvalue);
	}
	if (s->groups) {
		hashmap__for_each_entry(s->groups, entry, bkt) {
			struct share_group *group = entry->pvalue;

			free(group->shares);
			free(group);
		}
	}
	hashmap__free(s->shares);
	hashmap__free(s->groups);
	*s = (struct shares) { };
}

static struct share_group *shares__findnew_group(struct shares *s, u32 first)
{
	struct share_group *group;

	if (hashmap__find(s->groups, (long)first, &group))
		return group;
	group = zalloc(sizeof(*group));
	if (group && hashmap__add(s->groups, (long)first, group))
		zfree(&group);
	return group;
}

/* A window of @time ns that began with a switch to @first, with so many samples. 0 or -ENOMEM */
int shares__add_window(struct shares *s, u32 first, u64 nr_samples, u64 time)
{
	struct share_group *group = shares__findnew_group(s, first);

	if (!group)
		return -ENOMEM;
	group->nr += nr_samples;
	group->time += time;
	return 0;
}

static struct share *shares__new(struct shares *s, u32 first, u32 task, long key)
{
	struct share_group *group = shares__findnew_group(s, first);
	struct share *share;

	if (!group || grow_array(group->shares, group->nr_shares, group->allocated_shares))
		return NULL;
	share = zalloc(sizeof(*share));
	if (!share)
		return NULL;
	share->task = task;
	if (hashmap__add(s->shares, key, share)) {
		free(share);
		return NULL;
	}
	group->shares[group->nr_shares++] = share;
	return share;
}

/* @nr samples of @task in such a window, which give it @time ns. 0 or -ENOMEM */
int shares__add_samples(struct shares *s, u32 first, u32 task, u64 nr, u64 time)
{
	const long key = (long)((u64)first << 32 | task);
	struct share *share;

	if (!hashmap__find(s->shares, key, &share)) {
		share = shares__new(s, first, task, key);
		if (!share)
			return -ENOMEM;
	}
	share->nr += nr;
	share->time += time;
	return 0;
}

static int share__cmp(const void *_a, const void *_b)
{
	const struct share *a = *(const struct share **)_a, *b = *(const struct share **)_b;

	return sort_cmp(a->task, b->task);
}

/*
 * A task gets what it lacks: its part of all time is as large as its part of the samples.
 * If none of them lacks anything, each gets some by its samples.
 */
static void share_group__weigh(struct share_group *group)
{
	u64 each = group->time / group->nr, sum = 0;
	unsigned int shift = 0;

	sort_array(group->shares, group->nr_shares, sizeof(*group->shares), share__cmp);
	for (size_t i = 0; i < group->nr_shares; i++) {
		struct share *share = group->shares[i];
		u64 part = each * share->nr;

		share->weight = part > share->time ? part - share->time : 0;
		sum += share->weight;
	}
	for (size_t i = 0; !sum && i < group->nr_shares; i++)
		group->shares[i]->weight = group->shares[i]->nr;
	for (; sum >> shift >> WEIGHT_BITS; shift++)
		;
	for (size_t i = 0; i < group->nr_shares; i++) {
		group->shares[i]->weight >>= shift;
		group->weight += group->shares[i]->weight;
	}
}

/* Finds out what each task is to get, when all windows that have samples have been added. */
void shares__weigh(struct shares *s)
{
	struct hashmap_entry *entry;
	size_t bkt;

	hashmap__for_each_entry(s->groups, entry, bkt) {
		struct share_group *group = entry->pvalue;

		if (group->nr_shares)
			share_group__weigh(group);
	}
}

/* The part of @time that is @weight's of @of; both below 2^WEIGHT_BITS */
static u64 part_of(u64 time, u64 weight, u64 of)
{
	return time / of * weight + time % of * weight / of;
}

/**
 * shares__split - share time of windows that have no sample
 * @first: the task that was switched to when they began
 * @time: ns
 * @cb: gets the tasks and their parts, which add up to @time; none that is 0
 *
 * After shares__weigh(). It is all @first's if there are no samples.
 */
int shares__split(const struct shares *s, u32 first, u64 time, share_cb cb, void *arg)
{
	const struct share_group *group;
	u64 weight = 0, given = 0;
	int ret = 0;

	if (!hashmap__find(s->groups, (long)first, &group) || !group->nr_shares)
		return cb(first, time, arg);
	for (size_t i = 0; !ret && i < group->nr_shares; i++) {
		const struct share *share = group->shares[i];
		u64 until;

		weight += share->weight;
		until = part_of(time, weight, group->weight);
		if (until > given)
			ret = cb(share->task, until - given, arg);
		given = until;
	}
	return ret;
}
