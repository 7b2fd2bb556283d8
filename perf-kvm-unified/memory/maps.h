/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_MAPS_H
#define __PERF_KVM_UNIFIED_MEMORY_MAPS_H

#include <stddef.h>
#include <linux/types.h>

struct guest_files;
struct guest_kernel;

/* Instead of a file */
#define GUEST_MAP_ANON	(-1)
#define GUEST_MAP_VDSO	(-2)

/**
 * struct guest_code - code that a process has mapped
 * @start: @len: @pgoff: in bytes, as in /proc/PID/maps
 * @prot: @flags: as mmap() has them
 * @file: index in the guest's files, or GUEST_MAP_*
 * @since: from when on it is there, ns of the guest's CLOCK_BOOTTIME; 0: always
 */
struct guest_code {
	u64	start;
	u64	len;
	u64	pgoff;
	u32	prot;
	u32	flags;
	long	file;
	u64	since;
};

/* The code of a process, by address */
struct guest_codes {
	struct guest_code *entries;
	size_t	nr;
	size_t	allocated;
};

int guest_codes__read(struct guest_codes *codes, struct guest_kernel *k, struct guest_files *files,
		      u64 mm);
void guest_codes__exit(struct guest_codes *codes);

#endif /* __PERF_KVM_UNIFIED_MEMORY_MAPS_H */
