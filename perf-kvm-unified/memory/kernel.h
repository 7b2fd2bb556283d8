/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_KERNEL_H
#define __PERF_KVM_UNIFIED_MEMORY_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "kvm-unified/collector/layout.h"
#include "kallsyms.h"
#include "note.h"
#include "offsets.h"
#include "paging.h"

struct guest_ram;

/* The image has a run for each section; two dozen on any kernel */
#define GUEST_KERNEL_MAX_RUNS	256

/**
 * struct guest_kernel - the guest's kernel, once it was found
 * @paging: its own address space
 * @runs: @nr_runs: its image there
 * @release: "6.1.0-56-cloud-amd64", or what else its banner says; may have any bytes but 0
 * @pti: user mode has page tables of its own
 * @vmemmap: where the struct pages of physical memory are
 */
struct guest_kernel {
	struct guest_paging paging;
	struct guest_run runs[GUEST_KERNEL_MAX_RUNS];
	size_t	nr_runs;
	struct kernel_symbols symbols;
	struct guest_task_layout layout;
	struct guest_offsets offsets;
	struct guest_build_id build_id;
	char	release[64];
	u64	text;			/* _stext */
	u64	text_end;
	u64	vmemmap;
	bool	pti;
};

int guest_kernel__find(struct guest_kernel *k, struct guest_ram *ram, const u64 *roots, size_t nr,
		       char *err, size_t errlen);
void guest_kernel__exit(struct guest_kernel *k);

int guest_kernel__read(struct guest_kernel *k, u64 va, void *buf, size_t len);
int guest_kernel__read_string(struct guest_kernel *k, u64 va, char *buf, size_t size);
int guest_kernel__read_u64(struct guest_kernel *k, u64 va, u64 *v);
int guest_kernel__read_u32(struct guest_kernel *k, u64 va, u32 *v);

#endif /* __PERF_KVM_UNIFIED_MEMORY_KERNEL_H */
