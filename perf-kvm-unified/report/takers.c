// SPDX-License-Identifier: GPL-2.0
/*
 * Who had the CPUs in a part of the time, as far as that is known while intervals come in, in
 * little memory. Whose time a wait was that no sample has seen comes out at the end alone: until
 * then, it is the wait's that has begun in the same way.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/kernel.h>

#include "kvm-unified/measure/measurement.h"
#include "takers.h"
#include "thieves.h"

#define TAKERS_FIRST	4

/* Who has most is not known: it is not kept. */
#define OTHERS		"many others"

void takers__exit(struct takers *takers)
{
	free(takers->entries);
	*takers = (struct takers) { };
}

/* The memory is for the next ones. */
void takers__clear(struct takers *takers)
{
	takers->nr = 0;
	takers->ns = 0;
	takers->joined = false;
}

/* Who had the CPU in an interval in which vCPU @self was preempted */
struct taker taker__of(const struct measurement *m, u32 self, const struct vcpu_interval *interval)
{
	const struct thief thief = thief__find(m, &m->axis.vcpus[self], interval);
	struct taker taker = {
		.self = self,
		.woken = interval->woken,
		.own = thief.vcpu == self,
		.by_name = interval->shared == TIME_AXIS_NONE && thief.kind == THIEF_TASK &&
			   thief.task->comm[0],
	};

	/* Among whom it is shared says all. */
	if (interval->shared != TIME_AXIS_NONE) {
		taker.kind = TAKER_SHARED;
		taker.who = interval->shared;
	} else if (interval->vcpu != TIME_AXIS_NONE) {
		taker.kind = TAKER_VCPU;
		taker.who = interval->vcpu;
	} else if (interval->task != TIME_AXIS_NONE) {
		taker.kind = TAKER_TASK;
		taker.who = interval->task;
	}
	taker.name = taker.by_name ? thief.task->name : taker.who;
	return taker;
}

static bool taker__is_same(const struct taker *a, const struct taker *b)
{
	return a->kind == b->kind && a->who == b->who && a->woken == b->woken &&
	       a->self == b->self;
}

/* Is it called the same? Who has waited matters only if it is that vCPU itself. */
static bool taker__is_called_same(const struct taker *a, const struct taker *b)
{
	return a->kind == b->kind && a->name == b->name && a->by_name == b->by_name &&
	       a->woken == b->woken && a->own == b->own;
}

static struct taker *takers__find(const struct takers *takers, const struct taker *taker)
{
	for (u32 i = 0; i < takers->nr; i++) {
		struct taker *entry = &takers->entries[i];

		if (takers->joined ? taker__is_called_same(entry, taker) :
				     taker__is_same(entry, taker))
			return entry;
	}
	return NULL;
}

static void taker__join(struct taker *taker, const struct taker *other)
{
	taker->ns += other->ns;
	taker->several |= taker->who != other->who;
}

/* Makes room: takers of one name become one, and stay so. */
static void takers__join(struct takers *takers)
{
	u32 nr = takers->nr;

	takers->joined = true;
	takers->nr = 0;
	for (u32 i = 0; i < nr; i++) {
		struct taker *same = takers__find(takers, &takers->entries[i]);

		if (same)
			taker__join(same, &takers->entries[i]);
		else
			takers->entries[takers->nr++] = takers->entries[i];
	}
}

static struct taker *takers__least(const struct takers *takers)
{
	struct taker *least = takers->entries;

	for (u32 i = 1; i < takers->nr; i++) {
		if (takers->entries[i].ns < least->ns)
			least = &takers->entries[i];
	}
	return least;
}

/*
 * In the place of the one that has least, whose ns it goes on from, so that who comes often is
 * not again and again the least.
 */
static void takers__replace_least(struct takers *takers, const struct taker *taker)
{
	struct taker *least = takers__least(takers);
	u64 foreign = least->ns;

	*least = *taker;
	least->ns += foreign;
	least->foreign = foreign;
}

