/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What kvm-unified/record/bpf-vcpu.c tells vcpu_context.bpf.c of vCPUs, so that it finds in their
 * guest's memory which task they run.
 */
#ifndef __PERF_KVM_UNIFIED_RECORD_CURRENT_TASK_H
#define __PERF_KVM_UNIFIED_RECORD_CURRENT_TASK_H

/* Pieces of a guest's memory, the largest: most guests have two that matter. */
#define CURRENT_TASK_SLOTS	8U

/* vCPUs of all guests together */
#define CURRENT_TASK_VCPUS	16384U

/* A vCPU of a guest, which is called by the VMM's process */
struct current_task_key {
	unsigned int vmm;
	unsigned int vcpu_id;
};

/* A piece of a guest's memory, as struct kvm_slot has it */
struct current_task_slot {
	unsigned long long gpa;
	unsigned long long size;
	unsigned long long hva;
};

/**
 * struct current_task - where the task is that a vCPU runs
 * @pointer: where the VMM has the guest's pointer to it
 * @page_offset: virtual address of physical 0 in the guest's direct map
 * @task_mm: @task_ids: @task_comm: @mm_pgd: offsets of members in its kernel's structs, bytes;
 *	pid and tgid are next to each other
 * @known_task: the task that was seen last with a page table of its own which the CPU had, too, by
 *	@known_cr3; its root is @known_root; 0: none was. Written where the vCPU is loaded
 * @nr_slots: @slots: where its memory is in the VMM
 */
struct current_task {
	unsigned long long pointer;
	unsigned long long page_offset;
	unsigned long long known_task;
	unsigned long long known_cr3;
	unsigned long long known_root;
	unsigned int	   task_mm;
	unsigned int	   task_ids;
	unsigned int	   task_comm;
	unsigned int	   mm_pgd;
	unsigned int	   nr_slots;
	struct current_task_slot slots[CURRENT_TASK_SLOTS];
};

#endif /* __PERF_KVM_UNIFIED_RECORD_CURRENT_TASK_H */
