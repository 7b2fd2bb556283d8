/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_GUEST_MAPS_H
#define __PERF_KVM_UNIFIED_RECORD_GUEST_MAPS_H

#include <stddef.h>
#include <sys/types.h>

int guest_map__open_new(pid_t pid, const char *dir);
int guest_map__take(pid_t pid, const char *dir, char *err, size_t errlen);
void guest_map__drop(pid_t pid, const char *dir);

#endif /* __PERF_KVM_UNIFIED_RECORD_GUEST_MAPS_H */
