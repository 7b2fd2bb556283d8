// SPDX-License-Identifier: GPL-2.0
/*
 * The tables by which a kernel unwinds itself (ORC, see Documentation/arch/x86/orc-unwinder.rst),
 * out of its memory into a guest map. Pure: the caller knows where they are, and writes.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <perf/event.h>

#include "kvm-unified/format/records.h"
#include "guest-mem.h"
#include "orc-table.h"

/* What a record has room for */
#define CHUNK_ENTRIES	((UINT16_MAX - sizeof(u64) - sizeof(struct perf_record_guest_orc)) / \
			 (ORC_OFFSET_SIZE + ORC_ENTRY_SIZE))
/* Large kernels have half of that. */
#define MAX_ENTRIES	(1U << 20)

/* @has_header: is there a symbol ORC_HEADER? @release: "6.1.0-56-cloud-amd64", or anything else */
enum guest_orc_layout orc_layout(bool has_header, const char *release)
{
	unsigned int version = 0, patchlevel = 0;

	if (has_header)
		return GUEST_ORC_TYPE3;
	if (sscanf(release, "%u.%u", &version, &patchlevel) != 2)
		return GUEST_ORC_TYPE2_END;
	/* Linux 6.3 alone has none, and a layout between the two. */
	return version > 6 || (version == 6 && patchlevel >= 3) ? GUEST_ORC_TYPE2_SIGNAL :
								  GUEST_ORC_TYPE2_END;
}

/*
 * The place of @nr entries. It has none if @nr is more than any table has, or an address is not
 * the kernel's.
 */
struct orc_place orc_place__of(u64 offsets, u64 entries, u64 nr)
{
	return (struct orc_place) {
		.offsets = offsets,
		.entries = entries,
		.nr = nr <= MAX_ENTRIES && kernel_ptr(offsets & ~7ULL) ? nr : 0,
	};
}

/*
 * The place of two arrays, each with its end (exclusive); it has no entries if their lengths
 * differ.
 */
struct orc_place orc_place__between(u64 offsets, u64 offsets_end, u64 entries, u64 entries_end)
{
	u64 nr = offsets_end > offsets ? (offsets_end - offsets) / ORC_OFFSET_SIZE : 0;

	return orc_place__of(offsets, entries,
			     entries_end - entries == nr * ORC_ENTRY_SIZE ? nr : 0);
}

/* The address of the @i-th entry's code. Its offset is relative to where the offset is stored. */
static u64 code_of(const struct orc_place *place, const s32 *offsets, u64 i)
{
	return place->offsets + i * ORC_OFFSET_SIZE + offsets[i];
}

/**
 * orc_place__cut - leave what begins and ends with code in [@start, @end)
 *
 * A module's table also has what it was begun with, which is no more: its place may be another
 * module's. 0, -ENOMEM, or as @mem->read() has failed
 */
int orc_place__cut(struct orc_place *place, struct guest_mem *mem, u64 start, u64 end)
{
	u64 nr = place->nr, first = 0, last = nr;
	s32 *offsets = calloc(nr ?: 1, ORC_OFFSET_SIZE);
	int ret = offsets ? 0 : -ENOMEM;

	if (!ret && nr)
		ret = mem->read(mem, place->offsets, offsets, nr * ORC_OFFSET_SIZE);
	while (!ret && first < nr && code_of(place, offsets, first) < start)
		first++;
	while (!ret && last > first && code_of(place, offsets, last - 1) > end)
		last--;
	free(offsets);
	if (!ret)
		*place = orc_place__of(place->offsets + first * ORC_OFFSET_SIZE,
				       place->entries + first * ORC_ENTRY_SIZE, last - first);
	return ret;
}

static int read_part(struct guest_mem *mem, struct perf_record_guest_orc *rec, u64 entries)
{
	size_t size = sizeof(*rec) + rec->nr * (ORC_OFFSET_SIZE + ORC_ENTRY_SIZE);
	int ret = mem->read(mem, rec->addr, rec->data, rec->nr * ORC_OFFSET_SIZE);

	if (!ret)
		ret = mem->read(mem, entries, rec->data + rec->nr * ORC_OFFSET_SIZE,
				rec->nr * ORC_ENTRY_SIZE);
	rec->header.size = PERF_ALIGN(size, sizeof(u64));
	memset((char *)rec + size, 0, rec->header.size - size);
	return ret;
}

/**
 * orc_place__write - a table, as records of a guest map
 * @write: is told of each, and returns 0 or -errno
 *
 * Nothing is written of what is no table. What comes before memory that cannot be read is.
 * Return: 0; -ENOMEM; -EDQUOT, as @mem->read() has failed; or what @write has returned
 */
int orc_place__write(const struct orc_place *place, struct guest_mem *mem,
		     enum guest_orc_layout layout, orc_write_fn write, void *arg)
{
	u64 nr = place->nr;
	struct perf_record_guest_orc *rec = malloc(UINT16_MAX);
	int ret = rec ? 0 : -ENOMEM;

	for (u64 at = 0; !ret && at < nr; at += CHUNK_ENTRIES) {
		*rec = (struct perf_record_guest_orc) {
			.header.type = PERF_RECORD_GUEST_ORC,
			.addr = place->offsets + at * ORC_OFFSET_SIZE,
			.nr = min_t(u64, CHUNK_ENTRIES, nr - at),
			.layout = layout,
		};
		ret = read_part(mem, rec, place->entries + at * ORC_ENTRY_SIZE);
		if (ret) {
			free(rec);
			return ret == -EDQUOT ? ret : 0;
		}
		ret = write(arg, rec);
	}
	free(rec);
	return ret;
}
