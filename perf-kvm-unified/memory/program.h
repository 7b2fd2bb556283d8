/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_PROGRAM_H
#define __PERF_KVM_UNIFIED_MEMORY_PROGRAM_H

#include <stddef.h>
#include <linux/types.h>

#include "note.h"

/**
 * struct guest_text - text that grows
 * @max: in bytes that it may have
 */
struct guest_text {
	char	*data;
	size_t	len;
	size_t	allocated;
	size_t	max;
};

/**
 * struct guest_elf - an ELF file of which perhaps not all is there
 * @read: its bytes; 0, or -ENODATA: they are not there, or another -errno
 * @size: of the file
 */
struct guest_elf {
	int	(*read)(void *arg, u64 offset, void *buf, size_t len);
	void	*arg;
	u64	size;
};

int guest_elf__build_id(const struct guest_elf *elf, struct guest_build_id *id);
int guest_elf__symbols(const struct guest_elf *elf, struct guest_text *text);
int guest_text__add(struct guest_text *text, const char *data, size_t len);
void guest_text__exit(struct guest_text *text);

#endif /* __PERF_KVM_UNIFIED_MEMORY_PROGRAM_H */
