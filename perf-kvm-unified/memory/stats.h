/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_STATS_H
#define __PERF_KVM_UNIFIED_MEMORY_STATS_H

#include <linux/types.h>

/**
 * struct guest_look_stats - what looks at a guest have found, and what they have cost
 * @symbols: of the kernel, without those of modules
 * @modules: @processes: @maps: that there were at the last look; maps of code
 * @build_ids: @files: of the maps, with a build-id; files whose symbols are in the map
 * @pages: @bytes: that were read of the guest, in all looks
 * @torn: what changed while it was read, and was read again or given up
 * @refused: what makes no sense and was not believed
 * @unread: reads of memory that has nothing in it
 */
struct guest_look_stats {
	u64	symbols;
	u64	modules;
	u64	processes;
	u64	maps;
	u64	build_ids;
	u64	files;
	u64	pages;
	u64	bytes;
	u64	torn;
	u64	refused;
	u64	unread;
};

#endif /* __PERF_KVM_UNIFIED_MEMORY_STATS_H */
