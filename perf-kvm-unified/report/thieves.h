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

/**
 * struct thief_sum - what was stolen by those of one name
 * @owner: the name, as from thief__owner_name()
 * @task: the only task of that name, or NULL: several, or no other task of the host
 * @several: there was more than one
 */
struct thief_sum {
	char		*owner;
	u64		ns;
	const struct measured_task *task;
	bool		several;
};

/* @by_owner: struct thief_sum by what thief__owner_name() says */
struct thief_sums {
	struct hashmap	*by_owner;
};

int thief_sums__init(struct thief_sums *sums);
void thief_sums__exit(struct thief_sums *sums);
int thief_sums__add(struct thief_sums *sums, const char *owner,
		    const struct measured_task *task, u64 ns);
int thief_sums__sorted(const struct thief_sums *sums, struct thief_sum **sorted, size_t *nr);
int thief_sums__top(const struct thief_sums *sums, struct thief_sum *top);
void thief_sums__free(struct thief_sum *sorted, size_t nr);

int thieves__init(struct thieves *thieves);
void thieves__exit(struct thieves *thieves);
int thieves__add(struct thieves *thieves, const struct thief *thief);

const struct measured_task *thief__task(const struct measurement *m,
					const struct vcpu_interval *interval);
struct thief thief__of_task(const struct measured_task *task);
struct thief thief__find(const struct measurement *m, const struct axis_vcpu *self,
			 const struct vcpu_interval *interval);
void thief__name(const struct measurement *m, const struct thief *thief,
		 const struct thieves *thieves, char *name, size_t size);
const char *measured_task__cgroup(const struct measurement *m, const struct measured_task *task);
const char *thief_sum__name(const struct measurement *m, const struct thief_sum *sum, char *buf,
			    size_t size);
bool thief__is_of(const struct measurement *m, const struct thief *thief,
		  struct patterns *patterns, bool several);
void thief__owner_name(const struct measurement *m, const struct thief *thief, char *name,
		       size_t size);

#endif /* __PERF_KVM_UNIFIED_REPORT_THIEVES_H */
