/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_KERNELS_H
#define __PERF_KVM_UNIFIED_RECORD_KERNELS_H

#include <linux/types.h>

/* Bytes of a block of st_blocks: stat(2) */
#define BLOCK_SIZE_OF_STAT	512ULL

int kernels__keep(const char *dir, const char *profile);
u64 kernels__drop_unused(const char *dir);

#endif /* __PERF_KVM_UNIFIED_RECORD_KERNELS_H */
