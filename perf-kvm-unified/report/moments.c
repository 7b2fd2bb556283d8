// SPDX-License-Identifier: GPL-2.0
/*
 * What is told of parts of the time, and of single waits: what has to be known of the
 * measurement for it, before it is summed up and after that.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#include "util/session.h"
#include "kvm-unified/lib/patterns.h"
#include "kvm-unified/measure/measurement.h"
#include "moments.h"
#include "thieves.h"
#include "times.h"

/* Seconds since the start */
double moments__since(const struct moments *moments, u64 time)
{
	/* The first sample stands for the period before it. */
	return time > moments->zero ? (double)(time - moments->zero) / NSEC_PER_SEC : 0;
}

/**
 * moments__begin - when the axis has begun
 * @interval: ns, or 0: not asked for
 *
 * Can be called again. Where there is a problem, what comes is not of use any more, and no more
 * is read.
 */
void moments__begin(struct moments *moments, const struct measurement *m, u64 interval)
{
	if (moments->begun)
		return;
	moments->begun = true;
	if (interval && interval < m->period) {
		session_done = 1;
		scnprintf(moments->problem, sizeof(moments->problem),
			  "--interval: there is a sample each %.3f ms, and nothing can be told of less.",
			  (double)m->period / NSEC_PER_MSEC);
	}
	moments->zero = measurement__zero(m);
	moments->over_time.interval = interval;
	moments->over_time.zero = moments->zero;
}

/* As over_time__add(). What is too much is a problem. 0 or -ENOMEM */
int moments__add(struct moments *moments, const struct time_piece *piece)
{
	int ret = moments->problem[0] ? 0 : over_time__add(&moments->over_time, piece);

	if (ret != -E2BIG)
		return ret;
	session_done = 1;
	scnprintf(moments->problem, sizeof(moments->problem),
		  "--interval: these are more than %u intervals of VMs: take a longer one, or a part with --time or --vm.",
		  OVER_TIME_MAX);
	return 0;
}

/* Is there a task that the pattern stands for, by its last name or by its pid? */
static bool is_task(const struct measurement *m, const struct pattern *pattern)
{
	/* Whether it has had anything is another question: the pattern is not marked. */
	struct pattern copy = *pattern;
	struct patterns only = {
		.entries = &copy,
		.nr = 1,
		.nr_globs = pattern__is_glob(copy.text),
	};

	for (u32 i = 0; i < m->nr_tasks; i++) {
		const struct thief thief = thief__of_task(m->tasks[i]);

		if (thief__is_of(m, &thief, &only, /*several=*/false))
			return true;
	}
	return false;
}

/*
 * May those who are asked for have had more than is known of them? Then it is not known either
 * whether there is anything of those of whom nothing is. Of tasks that are told by their name
 * alone, that is what they were called then. @are_tasks: of each of them, is_task()
 */
static bool are_more(const struct takers *takers, struct patterns *thieves, const bool *are_tasks)
{
	bool all = takers__are_all_kept(takers), joined = takers__are_joined(takers);
	bool more = false;

	for (size_t i = 0; i < thieves->nr; i++) {
		if (all && !(joined && are_tasks[i]))
			continue;
		thieves->entries[i].matched = true;
		more = true;
	}
	return more;
}

/* @thieves: who is asked for; NULL: who had most. 0 or -ENOMEM */
static int name_thief(struct over_time *over, struct time_part *part, const struct measurement *m,
		      struct patterns *thieves, const bool *are_tasks)
{
	struct thief_sum sum = { };
	int ret = 0;

	part->thief_at_least = thieves && are_more(&part->takers, thieves, are_tasks);
	over->some_not_kept |= part->thief_at_least;
	if (part->takers.nr && thieves)
		ret = takers__of(&part->takers, m, thieves, &sum, &part->thief_seen);
	else if (part->takers.nr)
		ret = takers__top(&part->takers, m, /*exact=*/false, &sum);
	part->thief = sum.owner;
	part->thief_ns = sum.ns;
	return ret;
}

static int name_thieves(struct over_time *over, const struct measurement *m,
			struct patterns *thieves)
{
	bool *are_tasks = thieves ? calloc(thieves->nr, sizeof(*are_tasks)) : NULL;
	int ret = thieves && !are_tasks ? -ENOMEM : 0;

	for (size_t i = 0; !ret && thieves && i < thieves->nr; i++)
		are_tasks[i] = is_task(m, &thieves->entries[i]);
	for (u32 vm = 0; vm < over->nr_vms; vm++) {
		for (size_t i = 0; !ret && i < over->vms[vm].nr; i++)
			ret = name_thief(over, &over->vms[vm].parts[i], m, thieves, are_tasks);
	}
	free(are_tasks);
	return ret;
}

/**
 * moments__finish - when the axis is at its end
 * @thieves: of whom it is to be told what they have had; NULL: of who had most
 *
 * 0 or -ENOMEM; the caller ends @moments in any case.
 */
int moments__finish(struct moments *moments, const struct measurement *m, u64 interval,
		    struct patterns *thieves)
{
	int ret;

	moments__begin(moments, m, interval);
	ret = stalls__finish(&moments->stalls);
	return ret ?: name_thieves(&moments->over_time, m, thieves);
}

void moments__exit(struct moments *moments)
{
	over_time__exit(&moments->over_time);
	stalls__exit(&moments->stalls);
}
