// SPDX-License-Identifier: GPL-2.0
/*
 * A maple tree of the guest's kernel (include/linux/maple_tree.h, since 6.1), in which a
 * process has its VMAs. Writers do not wait for this reader: a node that does not name the one
 * that led to it as its parent has been replaced.
 */
#include <errno.h>
#include <stdbool.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "kvm-unified/collector/guest-mem.h"
#include "maple.h"

#define NODE_WORDS	32
#define NODE_MASK	255ULL
#define TYPE_SHIFT	3
#define TYPE_MASK	15

/* The two lowest bits of an entry tell that it is a node, and no pointer. */
#define ENTRY_KIND	3
#define ENTRY_INTERNAL	2

/* A bit in the parent of the root: that is the tree, and not a node. */
#define ROOT_PARENT	BIT_ULL(0)

/* enum maple_type */
#define MAPLE_LEAF_64	1
#define MAPLE_RANGE_64	2
#define MAPLE_ARANGE_64	3

/* Ten ways at each node: more than there are VMAs in any process */
#define MAX_DEPTH	8

/* Slots of one node type: words of the node, after its parent */
struct shape {
	u32	nr_slots;
	u32	pivots;
	u32	slots;
};

static const struct shape shapes[] = {
	[MAPLE_LEAF_64]	  = { .nr_slots = 16, .pivots = 1, .slots = 16 },
	[MAPLE_RANGE_64]  = { .nr_slots = 16, .pivots = 1, .slots = 16 },
	[MAPLE_ARANGE_64] = { .nr_slots = 10, .pivots = 1, .slots = 10 },
};

struct maple {
	struct guest_mem *mem;
	guest_maple_cb	cb;
	void		*arg;
};

/* Walks the node @entry, which has [@first, @last], below @parent, or 0 for the root. */
static int walk_node(struct maple *m, u64 entry, u64 parent, u64 first, u64 last, int depth)
{
	u64 node = entry & ~NODE_MASK, words[NODE_WORDS], from = first;
	u32 type = (entry >> TYPE_SHIFT) & TYPE_MASK;
	const struct shape *shape;
	int ret;

	if (depth == MAX_DEPTH || type < MAPLE_LEAF_64 || type > MAPLE_ARANGE_64 ||
	    !kernel_ptr(node))
		return -EAGAIN;
	ret = m->mem->read(m->mem, node, words, sizeof(words));
	if (ret)
		return ret;
	if (parent ? (words[0] & ~NODE_MASK) != parent : !(words[0] & ROOT_PARENT))
		return -EAGAIN;

	shape = &shapes[type];
	for (u32 i = 0; i < shape->nr_slots && !ret; i++) {
		/* The last slot has no pivot, and one that is not used is 0. */
		u64 pivot = i + 1 < shape->nr_slots ? words[shape->pivots + i] : last;
		u64 slot = words[shape->slots + i];

		if (!pivot && i)
			pivot = last;
		if (pivot < from || pivot > last)
			return -EAGAIN;
		if (slot && type == MAPLE_LEAF_64)
			ret = m->cb(m->arg, slot, from, pivot);
		else if (slot || type != MAPLE_LEAF_64)
			ret = walk_node(m, slot, node, from, pivot, depth + 1);
		if (pivot == last)
			break;
		from = pivot + 1;
	}
	return ret;
}

/**
 * guest_maple__walk - hand all entries of a maple tree to @cb, in ascending order
 * @mem: the kernel's memory
 * @root: its ma_root
 * @cb: gets an entry and where it is from and to; what it returns if not 0 ends the walk
 *
 * Return: 0; what @cb or @mem has returned; -EAGAIN: the tree has changed, or is none
 */
int guest_maple__walk(struct guest_mem *mem, u64 root, guest_maple_cb cb, void *arg)
{
	struct maple m = { .mem = mem, .cb = cb, .arg = arg };

	if (!root)
		return 0;
	/* A single entry, from 0 */
	if ((root & ENTRY_KIND) != ENTRY_INTERNAL)
		return cb(arg, root, 0, 0);
	return walk_node(&m, root, 0, 0, ~0ULL, 0);
}
