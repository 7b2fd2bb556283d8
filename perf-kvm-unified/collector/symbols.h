/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_SYMBOLS_H
#define __PERF_KVM_UNIFIED_COLLECTOR_SYMBOLS_H

#include <sys/types.h>

/* At most so many bytes are read of all JIT compilers' files together. */
#define GUEST_SYMBOLS_MAX_SIZE	(64U << 20)

struct perf_record_guest_symbols;

int guest_symbols__write(int fd, struct perf_record_guest_symbols *rec, size_t len);
int guest_symbols__write_perf_map(int fd, pid_t pid, int in, size_t *left);
int guest_symbols__write_jitdumps(int fd, pid_t pid, size_t *left);
int guest_symbols__write_vdso(int fd);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_SYMBOLS_H */
