/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_SHARES_H
#define __PERF_KVM_UNIFIED_AXIS_SHARES_H

#include <linux/types.h>

struct hashmap;

/*
 * What has no sample was shorter than the period, mostly, but several tasks may have had
 * the CPU, and the one that was switched to need not be the one that had it for long: it
 * may have done no more than wake up another. So such windows are shared among the tasks
 * that samples have seen in windows that begin with the same task, in proportion to the
 * samples: these hit a task as often as it has the CPU.
 */

/**
 * struct shares - who had the windows of a CPU that samples have seen
 * @groups: by the task that was switched to when a window began
 * @shares: by that task and another, that a sample has seen in such a window
 */
struct shares {
	struct hashmap *groups;
	struct hashmap *shares;
};

/* @time ns are @task's. What is not 0 ends the sharing, and is returned. */
typedef int (*share_cb)(u32 task, u64 time, void *arg);

int shares__init(struct shares *s);
void shares__exit(struct shares *s);
int shares__add_window(struct shares *s, u32 first, u64 nr_samples, u64 time);
int shares__add_samples(struct shares *s, u32 first, u32 task, u64 nr, u64 time);
void shares__weigh(struct shares *s);
int shares__split(const struct shares *s, u32 first, u64 time, share_cb cb, void *arg);

#endif /* __PERF_KVM_UNIFIED_AXIS_SHARES_H */
