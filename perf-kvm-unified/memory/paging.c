// SPDX-License-Identifier: GPL-2.0
/*
 * Page tables of x86-64: Intel SDM vol. 3A, 4.5 "4-Level Paging and 5-Level Paging"; AMD APM
 * vol. 2, 5.3 "Long-Mode Page Translation". A table that names itself does no harm: there are
 * never more steps than levels.
 */
#include <errno.h>
#include <string.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "kvm-unified/lib/x86.h"
#include "paging.h"
#include "ram.h"

#define PTE_PRESENT	BIT_ULL(0)
#define PTE_WRITABLE	BIT_ULL(1)
#define PTE_LARGE	BIT_ULL(7)
#define PTE_NX		BIT_ULL(63)

#define TABLE_ENTRIES	512
#define TABLE_SHIFT	9

/* Pages of 1 GiB are the largest: entries of the tables above have no size. */
#define MAX_LEAF_SHIFT	30

/* No page begins there. */
#define TLB_EMPTY	1ULL

struct leaf {
	u64	pa;
	u64	size;
	bool	writable;
	bool	executable;
};

static int paging__mem_read(struct guest_mem *mem, u64 va, void *buf, size_t len)
{
	return guest_paging__read(container_of(mem, struct guest_paging, mem), va, buf, len);
}

static void paging__mem_forget(struct guest_mem *mem)
{
	guest_ram__forget(container_of(mem, struct guest_paging, mem)->ram);
}

/* @root: bits 12..51 of a CR3, the others do not matter */
void guest_paging__init(struct guest_paging *p, struct guest_ram *ram, u64 root, int levels)
{
	*p = (struct guest_paging) {
		.mem.read = paging__mem_read,
		.mem.forget = paging__mem_forget,
		.ram = ram,
		.root = root & X86_CR3_ADDR,
		.levels = levels,
	};
	guest_paging__flush(p);
}

/* Forgets all translations: the guest may have changed its tables. */
void guest_paging__flush(struct guest_paging *p)
{
	for (size_t i = 0; i < GUEST_PAGING_TLB; i++)
		p->tlb[i].va = TLB_EMPTY;
}

/* Are the bits above those that are translated equal, as the CPU demands? */
static bool is_canonical(const struct guest_paging *p, u64 va)
{
	int unused = 64 - (GUEST_PAGE_SHIFT + p->levels * TABLE_SHIFT);

	return (u64)((s64)(va << unused) >> unused) == va;
}

static int table_shift(int level)
{
	return GUEST_PAGE_SHIFT + (level - 1) * TABLE_SHIFT;
}

/*
 * What the entry @e of a table of @level says: 0 and a leaf, -EAGAIN: it leads to another
 * table, -EFAULT: it is not there, or makes no sense. @leaf: what the tables above allow
 */
static int decode_entry(u64 e, int level, struct leaf *leaf)
{
	int shift = table_shift(level);

	if (!(e & PTE_PRESENT))
		return -EFAULT;
	leaf->writable &= !!(e & PTE_WRITABLE);
	leaf->executable &= !(e & PTE_NX);
	leaf->size = 1ULL << shift;
	leaf->pa = e & X86_CR3_ADDR;
	if (level > 1 && !(e & PTE_LARGE))
		return -EAGAIN;
	if (shift > MAX_LEAF_SHIFT)
		return -EFAULT;
	/* The lowest address bit of a large page is PAT. */
	leaf->pa &= ~(leaf->size - 1);
	return 0;
}

static int walk(struct guest_paging *p, u64 va, struct leaf *leaf)
{
	u64 table = p->root;

	*leaf = (struct leaf) { .writable = true, .executable = true };
	for (int level = p->levels; level > 0; level--) {
		u64 index = (va >> table_shift(level)) % TABLE_ENTRIES, e;
		int ret = guest_ram__read(p->ram, table + index * sizeof(e), &e, sizeof(e));

		if (!ret)
			ret = decode_entry(e, level, leaf);
		if (ret != -EAGAIN)
			return ret;
		table = leaf->pa;
	}
	return -EFAULT;
}

