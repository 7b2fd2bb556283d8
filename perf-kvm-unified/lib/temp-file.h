/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_TEMP_FILE_H
#define __PERF_KVM_UNIFIED_LIB_TEMP_FILE_H

#include <stdio.h>

/**
 * struct temp_file - a file without a name, which is written first and read after that
 * @fp: NULL: there is none
 * @err: what went wrong first while it was written, -errno, or 0
 */
struct temp_file {
	FILE	*fp;
	int	err;
};

int temp_file__open(struct temp_file *file);
void temp_file__close(struct temp_file *file);
void temp_file__check(struct temp_file *file);
int temp_file__end(struct temp_file *file);
int temp_file__copy(struct temp_file *file, FILE *to);

#endif /* __PERF_KVM_UNIFIED_LIB_TEMP_FILE_H */
