/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_ROW_COLUMNS_H
#define __PERF_KVM_UNIFIED_REPORT_ROW_COLUMNS_H

#include <stdbool.h>
#include <stdio.h>

struct profile_key;

/* The columns of a table as text, and how wide those are that have another after them */
struct row_columns {
	bool	function;
	bool	module;
	bool	process;
	bool	cgroup;
	bool	guest;
	int	function_width;
	int	module_width;
	int	cgroup_width;
};

void row_columns__init(struct row_columns *c, unsigned int sort, bool process, bool guest);
void row_columns__fit(struct row_columns *c, const struct profile_key *key);
void row_columns__print_titles(const struct row_columns *c, FILE *fp);
void row_columns__print(const struct row_columns *c, const struct profile_key *key, FILE *fp);

void print_padded(const char *str, int width, FILE *fp);

#endif /* __PERF_KVM_UNIFIED_REPORT_ROW_COLUMNS_H */
