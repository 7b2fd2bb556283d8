// SPDX-License-Identifier: GPL-2.0
/*
 * What a vCPU did, one interval after the other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kvm-unified/lib/queue.h"
#include "intervals.h"

/* Is @b the same as @a, and after it? */
bool vcpu_interval__continues(const struct vcpu_interval *a, const struct vcpu_interval *b)
{
	return a->end == b->start && !memcmp(&a->what, &b->what, sizeof(a->what));
}

/* An interval without length is none. 0 or -ENOMEM */
int vcpu_intervals__add(struct vcpu_intervals *list, const struct vcpu_interval *interval)
{
	if (interval->start >= interval->end)
		return 0;

	if (queue_len(list) && vcpu_interval__continues(queue_last(list), interval)) {
		queue_last(list)->end = interval->end;
		return 0;
	}
	return queue_add(list, interval);
}

void vcpu_intervals__exit(struct vcpu_intervals *list)
{
	free(list->entries);
	*list = (struct vcpu_intervals) { };
}
