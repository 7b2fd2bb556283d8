/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_SORT_H
#define __PERF_KVM_UNIFIED_LIB_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <linux/types.h>

/* Compares for qsort(): any order will do, if it is always the same. */
static inline int sort_cmp(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

static inline int sort_cmp_u64(const void *a, const void *b)
{
	return sort_cmp(*(const u64 *)a, *(const u64 *)b);
}

/* qsort() wants an array even if it has nothing in it. */
static inline void sort_array(void *array, size_t nr, size_t size,
			      int (*cmp)(const void *, const void *))
{
	if (nr)
		qsort(array, nr, size, cmp);
}

/*
 * The first of @nr entries that is not before @key, or @nr if all are. Those that
 * are before it must come first.
 */
static inline size_t sort_find(const void *array, size_t nr, size_t size, const void *key,
			       bool (*is_before)(const void *entry, const void *key))
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (is_before((const char *)array + mid * size, key))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The same, if all before number @from are: as fast as it is near to that */
static inline size_t sort_find_from(const void *array, size_t nr, size_t size, size_t from,
				    const void *key,
				    bool (*is_before)(const void *entry, const void *key))
{
	const char *entries = array;
	size_t step = 1;

	while (from + step <= nr && is_before(entries + (from + step - 1) * size, key)) {
		from += step;
		step *= 2;
	}
	if (from + step <= nr)
		nr = from + step - 1;
	return from + sort_find(entries + from * size, nr - from, size, key, is_before);
}

#endif /* __PERF_KVM_UNIFIED_LIB_SORT_H */
