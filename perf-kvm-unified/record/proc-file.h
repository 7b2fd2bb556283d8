/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_PROC_FILE_H
#define __PERF_KVM_UNIFIED_RECORD_PROC_FILE_H

#include <stddef.h>
#include <sys/types.h>

char *read_proc_file(const char *proc, pid_t pid, const char *file, size_t *len);

#endif /* __PERF_KVM_UNIFIED_RECORD_PROC_FILE_H */
