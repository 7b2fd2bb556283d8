// SPDX-License-Identifier: GPL-2.0
/*
 * Where records are missing.
 */
#include <linux/kernel.h>

#include "kvm-unified/lib/sort.h"
#include "gaps.h"

static int gap__cmp(const void *_a, const void *_b)
{
	const struct axis_gap *a = _a, *b = _b;

	return sort_cmp(a->cpu, b->cpu) ?:
	       sort_cmp(a->from, b->from) ?:
	       sort_cmp(a->until, b->until) ?:
	       sort_cmp(a->samples_only, b->samples_only) ?:
	       sort_cmp(a->silent, b->silent);
}

void axis_gaps__sort(struct axis_gaps *gaps)
{
	sort_array(gaps->entries, gaps->nr, sizeof(*gaps->entries), gap__cmp);
	for (size_t i = 0; i < gaps->nr; i++) {
		struct axis_gap *gap = &gaps->entries[i];

		gap->reach = gap->until;
		if (i && gap[-1].cpu == gap->cpu)
			gap->reach = max(gap->reach, gap[-1].reach);
	}
}

/* Is there a CPU that is not recorded, from @start to before @end? */
bool axis_gaps__is_silent(const struct axis_gaps *gaps, u64 start, u64 end)
{
	for (size_t i = 0; i < gaps->nr; i++) {
		const struct axis_gap *gap = &gaps->entries[i];

		if (gap->silent && gap->from < end && gap->until > start)
			return true;
	}
	return false;
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
