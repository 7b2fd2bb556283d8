/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_FILE_PRINT_H
#define __PERF_KVM_UNIFIED_LIB_FILE_PRINT_H

#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

/* Bytes of a print, which has room where a build-id is */
#define FILE_PRINT_SIZE		20

/* At most so many bytes are read of a file. A large program of Go has 20 MiB of symbols. */
#define FILE_PRINT_MAX_READ	(64U << 20)

ssize_t file_print(int fd, size_t max, u8 print[FILE_PRINT_SIZE]);

#endif /* __PERF_KVM_UNIFIED_LIB_FILE_PRINT_H */
