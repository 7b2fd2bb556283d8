/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_WRITE_H
#define __PERF_KVM_UNIFIED_MEMORY_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct guest_cgroups;
struct guest_files;
struct guest_instant;
struct guest_kernel;
struct guest_lives;
struct guest_modules;

/**
 * struct guest_found - all that looks have found in a guest
 * @orc: the tables by which the kernel is unwound are to be written
 * @instants: @nr_instants: what time it was when it was looked at; ascending
 */
struct guest_found {
	struct guest_kernel *kernel;
	const struct guest_modules *modules;
	const struct guest_files *files;
	const struct guest_cgroups *cgroups;
	const struct guest_lives *lives;
	const struct guest_instant *instants;
	size_t	nr_instants;
	bool	orc;
};

int guest_found__write(const struct guest_found *found, int fd);

#endif /* __PERF_KVM_UNIFIED_MEMORY_WRITE_H */
