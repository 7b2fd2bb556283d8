/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_OUTPUT_FILE_H
#define __PERF_KVM_UNIFIED_LIB_OUTPUT_FILE_H

#include <stdbool.h>

int output_file__open(const char *path, bool *created);

#endif /* __PERF_KVM_UNIFIED_LIB_OUTPUT_FILE_H */
