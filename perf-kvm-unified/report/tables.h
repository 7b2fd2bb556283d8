/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_TABLES_H
#define __PERF_KVM_UNIFIED_REPORT_TABLES_H

#include <linux/types.h>

#include "profile.h"

struct evlist;
struct evsel;
struct hashmap;
struct hit;
struct measurement;
struct strlist;
struct thread;

#define TABLE_NO_VCPU	((u32)-1)

/**
 * struct table_info - what perf's histograms do not know of a row
 * @vm: name of the VM, or NULL
 * @vcpu: its id, or TABLE_NO_VCPU
 * @isa: @exit_reason: the last exit's; @isa 0: none is known
 */
struct table_info {
	const char	*vm;
	u64		exit_reason;
	u32		isa;
	u32		vcpu;
	enum profile_class class;
};

/**
 * struct table_row - some of what is counted in a table
 * @key: how it is called
 * @hit: what was hit, or NULL: no code
 * @info: goes with the histogram's entry
 * @filtered: bits of enum hist_filter: why it is not shown
 */
struct table_row {
	const struct profile_key *key;
	const struct hit *hit;
	struct table_info info;
	u16		filtered;
};

/**
 * struct tables - the report as perf's histograms: an event for each table, and if there is
 *	more than one column, a group of events
 * @m: what was measured
 * @evlist: the events
 * @made: symbols for what is no code, by name
 * @nobody: the thread of what is no thread's
 */
struct tables {
	struct evlist	*evlist;
	const struct measurement *m;
	struct hashmap	*made;
	struct thread	*nobody;
};

int tables__init(struct tables *tables, const struct measurement *m);
void tables__exit(struct tables *tables);
struct evsel *tables__new(struct tables *tables, const char *name);
int tables__add(struct tables *tables, struct evsel *table, const struct table_row *row, u32 column,
		u64 sum);
int tables__finish(struct tables *tables);

#endif /* __PERF_KVM_UNIFIED_REPORT_TABLES_H */
