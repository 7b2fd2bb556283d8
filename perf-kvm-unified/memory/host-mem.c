// SPDX-License-Identifier: GPL-2.0
/*
 * A guest's memory, copied out of its VMM, whichever that is. Nothing is written, nothing stops,
 * and no page becomes resident that was not: what a guest has not touched is not read.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/uio.h>
#include <linux/kernel.h>
#include <api/fs/fs.h>

#include "host-mem.h"

/* Documentation/admin-guide/mm/pagemap.rst: 64 bits for each page */
#define PAGEMAP_PRESENT		(1ULL << 63)
#define PAGEMAP_SWAPPED		(1ULL << 62)

/* Opens the memory of @mem->kvm, which must be known. 0 or -errno */
int host_mem__open(struct host_mem *mem)
{
	char path[PATH_MAX];

	mem->pages = 0;
	mem->absent = 0;
	mem->holes = 0;
	scnprintf(path, sizeof(path), "%s/%d/pagemap", procfs__mountpoint() ?: "/proc",
		  mem->kvm.pid);
	mem->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	return mem->pagemap < 0 ? -errno : 0;
}

void host_mem__close(struct host_mem *mem)
{
	if (mem->pagemap >= 0)
		close(mem->pagemap);
	mem->pagemap = -1;
	kvm_memory__exit(&mem->kvm);
}

/*
 * Reads pagemap for @nr pages from the VMM's address @hva. 0, -ESRCH: the VMM has ended; or
 * -errno
 */
static int read_pagemap(struct host_mem *mem, u64 hva, unsigned int nr, u64 *entries)
{
	off_t at = (hva >> GUEST_PAGE_SHIFT) * sizeof(*entries);
	size_t size = nr * sizeof(*entries);
	ssize_t n = pread(mem->pagemap, entries, size, at);

	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -ESRCH;
}

/*
 * The pages of one piece of memory: those that are there, with one call. Between the look at the
 * page map and this, one can be taken away, and is then brought in again; that is not worth a lock
 * that there is not.
 */
static int read_run(struct host_mem *mem, u64 hva, unsigned int nr, char *buf, s32 *status)
{
	struct iovec local[HOST_MEM_BATCH], remote[HOST_MEM_BATCH];
	unsigned int nr_iov = 0, pages[HOST_MEM_BATCH];
	u64 entries[HOST_MEM_BATCH];
	ssize_t n;
	int ret;

	ret = read_pagemap(mem, hva, nr, entries);
	if (ret)
		return ret;
	for (unsigned int i = 0; i < nr; i++) {
		if (!(entries[i] & PAGEMAP_PRESENT) || (entries[i] & PAGEMAP_SWAPPED)) {
			status[i] = -ENODATA;
			mem->absent++;
			continue;
		}
		local[nr_iov] = (struct iovec) { buf + i * GUEST_PAGE_SIZE, GUEST_PAGE_SIZE };
		remote[nr_iov] = (struct iovec) { (void *)(uintptr_t)(hva + i * GUEST_PAGE_SIZE),
						  GUEST_PAGE_SIZE };
		pages[nr_iov++] = i;
	}
	if (!nr_iov)
		return 0;
	n = process_vm_readv(mem->kvm.pid, local, nr_iov, remote, nr_iov, 0);
	if (n < 0 && errno != EFAULT)
		return -errno;
	for (unsigned int k = 0; k < nr_iov; k++) {
		bool whole = n >= (ssize_t)((k + 1) * GUEST_PAGE_SIZE);

		status[pages[k]] = whole ? 0 : -ENODATA;
		mem->pages += whole;
		mem->absent += !whole;
	}
	return 0;
}

/**
 * host_mem__read - copy pages of the guest
 * @gpa: the first one's guest-physical address
 * @nr: how many, at most HOST_MEM_BATCH
 * @buf: with room for them
 * @status: gets, for each: 0; -ENODATA: nothing is in it; -EFAULT: it is no memory
 *
 * 0, or -errno, as -ESRCH when the VMM has ended: nothing was copied
 */
int host_mem__read(struct host_mem *mem, u64 gpa, unsigned int nr, void *buf, s32 *status)
{
	unsigned int i = 0, run;

	while (i < nr) {
		const struct kvm_slot *slot = kvm_memory__find(&mem->kvm, gpa);
		u64 left;
		int ret;

		if (!slot || slot->private) {
			status[i++] = -EFAULT;
			mem->holes++;
			gpa += GUEST_PAGE_SIZE;
			continue;
		}
		left = slot->gpa + slot->size - gpa;
		run = min_t(u64, nr - i, left >> GUEST_PAGE_SHIFT);
		ret = read_run(mem, slot->hva + (gpa - slot->gpa), run,
			       (char *)buf + i * GUEST_PAGE_SIZE, status + i);
		if (ret)
			return ret;
		i += run;
		gpa += run * GUEST_PAGE_SIZE;
	}
	return 0;
}
