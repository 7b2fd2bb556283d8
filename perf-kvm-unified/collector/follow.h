/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_FOLLOW_H
#define __PERF_KVM_UNIFIED_COLLECTOR_FOLLOW_H

#include <stddef.h>
#include <linux/types.h>

#include "bpf-programs.h"
#include "modules.h"

union perf_event;
struct guest_follow;
struct guest_history;
struct guest_task_layout;

/* What has happened to code of the guest's kernel since it is followed */
struct guest_kernel_events {
	struct guest_module_events modules;
	struct guest_bpf_events programs;
};

/**
 * guest_follow_cb - gets what perf record would be told of processes
 * @event: a FORK, COMM, MMAP2 or EXIT record without a sample id after it
 * @time: ns of CLOCK_BOOTTIME; hardly ever goes back
 *
 * What it returns, if not 0, ends guest_follow__look().
 */
typedef int (*guest_follow_cb)(union perf_event *event, u64 time, void *arg);

struct guest_follow *guest_follow__start(guest_follow_cb cb, void *arg, char *err, size_t errlen);
int guest_follow__drain(struct guest_follow *follow);
int guest_follow__look(struct guest_follow *follow);
int guest_follow__end(struct guest_follow *follow, const struct guest_task_layout *layout,
		      struct guest_history *history, struct guest_kernel_events *kernel,
		      u64 *nr_lost);
void guest_kernel_events__exit(struct guest_kernel_events *kernel);
void guest_follow__delete(struct guest_follow *follow);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_FOLLOW_H */
