/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_EXPORT_FORMATS_H
#define __PERF_KVM_UNIFIED_EXPORT_FORMATS_H

#include <stdbool.h>
#include <stdio.h>

#include "kvm-unified/report/sections.h"
#include "rows.h"
#include "speedscope.h"
#include "stacks.h"
#include "trace.h"

struct measurement;
struct strbuf;

/**
 * struct export_data - what there is of a profile for other tools
 * @opts: what was chosen of it
 * @stacks: the sums of what the format's push() has pushed
 * @rows: of a format with rows, those
 * @scope: @trace: of a format with slices, those
 */
struct export_data {
	const struct measurement *m;
	const struct section_opts *opts;
	struct stacks	stacks;
	struct rows	rows;
	struct speedscope scope;
	struct trace	trace;
};

/**
 * struct export_format - what another tool reads: stacks of rows, or slices
 * @begin: the profile is read from its start, perhaps once more. 0, or -errno with a message;
 *	NULL: there is nothing to be done
 * @push: puts what it wants of a row onto an empty stack. 0 or -ENOMEM; NULL: it has no stacks
 * @add: gets each row, with what push() has pushed of it. 0 or -errno; NULL: equal stacks are
 *	added up
 * @slices: what gets them, with struct export_data as its argument; without functions: no slices
 * @print: 0 or -errno: what is still in the buffer of @fp may fail later
 * @end: gives back what begin() has got, if it was called; NULL: nothing
 * @has_stacks: it has call chains, if there are any
 * @is_time_line: it has all time, in its order, and not that of processes and whole VMs
 * @has_no_host: it is of vCPUs alone
 * @is_binary: not for a terminal
 */
struct export_format {
	const char *name;
	int (*begin)(struct export_data *data);
	int (*push)(struct strbuf *stack, const struct measurement *m,
		    const struct section *section, const struct table_row *row);
	int (*add)(struct export_data *data, const struct section *section,
		   const struct table_row *row, u64 ns, struct strbuf *stack);
	struct slice_sink slices;
	int (*print)(struct export_data *data, FILE *fp);
	void (*end)(struct export_data *data);
	bool has_stacks;
	bool is_time_line;
	bool has_no_host;
	bool is_binary;
};

const struct export_format *export_format__find(const char *name);
const struct export_format *export_format__default(void);
void export_formats__names(char *buf, size_t size);

#endif /* __PERF_KVM_UNIFIED_EXPORT_FORMATS_H */
