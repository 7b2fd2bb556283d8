/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_LIVES_H
#define __PERF_KVM_UNIFIED_MEMORY_LIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "kvm-unified/collector/tasks.h"
#include "maps.h"

struct hashmap;

/**
 * struct guest_life - a process of the guest, from one execve() to the next
 * @task: as it was seen last; start_ns and pt_root never change
 * @from: @until: the time that it surely had its address space; @until is ~0 as long as it is
 *	there. ns of the guest's CLOCK_BOOTTIME
 * @first: it was there when the guest was looked at first
 * @seen: the number of the look that it was seen in last, and @seen_at its time
 * @codes: all that it has mapped of code, one piece instead of another before it
 */
struct guest_life {
	struct guest_task task;
	u64	from;
	u64	until;
	bool	first;
	u32	seen;
	u64	seen_at;
	struct guest_codes codes;
};

/**
 * struct guest_moment - a look, on the guest's clock
 * @time: when it began
 * @mm_ctx: of the youngest address space that there was then: the kernel numbers them
 */
struct guest_moment {
	u64	time;
	u64	mm_ctx;
};

/**
 * struct guest_lives - all processes of the guest that any look has seen
 * @open: of a pid: 1 + the index of that which is there
 * @late: what is to be named has been before the first look
 * @complete: the last look has seen all that there was
 * @looks: how many there were
 * @last: the time of the last
 * @moments: of looks, by time
 * @nr_unread: processes of the last look whose address space could not be read
 * @nr_dropped: processes that there was no room for
 */
struct guest_lives {
	struct guest_life *entries;
	size_t	nr;
	size_t	allocated;
	size_t	nr_codes;
	struct hashmap *open;
	bool	late;
	bool	complete;
	u32	looks;
	u64	last;
	struct guest_moment *moments;
	size_t	nr_moments;
	size_t	moments_allocated;
	u64	nr_unread;
	u64	nr_dropped;
};

int guest_lives__begin_look(struct guest_lives *lives, u64 now, u64 mm_ctx);
int guest_lives__see(struct guest_lives *lives, const struct guest_task *task, u64 mm_ctx,
		     u64 now, struct guest_codes *codes);
u64 guest_life__until(const struct guest_lives *lives, const struct guest_life *life);
void guest_lives__end_look(struct guest_lives *lives, bool complete);
void guest_lives__exit(struct guest_lives *lives);

#endif /* __PERF_KVM_UNIFIED_MEMORY_LIVES_H */
