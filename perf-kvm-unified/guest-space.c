// SPDX-License-Identifier: GPL-2.0
/*
 * Which process of a guest owned a CR3, and when: a table and a search, nothing
 * else.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "axis-sort.h"
#include "guest-space.h"

/*
 * CR3 with 4- or 5-level paging: Intel SDM volume 3, "Use of CR3 with 4-Level
 * Paging and 5-level Paging", AMD APM volume 2, "CR3 Register". Bits 51:12 are
 * the address of the top page table; below it are the PCID or PWT and PCD,
 * above it LAM's two bits and, when written, "keep the TLB".
 */
#define CR3_ADDR_MASK		GENMASK_ULL(51, 12)

/*
 * With page table isolation, the kernel lets the table for user mode follow the
 * one for kernel mode, both aligned to their common size:
 * PTI_USER_PGTABLE_BIT in arch/x86/include/asm/processor-flags.h
 */
#define CR3_PTI_USER_TABLE	BIT_ULL(12)

/*
 * So many owners of a root are looked at, from the latest on. Those that were
 * there at one time are next to each other, and there are hardly ever two.
 */
#define MAX_LOOKS		64

u64 guest_cr3__pt_root(u64 cr3)
{
	return cr3 & CR3_ADDR_MASK;
}

/*
 * Returns 0 or -ENOMEM. An entry without a root, a pid or a time names nothing: 0.
 */
int guest_spaces__add(struct guest_spaces *spaces, const struct guest_space *space)
{
	struct guest_space *entry;

	if (!guest_cr3__pt_root(space->pt_root) || space->pid < 0 || space->from >= space->until)
		return 0;

	if (spaces->nr == spaces->allocated) {
		size_t allocated = spaces->allocated ? spaces->allocated * 2 : 256;
		void *entries = realloc(spaces->entries,
					allocated * sizeof(*spaces->entries));

		if (!entries)
			return -ENOMEM;
		spaces->entries = entries;
		spaces->allocated = allocated;
	}

	entry = &spaces->entries[spaces->nr++];
	*entry = *space;
	entry->pt_root = guest_cr3__pt_root(space->pt_root);
	spaces->sorted = false;
	return 0;
}

/* By root, then by time; the parent before the child that vfork() gave it to */
static int guest_space__cmp(const void *_a, const void *_b)
{
	const struct guest_space *a = _a, *b = _b;

	return axis_cmp(a->pt_root, b->pt_root) ?: axis_cmp(a->from, b->from) ?:
	       axis_cmp(a->pid, b->pid);
}

/* 0 or -ENOMEM */
static int guest_spaces__sort(struct guest_spaces *spaces)
{
	u64 *last_until;

	if (spaces->sorted || !spaces->nr)
		return 0;

	last_until = reallocarray(spaces->last_until, spaces->nr, sizeof(*last_until));
	if (!last_until)
		return -ENOMEM;
	spaces->last_until = last_until;

	axis_sort(spaces->entries, spaces->nr, sizeof(*spaces->entries), guest_space__cmp);
	for (size_t i = 0; i < spaces->nr; i++) {
		const struct guest_space *space = &spaces->entries[i];

		last_until[i] = space->until;
		if (i && space[-1].pt_root == space->pt_root)
			last_until[i] = max(last_until[i], last_until[i - 1]);
	}
	spaces->sorted = true;
	return 0;
}

/* Is @_entry one of a lower root, or one of the same that begins at that time or before? */
static bool guest_space__begins_by(const void *_entry, const void *_key)
{
	const struct guest_space *entry = _entry, *key = _key;

	return entry->pt_root < key->pt_root ||
	       (entry->pt_root == key->pt_root && entry->from <= key->from);
}

/*
 * The owner of a root at @time. Of several, which share it, the one that had it
 * first. Without a time it has to be one process, or several that share it now.
 */
static const struct guest_space *find_owner(const struct guest_spaces *spaces, u64 pt_root,
					    u64 time, bool *ambiguous)
{
	const struct guest_space key = { .pt_root = pt_root, .from = time }, *owner = NULL;
	size_t i = axis_find(spaces->entries, spaces->nr, sizeof(key), &key,
			     guest_space__begins_by);

	for (int looks = 0; i--; looks++) {
		const struct guest_space *space = &spaces->entries[i];

		if (space->pt_root != pt_root)
			break;
		if (time != GUEST_TIME_NONE && spaces->last_until[i] <= time)
			break;
		if (looks == MAX_LOOKS) {
			*ambiguous = true;
			return NULL;
		}
		if (time != GUEST_TIME_NONE && space->until <= time)
			continue;
		if (owner && owner->pid != space->pid) {
			*ambiguous = true;
			if (time == GUEST_TIME_NONE &&
			    (owner->until != GUEST_TIME_NONE || space->until != GUEST_TIME_NONE))
				return NULL;
		}
		owner = space;
	}
	return owner;
}

/**
 * guest_spaces__find - the process that runs with @cr3
 * @cr3: as the CPU held it, all bits
 * @time: when, in ns of the guest's CLOCK_BOOTTIME, or GUEST_TIME_NONE
 * @ambiguous: whether there was more than one
 *
 * Returns the process that owns the address space at that time, the parent if
 * several share it, or NULL if none has it or it cannot be told which.
 */
const struct guest_space *guest_spaces__find(struct guest_spaces *spaces, u64 cr3, u64 time,
					     bool *ambiguous)
{
	u64 pt_root = guest_cr3__pt_root(cr3);

	*ambiguous = false;
	if (guest_spaces__sort(spaces))
		return NULL;
	/* Without isolation the bit is part of the address. */
	if (spaces->pti)
		pt_root &= ~CR3_PTI_USER_TABLE;
	return find_owner(spaces, pt_root, time, ambiguous);
}

void guest_spaces__exit(struct guest_spaces *spaces)
{
	zfree(&spaces->entries);
	zfree(&spaces->last_until);
	spaces->nr = 0;
	spaces->allocated = 0;
}
