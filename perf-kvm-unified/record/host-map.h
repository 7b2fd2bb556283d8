/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_HOST_MAP_H
#define __PERF_KVM_UNIFIED_RECORD_HOST_MAP_H

int host_map__write(const char *vm, const char *output);

#endif /* __PERF_KVM_UNIFIED_RECORD_HOST_MAP_H */
