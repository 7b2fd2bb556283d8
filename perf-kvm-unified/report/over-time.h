/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_OVER_TIME_H
#define __PERF_KVM_UNIFIED_REPORT_OVER_TIME_H

#include <stddef.h>
#include <linux/types.h>

#include "profile.h"
#include "takers.h"

/*
 * Intervals of all VMs, and from the first to the last one, so that memory is bounded: 200 VMs
 * have 20 minutes of 1 s.
 */
#define OVER_TIME_MAX	(1U << 18)

/**
 * struct time_part - what the vCPUs of a VM did in an interval
 * @profile: ns by class
 * @takers: who has stolen
 * @thief: who of them most, or of those that are asked for, or NULL, and @thief_ns, how much:
 *	set when all is known
 * @thief_seen: of @thief_ns, what those who are asked for were seen to have: shares of waits
 *	that no sample has seen are of the whole recording, and do not tell when
 * @thief_at_least: they may have had more than @thief_ns
 */
struct time_part {
	struct profile	profile;
	struct takers	takers;
	char		*thief;
	u64		thief_ns;
	u64		thief_seen;
	bool		thief_at_least;
};

/* The intervals of a VM: @parts begin with number @first. */
struct vm_over_time {
	struct time_part *parts;
	u64		first;
	size_t		nr;
	size_t		allocated;
};

/**
 * struct over_time - the time of VMs in intervals of the same length
 * @interval: ns
 * @zero: where number 0 begins; what is before it belongs to it, too
 * @first: @end: those of all VMs are from number @first to before @end; none if both are 0
 * @vms: by number of the VM, @nr_vms of them; one may have none
 * @nr_parts: of all VMs
 * @some_not_kept: of those who are asked for, there may have been more than is told
 */
struct over_time {
	u64		interval;
	u64		zero;
	u64		first;
	u64		end;
	struct vm_over_time *vms;
	u32		nr_vms;
	size_t		nr_parts;
	bool		some_not_kept;
};

/**
 * struct time_piece - some time of a vCPU
 * @vm: of which it is
 * @class: what it did from @start to @end
 * @taker: if that is PROFILE_STEAL, who had the CPU
 */
struct time_piece {
	u32		vm;
	enum profile_class class;
	const struct taker *taker;
	u64		start;
	u64		end;
};

void over_time__exit(struct over_time *over);
int over_time__add(struct over_time *over, const struct time_piece *piece);
const struct time_part *over_time__part(const struct over_time *over, u32 vm, u64 nr);
bool over_time__has(const struct over_time *over, enum profile_class class);

#endif /* __PERF_KVM_UNIFIED_REPORT_OVER_TIME_H */
