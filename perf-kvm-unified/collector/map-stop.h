/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_MAP_STOP_H
#define __PERF_KVM_UNIFIED_COLLECTOR_MAP_STOP_H

#include <stdbool.h>

void map_stop__await(void);
bool map_stop__came(int timeout);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_MAP_STOP_H */
