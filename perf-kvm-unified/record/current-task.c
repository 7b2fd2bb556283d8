// SPDX-License-Identifier: GPL-2.0
/*
 * What a BPF program has to know of a vCPU to find the task that it runs in the memory of the VMM.
 */
#include <errno.h>
#include <stddef.h>
#include <linux/types.h>

#include "kvm-unified/memory/current.h"
#include "kvm-unified/memory/slots.h"
#include "kvm-unified/record/bpf_skel/current_task.h"
#include "current-task.h"

/* The largest of those slots that are smaller than @than, or as large and after it; or NULL */
static const struct kvm_slot *next_largest(const struct kvm_memory *mem,
					   const struct kvm_slot *than)
{
	const struct kvm_slot *largest = NULL;

	for (size_t i = 0; i < mem->nr_slots; i++) {
		const struct kvm_slot *slot = &mem->slots[i];

		if (than && (slot->size > than->size ||
			     (slot->size == than->size && slot <= than)))
			continue;
		if (!largest || slot->size > largest->size)
			largest = slot;
	}
	return largest;
}

/**
 * current_task__init - describe a guest, of which all vCPUs have this in common
 * @current: of its kernel
 * @mem: of its VMM: what does not fit is left out, the smallest pieces first
 */
void current_task__init(struct current_task *task, const struct guest_current *current,
			const struct kvm_memory *mem)
{
	const struct kvm_slot *slot = NULL;

	*task = (struct current_task) {
		.page_offset = current->page_offset,
		.task_mm = current->task_mm,
		.task_ids = current->task_ids,
		.task_comm = current->task_comm,
		.mm_pgd = current->mm_pgd,
	};
	while (task->nr_slots < CURRENT_TASK_SLOTS) {
		slot = next_largest(mem, slot);
		if (!slot)
			break;
		task->slots[task->nr_slots++] = (struct current_task_slot) {
			.gpa = slot->gpa,
			.size = slot->size,
			.hva = slot->hva,
		};
	}
}

/* Sets where the guest has the vCPU's pointer, at @gpa. 0, or -EFAULT: that is nowhere */
int current_task__set_pointer(struct current_task *task, const struct kvm_memory *mem, u64 gpa)
{
	const struct kvm_slot *slot = kvm_memory__find(mem, gpa);

	if (!slot)
		return -EFAULT;
	task->pointer = slot->hva + (gpa - slot->gpa);
	return 0;
}
