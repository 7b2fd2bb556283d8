/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_MAP_KALLSYMS_H
#define __PERF_KVM_UNIFIED_GUESTS_MAP_KALLSYMS_H

#include <stddef.h>

union perf_event;

int guest_kallsyms__write(const union perf_event *event, int fd);
int guest_map__extract_kallsyms(const char *path, int fd, char *err, size_t errlen);

#endif /* __PERF_KVM_UNIFIED_GUESTS_MAP_KALLSYMS_H */
