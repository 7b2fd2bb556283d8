/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_TESTS_MADE_UP_H
#define __PERF_KVM_UNIFIED_TESTS_MADE_UP_H

#include <errno.h>
#include <string.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "kvm-unified/memory/kernel.h"
#include "kvm-unified/memory/phys.h"
#include "kvm-unified/memory/ram.h"

#define MADE_UP_PAGES	16

/* Where made_up__init_kernel() lets the kernel have that memory, and the entry of that */
#define DIRECT_MAP	0xffff888000000000ULL
#define DIRECT_MAP_PGD	273

/* Bits of entries of page tables */
#define PRESENT		BIT_ULL(0)
#define WRITABLE	BIT_ULL(1)
#define LARGE		BIT_ULL(7)
#define NX		BIT_ULL(63)

/* A guest's memory, of some pages */
struct made_up {
	struct guest_phys phys;
	u64	pages[MADE_UP_PAGES][512];
};

static inline int made_up__read(struct guest_phys *phys, u64 gpa, void *buf, size_t len)
{
	struct made_up *m = container_of(phys, struct made_up, phys);

	if (gpa >= sizeof(m->pages) || len > sizeof(m->pages) - gpa)
		return -EFAULT;
	memcpy(buf, (char *)m->pages + gpa, len);
	return 0;
}

static inline void made_up__init(struct made_up *m, struct guest_ram *ram)
{
	memset(m, 0, sizeof(*m));
	m->phys.read = made_up__read;
	*ram = (struct guest_ram) { .phys = &m->phys, .max_gpa = sizeof(m->pages) };
	guest_ram__refill(ram);
}

static inline void made_up__put(struct made_up *m, u64 gpa, u64 value)
{
	memcpy((char *)m->pages + gpa, &value, sizeof(value));
}

/* A kernel whose direct map is a single large page, by tables in pages 1 to 3 */
static inline void made_up__init_kernel(struct made_up *m, struct guest_ram *ram,
					struct guest_kernel *kernel)
{
	made_up__init(m, ram);
	m->pages[1][DIRECT_MAP_PGD] = 2 * GUEST_PAGE_SIZE | PRESENT;
	m->pages[2][0] = 3 * GUEST_PAGE_SIZE | PRESENT;
	m->pages[3][0] = PRESENT | LARGE;
	memset(kernel, 0, sizeof(*kernel));
	guest_paging__init(&kernel->paging, ram, GUEST_PAGE_SIZE, 4);
	kernel->layout.page_offset = DIRECT_MAP;
	memset(&kernel->offsets, 0xff, sizeof(kernel->offsets));
}

#endif /* __PERF_KVM_UNIFIED_TESTS_MADE_UP_H */
