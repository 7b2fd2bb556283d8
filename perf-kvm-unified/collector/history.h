/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_HISTORY_H
#define __PERF_KVM_UNIFIED_COLLECTOR_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

#include "kvm-unified/collector/bpf_skel/guest_tasks.h"
#include "kvm-unified/format/spaces.h"

struct guest_tasks;

/**
 * struct guest_task_event - a process came, changed or went
 * @time: ns of CLOCK_BOOTTIME
 * @pt_root: that it runs on from now on, as in struct guest_task; not of an exit
 * @pid: thread group
 * @ns_pid: the same in its own pid namespace, 0: no other
 * @shared: of a fork: the parent has the same address space, as with vfork()
 */
struct guest_task_event {
	u64	time;
	u64	pt_root;
	pid_t	pid;
	pid_t	ns_pid;
	enum guest_task_event_kind kind;
	bool	shared;
};

/**
 * struct guest_history - what happened to the processes of a guest
 * @events: in any order
 */
struct guest_history {
	struct guest_task_event *events;
	size_t	nr;
	size_t	allocated;
};

int guest_history__add(struct guest_history *history, const struct guest_task_event *event);
int guest_history__spaces(struct guest_history *history, const struct guest_tasks *tasks,
			  struct guest_spaces *spaces);
void guest_history__exit(struct guest_history *history);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_HISTORY_H */
