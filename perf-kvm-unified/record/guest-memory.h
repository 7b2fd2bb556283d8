/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_GUEST_MEMORY_H
#define __PERF_KVM_UNIFIED_RECORD_GUEST_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/list.h>
#include <linux/types.h>

#include "background.h"

struct collectors;
struct kvm_reader;
struct kvm_vms;
struct looker;

/**
 * struct guest_memory - looks at guests that have no collector
 * @wanted: there are to be such looks, and can be
 * @asked_for: by an option; else by default
 * @callers: there are to be callchains
 * @current_tasks: a BPF program is told where guests have their current tasks
 * @look_seconds: CPU time that a look may take, s
 * @reader: knows where a guest's memory is; NULL: it cannot be known
 * @guests: @nr of struct guest_view; the array stays where it is while there is a thread
 * @reasons: why guests have none, of struct guest_reason
 * @missing: why guests have not all
 * @no_tasks: why the current tasks of guests are not known
 * @rest_until: when the next look at any of them may be, ns
 * @bg: the thread that looks while perf records
 * @lock: of @reasons, between several threads
 */
struct guest_memory {
	bool		  wanted;
	bool		  asked_for;
	bool		  callers;
	bool		  current_tasks;
	unsigned int	  look_seconds;
	struct kvm_reader *reader;
	struct guest_view *guests;
	size_t		  nr;
	size_t		  allocated;
	struct list_head  reasons;
	struct list_head  missing;
	struct list_head  no_tasks;
	u64		  rest_until;
	struct background bg;
	pthread_mutex_t	  lock;
};

void guest_memory__init(struct guest_memory *memory);
int guest_memory__check(const struct guest_memory *memory);
int guest_memory__start(struct guest_memory *memory, const struct collectors *collectors,
			const struct kvm_vms *vms);
void guest_memory__look_on(struct guest_memory *memory);
void guest_memory__look_no_more(struct guest_memory *memory);
void guest_memory__take(struct guest_memory *memory, const struct collectors *collectors,
			struct kvm_vms *vms, const char *dir);
void guest_memory__exit(struct guest_memory *memory);

void looker__say(const struct looker *looker, const char *name);

#endif /* __PERF_KVM_UNIFIED_RECORD_GUEST_MEMORY_H */