static int takers__grow(struct takers *takers)
{
	u32 want = takers->allocated ? takers->allocated * 2 : TAKERS_FIRST;
	struct taker *entries = reallocarray(takers->entries, want, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	takers->entries = entries;
	takers->allocated = want;
	return 0;
}

/* @taker: had the CPU for @ns. 0 or -ENOMEM */
int takers__add(struct takers *takers, const struct taker *taker, u64 ns)
{
	struct taker add = *taker, *same;

	add.ns = ns;
	takers->ns += ns;
	same = takers__find(takers, &add);
	if (!same && takers->nr == TAKERS_MAX && !takers->joined) {
		takers__join(takers);
		same = takers__find(takers, &add);
	}
	if (same) {
		taker__join(same, &add);
		return 0;
	}
	if (takers->nr == TAKERS_MAX) {
		takers__replace_least(takers, &add);
		return 0;
	}
	if (takers->nr == takers->allocated && takers__grow(takers))
		return -ENOMEM;
	takers->entries[takers->nr++] = add;
	return 0;
}

/* Sums by name, of the takers one by one */
struct named_takers {
	const struct measurement *m;
	struct thief_sums sums;
	struct thieves	none;		/* that would be told together */
	struct vcpu_interval interval;	/* in which @self waited */
	u32		self;
	bool		exact;
	struct patterns	*only;		/* those of these, by their owners, if not NULL */
	u64		ns;
	u64		shared;		/* ... of which was told apart by shares alone */
	bool		is_share;
	bool		several;	/* ... tasks of @name */
	u32		name;
};

static int add_named(struct named_takers *named, u64 ns)
{
	const struct measurement *m = named->m;
	struct thief thief = thief__find(m, &m->axis.vcpus[named->self], &named->interval);
	struct measured_task any = { };
	char name[THIEF_NAME_LEN];

	/* By the name that they had then: what one of them is called later is not theirs. */
	if (named->several) {
		any.comm = m->names[named->name];
		thief = thief__of_task(&any);
	}
	if (named->only && !thief__is_of(m, &thief, named->only, named->several))
		return 0;
	named->ns += ns;
	named->shared += named->is_share ? ns : 0;
	if (named->exact)
		thief__name(m, &thief, named->several ? NULL : &named->none, name, sizeof(name));
	else
		thief__owner_name(m, &thief, name, sizeof(name));
	return thief_sums__add(&named->sums, name, NULL, ns);
}

static int add_share(u32 task, u64 ns, void *arg)
{
	struct named_takers *named = arg;

	named->interval.task = task;
	return add_named(named, ns);
}

static int takers__name(const struct takers *takers, const struct measurement *m,
			struct named_takers *named)
{
	int ret = 0;

	for (u32 i = 0; !ret && i < takers->nr; i++) {
		const struct taker *taker = &takers->entries[i];
		u64 ns = taker->ns - taker->foreign;

		named->self = taker->self;
		named->several = taker->several;
		named->name = taker->name;
		named->interval = (struct vcpu_interval) {
			.kind = VCPU_TIME_PREEMPTED,
			.vcpu = taker->kind == TAKER_VCPU ? taker->who : TIME_AXIS_NONE,
			.task = taker->kind == TAKER_TASK ? taker->who : TIME_AXIS_NONE,
			.woken = taker->woken,
		};
		named->is_share = taker->kind == TAKER_SHARED;
		if (named->is_share)
			ret = time_axis__share(&m->axis, taker->who, ns, add_share, named);
		else
			ret = add_named(named, ns);
	}
	return ret;
}

/*
 * One that is not kept has had no more than the least that is: if @top has less than that for
 * sure, it is those that are not kept who have most. 0 or -ENOMEM
 */
static int takers__check_top(const struct takers *takers, bool exact, struct thief_sum *top)
{
	u64 foreign = 0;

	for (u32 i = 0; i < takers->nr; i++)
		foreign += takers->entries[i].foreign;
	if (!foreign || top->ns >= takers__least(takers)->ns)
		return 0;
	free(top->owner);
	top->owner = strdup(exact ? "on " OTHERS : OTHERS);
	top->ns = foreign;
	return top->owner ? 0 : -ENOMEM;
}

/* Sums by name. When the axis is at its end. 0 or -ENOMEM; the caller ends @named in any case. */
static int takers__sum_up(const struct takers *takers, const struct measurement *m,
			  struct named_takers *named)
{
	int ret = thief_sums__init(&named->sums);

	if (!ret)
		ret = thieves__init(&named->none);
	return ret ?: takers__name(takers, m, named);
}

static void named_takers__exit(struct named_takers *named)
{
	thieves__exit(&named->none);
	thief_sums__exit(&named->sums);
}

/**
 * takers__top - who had most of it
 * @exact: the thread, and not whose it is
 * @top: gets the name, for free(), or NULL if there is none, and what it has had for sure
 *
 * When the axis is at its end. 0 or -ENOMEM
 */
int takers__top(const struct takers *takers, const struct measurement *m, bool exact,
		struct thief_sum *top)
{
	struct named_takers named = { .m = m, .exact = exact };
	int ret = takers__sum_up(takers, m, &named);

	*top = (struct thief_sum) { };
	if (!ret)
		ret = thief_sums__top(&named.sums, top);
	if (!ret)
		ret = takers__check_top(takers, exact, top);
	named_takers__exit(&named);
	return ret;
}

/* Is there none that another has taken the place of? */
bool takers__are_all_kept(const struct takers *takers)
{
	for (u32 i = 0; i < takers->nr; i++) {
		if (takers->entries[i].foreign)
			return false;
	}
	return true;
}

/* Are there tasks that are told by their name alone? */
bool takers__are_joined(const struct takers *takers)
{
	for (u32 i = 0; i < takers->nr; i++) {
		if (takers->entries[i].several)
			return true;
	}
	return false;
}

/**
 * takers__of - what those have had that are asked for
 * @only: by thief__is_of()
 * @sum: gets what they all have had for sure, and the name of the one with most, for free(), or
 *	NULL if there is none
 * @seen: of that, what they were seen to have: not by their shares of the whole recording
 *
 * When the axis is at its end. 0 or -ENOMEM
 */
int takers__of(const struct takers *takers, const struct measurement *m, struct patterns *only,
	       struct thief_sum *sum, u64 *seen)
{
	struct named_takers named = { .m = m, .only = only };
	int ret = takers__sum_up(takers, m, &named);

	*sum = (struct thief_sum) { };
	if (!ret)
		ret = thief_sums__top(&named.sums, sum);
	if (sum->owner)
		sum->ns = named.ns;
	*seen = named.ns - named.shared;
	named_takers__exit(&named);
	return ret;
}
