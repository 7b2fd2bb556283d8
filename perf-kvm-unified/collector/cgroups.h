/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_CGROUPS_H
#define __PERF_KVM_UNIFIED_COLLECTOR_CGROUPS_H

#include <stddef.h>

struct guest_tasks;

int guest_cgroup__parse(const char *text, char *path, size_t size);
int guest_tasks__write_cgroups(const struct guest_tasks *tasks, int fd);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_CGROUPS_H */
