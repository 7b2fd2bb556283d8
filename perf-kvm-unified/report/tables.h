/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_TABLES_H
#define __PERF_KVM_UNIFIED_REPORT_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "util/hist.h"
#include "profile.h"

struct evlist;
struct evsel;
struct hashmap;
struct hit;
struct measured_task;
struct measurement;
struct pattern;
struct tally_sum;
struct thread;

/* perf's letter for where code runs, of what is no code */
#define TABLE_NO_CODE	'-'
#define TABLE_NO_VCPU	((u32)-1)
#define TABLE_NO_VM	((u32)-1)

/**
 * struct table_info - what perf's histograms do not know of a row
 * @key: how it is called; what it points to stays as long as the tables
 * @vm: name of the VM, or NULL
 * @task: that has stolen the time, or NULL
 * @thief_vm: @thief_vcpu: the vCPU that has, its VM's name and its id, or NULL
 * @vcpu: its id, or TABLE_NO_VCPU
 * @isa: @exit_reason: the last exit's; @isa 0: none is known
 */
struct table_info {
	struct profile_key key;
	const char	*vm;
	const struct measured_task *task;
	const char	*thief_vm;
	u64		exit_reason;
	u32		isa;
	u32		vcpu;
	u32		thief_vcpu;
};

/**
 * struct table_row - some of what is counted in a table
 * @key: how it is called
 * @hit: what was hit, or NULL: no code
 * @vm: number of the VM whose table it is in, or TABLE_NO_VM: the host's
 * @cpu: of the host, of what was no hit, if rows are told apart by it; or TIME_AXIS_NONE
 * @info: goes with the histogram's entry, which gets @key, too
 * @filtered: bits of enum hist_filter: why it is not shown
 */
struct table_row {
	const struct profile_key *key;
	const struct hit *hit;
	u32		vm;
	u32		cpu;
	struct table_info info;
	u16		filtered;
};

/**
 * struct tables - the report as perf's histograms: an event for each table, and if there is
 *	more than one column, a group of events
 * @m: what was measured
 * @evlist: the events
 * @reasons: those of tables of exit reasons, whose rows are told apart by @reason_keys
 *	and its @reason_key, see row_keys__setup_reasons()
 * @made: symbols for what has none in a file, by name; @made_maps: maps of their modules
 * @nobody: the thread of what is no thread's, on the host
 * @vms_nobody: ... in each VM, by its number: perf's browser finds the kernel by the thread
 */
struct tables {
	struct evlist	*evlist;
	struct evlist	*reasons;
	struct perf_hpp_list reason_keys;
	struct perf_hpp_fmt reason_key;
	const struct measurement *m;
	struct hashmap	*made;
	struct hashmap	*made_maps;
	struct thread	*nobody;
	struct thread	**vms_nobody;
};

int tables__init(struct tables *tables, const struct measurement *m);
void tables__exit(struct tables *tables);
const struct table_info *table_entry__info(const struct hist_entry *he);
bool table_entry__has_symbol(const struct hist_entry *he);
struct evsel *tables__new(struct tables *tables, const char *name);
struct evsel *tables__new_reasons(struct tables *tables);
int tables__add(struct tables *tables, struct evsel *table, const struct table_row *row, u32 column,
		const struct tally_sum *sum);
int tables__finish(struct tables *tables, struct pattern *filter);
void tables__sort_again(struct tables *tables);
struct profile_row *tables__rows(const struct tables *tables, struct evsel *table,
				 unsigned int sort, size_t *nr);

#endif /* __PERF_KVM_UNIFIED_REPORT_TABLES_H */
