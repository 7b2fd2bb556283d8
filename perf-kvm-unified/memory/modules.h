/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_MODULES_H
#define __PERF_KVM_UNIFIED_MEMORY_MODULES_H

#include <stddef.h>
#include <linux/types.h>

#include "kvm-unified/collector/orc-table.h"
#include "kernel.h"
#include "program.h"

/* include/linux/moduleparam.h: MODULE_NAME_LEN */
#define GUEST_MODULE_NAME	56

/**
 * struct guest_module - a module of the guest's kernel
 * @base: @size: of its text
 * @orc: the table by which it is unwound; one without an address: none
 */
struct guest_module {
	char	name[GUEST_MODULE_NAME];
	u64	base;
	u64	size;
	struct guest_build_id build_id;
	struct orc_place orc;
};

/**
 * struct guest_modules - what the guest's kernel has loaded
 * @symbols: of modules and of BPF programs, as lines of /proc/kallsyms
 */
struct guest_modules {
	struct guest_module *entries;
	size_t	nr;
	size_t	allocated;
	struct guest_text symbols;
};

int guest_modules__read(struct guest_modules *modules, struct guest_kernel *k);
void guest_modules__exit(struct guest_modules *modules);

#endif /* __PERF_KVM_UNIFIED_MEMORY_MODULES_H */
