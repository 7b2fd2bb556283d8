/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_EXPORT_FORMATS_H
#define __PERF_KVM_UNIFIED_EXPORT_FORMATS_H

#include <stdbool.h>
#include <stdio.h>

struct measurement;
struct section;
struct stacks;
struct strbuf;
struct table_row;

/**
 * struct export_format - what another tool reads
 * @push: puts what it wants of a row onto an empty stack. 0 or -ENOMEM
 * @print: 0 or -errno: what is still in the buffer of @fp may fail later
 * @is_binary: not for a terminal
 */
struct export_format {
	const char *name;
	int (*push)(struct strbuf *stack, const struct measurement *m,
		    const struct section *section, const struct table_row *row);
	int (*print)(const struct stacks *stacks, const struct measurement *m, FILE *fp);
	bool is_binary;
};

const struct export_format *export_format__find(const char *name);
const struct export_format *export_format__default(void);

#endif /* __PERF_KVM_UNIFIED_EXPORT_FORMATS_H */
