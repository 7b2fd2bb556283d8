/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_KCORE_H
#define __PERF_KVM_UNIFIED_COLLECTOR_KCORE_H

#include <stddef.h>
#include <linux/types.h>

#include "guest-mem.h"

struct kcore_load;

/**
 * struct guest_kcore - memory of the kernel that this runs on
 * @mem: reads it
 */
struct guest_kcore {
	struct guest_mem mem;
	int	fd;
	struct kcore_load *loads;
	size_t	nr;
};

int guest_kcore__open(struct guest_kcore *k, char *err, size_t errlen);
int guest_kcore__linear_offset(const struct guest_kcore *k, u64 lo, u64 hi, u64 *offset);
void guest_kcore__close(struct guest_kcore *k);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_KCORE_H */
