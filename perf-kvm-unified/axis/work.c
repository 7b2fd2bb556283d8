// SPDX-License-Identifier: GPL-2.0
/*
 * When the host worked for a VM, apart from the threads of its vCPUs.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/kernel.h>

#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/sort.h"
#include "runs.h"
#include "work.h"

/* A sample at @time, of a thread that works for @vm. 0 or -ENOMEM */
int axis_work__add(struct axis_work *work, u32 vm, u64 time)
{
	struct vm_work *times;

	while (work->nr_vms <= vm) {
		if (grow_array(work->vms, work->nr_vms, work->allocated_vms))
			return -ENOMEM;
		work->vms[work->nr_vms++] = (struct vm_work) { };
	}
	times = &work->vms[vm];
	if (queue_len(times) && *queue_last(times) > time)
		times->unsorted = true;
	return queue_add(times, &time);
}

static int time__cmp(const void *a, const void *b)
{
	return sort_cmp(*(const u64 *)a, *(const u64 *)b);
}

/* Puts into order what has come since the last time. 0 or -ENOMEM */
int axis_work__sort(struct axis_work *work)
{
	int ret = 0;

	for (u32 vm = 0; !ret && vm < work->nr_vms; vm++) {
		struct vm_work *times = &work->vms[vm];

		if (times->unsorted)
			ret = sort_runs(queue_first(times), queue_len(times),
					sizeof(u64), time__cmp);
		times->unsorted = false;
	}
	return ret;
}

/**
 * axis_work__find - the first work that ends after a time
 * @period: ns that a sample stands for, half of it before the sample
 *
 * false: there is none, as far as it is known.
 */
bool axis_work__find(const struct axis_work *work, u32 vm, u64 period, u64 time,
		     struct work_piece *piece)
{
	u64 before = period / 2, behind = period - before;
	const struct vm_work *times;
	size_t from = 0, until;

	if (vm >= work->nr_vms)
		return false;
	times = &work->vms[vm];
	until = queue_len(times);
	while (from < until) {
		size_t middle = from + (until - from) / 2;

		if (queue_first(times)[middle] + behind > time)
			until = middle;
		else
			from = middle + 1;
	}
	if (from == queue_len(times))
		return false;
	time = queue_first(times)[from];
	piece->start = time > before ? time - before : 0;
	piece->end = time + behind;
	return true;
}

/* Forgets work before @time: nobody will ask for it. */
void axis_work__forget(struct axis_work *work, u64 time)
{
	for (u32 vm = 0; vm < work->nr_vms; vm++) {
		struct vm_work *times = &work->vms[vm];

		while (queue_len(times) && *queue_first(times) < time)
			queue_drop(times, 1);
	}
}

void axis_work__exit(struct axis_work *work)
{
	for (u32 vm = 0; vm < work->nr_vms; vm++)
		free(work->vms[vm].entries);
	free(work->vms);
	*work = (struct axis_work) { };
}
