/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_EXPORT_ROWS_H
#define __PERF_KVM_UNIFIED_EXPORT_ROWS_H

#include <stdio.h>
#include <linux/types.h>

#include "kvm-unified/lib/temp-file.h"

struct chosen_time;
struct measurement;
struct section;
struct strbuf;
struct table_row;

/**
 * struct rows - those of a report, as a database takes them
 * @lines: one for each
 */
struct rows {
	struct temp_file lines;
};

int rows__begin(struct rows *rows);
void rows__exit(struct rows *rows);
int rows__add(struct rows *rows, const struct measurement *m, const struct chosen_time *time,
	      const struct section *section, const struct table_row *row, u64 ns,
	      struct strbuf *stack);
int rows__print(struct rows *rows, FILE *fp);

#endif /* __PERF_KVM_UNIFIED_EXPORT_ROWS_H */
