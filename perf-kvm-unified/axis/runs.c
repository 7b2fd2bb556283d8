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

/*
 * How many entries stay where they are, of those before @end, which are a run: none after
 * comes before them. What is added a little late moves few of them.
 */
static size_t nr_in_place(const struct runs *runs, char *array, size_t end)
{
	size_t least = end, low = 0, high = end;

	for (size_t i = end + 1; i < runs->nr; i++) {
		if (runs->cmp(entry_at(runs, array, i), entry_at(runs, array, least)) < 0)
			least = i;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (runs->cmp(entry_at(runs, array, middle), entry_at(runs, array, least)) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/**
 * sort_runs - sort @array of @nr entries of @size bytes each, by @cmp as of qsort()
 *
 * Takes one look at each entry if it is sorted, and no more than log2(r) copies of each
 * that is not in its place if it is made of r parts that are. What is equal stays in its order.
 * 0 or -ENOMEM
 */
int sort_runs(void *array, size_t nr, size_t size, int (*cmp)(const void *a, const void *b))
{
	struct runs runs = { .nr = nr, .size = size, .cmp = cmp };
	char *from, *spare, *to;
	size_t in_place;

	if (!nr)
		return 0;
	in_place = run_end(&runs, array, 0);
	if (in_place == nr)
		return 0;
	in_place = nr_in_place(&runs, array, in_place);
	array = entry_at(&runs, array, in_place);
	from = array;
	nr -= in_place;
	runs.nr = nr;
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
