// SPDX-License-Identifier: GPL-2.0
/*
 * Which process of a guest owns a CR3: a table and a search, nothing else.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

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

u64 guest_cr3__pt_root(u64 cr3)
{
	return cr3 & CR3_ADDR_MASK;
}

/* Returns 0 or -ENOMEM. An entry without a root or a pid names nothing: 0. */
int guest_spaces__add(struct guest_spaces *spaces, u64 pt_root, pid_t pid)
{
	pt_root = guest_cr3__pt_root(pt_root);
	if (!pt_root || pid < 0)
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

	spaces->entries[spaces->nr++] = (struct guest_space) {
		.pt_root = pt_root,
		.pid = pid,
	};
	spaces->sorted = false;
	return 0;
}

/* By root, then by pid: the parent before the child that vfork() gave it to */
static int guest_space__cmp(const void *_a, const void *_b)
{
	const struct guest_space *a = _a, *b = _b;

	if (a->pt_root != b->pt_root)
		return a->pt_root < b->pt_root ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static const struct guest_space *find_root(const struct guest_spaces *spaces, u64 pt_root)
{
	size_t low = 0, high = spaces->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (spaces->entries[mid].pt_root < pt_root)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == spaces->nr || spaces->entries[low].pt_root != pt_root)
		return NULL;
	return &spaces->entries[low];
}

/**
 * guest_spaces__find - the process that runs with @cr3
 * @cr3: as the CPU held it, all bits
 *
 * Returns the one with the lowest pid if several share the address space, or
 * NULL if none has it.
 */
const struct guest_space *guest_spaces__find(struct guest_spaces *spaces, u64 cr3)
{
	u64 pt_root = guest_cr3__pt_root(cr3);
	const struct guest_space *space;

	if (!spaces->sorted && spaces->nr) {
		qsort(spaces->entries, spaces->nr, sizeof(*spaces->entries),
		      guest_space__cmp);
		spaces->sorted = true;
	}

	space = find_root(spaces, pt_root);
	/* Without isolation the bit is part of the address, so only then */
	if (!space && (pt_root & CR3_PTI_USER_TABLE))
		space = find_root(spaces, pt_root & ~CR3_PTI_USER_TABLE);

	return space;
}

void guest_spaces__exit(struct guest_spaces *spaces)
{
	zfree(&spaces->entries);
	spaces->nr = 0;
	spaces->allocated = 0;
}
