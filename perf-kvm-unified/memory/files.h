/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_FILES_H
#define __PERF_KVM_UNIFIED_MEMORY_FILES_H

#include <stddef.h>
#include <linux/types.h>

#include "note.h"
#include "program.h"

struct guest_kernel;
struct hashmap;

/**
 * struct guest_file - a file that some process has mapped
 * @dentry: @mnt: @mapping: that it was found by, in the look that it was found in
 * @path: as the guest has it, any bytes
 * @dev: @ino: as in /proc/PID/maps
 */
struct guest_file {
	u64	dentry;
	u64	mnt;
	u64	mapping;
	u64	ino;
	u32	dev;
	struct guest_build_id build_id;
	char	*path;
};

/* The functions of a program, by its build-id */
struct guest_program {
	struct guest_build_id build_id;
	struct guest_text symbols;
};

/**
 * struct guest_files - all files that processes have mapped since the first look
 * @of_look: those of this look, by dentry: what is at an address may be another file later
 * @programs: with symbols that were in memory
 * @symbols_size: of all of these, in bytes
 */
struct guest_files {
	struct guest_file *entries;
	size_t	nr;
	size_t	allocated;
	struct hashmap *of_look;
	struct guest_program *programs;
	size_t	nr_programs;
	size_t	programs_allocated;
	size_t	symbols_size;
};

int guest_files__begin_look(struct guest_files *files);
int guest_files__find(struct guest_files *files, struct guest_kernel *k, u64 file, size_t *index);
void guest_files__exit(struct guest_files *files);

#endif /* __PERF_KVM_UNIFIED_MEMORY_FILES_H */
