/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_SECTIONS_H
#define __PERF_KVM_UNIFIED_REPORT_SECTIONS_H

#include <stdbool.h>
#include <linux/types.h>

#include "kvm-unified/format/records.h"
#include "profile.h"
#include "tally.h"

struct intlist;
struct evsel;
struct measurement;
struct perf_cpu_map;
struct perf_time_interval;
struct strlist;
struct tables;

/* Who the time is charged to that the host works for a guest */
enum attribution {
	ATTRIBUTION_CPU_SWITCH,		/* the host: a guest has what it executes itself */
	ATTRIBUTION_DOMAIN_SWITCH,	/* the guest */
};

/* What makes a row of its own; a row has no more than that. */
#define SECTION_SORT_SYM	(1U << 0)
#define SECTION_SORT_DSO	(1U << 1)
#define SECTION_SORT_COMM	(1U << 2)
#define SECTION_SORT_PID	(1U << 3)
#define SECTION_SORT_ALL	(SECTION_SORT_SYM | SECTION_SORT_DSO | \
				 SECTION_SORT_COMM | SECTION_SORT_PID)

/**
 * struct section_opts - which sections, of which time, with which rows
 * @vms: @vcpus: only these, if not NULL
 * @pids: @comms: @dsos: @syms: rows that are shown, if not NULL
 * @cpus: only what was on these CPUs of the host, if not NULL
 * @times: only these times, @nr_times of them, unless that is 0
 * @by_vm: @by_exit_reason: tell the host's own work apart by the VM and vCPU that it was
 *	for, or by the exit reason that it handled; in perf's histograms
 */
struct section_opts {
	enum attribution attribution;
	unsigned int	sort;
	struct strlist	*vms;
	struct intlist	*vcpus;
	struct intlist	*pids;
	struct strlist	*comms;
	struct strlist	*dsos;
	struct strlist	*syms;
	struct perf_cpu_map *cpus;
	struct perf_time_interval *times;
	int		nr_times;
	bool		by_vm;
	bool		by_exit_reason;
};

enum section_level {
	SECTION_HOST,
	SECTION_VM,
	SECTION_VCPU,
};

/**
 * struct section - one table of the report
 * @vm: number of the VM
 * @vcpu: id of the vCPU
 * @reasons: time that was stolen, by the last exit reason before
 * @hidden: ns of rows that are not shown
 * @table: perf's histogram instead of the rows of @profile, if there are any
 */
struct section {
	enum section_level level;
	u32		vm;
	u32		vcpu;
	char		title[GUEST_VM_NAME_LEN + 32];
	struct profile	profile;
	struct profile	reasons;
	u64		hidden;
	struct evsel	*table;
};

/**
 * struct sections
 * @entries: the tables, @nr of them, made by sections__build()
 * @tables: perf's histograms, if they are wanted and not the rows of profiles
 * @host: @vcpus: the sums that they are made of, the latter by number of the vCPU
 */
struct sections {
	struct section	*entries;
	u32		nr;
	const struct section_opts *opts;
	struct tables	*tables;
	struct tally	host;
	struct tally	*vcpus;
	u32		nr_vcpus;
	size_t		allocated_vcpus;
};

int sections__init(struct sections *sections, struct measurement *m,
		   const struct section_opts *opts);
int sections__build(struct measurement *m, const struct section_opts *opts,
		    struct sections *sections);
void sections__exit(struct sections *sections);

#endif /* __PERF_KVM_UNIFIED_REPORT_SECTIONS_H */
