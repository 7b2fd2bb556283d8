/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_THIEVES_H
#define __PERF_KVM_UNIFIED_REPORT_THIEVES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "kvm-unified/format/vms.h"

struct axis_vcpu;
struct hashmap;
struct measured_task;
struct measurement;
struct patterns;
struct vcpu_interval;

enum thief_kind {
	THIEF_VM,	/* another VM */
	THIEF_VCPU,	/* another vCPU of the same VM */
	THIEF_VMM,	/* another thread that works for the same VM */
	THIEF_TASK,	/* any other task of the host */
	THIEF_WAKING,	/* none: the vCPU was woken up on an idle CPU */
	THIEF_QUOTA,	/* none: the CPU was idle all the same */
	THIEF_SWITCHING, /* none: the vCPU has the CPU again already */
	THIEF_UNKNOWN,
};

/**
 * struct thief - who had a CPU that a vCPU wanted
 * @vm: whose it is, number of the VM, or TIME_AXIS_NONE
 * @vcpu: which vCPU it is, its index, or TIME_AXIS_NONE
 * @task: the task, or NULL: not known, or a vCPU
 */
struct thief {
	enum thief_kind	kind;
	u32		vm;
	u32		vcpu;
	const struct measured_task *task;
};

/**
 * struct thieves - how many tasks of the same name there are among thieves
 * @by_comm: by their names
 */
struct thieves {
	struct hashmap	*by_comm;
	struct hashmap	*seen;
};

/* Long enough for thief__owner_name(), and for thief__name() */
#define THIEF_OWNER_LEN	(KVM_VM_NAME_LEN + 32)
#define THIEF_NAME_LEN	(KVM_VM_NAME_LEN + 160)

/* So many tasks of one name are told apart. */
#define THIEF_MAX_TASKS		8

/**
 * struct thief_task - what was stolen by one task
 * @next: another one of that name, or NULL
 */
struct thief_task {
	const struct measured_task *task;
	u64		ns;
	struct thief_task *next;
};

/**
 * struct thief_sum - what was stolen by those of one name
 * @owner: the name, as from thief__owner_name()
 * @task: the first task of that name, or NULL: no other task of the host
 * @several: there was more than one
 * @nr_vms: of sums of several VMs: so many were stolen from, the last one is @last_vm
 * @all: all of them, in any order
 * @tasks: of several, those with most ns, most first, @nr_tasks of them, as
 *	thief_sums__sorted() has them
 * @nr_more: @more_ns: how many more there are, and what they have
 */
struct thief_sum {
	char		*owner;
	u64		ns;
	const struct measured_task *task;
	bool		several;
	u32		nr_vms;
	u32		last_vm;
	struct thief_task *all;
	struct thief_task *tasks;
	u32		nr_tasks;
	u32		nr_more;
	u64		more_ns;
};

/**
 * struct thief_sums - what was stolen, by whom
 * @by_owner: struct thief_sum by what thief__owner_name() says
 * @by_task: struct thief_task, which has one name alone
 */
struct thief_sums {
	struct hashmap	*by_owner;
	struct hashmap	*by_task;
};

/**
 * struct vm_cgroups - which cgroups are VMs'
 * @by_path: the number of the VM all of whose process's threads are in it, or TIME_AXIS_NONE:
 *	another VM is, too
 */
struct vm_cgroups {
	struct hashmap	*by_path;
};

int vm_cgroups__init(struct vm_cgroups *cgroups, const struct measurement *m);
int vm_cgroups__set(struct vm_cgroups *cgroups, char *const *paths, u32 nr);
u32 vm_cgroups__find(const struct vm_cgroups *cgroups, const char *path);
void vm_cgroups__exit(struct vm_cgroups *cgroups);
void cgroup_path__cut(char *path, const char *other);

int thief_sums__init(struct thief_sums *sums);
void thief_sums__exit(struct thief_sums *sums);
int thief_sums__add(struct thief_sums *sums, const char *owner,
		    const struct measured_task *task, u64 ns);
int thief_sums__add_from(struct thief_sums *sums, u32 vm, const char *owner,
			 const struct measured_task *task, u64 ns);
int thief_sums__sorted(const struct thief_sums *sums, struct thief_sum **sorted, size_t *nr);
int thief_sums__top(const struct thief_sums *sums, struct thief_sum *top);
void thief_sums__free(struct thief_sum *sorted, size_t nr);

int thieves__init(struct thieves *thieves);
void thieves__exit(struct thieves *thieves);
int thieves__add(struct thieves *thieves, const struct thief *thief);

struct thief thief__of_task(const struct measured_task *task);
struct thief thief__find(const struct measurement *m, const struct axis_vcpu *self,
			 const struct vcpu_interval *interval);
void thief__name(const struct measurement *m, const struct thief *thief,
		 const struct thieves *thieves, char *name, size_t size);
const char *measured_task__cgroup(const struct measurement *m, const struct measured_task *task);
u32 measured_task__helped_vm(const struct measurement *m, const struct measured_task *task,
			     const struct vm_cgroups *cgroups);
const char *thief_sum__name(const struct measurement *m, const struct thief_sum *sum, char *buf,
			    size_t size);
bool thief__is_of(const struct measurement *m, const struct thief *thief,
		  struct patterns *patterns, bool several);
void thief__owner_name(const struct measurement *m, const struct thief *thief, char *name,
		       size_t size);
void thief__owner_of_any(const struct measurement *m, const struct thief *thief, char *name,
			 size_t size);

#endif /* __PERF_KVM_UNIFIED_REPORT_THIEVES_H */
