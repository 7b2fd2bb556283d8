// SPDX-License-Identifier: GPL-2.0
/*
 * Sorts what is in order already, mostly: a session gives what each CPU recorded in the
 * order of time. qsort() takes as long for that as for any other order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "runs.h"

struct runs {
	size_t	nr;
	size_t	size;
	int	(*cmp)(const void *a, const void *b);
};

static void *entry_at(const struct runs *runs, char *array, size_t i)
{
	return array + i * runs->size;
}

/* Where the run ends that begins at @begin: entries in their order */
static size_t run_end(const struct runs *runs, char *array, size_t begin)
{
	size_t end = begin + 1;

	while (end < runs->nr && runs->cmp(entry_at(runs, array, end - 1),
					   entry_at(runs, array, end)) <= 0)
		end++;
	return min(end, runs->nr);
}

static void merge(const struct runs *runs, char *from, char *to, size_t begin, size_t middle,
		  size_t end)
{
	size_t a = begin, b = middle;

	for (size_t i = begin; i < end; i++) {
		size_t *next = &a;

		if (a == middle ||
		    (b < end && runs->cmp(entry_at(runs, from, b), entry_at(runs, from, a)) < 0))
			next = &b;
		memcpy(entry_at(runs, to, i), entry_at(runs, from, *next), runs->size);
		++*next;
	}
}

/**
 * sort_runs - sort @array of @nr entries of @size bytes each, by @cmp as of qsort()
 *
 * Takes one look at each entry if it is sorted, and no more than log2(r) copies of each
 * if it is made of r parts that are. What is equal stays in its order. 0 or -ENOMEM
 */
int sort_runs(void *array, size_t nr, size_t size, int (*cmp)(const void *a, const void *b))
{
	const struct runs runs = { .nr = nr, .size = size, .cmp = cmp };
	char *from = array, *spare, *to;

	if (!nr || run_end(&runs, array, 0) == nr)
		return 0;
	spare = calloc(nr, size);
	if (!spare)
		return -ENOMEM;

	for (to = spare; run_end(&runs, from, 0) < nr; ) {
		char *last = from;

		for (size_t begin = 0, middle, end; begin < nr; begin = end) {
			middle = run_end(&runs, from, begin);
			end = middle < nr ? run_end(&runs, from, middle) : nr;
			merge(&runs, from, to, begin, middle, end);
		}
		from = to;
		to = last;
	}
	if (from != array)
		memcpy(array, from, nr * size);
	free(spare);
	return 0;
}
