// SPDX-License-Identifier: GPL-2.0
/*
 * Where a guest's processes have told of code of their own: in a perf-PID.map, or a jitdump.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "kvm-unified/lib/sort.h"
#include "guest.h"
#include "symbol-text.h"
#include "told.h"

/* The range of a function. Once sorted, @end is the last one of it and of those before it. */
struct told_range {
	u64	start;
	u64	end;
};

/* NULL: it has told of none */
struct guest_symbols *kvm_guest__symbols(const struct kvm_guest *guest, pid_t pid)
{
	for (size_t i = 0; i < guest->map.nr_symbols; i++) {
		if (guest->map.symbols[i].pid == pid)
			return &guest->map.symbols[i];
	}
	return NULL;
}

static int told_range__cmp(const void *_a, const void *_b)
{
	const struct told_range *a = _a, *b = _b;

	return sort_cmp(a->start, b->start);
}

static bool told_range__begins_before(const void *_range, const void *_end)
{
	const struct told_range *range = _range;

	return range->start < *(const u64 *)_end;
}

/* The whole lines of @symbols into @ranges, which has room for them. How many make sense */
static size_t read_ranges(const struct guest_symbols *symbols, struct told_range *ranges)
{
	char *line = symbols->text, *end = line + symbols->len, *next;
	size_t nr = 0;

	for (; line < end && (next = memchr(line, '\n', end - line)); line = next + 1) {
		const char *name;
		u64 start, size;

		*next = '\0';
		if (guest_symbol__parse_range(line, &start, &size, &name)) {
			ranges[nr].start = start;
			ranges[nr++].end = start + size;
		}
		*next = '\n';
	}
	return nr;
}

/* Once for a process. Without memory, it has told of nothing. */
static void guest_symbols__find_ranges(struct guest_symbols *symbols)
{
	size_t nr = symbols->nr_lines;

	symbols->has_ranges = true;
	symbols->ranges = calloc(nr ?: 1, sizeof(*symbols->ranges));
	if (!symbols->ranges)
		return;
	nr = read_ranges(symbols, symbols->ranges);
	sort_array(symbols->ranges, nr, sizeof(*symbols->ranges), told_range__cmp);
	for (size_t i = 1; i < nr; i++)
		symbols->ranges[i].end = max(symbols->ranges[i].end, symbols->ranges[i - 1].end);
	symbols->nr_ranges = nr;
}

/* Has the process @pid told of code of its own that is, in part, in [@start, @end)? */
bool kvm_guest__has_told(const struct kvm_guest *guest, pid_t pid, u64 start, u64 end)
{
	struct guest_symbols *symbols = kvm_guest__symbols(guest, pid);
	size_t nr;

	if (!symbols)
		return false;
	if (!symbols->has_ranges)
		guest_symbols__find_ranges(symbols);
	nr = sort_find(symbols->ranges, symbols->nr_ranges, sizeof(*symbols->ranges), &end,
		       told_range__begins_before);
	return nr && symbols->ranges[nr - 1].end > start;
}
