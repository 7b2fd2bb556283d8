/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_OPEN_REGULAR_H
#define __PERF_KVM_UNIFIED_COLLECTOR_OPEN_REGULAR_H

#include <sys/stat.h>

int open_regular(int dir, const char *path, int flags, struct stat *st);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_OPEN_REGULAR_H */
