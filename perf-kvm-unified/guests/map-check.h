/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_MAP_CHECK_H
#define __PERF_KVM_UNIFIED_GUESTS_MAP_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

union perf_event;

/**
 * struct guest_map_reader - who reads a guest map
 * @take: gets each record that is sound and not too much, with the time that it is of, ns of the
 *	guest's CLOCK_BOOTTIME, 0: before the guest was followed. Reading ends if it does not
 *	return 0. NULL: the map is only checked
 * @arg: for @take
 * @kallsyms_size: what the map has of the kernel's symbols, in bytes of text
 * @nr_ignored: records that are beyond what is taken, of a guest that was followed
 *	for long, or lies
 */
struct guest_map_reader {
	int (*take)(const union perf_event *event, u64 time, void *arg);
	void *arg;
	u64 kallsyms_size;
	u64 nr_ignored;
};

bool guest_event__is_kernel(const union perf_event *event);

int guest_map__read(const char *path, struct guest_map_reader *reader, char *err, size_t errlen);
int guest_map__check(const char *path, char *err, size_t errlen);

#endif /* __PERF_KVM_UNIFIED_GUESTS_MAP_CHECK_H */
