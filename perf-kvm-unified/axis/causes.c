// SPDX-License-Identifier: GPL-2.0
/*
 * Why vCPUs' states have changed: a few causes, over and over, so that a change has the number
 * of its cause only.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <linux/hash.h>

#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/hash-map.h"
#include "causes.h"

static bool cause__is(const struct axis_cause *a, const struct axis_cause *b)
{
	return a->exit_reason == b->exit_reason && a->isa == b->isa && a->why == b->why;
}

static size_t cause__hash(long nr, void *ctx)
{
	const struct axis_causes *causes = ctx;
	const struct axis_cause *cause = axis_causes__at(causes, nr);
	u64 rest = (u64)cause->isa << 32 | (u32)cause->why;

	return hash_64(hash_64(cause->exit_reason, 32) ^ rest, 32);
}

static bool cause__equal(long a, long b, void *ctx)
{
	const struct axis_causes *causes = ctx;

	return cause__is(axis_causes__at(causes, a), axis_causes__at(causes, b));
}

/* 0 or -ENOMEM; axis_causes__exit() comes after it in any case. @causes must stay where it is. */
int axis_causes__init(struct axis_causes *causes)
{
	*causes = (struct axis_causes) { .idx = hash_map__new(cause__hash, cause__equal, causes) };
	return causes->idx ? axis_causes__findnew(causes, &(struct axis_cause) { }) : -ENOMEM;
}

void axis_causes__exit(struct axis_causes *causes)
{
	hashmap__free(causes->idx);
	free(causes->entries);
	*causes = (struct axis_causes) { };
}

/**
 * axis_causes__findnew - the number of @cause, in AXIS_CAUSE_BITS
 *
 * If there are no more numbers: 0, nothing is known. -ENOMEM
 */
int axis_causes__findnew(struct axis_causes *causes, const struct axis_cause *cause)
{
	long nr = causes->nr;

	if (nr && cause__is(axis_causes__at(causes, causes->last), cause))
		return causes->last;
	if (grow_array(causes->entries, causes->nr, causes->allocated))
		return -ENOMEM;
	/* Its number is how it is looked for, whether it is to stay or not. */
	causes->entries[nr] = *cause;
	if (!hashmap__find(causes->idx, nr, &nr)) {
		if (nr >> AXIS_CAUSE_BITS)
			return 0;
		if (hashmap__add(causes->idx, nr, nr))
			return -ENOMEM;
		causes->nr++;
	}
	causes->last = nr;
	return nr;
}
