/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_CURRENT_H
#define __PERF_KVM_UNIFIED_MEMORY_CURRENT_H

#include <linux/types.h>

struct guest_kernel;

/* KVM_MAX_VCPUS of a distribution's kernel */
#define GUEST_CURRENT_MAX_CPUS	1024U

/**
 * struct guest_current_cpu - a CPU of a guest
 * @gpa: guest-physical address of the pointer to the task that runs there
 * @apic_id: its initial APIC ID, which is KVM's number of the vCPU
 */
struct guest_current_cpu {
	u64	gpa;
	u32	apic_id;
};

/**
 * struct guest_current - how to find the task that runs on a guest's CPU
 * @page_offset: virtual address of physical 0 in the direct map
 * @task_mm: @task_ids: @task_comm: @mm_pgd: offsets of members in their structs, bytes; pid and
 *	tgid are next to each other
 * @cpus: @nr_cpus of them, each vCPU once
 */
struct guest_current {
	u64	page_offset;
	u32	task_mm;
	u32	task_ids;
	u32	task_comm;
	u32	mm_pgd;
	u32	nr_cpus;
	struct guest_current_cpu cpus[GUEST_CURRENT_MAX_CPUS];
};

int guest_current__find(struct guest_current *current, struct guest_kernel *k);

#endif /* __PERF_KVM_UNIFIED_MEMORY_CURRENT_H */
