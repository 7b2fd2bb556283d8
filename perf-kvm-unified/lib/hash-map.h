/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_HASH_MAP_H
#define __PERF_KVM_UNIFIED_LIB_HASH_MAP_H

#include <stddef.h>
#include <linux/err.h>

#include "util/hashmap.h"

/* As hashmap__new(), but NULL: no memory. hashmap__free() takes that, too. */
static inline struct hashmap *hash_map__new(hashmap_hash_fn hash, hashmap_equal_fn equal, void *ctx)
{
	struct hashmap *map = hashmap__new(hash, equal, ctx);

	return IS_ERR(map) ? NULL : map;
}

#endif /* __PERF_KVM_UNIFIED_LIB_HASH_MAP_H */
