/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_CAUSES_H
#define __PERF_KVM_UNIFIED_AXIS_CAUSES_H

#include <stddef.h>
#include <linux/types.h>

struct hashmap;

/* There are few of them, and a file that is made up may have so many. */
#define AXIS_CAUSE_BITS	23

/**
 * struct axis_cause - why a vCPU's state has changed
 * @exit_reason: @isa: @why: as in struct axis_event
 */
struct axis_cause {
	u64	exit_reason;
	u32	isa;
	s32	why;
};

/**
 * struct axis_causes - all that there were, by number
 * @entries: the first one is that nothing is known
 * @last: the number that was asked for last
 * @idx: their numbers
 */
struct axis_causes {
	struct axis_cause *entries;
	size_t	nr, allocated;
	u32	last;
	struct hashmap *idx;
};

int axis_causes__init(struct axis_causes *causes);
void axis_causes__exit(struct axis_causes *causes);
int axis_causes__findnew(struct axis_causes *causes, const struct axis_cause *cause);

static inline const struct axis_cause *axis_causes__at(const struct axis_causes *causes, u32 nr)
{
	return &causes->entries[nr];
}

#endif /* __PERF_KVM_UNIFIED_AXIS_CAUSES_H */
