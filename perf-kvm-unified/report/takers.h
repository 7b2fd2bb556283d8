/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_TAKERS_H
#define __PERF_KVM_UNIFIED_REPORT_TAKERS_H

#include <stdbool.h>
#include <linux/types.h>

struct measurement;
struct patterns;
struct thief_sum;
struct vcpu_interval;

/*
 * So many are kept of a part of the time. Who has had more than the 64th part of it is
 * among them.
 */
#define TAKERS_MAX	64

/* Which of its members of struct vcpu_interval tells who had the CPU */
enum taker_kind {
	TAKER_UNKNOWN,
	TAKER_TASK,
	TAKER_VCPU,
	TAKER_SHARED,
};

/**
 * struct taker - who had a CPU that a vCPU waited for, as the axis has it
 * @ns: how long, of which it may be that @foreign ns were of others that are not kept
 * @who: by @kind
 * @name: as @who, but of the tasks of a name, the first one
 * @self: the vCPU, its index; of several, one of them
 * @woken: as in struct vcpu_interval
 * @own: it is the vCPU itself, or its thread
 * @by_name: @name is that of a task which belongs to no VM
 * @several: more than one of @name, @who being one of them
 */
struct taker {
	u64	ns;
	u64	foreign;
	u32	who;
	u32	name;
	u32	self;
	u32	kind:2;
	u32	woken:1;
	u32	own:1;
	u32	by_name:1;
	u32	several:1;
};

/**
 * struct takers - those of a part of the time
 * @ns: of all of them
 * @joined: there have been so many that those of a name are one entry
 */
struct takers {
	struct taker	*entries;
	u32		nr;
	u32		allocated;
	u64		ns;
	bool		joined;
};

struct taker taker__of(const struct measurement *m, u32 self,
		       const struct vcpu_interval *interval);

void takers__exit(struct takers *takers);
void takers__clear(struct takers *takers);
int takers__add(struct takers *takers, const struct taker *taker, u64 ns);
int takers__top(const struct takers *takers, const struct measurement *m, bool exact,
		struct thief_sum *top);
bool takers__are_all_kept(const struct takers *takers);
bool takers__are_joined(const struct takers *takers);
int takers__of(const struct takers *takers, const struct measurement *m, struct patterns *only,
	       struct thief_sum *sum, u64 *seen);

#endif /* __PERF_KVM_UNIFIED_REPORT_TAKERS_H */
