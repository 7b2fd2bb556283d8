/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What kvm-unified/record/bpf-vcpu.c tells vcpu_context.bpf.c of guests, so that it finds in their
 * memory which task they run.
 */
#ifndef __PERF_KVM_UNIFIED_RECORD_CURRENT_TASKS_H
#define __PERF_KVM_UNIFIED_RECORD_CURRENT_TASKS_H

/* Pieces of a guest's memory, the largest: most guests have two that matter. */
#define CURRENT_TASKS_SLOTS	16U

/* Guests, and vCPUs of all of them */
#define CURRENT_TASKS_GUESTS	4096U
#define CURRENT_TASKS_VCPUS	16384U

/* A piece of a guest's memory, as struct kvm_slot has it */
struct current_tasks_slot {
	unsigned long long gpa;
	unsigned long long size;
	unsigned long long hva;
};

/**
 * struct current_tasks - a guest
 * @page_offset: virtual address of physical 0 in its direct map
 * @task_mm: @mm_pgd: offsets of these members in its kernel's structs, bytes
 * @nr_slots: @slots: where its memory is in the VMM
 */
struct current_tasks {
	unsigned long long page_offset;
	unsigned int	   task_mm;
	unsigned int	   mm_pgd;
	unsigned int	   nr_slots;
	struct current_tasks_slot slots[CURRENT_TASKS_SLOTS];
};

/* A vCPU of a guest, which is called by the VMM's process */
struct current_tasks_vcpu {
	unsigned int vmm;
	unsigned int vcpu_id;
};

#endif /* __PERF_KVM_UNIFIED_RECORD_CURRENT_TASKS_H */
