/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_SECTIONS_H
#define __PERF_KVM_UNIFIED_REPORT_SECTIONS_H

#include <stdbool.h>
#include <linux/types.h>

#include "kvm-unified/format/vms.h"
#include "costs.h"
#include "moments.h"
#include "profile.h"
#include "tally.h"
#include "vcpu-rows.h"

struct axis_vcpu;
struct hits;
struct intlist;
struct evsel;
struct measure_wants;
struct measurement;
struct pattern;
struct patterns;
struct perf_cpu_map;
struct perf_time_interval;
struct section;
struct table_row;
struct tables;
struct time_piece;
struct vcpu_interval;

enum section_level {
	SECTION_HOST,
	SECTION_VM,
	SECTION_VCPU,
	SECTION_GUESTS,	/* all VMs together */
	SECTION_NR
};

/* Which tables */
#define SECTIONS_HOST	(1U << SECTION_HOST)
#define SECTIONS_VM	(1U << SECTION_VM)
#define SECTIONS_VCPU	(1U << SECTION_VCPU)
#define SECTIONS_GUESTS	(1U << SECTION_GUESTS)
/* The default: what is of all guests together is in none of them a second time. */
#define SECTIONS_ALL	(SECTIONS_HOST | SECTIONS_VM | SECTIONS_VCPU)

/* @row, which is to be shown, has @ns of @section. 0 or -ENOMEM */
typedef int (*section_row_fn)(const struct section *section, const struct table_row *row, u64 ns,
			      void *arg);

/* Gets rows as they are found: what is called the same may come several times */
struct row_sink {
	section_row_fn	row;
	void		*arg;
};

/**
 * struct slice_sink - gets what vCPUs and CPUs did, piece by piece, as it comes off the axis
 * @vcpu: @piece of an interval of vCPU number @vcpu; @cpu: from @start to before @end of one of a
 *	CPU; both of the time that is shown. 0 or -ENOMEM
 */
struct slice_sink {
	int	(*vcpu)(const struct measurement *m, u32 vcpu,
			const struct vcpu_interval *interval, const struct time_piece *piece,
			void *arg);
	int	(*cpu)(const struct measurement *m, const struct cpu_interval *interval, u64 start,
		       u64 end, void *arg);
	void	*arg;
};

/**
 * struct section_opts - which sections, of which time, with which rows
 * @levels: which tables, SECTIONS_*
 * @sort: what makes a row of its own, PROFILE_SORT_*, for --format
 * @vms: @vcpus: only these, if not NULL
 * @pids: @comms: @dsos: @syms: rows that are shown, if not NULL
 * @filter: the same: functions with this in their names
 * @cpus: only what was on these CPUs of the host, if not NULL
 * @times: only these times, @nr_times of them, unless that is 0
 * @by_vm: @by_exit_reason: tell the host's own work apart by the VM and vCPU that it was
 *	for, or by the exit reason that it handled; in perf's views
 * @by_cpu: tell what is no sample apart by the host's CPU that it was on
 * @plain_thieves: call tasks that had a CPU by their names alone
 * @thieves_by_pid: tell tasks of one name that had a CPU apart
 * @reasons: also sum up what a vCPU did not get by exit reasons
 * @interval: also sum up the time in intervals of so many ns, if not 0
 * @thieves: in these, tell of them and not of who had most, if not NULL
 * @stalls: also find out how long vCPUs have waited for a CPU, each time
 * @slices: gets also when it was, if it has functions
 * @row_sink: gets the time of rows in place of the tables, which stay empty, if it has a function
 */
struct section_opts {
	enum attribution attribution;
	unsigned int	levels;
	unsigned int	sort;
	struct patterns	*vms;
	struct intlist	*vcpus;
	struct intlist	*pids;
	struct patterns	*comms;
	struct patterns	*dsos;
	struct patterns	*syms;
	struct pattern	*filter;
	struct perf_cpu_map *cpus;
	struct perf_time_interval *times;
	int		nr_times;
	bool		by_vm;
	bool		by_exit_reason;
	bool		by_cpu;
	bool		plain_thieves;
	bool		thieves_by_pid;
	bool		reasons;
	u64		interval;
	struct patterns	*thieves;
	bool		stalls;
	struct slice_sink slices;
	struct row_sink	row_sink;
};

/**
 * struct section - one table of the report
 * @vm: number of the VM, if it is of one
 * @vcpu: id of the vCPU
 * @hidden: ns of rows that are not shown
 * @taken: ns of all classes that are what a vCPU did not get
 * @reasons: the table of these, by the last exit reason before; NULL: not asked for
 * @table: its rows
 */
struct section {
	enum section_level level;
	u32		vm;
	u32		vcpu;
	char		title[KVM_VM_NAME_LEN + 32];
	struct profile	profile;
	u64		hidden;
	u64		taken;
	struct evsel	*reasons;
	struct evsel	*table;
};

/**
 * struct sections
 * @entries: the tables, @nr of them, made by sections__build()
 * @tables: where the rows are
 * @m: of what they are
 * @hits: those of @m: that of another CPU may be a new one
 * @costs: what VMs cost the host
 * @moments: when, and how long at once
 * @host: @vcpus: the sums that they are made of, the latter by number of the vCPU
 */
struct sections {
	struct section	*entries;
	u32		nr;
	const struct section_opts *opts;
	const struct measurement *m;
	struct hits	*hits;
	struct tables	*tables;
	struct costs	costs;
	struct moments	moments;
	struct tally	host;
	struct tally	*vcpus;
	u32		nr_vcpus;
	size_t		allocated_vcpus;
};

/* The vCPUs of a VM that are wanted, by their ids; @of: how many it has in all */
struct vm_vcpus {
	u32		vm;
	const struct axis_vcpu **vcpus;
	u32		nr;
	u32		of;
};

typedef int (*vm_vcpus_fn)(const struct vm_vcpus *vcpus, void *arg);

/* @time ns of a vCPU were as in @interval, as far as that is of use. 0 or -ENOMEM */
typedef int (*vcpu_time_fn)(const struct vcpu_interval *interval, u64 time, void *arg);

const char *section_level__name(enum section_level level);
bool section__has_vm(const struct section *section);
u64 section_opts__time(const struct section_opts *opts, u64 start, u64 end);
bool section_opts__wants_vm(const struct section_opts *opts, const char *name);

int sections__init(struct sections *sections, struct measurement *m,
		   const struct section_opts *opts, struct measure_wants *wants);
int sections__build(const struct measurement *m, struct sections *sections);
void sections__exit(struct sections *sections);

struct tally *sections__tally(struct sections *sections, u32 vcpu);
int sections__each_vm(struct sections *sections, const struct measurement *m, vm_vcpus_fn fn,
		      void *arg);
int sections__each_time(struct sections *sections, const struct measurement *m,
			const struct axis_vcpu *vcpu, vcpu_time_fn fn, void *arg);

#endif /* __PERF_KVM_UNIFIED_REPORT_SECTIONS_H */
