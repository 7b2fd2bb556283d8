/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_FORMAT_WINDOW_H
#define __PERF_KVM_UNIFIED_FORMAT_WINDOW_H

#include <stddef.h>
#include <linux/types.h>

/**
 * struct profile_window - the part of a profile that is its own, where others overlap with it
 * @from: @until: ns of the profile's clock; it is from @from until just before @until; 0: from the
 *	start, until the end
 */
struct profile_window {
	u64	from;
	u64	until;
};

int profile_window__write(const struct profile_window *window, const char *dir);
int profile_window__read(struct profile_window *window, const char *dir, char *err, size_t errlen);

#endif /* __PERF_KVM_UNIFIED_FORMAT_WINDOW_H */
