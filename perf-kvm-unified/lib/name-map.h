/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_NAME_MAP_H
#define __PERF_KVM_UNIFIED_LIB_NAME_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <linux/compiler.h>

#include "hash-map.h"

static inline size_t name__hash(long key, void *ctx __maybe_unused)
{
	return str_hash((const char *)key);
}

static inline bool name__equal(long a, long b, void *ctx __maybe_unused)
{
	return !strcmp((const char *)a, (const char *)b);
}

/* A hashmap whose keys are strings, which stay. NULL: no memory */
static inline struct hashmap *name_map__new(void)
{
	return hash_map__new(name__hash, name__equal, NULL);
}

#endif /* __PERF_KVM_UNIFIED_LIB_NAME_MAP_H */
