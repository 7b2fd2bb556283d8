/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_NUMBER_MAP_H
#define __PERF_KVM_UNIFIED_LIB_NUMBER_MAP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/compiler.h>

#include "hash-map.h"

static inline size_t number__hash(long key, void *ctx __maybe_unused)
{
	return hash_bits(key, sizeof(size_t) * CHAR_BIT);
}

static inline bool number__equal(long a, long b, void *ctx __maybe_unused)
{
	return a == b;
}

/* A hashmap whose keys are numbers. NULL: no memory */
static inline struct hashmap *number_map__new(void)
{
	return hash_map__new(number__hash, number__equal, NULL);
}

#endif /* __PERF_KVM_UNIFIED_LIB_NUMBER_MAP_H */
