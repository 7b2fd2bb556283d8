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
struct trace;

/**
 * struct export_data - what there is of a profile for other tools
 * @stacks: of a format that wants rows, the sums of what it has pushed
 * @trace: of one that wants slices, these
 */
struct export_data {
	const struct measurement *m;
	const struct stacks *stacks;
	struct trace	*trace;
};

/**
 * struct export_format - what another tool reads
 * @push: puts what it wants of a row onto an empty stack. 0 or -ENOMEM; NULL: it wants slices
 * @print: 0 or -errno: what is still in the buffer of @fp may fail later
 * @is_binary: not for a terminal
 */
struct export_format {
	const char *name;
	int (*push)(struct strbuf *stack, const struct measurement *m,
		    const struct section *section, const struct table_row *row);
	int (*print)(const struct export_data *data, FILE *fp);
	bool is_binary;
};

const struct export_format *export_format__find(const char *name);
const struct export_format *export_format__default(void);
void export_formats__names(char *buf, size_t size);

#endif /* __PERF_KVM_UNIFIED_EXPORT_FORMATS_H */
