// SPDX-License-Identifier: GPL-2.0
/*
 * What a BPF program has to know of a guest to find its current tasks in the memory of the VMM.
 */
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "kvm-unified/memory/current.h"
#include "kvm-unified/memory/slots.h"
#include "kvm-unified/record/bpf_skel/current_tasks.h"
#include "current-tasks.h"

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
 * current_tasks__init - describe a guest
 * @current: of its kernel
 * @mem: of its VMM: what does not fit is left out, the smallest pieces first
 */
void current_tasks__init(struct current_tasks *tasks, const struct guest_current *current,
			 const struct kvm_memory *mem)
{
	const struct kvm_slot *slot = NULL;

	*tasks = (struct current_tasks) {
		.page_offset = current->page_offset,
		.task_mm = current->task_mm,
		.mm_pgd = current->mm_pgd,
	};
	while (tasks->nr_slots < CURRENT_TASKS_SLOTS) {
		slot = next_largest(mem, slot);
		if (!slot)
			break;
		tasks->slots[tasks->nr_slots++] = (struct current_tasks_slot) {
			.gpa = slot->gpa,
			.size = slot->size,
			.hva = slot->hva,
		};
	}
}

/* Where the VMM has the guest's 8 bytes at @gpa, which is aligned to them; 0: nowhere */
u64 current_tasks__pointer(const struct kvm_memory *mem, u64 gpa)
{
	const struct kvm_slot *slot = kvm_memory__find(mem, gpa);

	return slot ? slot->hva + (gpa - slot->gpa) : 0;
}
