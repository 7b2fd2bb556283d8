// SPDX-License-Identifier: GPL-2.0
/*
 * The guest's page cache: what it has in memory of a file, by the xarray of the file's mapping
 * and the struct pages that are in it. Pages come and go at any time: each has to say before
 * and after it was read that it is that file's.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "cache.h"
#include "kernel.h"

/* include/linux/xarray.h: the two lowest bits tell nodes, and values, from pointers. */
#define XA_CHUNK_SHIFT	6
#define XA_CHUNK_MASK	63
#define XA_VALUE	1
#define XA_KIND		3
#define XA_INTERNAL	2
/* Internal entries up to here are none of nodes. */
#define XA_MAX_SPECIAL	4096

/* A folio has at most 1 GiB. */
#define MAX_FOLIO_PAGES	(1U << 18)

/* What a struct page, or folio, says of itself */
struct folio {
	u64	flags;
	u64	mapping;
	u64	index;
};

static bool is_node(u64 entry)
{
	return (entry & XA_KIND) == XA_INTERNAL && entry > XA_MAX_SPECIAL;
}

/* Does the slot belong to another one of the same node, whose entry is larger than a slot? */
static bool is_sibling(u64 entry)
{
	return (entry & XA_KIND) == XA_INTERNAL && entry >> 2 <= XA_CHUNK_MASK;
}

/**
 * guest_xarray__find - what an xarray of the guest's kernel has at an index
 * @head: its xa_head
 * @entry: the result, 0: nothing, or what is no pointer
 *
 * Return: 0, -EAGAIN: it has changed, or is none, or as guest_kernel__read()
 */
int guest_xarray__find(struct guest_kernel *k, u64 head, u64 index, u64 *entry)
{
	int last_shift = BITS_PER_LONG;
	u64 e = head;

	*entry = 0;
	if (!is_node(e) && index)
		return 0;
	while (is_node(e)) {
		u64 node = e - XA_INTERNAL, slots = node + k->offsets.xa_node_slots;
		u8 shift;
		int ret = guest_kernel__read(k, node + k->offsets.xa_node_shift, &shift, 1);

		if (ret)
			return ret;
		if (shift % XA_CHUNK_SHIFT || shift >= last_shift)
			return -EAGAIN;
		/* Only the top can be too small. */
		if (last_shift == BITS_PER_LONG && index >> shift > XA_CHUNK_MASK)
			return 0;
		last_shift = shift;
		ret = guest_kernel__read_u64(k, slots + ((index >> shift) & XA_CHUNK_MASK) * 8, &e);
		if (!ret && is_sibling(e))
			ret = guest_kernel__read_u64(k, slots + (e >> 2) * 8, &e);
		if (ret)
			return ret;
	}
	if (!(e & XA_KIND))
		*entry = e;
	return 0;
}

static int read_folio(struct guest_kernel *k, u64 page, struct folio *folio)
{
	int ret = guest_kernel__read_u64(k, page + k->offsets.folio_flags, &folio->flags);

	if (!ret)
		ret = guest_kernel__read_u64(k, page + k->offsets.folio_mapping, &folio->mapping);
	if (!ret)
		ret = guest_kernel__read_u64(k, page + k->offsets.folio_index, &folio->index);
	return ret;
}

static bool has_page(const struct guest_cached_file *file, const struct folio *folio, u64 index)
{
	return folio->mapping == file->mapping && folio->index <= index &&
	       index - folio->index < MAX_FOLIO_PAGES &&
	       folio->flags & BIT_ULL(file->kernel->offsets.pg_uptodate);
}

/* The page @index into file->page. 0, -ENODATA: it is not in memory, or -errno */
static int read_page(struct guest_cached_file *file, u64 index)
{
	struct guest_kernel *k = file->kernel;
	struct folio before, after;
	u64 head, page, pa;
	int ret;

	file->index = ~0ULL;
	guest_ram__forget(k->paging.ram);
	ret = guest_kernel__read_u64(k, file->mapping + k->offsets.mapping_pages, &head);
	if (!ret)
		ret = guest_xarray__find(k, head, index, &page);
	if (!ret && !page)
		ret = -ENODATA;
	if (!ret && (page < k->vmemmap || (page - k->vmemmap) % k->offsets.page_size))
		ret = -EAGAIN;
	if (!ret)
		ret = read_folio(k, page, &before);
	if (ret)
		return ret;
	if (!has_page(file, &before, index))
		return -ENODATA;
	pa = (page - k->vmemmap) / k->offsets.page_size + (index - before.index);
	ret = guest_ram__read(k->paging.ram, pa << GUEST_PAGE_SHIFT, file->page, GUEST_PAGE_SIZE);
	guest_ram__forget(k->paging.ram);
	if (!ret)
		ret = read_folio(k, page, &after);
	if (ret)
		return ret;
	if (!has_page(file, &after, index) || after.index != before.index)
		return -EAGAIN;
	file->index = index;
	return 0;
}

void guest_cached_file__init(struct guest_cached_file *file, struct guest_kernel *k, u64 mapping,
			     u64 size)
{
	file->kernel = k;
	file->mapping = mapping;
	file->size = size;
	file->index = ~0ULL;
}

/**
 * guest_cached_file__read - read a file out of the page cache
 *
 * Return: 0; -ENODATA: it is not all in memory; -EINVAL: the file is not that long; -EAGAIN:
 * it has changed; -EDQUOT, or as guest_kernel__read()
 */
int guest_cached_file__read(struct guest_cached_file *file, u64 offset, void *buf, size_t len)
{
	char *to = buf;

	if (offset > file->size || len > file->size - offset)
		return -EINVAL;
	while (len) {
		u64 index = offset >> GUEST_PAGE_SHIFT, at = offset % GUEST_PAGE_SIZE;
		size_t n = guest_page__part(offset, len);
		int ret = file->index == index ? 0 : read_page(file, index);

		if (ret)
			return ret;
		memcpy(to, file->page + at, n);
		offset += n;
		to += n;
		len -= n;
	}
	return 0;
}
