/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_COLLECTORS_H
#define __PERF_KVM_UNIFIED_RECORD_COLLECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/list.h>

struct kvm_vm;
struct kvm_vms;
struct patterns;

/**
 * struct collectors - what runs in guests for their maps
 * @cmds: the commands, of struct guest_cmd
 * @timeout: seconds to wait for each guest
 * @deadline: ... and for all of them together, 0: by default
 * @jobs: how many are asked at the same time
 * @selected: only these VMs are recorded: no others are asked that have no command of their
 *	own; NULL: all of them
 * @nr_at_start: VMs that ran then; those after them in the table came later
 * @list: one for each guest that has a command, of struct collector
 */
struct collectors {
	struct list_head cmds;
	unsigned int	 timeout;
	unsigned int	 deadline;
	unsigned int	 jobs;
	struct patterns	 *selected;
	size_t		 nr_at_start;
	struct list_head list;
};

void collectors__init(struct collectors *collectors);
void collectors__exit(struct collectors *collectors);

bool collectors__leave_to_memory(const struct collectors *collectors, const struct kvm_vm *vm);
int collectors__check(struct collectors *collectors, struct kvm_vms *vms);
int collectors__start(struct collectors *collectors, const char *dir);
void collectors__fetch(struct collectors *collectors, struct kvm_vms *vms, const char *dir);
void collectors__cancel(struct collectors *collectors, const char *dir);

#endif /* __PERF_KVM_UNIFIED_RECORD_COLLECTORS_H */