/**
 * guest_paging__translate - find the physical address of a virtual one
 *
 * Return: 0, -EFAULT: nothing is mapped there, or as struct guest_phys
 */
int guest_paging__translate(struct guest_paging *p, u64 va, u64 *pa)
{
	u64 page = va & ~(GUEST_PAGE_SIZE - 1);
	size_t slot = (va >> GUEST_PAGE_SHIFT) % GUEST_PAGING_TLB;
	struct leaf leaf;
	int ret;

	if (p->tlb[slot].va != page) {
		if (!is_canonical(p, va))
			return -EFAULT;
		ret = walk(p, va, &leaf);
		if (ret)
			return ret;
		p->tlb[slot].va = page;
		p->tlb[slot].pa = leaf.pa + (page & (leaf.size - 1));
	}
	*pa = p->tlb[slot].pa + (va - page);
	return 0;
}

/**
 * guest_paging__read - read virtual memory, any number of pages
 *
 * Return: 0, or as guest_paging__translate(), and @buf is undefined
 */
int guest_paging__read(struct guest_paging *p, u64 va, void *buf, size_t len)
{
	char *to = buf;

	if (va + len < va)
		return -EFAULT;
	while (len) {
		size_t n = guest_page__part(va, len);
		u64 pa;
		int ret = guest_paging__translate(p, va, &pa);

		if (!ret)
			ret = guest_ram__read(p->ram, pa, to, n);
		if (ret)
			return ret;
		va += n;
		to += n;
		len -= n;
	}
	return 0;
}

struct runs {
	struct guest_paging *p;
	struct guest_run *runs;
	size_t	max;
	size_t	nr;
	u64	start;
	u64	end;
};

static int runs__add(struct runs *r, u64 va, const struct leaf *leaf)
{
	struct guest_run *last = r->nr ? &r->runs[r->nr - 1] : NULL;

	if (last && last->va + last->size == va && last->writable == leaf->writable &&
	    last->executable == leaf->executable) {
		last->size += leaf->size;
		return 0;
	}
	if (r->nr == r->max)
		return -E2BIG;
	r->runs[r->nr++] = (struct guest_run) {
		.va = va, .size = leaf->size,
		.writable = leaf->writable, .executable = leaf->executable,
	};
	return 0;
}

/* Walks the table of @level at @table, which maps what begins at @base. */
static int runs__table(struct runs *r, u64 table, int level, u64 base, struct leaf above)
{
	u64 entries[TABLE_ENTRIES], size = 1ULL << table_shift(level);
	int ret = guest_ram__read(r->p->ram, table, entries, sizeof(entries));

	for (size_t i = 0; !ret && i < TABLE_ENTRIES; i++) {
		struct leaf leaf = above;
		u64 va = base + i * size;

		/* The last entry of all ends at 2^64. */
		if (va + (size - 1) < r->start || va >= r->end)
			continue;
		ret = decode_entry(entries[i], level, &leaf);
		if (!ret)
			ret = runs__add(r, va, &leaf);
		else if (ret == -EAGAIN)
			ret = runs__table(r, leaf.pa, level - 1, va, leaf);
		/* A hole, or a table that is none */
		if (ret == -EFAULT || ret == -ENODATA)
			ret = 0;
	}
	return ret;
}

/**
 * guest_paging__runs - list what is mapped between two addresses of the kernel half
 * @start: @end: multiples of 1 GiB, so that not more tables are read than there are
 * @runs: by address; a large page counts as a whole
 * @max: that @runs has room for
 *
 * Return: 0, -E2BIG: there are more, or as struct guest_phys for the top table
 */
int guest_paging__runs(struct guest_paging *p, u64 start, u64 end,
		       struct guest_run *runs, size_t max, size_t *nr)
{
	struct runs r = { .p = p, .runs = runs, .max = max, .start = start, .end = end };
	const struct leaf all = { .writable = true, .executable = true };
	int used = GUEST_PAGE_SHIFT + p->levels * TABLE_SHIFT;
	/* The addresses of a table's first entry, had bit 63 and so on been translated. */
	u64 base = start & ~((1ULL << used) - 1);
	int ret = runs__table(&r, p->root, p->levels, base, all);

	*nr = r.nr;
	return ret;
}
