/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_MAP_H
#define __PERF_KVM_UNIFIED_COLLECTOR_MAP_H

#include <stdbool.h>

int guest_map__write_own(const char *output, bool follow, bool from_host);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_MAP_H */
