// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's image in an address space: where it is, by what is mapped between the two
 * addresses that it can have, and the symbols in its read-only data.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "kvm-unified/lib/x86.h"
#include "image.h"
#include "kallsyms.h"
#include "paging.h"
#include "ram.h"

/* The user half of PTI maps 2 MiB of it; the lab's smallest kernel has twice this. */
#define MIN_IMAGE_SIZE		(4ULL << 20)

/* The read-only data of a kernel with everything built in is half of that. */
#define MAX_RUN_SIZE		(40ULL << 20)

/* Read-only data is one of the largest runs. */
#define MAX_RUNS_TRIED		4

/**
 * guest_image__find - find what is mapped of a kernel's image
 * @runs: by address, at most @max
 *
 * Return: 0; -ENXIO: that is no kernel that is up; -EDQUOT
 */
int guest_image__find(struct guest_paging *p, struct guest_run *runs, size_t max, size_t *nr)
{
	int ret = guest_paging__runs(p, X86_KERNEL_IMAGE_START, X86_KERNEL_IMAGE_END, runs, max,
				     nr);
	bool ro = false, rw = false;
	u64 size = 0;

	if (ret)
		return ret == -EDQUOT ? ret : -ENXIO;
	for (size_t i = 0; i < *nr; i++) {
		size += runs[i].size;
		ro |= !runs[i].executable && !runs[i].writable;
		rw |= !runs[i].executable && runs[i].writable;
	}
	return size >= MIN_IMAGE_SIZE && ro && rw ? 0 : -ENXIO;
}

/* Pages that cannot be read are zeros: what is in them will not agree with the rest. */
static int read_run(struct guest_paging *p, const struct guest_run *run, char *buf)
{
	for (u64 at = 0; at < run->size; at += GUEST_PAGE_SIZE) {
		int ret = guest_paging__read(p, run->va + at, buf + at, GUEST_PAGE_SIZE);

		if (ret == -EDQUOT)
			return ret;
		if (ret)
			memset(buf + at, 0, GUEST_PAGE_SIZE);
	}
	return 0;
}

static int symbols_of_run(struct guest_paging *p, const struct guest_run *run,
			  struct kernel_symbols *symbols)
{
	char *buf = malloc(run->size);
	int ret = buf ? read_run(p, run, buf) : -ENOMEM;

	if (!ret)
		ret = kernel_symbols__decode(symbols, buf, run->size, run->va);
	free(buf);
	return ret;
}

/* The largest run of read-only data that is smaller than @than, or NULL */
static const struct guest_run *next_smaller(const struct guest_run *runs, size_t nr, u64 than)
{
	const struct guest_run *largest = NULL;

	for (size_t i = 0; i < nr; i++) {
		const struct guest_run *run = &runs[i];

		if (!run->executable && !run->writable && run->size < than &&
		    (!largest || run->size > largest->size))
			largest = run;
	}
	return largest;
}

/**
 * guest_image__symbols - find the symbols in a kernel's image
 * @runs: @nr: as guest_image__find() has them
 * @symbols: the result, to be released with kernel_symbols__exit()
 *
 * Return: 0; -ENOENT: there are none, in a form that is known; -EDQUOT, -ENOMEM
 */
int guest_image__symbols(struct guest_paging *p, const struct guest_run *runs, size_t nr,
			 struct kernel_symbols *symbols)
{
	u64 than = MAX_RUN_SIZE + 1;

	for (int i = 0; i < MAX_RUNS_TRIED; i++) {
		const struct guest_run *run = next_smaller(runs, nr, than);
		int ret;

		if (!run)
			break;
		ret = symbols_of_run(p, run, symbols);
		if (!ret || ret == -EDQUOT || ret == -ENOMEM)
			return ret;
		than = run->size;
	}
	return -ENOENT;
}
