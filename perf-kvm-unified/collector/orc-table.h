/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_ORC_TABLE_H
#define __PERF_KVM_UNIFIED_COLLECTOR_ORC_TABLE_H

#include <stdbool.h>
#include <linux/types.h>

#include "util/guest-orc.h"

struct guest_mem;
struct perf_record_guest_orc;

/* Symbols around the kernel's table: include/asm-generic/vmlinux.lds.h, ORC_UNWIND_TABLE */
#define ORC_OFFSETS		"__start_orc_unwind_ip"
#define ORC_OFFSETS_END		"__stop_orc_unwind_ip"
#define ORC_ENTRIES		"__start_orc_unwind"
#define ORC_ENTRIES_END		"__stop_orc_unwind"
/* Kernels since 6.4 have it, and the layout of that one. */
#define ORC_HEADER		"orc_header"

/* An offset and an entry of a table */
#define ORC_OFFSET_SIZE		sizeof(s32)
#define ORC_ENTRY_SIZE		sizeof(struct guest_orc_entry)

/**
 * struct orc_place - where a table is in the guest's memory
 * @offsets: @entries: addresses of two arrays of @nr
 */
struct orc_place {
	u64	offsets;
	u64	entries;
	u64	nr;
};

/* @rec, of a part of a table, is to be written. 0 or -errno */
typedef int (*orc_write_fn)(void *arg, struct perf_record_guest_orc *rec);

enum guest_orc_layout orc_layout(bool has_header, const char *release);
struct orc_place orc_place__of(u64 offsets, u64 entries, u64 nr);
struct orc_place orc_place__between(u64 offsets, u64 offsets_end, u64 entries, u64 entries_end);
int orc_place__cut(struct orc_place *place, struct guest_mem *mem, u64 start, u64 end);
int orc_place__write(const struct orc_place *place, struct guest_mem *mem,
		     enum guest_orc_layout layout, orc_write_fn write, void *arg);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_ORC_TABLE_H */
