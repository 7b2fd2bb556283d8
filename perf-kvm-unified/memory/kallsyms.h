/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_KALLSYMS_H
#define __PERF_KVM_UNIFIED_MEMORY_KALLSYMS_H

#include <stddef.h>
#include <linux/types.h>

/**
 * struct kernel_symbol - a symbol of the guest's kernel
 * @name: where its name begins in the names of all
 * @type: as /proc/kallsyms says it
 */
struct kernel_symbol {
	u64	addr;
	u32	name;
	char	type;
};

/* How kallsyms stores addresses */
enum kallsyms_encoding {
	KALLSYMS_NONE,
	KALLSYMS_ABSOLUTE_PERCPU,	/* up to 6.14: per-CPU ones are not above the base */
	KALLSYMS_BASE_RELATIVE,		/* up to 6.19: how far above the base */
	KALLSYMS_PLACE_RELATIVE,	/* since 7.0: how far from where that stands */
};

/**
 * struct kernel_symbols - the symbols of the guest's kernel, without those of modules
 * @entries: in the order of kallsyms, which is by address
 * @names: 0-terminated, one after the other
 */
struct kernel_symbols {
	struct kernel_symbol *entries;
	size_t	nr;
	char	*names;
	size_t	names_len;
	enum kallsyms_encoding encoding;
};

int kernel_symbols__decode(struct kernel_symbols *s, const void *image, size_t len, u64 va);
u64 kernel_symbols__find(const struct kernel_symbols *s, const char *name);
void kernel_symbols__exit(struct kernel_symbols *s);

static inline const char *kernel_symbols__name(const struct kernel_symbols *s, size_t i)
{
	return s->names + s->entries[i].name;
}

#endif /* __PERF_KVM_UNIFIED_MEMORY_KALLSYMS_H */
