/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_MAP_OUTPUT_H
#define __PERF_KVM_UNIFIED_LIB_MAP_OUTPUT_H

#include <stdbool.h>

int map_output__open(const char *output, bool *created);

#endif /* __PERF_KVM_UNIFIED_LIB_MAP_OUTPUT_H */
