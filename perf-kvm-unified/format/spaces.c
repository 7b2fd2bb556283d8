// SPDX-License-Identifier: GPL-2.0
/*
 * Which process of a guest owned a CR3, and when: a table and a search, nothing
 * else.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/sort.h"
#include "kvm-unified/lib/x86.h"
#include "spaces.h"

/*
 * So many owners of a root are looked at. Those that had it at one time are a process
 * and its vfork() children.
 */
#define MAX_LOOKS		64

#define NONE			SIZE_MAX

u64 guest_cr3__pt_root(u64 cr3)
{
	return cr3 & X86_CR3_ADDR;
}

/*
 * Returns 0 or -ENOMEM. An entry without a root, a pid or a time names nothing: 0.
 */
int guest_spaces__add(struct guest_spaces *spaces, const struct guest_space *space)
{
	struct guest_space *entry;

	if (!guest_cr3__pt_root(space->pt_root) || space->pid < 0 || space->from >= space->until)
		return 0;

	if (grow_array(spaces->entries, spaces->nr, spaces->allocated))
		return -ENOMEM;

	entry = &spaces->entries[spaces->nr++];
	*entry = *space;
	entry->pt_root = guest_cr3__pt_root(space->pt_root);
	spaces->sorted = false;
	return 0;
}

/* Orders by root, then by time; the parent comes before its child by vfork(). */
static int guest_space__cmp(const void *_a, const void *_b)
{
	const struct guest_space *a = _a, *b = _b;

	return sort_cmp(a->pt_root, b->pt_root) ?: sort_cmp(a->from, b->from) ?:
	       sort_cmp(a->pid, b->pid);
}

/*
 * The last entry before @i of the same root that ends later, or NONE. Those between
 * them have ended when @i has.
 */
static size_t find_outer(const struct guest_spaces *spaces, size_t i)
{
	const struct guest_space *space = &spaces->entries[i];
	size_t outer = i ? i - 1 : NONE;

	if (outer != NONE && spaces->entries[outer].pt_root != space->pt_root)
		return NONE;
	while (outer != NONE && spaces->entries[outer].until <= space->until)
		outer = spaces->outer[outer];
	return outer;
}

/* 0 or -ENOMEM */
static int guest_spaces__sort(struct guest_spaces *spaces)
{
	size_t *outer;

	if (spaces->sorted || !spaces->nr)
		return 0;

	outer = reallocarray(spaces->outer, spaces->nr, sizeof(*outer));
	if (!outer)
		return -ENOMEM;
	spaces->outer = outer;

	sort_array(spaces->entries, spaces->nr, sizeof(*spaces->entries), guest_space__cmp);
	for (size_t i = 0; i < spaces->nr; i++)
		outer[i] = find_outer(spaces, i);
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
 * The owner of a root at @time, of which @i is the last entry that begins by then. Of
 * several, which share it, the one that had it first.
 */
static const struct guest_space *find_owner(const struct guest_spaces *spaces, size_t i,
					    u64 time, bool *ambiguous)
{
	const u64 pt_root = spaces->entries[i].pt_root;
	const struct guest_space *owner = NULL;

	for (int looks = 0; i != NONE && spaces->entries[i].pt_root == pt_root; looks++) {
		const struct guest_space *space = &spaces->entries[i];

		if (looks == MAX_LOOKS) {
			*ambiguous = true;
			return NULL;
		}
		if (space->until <= time) {
			/* And so are those between it and the next. */
			i = spaces->outer[i];
			continue;
		}
		if (owner && owner->pid != space->pid)
			*ambiguous = true;
		owner = space;
		i = i ? i - 1 : NONE;
	}
	return owner;
}

/*
 * The same without a time: it has to be one process, or several that share it now.
 * @i: the last entry of the root
 */
static const struct guest_space *find_only_owner(const struct guest_spaces *spaces, size_t i,
						 bool *ambiguous)
{
	const struct guest_space *owner = &spaces->entries[i];
	const u64 pt_root = owner->pt_root;

	for (int looks = 0; i-- && spaces->entries[i].pt_root == pt_root; looks++) {
		const struct guest_space *space = &spaces->entries[i];

		if (owner->pid != space->pid || looks == MAX_LOOKS) {
			*ambiguous = true;
			if (looks == MAX_LOOKS || owner->until != GUEST_TIME_NONE ||
			    space->until != GUEST_TIME_NONE)
				return NULL;
		}
		owner = space;
	}
	return owner;
}

/* The part of @cr3, as the CPU held it, that tells a guest's address spaces apart */
u64 guest_spaces__root(const struct guest_spaces *spaces, u64 cr3)
{
	u64 pt_root = guest_cr3__pt_root(cr3);

	/* Without isolation the bit is part of the address. */
	return spaces->pti ? pt_root & ~X86_CR3_USER_TABLE : pt_root;
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
	struct guest_space key = { .pt_root = guest_spaces__root(spaces, cr3), .from = time };
	size_t end;

	*ambiguous = false;
	if (guest_spaces__sort(spaces))
		return NULL;
	end = sort_find(spaces->entries, spaces->nr, sizeof(key), &key, guest_space__begins_by);
	if (!end || spaces->entries[end - 1].pt_root != key.pt_root)
		return NULL;
	if (time == GUEST_TIME_NONE)
		return find_only_owner(spaces, end - 1, ambiguous);
	return find_owner(spaces, end - 1, time, ambiguous);
}

void guest_spaces__exit(struct guest_spaces *spaces)
{
	zfree(&spaces->entries);
	zfree(&spaces->outer);
	spaces->nr = 0;
	spaces->allocated = 0;
}
