/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_PRINT_TABLE_H
#define __PERF_KVM_UNIFIED_PRINT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

struct profile;

/**
 * struct print_table_opts - how tables look
 * @percent_limit: rows below it go into one row at the end
 */
struct print_table_opts {
	double	percent_limit;
};

int print_table__host(const struct profile *p, const char *title,
		      const struct print_table_opts *opts, FILE *fp);
int print_table__guest(const struct profile *p, const char *title,
		       const struct print_table_opts *opts, FILE *fp);

#endif /* __PERF_KVM_UNIFIED_PRINT_TABLE_H */
