// SPDX-License-Identifier: GPL-2.0
/*
 * Whose the windows are that have no sample: in proportion to those that have some.
 * Each step takes log n: a CPU may have been switched among many tasks, many times.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <linux/err.h>
#include <linux/rbtree.h>
#include <linux/zalloc.h>

#include "util/hashmap.h"
#include "kvm-unified/lib/number-map.h"
#include "shares.h"

/*
 * The samples of @task in windows of a group, the time that they stand for, and the time
 * that @task has been given so far
 */
struct share {
	struct rb_node	node;
	struct share	*next;
	u64		nr;
	u64		part;
	u64		time;
	u32		task;
};

/*
 * The windows that begin with a switch to the same task: their samples and their time.
 * @by_lack is filled when the first window is to be given away.
 */
struct share_group {
	struct share	*shares;
	u64		nr;
	u64		time;
	struct rb_root_cached by_lack;
	bool		has_tree;
};

/* 0 or -ENOMEM; shares__exit() in any case */
int shares__init(struct shares *s)
{
	s->groups = number_map__new();
	s->shares = number_map__new();
	if (IS_ERR(s->groups))
		s->groups = NULL;
	if (IS_ERR(s->shares))
		s->shares = NULL;
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
		hashmap__for_each_entry(s->groups, entry, bkt)
			free(entry->pvalue);
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

/* A sample of @task in such a window, which gives it @time ns. 0 or -ENOMEM */
int shares__add_sample(struct shares *s, u32 first, u32 task, u64 time)
{
	const long key = (long)((u64)first << 32 | task);
	struct share_group *group;
	struct share *share;

	if (!hashmap__find(s->shares, key, &share)) {
		group = shares__findnew_group(s, first);
		share = group ? zalloc(sizeof(*share)) : NULL;
		if (!share)
			return -ENOMEM;
		if (hashmap__add(s->shares, key, share)) {
			free(share);
			return -ENOMEM;
		}
		share->task = task;
		share->next = group->shares;
		group->shares = share;
	}
	share->nr++;
	share->time += time;
	return 0;
}

/*
 * Does @a lack more of its part than @b does? Who has more than that lacks less than none.
 * Of those that lack the same, it is the first one.
 */
static bool share__lacks_more(struct rb_node *_a, const struct rb_node *_b)
{
	const struct share *a = rb_entry(_a, struct share, node);
	const struct share *b = rb_entry(_b, struct share, node);
	bool a_lacks = a->part >= a->time, b_lacks = b->part >= b->time;
	/* Differences of the same sign have the right order as u64; a s64 may not hold them. */
	u64 lack_a = a->part - a->time, lack_b = b->part - b->time;

	if (a_lacks != b_lacks)
		return a_lacks;
	return lack_a == lack_b ? a->task < b->task : lack_a > lack_b;
}

static void share_group__make_tree(struct share_group *group)
{
	u64 each = group->time / group->nr;

	group->by_lack = RB_ROOT_CACHED;
	for (struct share *share = group->shares; share; share = share->next) {
		share->part = each * share->nr;
		rb_add_cached(&share->node, &group->by_lack, share__lacks_more);
	}
	group->has_tree = true;
}

/**
 * shares__pick - give a window away that has no sample
 * @first: the task that was switched to when it began
 * @time: its length, ns
 *
 * When all that have samples have been added. Returns the task that lacks most of what
 * its samples say it had; @first, if there are no samples at all.
 */
u32 shares__pick(struct shares *s, u32 first, u64 time)
{
	struct share_group *group;
	struct share *share;

	if (!hashmap__find(s->groups, (long)first, &group) || !group->shares)
		return first;
	if (!group->has_tree)
		share_group__make_tree(group);
	share = rb_entry(rb_first_cached(&group->by_lack), struct share, node);
	rb_erase_cached(&share->node, &group->by_lack);
	share->time += time;
	rb_add_cached(&share->node, &group->by_lack, share__lacks_more);
	return share->task;
}
