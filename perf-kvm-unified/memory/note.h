/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_NOTE_H
#define __PERF_KVM_UNIFIED_MEMORY_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* include/linux/buildid.h: BUILD_ID_SIZE_MAX */
#define GUEST_BUILD_ID_MAX	20

/* A build-id; of @size 0: none */
struct guest_build_id {
	u8	data[GUEST_BUILD_ID_MAX];
	u8	size;
};

bool guest_build_id__same(const struct guest_build_id *a, const struct guest_build_id *b);
void guest_note__build_id(const void *notes, size_t len, struct guest_build_id *id);

#endif /* __PERF_KVM_UNIFIED_MEMORY_NOTE_H */
