/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_NUMBER_HASH_H
#define __PERF_KVM_UNIFIED_NUMBER_HASH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/compiler.h>

#include "util/hashmap.h"

/* For hashmap__new(): keys that are numbers */
static inline size_t number__hash(long key, void *ctx __maybe_unused)
{
	return hash_bits(key, sizeof(size_t) * CHAR_BIT);
}

static inline bool number__equal(long a, long b, void *ctx __maybe_unused)
{
	return a == b;
}

#endif /* __PERF_KVM_UNIFIED_NUMBER_HASH_H */
