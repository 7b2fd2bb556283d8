// SPDX-License-Identifier: GPL-2.0
/*
 * Text of a program that was moved to other memory at its old address, for huge pages: its middle
 * is anonymous memory then, between two maps of the file. HHVM, mysqld, node with
 * --use-largepages and what BOLT makes with -hugify do so.
 */
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <internal/rc_check.h>
#include <perf/event.h>

#include "util/build-id.h"
#include "util/dso.h"
#include "util/map.h"
#include "util/maps.h"
#include "holes.h"

/* Huge pages of one text are in few maps. A guest may have any number. */
#define HOLE_MAX_MAPS	64

/* The map just before @end if it ends there, to be put; or NULL */
static struct map *find_before(struct maps *maps, u64 end)
{
	struct map *map = end ? maps__find(maps, end - 1) : NULL;

	if (map && map__end(map) == end)
		return map;
	map__put(map);
	return NULL;
}

static bool is_called(const struct map *map, const char *name)
{
	return !strcmp(dso__long_name(map__dso(map)), name);
}

/*
 * Where the code begins that the process has made for itself and that ends at @end; @end if there
 * is none. It may be in several maps.
 */
static u64 find_start(struct maps *maps, u64 end, const char *own_code)
{
	for (u32 i = 0; i < HOLE_MAX_MAPS; i++) {
		struct map *map = find_before(maps, end);
		bool own = map && is_called(map, own_code);

		if (own)
			end = map__start(map);
		map__put(map);
		if (!own)
			break;
	}
	return end;
}

/* Is the part of the file between the two maps just as large as the hole? */
static bool is_between(const struct map *before, const struct map *after, u64 size)
{
	return RC_CHK_EQUAL(map__dso(before), map__dso(after)) &&
	       map__pgoff(before) + map__size(before) + size == map__pgoff(after);
}

/**
 * maps__find_hole - find what was moved to other memory out of the middle of a file's text
 * @maps: of a process
 * @end: where it may end, and the file goes on
 * @own_code: how code is called that the process has made for itself
 * @hole: gets address, length, offset in the file, name and build-id
 *
 * Return: is there one? Only where the same file is on both sides, with its build-id if it has
 * one, and what it lacks has the size of the hole.
 */
bool maps__find_hole(struct maps *maps, u64 end, const char *own_code,
		     struct perf_record_mmap2 *hole)
{
	struct map *after = maps__find(maps, end);
	u64 start = after && map__start(after) == end ? find_start(maps, end, own_code) : end;
	struct map *before = start < end ? find_before(maps, start) : NULL;
	bool found = before && is_between(before, after, end - start);

	if (found) {
		const struct dso *dso = map__dso(before);
		const struct build_id *bid = dso__bid(dso);

		hole->start = start;
		hole->len = end - start;
		hole->pgoff = map__pgoff(before) + map__size(before);
		hole->build_id_size = bid->size;
		memcpy(hole->build_id, bid->data, bid->size);
		strlcpy(hole->filename, dso__long_name(dso), sizeof(hole->filename));
	}
	map__put(after);
	map__put(before);
	return found;
}
