// SPDX-License-Identifier: GPL-2.0
/*
 * Where records are missing.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/kernel.h>

#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/sort.h"
#include "gaps.h"

void axis_gaps__exit(struct axis_gaps *gaps)
{
	free(gaps->entries);
	free(gaps->silent);
	*gaps = (struct axis_gaps) { };
}

/* One that is not empty. 0 or -ENOMEM */
int axis_gaps__add(struct axis_gaps *gaps, const struct axis_gap *gap)
{
	if (grow_array(gaps->entries, gaps->nr, gaps->allocated) ||
	    (gap->silent && grow_array(gaps->silent, gaps->nr_silent, gaps->allocated_silent)))
		return -ENOMEM;
	gaps->entries[gaps->nr++] = *gap;
	if (gap->silent)
		gaps->silent[gaps->nr_silent++] = *gap;
	gaps->unsorted = true;
	return 0;
}

static int gap__cmp(const void *_a, const void *_b)
{
	const struct axis_gap *a = _a, *b = _b;

	return sort_cmp(a->cpu, b->cpu) ?:
	       sort_cmp(a->from, b->from) ?:
	       sort_cmp(a->until, b->until) ?:
	       sort_cmp(a->samples_only, b->samples_only) ?:
	       sort_cmp(a->silent, b->silent);
}

static int silent__cmp(const void *_a, const void *_b)
{
	const struct axis_gap *a = _a, *b = _b;

	return sort_cmp(a->from, b->from) ?:
	       sort_cmp(a->until, b->until);
}

/* Sorts the gaps, after some have been added. */
void axis_gaps__sort(struct axis_gaps *gaps)
{
	if (!gaps->unsorted)
		return;
	gaps->unsorted = false;
	sort_array(gaps->entries, gaps->nr, sizeof(*gaps->entries), gap__cmp);
	for (size_t i = 0; i < gaps->nr; i++) {
		struct axis_gap *gap = &gaps->entries[i];

		gap->reach = gap->until;
		if (i && gap[-1].cpu == gap->cpu)
			gap->reach = max(gap->reach, gap[-1].reach);
	}
	sort_array(gaps->silent, gaps->nr_silent, sizeof(*gaps->silent), silent__cmp);
	for (size_t i = 0; i < gaps->nr_silent; i++) {
		struct axis_gap *gap = &gaps->silent[i];

		gap->reach = i ? max(gap->until, gap[-1].reach) : gap->until;
	}
}

/* Keeps those of @nr gaps that end at @time or later. Returns their number. */
static size_t keep_until(struct axis_gap *gaps, size_t nr, u64 time)
{
	size_t kept = 0;

	/* None that goes has reached further than one that stays. */
	for (size_t i = 0; i < nr; i++) {
		if (gaps[i].until >= time)
			gaps[kept++] = gaps[i];
	}
	return kept;
}

/* Forgets what ends before @time: nobody will ask for it. */
void axis_gaps__forget(struct axis_gaps *gaps, u64 time)
{
	gaps->nr = keep_until(gaps->entries, gaps->nr, time);
	gaps->nr_silent = keep_until(gaps->silent, gaps->nr_silent, time);
}

static bool silent__is_before(const void *gap, const void *time)
{
	return ((const struct axis_gap *)gap)->reach <= *(const u64 *)time;
}

/* Is there a CPU that is not recorded, from @start to before @end? @gaps: sorted */
bool axis_gaps__is_silent(const struct axis_gaps *gaps, u64 start, u64 end)
{
	/* The first that reaches past @start ends there itself, and begins before the rest. */
	size_t i = sort_find(gaps->silent, gaps->nr_silent, sizeof(*gaps->silent), &start,
			     silent__is_before);

	return i < gaps->nr_silent && gaps->silent[i].from < end;
}

/* What a gap is compared with */
struct gap_key {
	u64	start;
	u32	cpu;
};

static bool gap__is_before(const void *_gap, const void *_key)
{
	const struct axis_gap *gap = _gap;
	const struct gap_key *key = _key;

	return gap->cpu == key->cpu ? gap->reach <= key->start : gap->cpu < key->cpu;
}

/**
 * axis_gaps__next - the gaps of a CPU in a stretch of time, one after the other
 * @gaps: sorted
 * @prev: the one before, or NULL
 *
 * The next one of @cpu that has a part from @start to before @end, or NULL.
 */
const struct axis_gap *axis_gaps__next(const struct axis_gaps *gaps, const struct axis_gap *prev,
				       u32 cpu, u64 start, u64 end)
{
	const struct gap_key key = { .start = start, .cpu = cpu };
	size_t i;

	if (prev)
		i = prev + 1 - gaps->entries;
	else
		i = sort_find(gaps->entries, gaps->nr, sizeof(*gaps->entries), &key,
			      gap__is_before);
	for (; i < gaps->nr; i++) {
		const struct axis_gap *gap = &gaps->entries[i];

		if (gap->cpu != cpu || gap->from >= end)
			break;
		if (gap->until > start)
			return gap;
	}
	return NULL;
}
