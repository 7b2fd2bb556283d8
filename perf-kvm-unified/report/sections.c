// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of the report, from the time axis: who each interval is charged to,
 * and what it is called.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>
#include <perf/cpumap.h>

#include "util/dso.h"
#include "util/evsel.h"
#include "util/hashmap.h"
#include "util/hist.h"
#include "util/map.h"
#include "util/intlist.h"
#include "util/session.h"
#include "util/symbol_conf.h"
#include "util/time-utils.h"
#include "util/vcpu-sample.h"
#include "kvm-unified/axis/intervals.h"
#include "kvm-unified/guests/files.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/patterns.h"
#include "kvm-unified/lib/sort.h"
#include "kvm-unified/measure/code.h"
#include "kvm-unified/measure/measurement.h"
#include "kvm-unified/measure/who.h"
#include "sections.h"
#include "tables.h"
#include "takers.h"
#include "tally.h"
#include "thieves.h"

/**
 * next_shown - walks over the parts of an interval that are in the times that are asked for
 * @i: the part to look for, 0 first; becomes the one after that
 * @from: @until: get the part
 *
 * Is there one more?
 */
static bool next_shown(const struct section_opts *opts, u64 start, u64 end, int *i, u64 *from,
		       u64 *until)
{
	/* No times are asked for: that is one part. */
	*from = start;
	*until = end;
	if (!opts->nr_times)
		return !(*i)++;
	while (*i < opts->nr_times) {
		const struct perf_time_interval *time = &opts->times[(*i)++];

		*from = max(start, time->start);
		/* An end of 0 is that of the file. */
		*until = time->end ? min(end, time->end) : end;
		if (*from < *until)
			return true;
	}
	return false;
}

/* How much of the time from @start to @end is to be shown, on whatever CPUs; ns */
u64 section_opts__time(const struct section_opts *opts, u64 start, u64 end)
{
	u64 from, until, time = 0;
	int i = 0;

	while (next_shown(opts, start, end, &i, &from, &until))
		time += until - from;
	return time;
}

/* How much of an interval is to be shown, ns */
static u64 visible(const struct section_opts *opts, u64 start, u64 end, u32 cpu)
{
	if (opts->cpus &&
	    (cpu == TIME_AXIS_NONE || !perf_cpu_map__has(opts->cpus, (struct perf_cpu){ cpu })))
		return 0;
	return section_opts__time(opts, start, end);
}

/* Is @pid one of @pids? That it was found is remembered. */
static bool is_of_pids(struct intlist *pids, pid_t pid)
{
	struct int_node *node = pid < 0 ? NULL : intlist__find(pids, pid);

	if (node)
		node->priv = node;
	return node;
}

/*
 * Is it one of these modules? By any of its names: what is no code is in one that is called as its
 * class, and a kernel is "[kernel]", and as perf calls its file, with its directory or without. A
 * guest's file has its path in the guest, too.
 */
static bool is_of_modules(struct patterns *modules, const struct measurement *m,
			  const struct table_row *row)
{
	const char *module = row->key->module, *path;
	const struct dso *dso = row->hit && row->hit->map ? map__dso(row->hit->map) : NULL;

	if (patterns__match(modules, module[0] ? module : profile_key__class_row(row->key)))
		return true;
	if (!dso)
		return false;
	if (patterns__match(modules, dso__short_name(dso)) ||
	    patterns__match(modules, dso__long_name(dso)))
		return true;
	path = row->vm == TABLE_NO_VM ? NULL : guest_file__path(m->vms[row->vm].guest, dso);
	return path && patterns__match(modules, path);
}

/* perf's symbol filter: a part of the name, in which no character is a special one */
static bool has_in_name(struct pattern *filter, const char *function)
{
	if (!strstr(function, filter->text))
		return false;
	filter->matched = true;
	return true;
}

/* perf's letter is of where code runs. */
static bool table_row__is_code(const struct table_row *row)
{
	return row->hit && row->hit->level;
}

/* Why a row is not shown: bits of enum hist_filter; 0: it is */
static u16 filters(const struct section_opts *opts, const struct measurement *m,
		   const struct table_row *row)
{
	const struct profile_key *key = row->key;
	u16 filtered = 0;

	if (opts->pids && !is_of_pids(opts->pids, key->pid))
		filtered |= 1 << HIST_FILTER__THREAD;
	if (opts->comms && !patterns__match(opts->comms, key->comm))
		filtered |= 1 << HIST_FILTER__THREAD;
	if (opts->dsos && !is_of_modules(opts->dsos, m, row))
		filtered |= 1 << HIST_FILTER__DSO;
	if (opts->syms && !patterns__match(opts->syms, key->function))
		filtered |= 1 << HIST_FILTER__SYMBOL;
	if (symbol_conf.hide_unresolved && table_row__is_code(row) && !row->hit->sym)
		filtered |= 1 << HIST_FILTER__SYMBOL;
	return filtered;
}

/*
 * Of whichever VM and process: what is called the same is one row, wherever a guest has mapped it.
 * 0 or -ENOMEM
 */
static int section__add_of_any(const struct section *section, struct sections *sections,
			       const struct table_row *row, u32 column,
			       const struct tally_sum *sum)
{
	const struct profile_key key = profile_key__reduce(row->key,
							   PROFILE_SORT_SYM | PROFILE_SORT_DSO);
	struct table_row of_any = *row;
	struct hit hit;

	of_any.key = &key;
	if (row->hit) {
		hit = (struct hit) {
			.cpu = row->hit->cpu,
			.cpumode = row->hit->cpumode,
			.level = row->hit->level,
		};
		of_any.hit = &hit;
	}
	return tables__add(sections->tables, section->table, &of_any, column, sum);
}

/* @row is changed: it gets what keeps it from being shown. 0 or -ENOMEM */
static int section__add(struct section *section, struct sections *sections,
			struct table_row *row, u32 column, const struct tally_sum *sum)
{
	const struct row_sink *sink = &sections->opts->row_sink;
	struct pattern *filter = sections->opts->filter;
	enum profile_class class = row->key->class;
	bool is_named;

	if (!sum->sum)
		return 0;
	is_named = !filter || has_in_name(filter, row->key->function);
	row->vm = section__has_vm(section) ? section->vm : TABLE_NO_VM;
	row->filtered = filters(sections->opts, sections->m, row);
	if ((row->filtered || !is_named) && column == PROFILE_TIME)
		section->hidden += sum->sum;
	/* Its callers have rows of their own: tables__finish() looks at the names of all. */
	if (!is_named && (sink->row || !symbol_conf.cumulate_callchain))
		row->filtered |= 1 << HIST_FILTER__SYMBOL;
	profile__add(&section->profile, class, column, sum->sum);
	if (sink->row)
		return row->filtered || column != PROFILE_TIME ? 0 :
		       sink->row(section, row, sum->sum, sink->arg);
	return section->level == SECTION_GUESTS ?
	       section__add_of_any(section, sections, row, column, sum) :
	       tables__add(sections->tables, section->table, row, column, sum);
}

/* Adds hits of which nothing else is known. 0 or -ENOMEM */
static int section__add_hits(struct section *section, struct sections *sections,
			     const struct measurement *m, const struct tally *tally,
			     struct table_row *row)
{
	int ret = 0;

	for (u32 column = 0; !ret && column < m->nr_columns; column++) {
		const struct hit_sums *hits = &tally->hits[column];
		const struct tally_sum *sum;

		for (u32 hit = 0; !ret && (sum = hit_sums__next(hits, &hit)); hit++) {
			row->hit = m->hits.by_idx[hit];
			row->key = &row->hit->key;
			ret = section__add(section, sections, row, column, sum);
		}
	}
	row->hit = NULL;
	return ret;
}

/* @name: copied, as far as there is room. NULL: no memory */
static struct section *sections__new(struct sections *sections, enum section_level level,
				     u32 vm, u32 vcpu, const char *name)
{
	struct section *entries = reallocarray(sections->entries, sections->nr + 1,
					       sizeof(*entries));
	struct section *section;

	if (!entries)
		return NULL;
	sections->entries = entries;
	section = &entries[sections->nr];
	*section = (struct section) { .level = level, .vm = vm, .vcpu = vcpu };
	strlcpy(section->title, name, sizeof(section->title));
	section->table = tables__new(sections->tables, section->title);
	if (!section->table)
		return NULL;
	sections->nr++;
	if (level == SECTION_HOST || !sections->opts->reasons)
		return section;
	section->reasons = tables__new_reasons(sections->tables);
	return section->reasons ? section : NULL;
}

void sections__exit(struct sections *sections)
{
	for (u32 i = 0; i < sections->nr_vcpus; i++)
		tally__exit(&sections->vcpus[i]);
	zfree(&sections->vcpus);
	tally__exit(&sections->host);
	costs__exit(&sections->costs);
	moments__exit(&sections->moments);
	zfree(&sections->entries);
	sections->nr = 0;
}

/* The sums of vCPU number @vcpu, empty ones if it is new; NULL: no memory */
struct tally *sections__tally(struct sections *sections, u32 vcpu)
{
	while (sections->nr_vcpus <= vcpu) {
		if (grow_array(sections->vcpus, sections->nr_vcpus, sections->allocated_vcpus) ||
		    tally__init(&sections->vcpus[sections->nr_vcpus]))
			return NULL;
		sections->nr_vcpus++;
	}
	return &sections->vcpus[vcpu];
}

/* As options, JSON and labels have it */
const char *section_level__name(enum section_level level)
{
	static const char *const names[] = {
		[SECTION_HOST]	= "host",
		[SECTION_VM]	= "vm",
		[SECTION_VCPU]	= "vcpu",
		[SECTION_GUESTS] = "guests",
	};

	return names[level];
}

/* Is it of one VM? */
bool section__has_vm(const struct section *section)
{
	return section->level == SECTION_VM || section->level == SECTION_VCPU;
}

static bool vcpu_is_wanted(const struct section_opts *opts, const struct axis_vcpu *vcpu)
{
	return !opts->vcpus || intlist__has_entry(opts->vcpus, vcpu->id);
}

/* Does --vm alone let the VM be shown? */
bool section_opts__wants_vm(const struct section_opts *opts, const char *name)
{
	return !opts->vms || patterns__match(opts->vms, name);
}

/* Is @vm wanted? If it was left out of the recording, only by name. */
static bool vm_is_wanted(const struct section_opts *opts, const struct measured_vm *vm)
{
	return opts->vms ? section_opts__wants_vm(opts, vm->name) : !vm->left_out;
}

/* A VM that has started meanwhile has its name at the end of a stream: before, it may be any. */
static bool vm_may_be_wanted(const struct sections *sections, const struct measured_vm *vm)
{
	struct kvm_guests *guests = sections->m->session->kvm_guests;

	return vm_is_wanted(sections->opts, vm) ||
	       (guests && !kvm_vms__find_pid(&guests->vms, vm->pid));
}

/* 0 or -ENOMEM */
static int add_piece(struct sections *sections, u32 vcpu, const struct vcpu_interval *interval,
		     const struct time_piece *piece)
{
	const struct slice_sink *sink = &sections->opts->slices;
	int ret = sections->opts->interval ? moments__add(&sections->moments, piece) : 0;

	if (ret || !sink->vcpu || !(sections->opts->levels & SECTIONS_VCPU))
		return ret;
	return sink->vcpu(sections->m, vcpu, interval, piece, sink->arg);
}

/* Sums up over time when a vCPU's interval was that is to be shown. 0 or -ENOMEM */
static int sum_up_over_time(struct sections *sections, u32 vcpu,
			    const struct vcpu_interval *interval, const struct taker *taker)
{
	const struct section_opts *opts = sections->opts;
	const struct measurement *m = sections->m;
	const struct axis_vcpu *of = &m->axis.vcpus[vcpu];
	struct time_piece piece = {
		.vm = of->vm,
		.taker = taker,
		.class = vcpu_interval__is_guest(interval) ?
				 m->hits.by_idx[interval->hit]->key.class :
				 vcpu_interval__class(m, opts->attribution, interval),
	};
	int i = 0, ret = 0;

	if (!vcpu_is_wanted(opts, of) || !vm_may_be_wanted(sections, &m->vms[of->vm]))
		return 0;
	while (!ret && next_shown(opts, interval->start, interval->end, &i, &piece.start,
				  &piece.end))
		ret = add_piece(sections, vcpu, interval, &piece);
	return ret;
}

/* Why a vCPU stood still in an interval, or STALL_NR */
static enum stall_kind vcpu_interval__stall(const struct measurement *m,
					    const struct section_opts *opts,
					    const struct vcpu_interval *interval)
{
	enum profile_class class;

	if (vcpu_interval__is_guest(interval))
		return STALL_NR;
	class = vcpu_interval__class(m, opts->attribution, interval);
	if (class == PROFILE_STEAL)
		return interval->woken ? STALL_WAKE_UP : STALL_STOLEN;
	if (class == PROFILE_THROTTLED)
		return STALL_THROTTLED;
	return class == PROFILE_STOPPED ? STALL_STOPPED : STALL_NR;
}

/* @time: ns of the interval that are to be shown. 0 or -ENOMEM */
static int sum_up_moments(struct sections *sections, u32 vcpu,
			  const struct vcpu_interval *interval, u64 time)
{
	const struct section_opts *opts = sections->opts;
	struct taker taker = { };
	int ret = 0;

	moments__begin(&sections->moments, sections->m, opts->interval);
	if (time && (opts->stalls || opts->interval))
		taker = taker__of(sections->m, vcpu, interval);
	if (opts->stalls)
		ret = stalls__add(&sections->moments.stalls, vcpu, interval,
				  vcpu_interval__stall(sections->m, opts, interval), &taker, time);
	if (!ret && (opts->interval || opts->slices.vcpu) && time)
		ret = sum_up_over_time(sections, vcpu, interval, &taker);
	return ret;
}

/* The CPU of a key: rows are told apart by it only if that is asked for. */
static u32 key_cpu(const struct sections *sections, u32 cpu)
{
	return sections->opts->by_cpu ? cpu : TIME_AXIS_NONE;
}

/*
 * What the guest executed. The sample that tells what it was may be of another CPU, from which the
 * vCPU has come, or to which it went. 0 or -ENOMEM
 */
static int sum_up_code(const struct sections *sections, struct tally *tally,
		       const struct vcpu_interval *interval, u64 time)
{
	struct hits *hits = sections->hits;
	const struct hit *hit = hits->by_idx[interval->hit];

	if (sections->opts->by_cpu && hit->cpu != (s32)interval->cpu)
		hit = hits__on_cpu(hits, hit, interval->cpu);
	return hit ? tally__add_hit(tally, hit->idx, PROFILE_TIME, time) : -ENOMEM;
}

/* A vCPU's interval comes off the axis. 0 or -ENOMEM */
static int sum_up_vcpu(u32 vcpu, const struct vcpu_interval *interval, void *arg)
{
	struct sections *sections = arg;
	struct tally *tally = sections__tally(sections, vcpu);
	u64 time = visible(sections->opts, interval->start, interval->end, interval->cpu);
	struct axis_what key = interval->what;
	int ret = tally ? sum_up_moments(sections, vcpu, interval, time) : -ENOMEM;

	if (ret || !time)
		return ret;
	if (vcpu_interval__is_guest(interval))
		return sum_up_code(sections, tally, interval, time);
	key.cpu = key_cpu(sections, interval->cpu);
	key.hit = TIME_AXIS_NONE;
	return tally__add(tally, &key, PROFILE_TIME, time);
}

/* As a tally's key has it */
static enum vcpu_time_kind host_kind(enum cpu_time_kind kind)
{
	return (enum vcpu_time_kind)kind;
}

/*
 * What a sample of the host has hit: as long as who was worked for is not asked for, that
 * says all. 0 or -ENOMEM
 */
static int sum_up_host_sample(struct sections *sections, const struct axis_sample *sample,
			      u32 column, u64 sum)
{
	const struct section_opts *opts = sections->opts;
	bool by_vm = opts->by_vm || opts->attribution == ATTRIBUTION_DOMAIN_SWITCH;
	struct axis_what key = {
		.kind = host_kind(CPU_TIME_SAMPLE),
		.hit = sample->hit,
		.vcpu = by_vm ? sample->vcpu : TIME_AXIS_NONE,
		.task = by_vm ? sample->task : TIME_AXIS_NONE,
	};

	if (!by_vm && !opts->by_exit_reason)
		return tally__add_hit(&sections->host, sample->hit, column, sum);
	if (opts->by_exit_reason && sample->kind == AXIS_SAMPLE_EXIT) {
		key.isa = sample->isa;
		key.exit_reason = sample->exit_reason;
	}
	return tally__add(&sections->host, &key, column, sum);
}

/* Hands on when a CPU's interval was that is to be shown. 0 or -ENOMEM */
static int hand_on_cpu(const struct sections *sections, const struct cpu_interval *interval)
{
	const struct section_opts *opts = sections->opts;
	const struct slice_sink *sink = &opts->slices;
	u64 start, end;
	int i = 0, ret = 0;

	if (!sink->cpu || !(opts->levels & SECTIONS_HOST))
		return 0;
	while (!ret && next_shown(opts, interval->start, interval->end, &i, &start, &end))
		ret = sink->cpu(sections->m, interval, start, end, sink->arg);
	return ret;
}

/* A CPU's interval. 0 or -ENOMEM */
static int sum_up_cpu(const struct cpu_interval *interval, void *arg)
{
	struct sections *sections = arg;
	u64 time = visible(sections->opts, interval->start, interval->end, interval->cpu);
	const struct axis_what key = {
		.kind = host_kind(interval->kind),
		.cpu = key_cpu(sections, interval->cpu),
		.vcpu = interval->vcpu,
	};
	int ret;

	if (!time)
		return 0;
	if (costs__add(&sections->costs, sections->m, interval, time))
		return -ENOMEM;
	ret = hand_on_cpu(sections, interval);
	if (ret)
		return ret;
	if (interval->kind == CPU_TIME_SAMPLE)
		return sum_up_host_sample(sections, interval->sample, PROFILE_TIME, time);
	return tally__add(&sections->host, &key, PROFILE_TIME, time);
}

/* Adds the count of another event's sample, on its CPU at that moment. 0 or -ENOMEM */
static int sum_up_count(const struct axis_sample *sample, u32 column, u64 count, void *arg)
{
	struct sections *sections = arg;
	const struct axis_what key = {
		.kind = host_kind(CPU_TIME_GUEST),
		.cpu = key_cpu(sections, sample->cpu),
		.vcpu = sample->vcpu,
	};
	struct tally *tally;

	if (!count || !visible(sections->opts, sample->time, sample->time + 1, sample->cpu))
		return 0;
	if (sample->kind != AXIS_SAMPLE_GUEST_USER && sample->kind != AXIS_SAMPLE_GUEST_KERNEL)
		return sum_up_host_sample(sections, sample, column, count);
	tally = sections__tally(sections, sample->vcpu);
	if (!tally || tally__add_hit(tally, sample->hit, column, count))
		return -ENOMEM;
	return tally__add(&sections->host, &key, column, count);
}

/**
 * sections__init - sum up what comes off the axis
 * @sections: gets the sums; its address must stay
 * @opts: must be complete
 * @wants: gets where the pieces of the axis are to go
 *
 * 0 or -ENOMEM; the caller ends @sections in any case.
 */
int sections__init(struct sections *sections, struct measurement *m,
		   const struct section_opts *opts, struct measure_wants *wants)
{
	sections->opts = opts;
	sections->m = m;
	sections->hits = &m->hits;
	wants->times = (struct axis_sink) {
		.vcpu = sum_up_vcpu,
		.cpu = sum_up_cpu,
		.arg = sections,
	};
	wants->counts = (struct count_sink) { .count = sum_up_count, .arg = sections };
	return tally__init(&sections->host);
}

/* Adds time that was taken, by the exit reason before it. 0 or -ENOMEM */
static int section__add_reason(struct section *section, struct sections *sections,
			       const struct vcpu_interval *interval, u64 time)
{
	char buf[32];
	const struct profile_key key = {
		.class = PROFILE_STEAL,
		.function = vcpu_interval__exit_name(interval, buf, sizeof(buf)),
		.module = "",
		.comm = "",
		.pid = -1,
	};
	const struct table_row row = { .key = &key, .vm = TABLE_NO_VM, .cpu = TIME_AXIS_NONE };
	const struct tally_sum sum = { .sum = time };

	section->taken += time;
	return tables__add(sections->tables, section->reasons, &row, PROFILE_TIME, &sum);
}

/* A call for each part of time whose taker is to be found out by the shares of a CPU's tasks */
struct shared_time {
	struct vcpu_interval interval;
	vcpu_time_fn	fn;
	void		*arg;
};

static int hand_on_share(u32 task, u64 time, void *arg)
{
	struct shared_time *shared = arg;

	shared->interval.task = task;
	return shared->fn(&shared->interval, time, shared->arg);
}

/* Calls @fn for all of a vCPU's time that no sample has hit. 0 or -ENOMEM */
int sections__each_time(struct sections *sections, const struct measurement *m,
			const struct axis_vcpu *vcpu, vcpu_time_fn fn, void *arg)
{
	const struct tally *tally = sections__tally(sections, vcpu - m->axis.vcpus);
	struct shared_time shared = { .fn = fn, .arg = arg };
	struct hashmap_entry *entry;
	int ret = 0;
	size_t bkt;

	if (!tally)
		return -ENOMEM;
	hashmap__for_each_entry(tally->others, entry, bkt) {
		const struct tally_entry *sum = entry->pvalue;

		shared.interval = (struct vcpu_interval) { .what = sum->key };
		if (sum->key.shared == TIME_AXIS_NONE)
			ret = fn(&shared.interval, sum->time.sum, arg);
		else
			ret = time_axis__share(&m->axis, sum->key.shared, sum->time.sum,
					       hand_on_share, &shared);
		if (ret)
			break;
	}
	return ret;
}

/* @thieves: NULL: tasks that had a CPU go by their names alone */
struct vcpu_rows {
	struct sections	*sections;
	struct section	*section;
	const struct measurement *m;
	const struct axis_vcpu *vcpu;
	struct thieves	*thieves;
};

static int add_thief(const struct vcpu_interval *interval, u64 time __maybe_unused, void *arg)
{
	const struct vcpu_rows *rows = arg;
	struct thief thief;

	if (interval->kind != VCPU_TIME_PREEMPTED)
		return 0;
	thief = thief__find(rows->m, rows->vcpu, interval);
	return thieves__add(rows->thieves, &thief);
}

/*
 * Who had the CPU: the vCPU, if it was one's thread, in KVM_RUN or not; else the task. @name: of
 * the row; a table of all guests does not tell whose "its own" threads are, so it gets the VM.
 */
static void name_taker(const struct vcpu_rows *rows, const struct vcpu_interval *interval,
		       struct table_info *info, char *name)
{
	const struct measurement *m = rows->m;
	struct thief thief = thief__find(m, rows->vcpu, interval);
	char owner[THIEF_OWNER_LEN];

	if (rows->section->level == SECTION_GUESTS &&
	    (thief.kind == THIEF_VCPU || thief.kind == THIEF_VMM)) {
		thief__owner_of_any(m, &thief, owner, sizeof(owner));
		scnprintf(name, VCPU_ROW_NAME_LEN, "[steal] (%s)", owner);
	}
	/* The vCPU itself */
	if (thief.kind == THIEF_SWITCHING)
		return;
	if (thief.vcpu == TIME_AXIS_NONE) {
		info->task = thief.task;
		return;
	}
	info->thief_vm = m->vms[m->axis.vcpus[thief.vcpu].vm].name;
	info->thief_vcpu = m->axis.vcpus[thief.vcpu].id;
}

static int add_vcpu_row(const struct vcpu_interval *interval, u64 time, void *arg)
{
	const struct vcpu_rows *rows = arg;
	const struct section_opts *opts = rows->sections->opts;
	char name[VCPU_ROW_NAME_LEN];
	struct profile_key key = vcpu_interval__key(rows->m, opts->attribution, rows->vcpu,
						    rows->thieves, interval, name);
	struct table_row row = {
		.key = &key,
		.cpu = interval->cpu,
		.info = {
			.vm = rows->m->vms[rows->vcpu->vm].name,
			.vcpu = rows->vcpu->id,
			.isa = interval->isa,
			.exit_reason = interval->exit_reason,
		},
	};
	const struct tally_sum sum = { .sum = time };
	int ret;

	if (interval->kind == VCPU_TIME_PREEMPTED)
		name_taker(rows, interval, &row.info, name);
	ret = section__add(rows->section, rows->sections, &row, PROFILE_TIME, &sum);
	if (!ret && profile_class__is_taken(key.class) && rows->section->reasons && time)
		ret = section__add_reason(rows->section, rows->sections, interval, time);
	return ret;
}

/* The time of @nr vCPUs goes into a table. 0 or -ENOMEM */
static int section__add_vcpus(struct sections *sections, u32 section, const struct measurement *m,
			      const struct axis_vcpu **vcpus, u32 nr)
{
	struct vcpu_rows rows = {
		.sections = sections,
		.section = &sections->entries[section],
		.m = m,
	};
	struct thieves thieves;
	int ret = thieves__init(&thieves);

	/* Namesakes among the thieves of all guests are of many VMs: no pids for them. */
	if (!sections->opts->plain_thieves && rows.section->level != SECTION_GUESTS)
		rows.thieves = &thieves;
	/* How many there are of a name has to be known before they are called by it. */
	for (u32 i = 0; !ret && rows.thieves && i < nr && !sections->opts->thieves_by_pid; i++) {
		rows.vcpu = vcpus[i];
		ret = sections__each_time(sections, m, vcpus[i], add_thief, &rows);
	}
	for (u32 i = 0; !ret && i < nr; i++) {
		struct table_row row = {
			.info = { .vm = m->vms[vcpus[i]->vm].name, .vcpu = vcpus[i]->id },
		};

		rows.vcpu = vcpus[i];
		ret = section__add_hits(rows.section, sections, m,
					&sections->vcpus[vcpus[i] - m->axis.vcpus], &row);
		if (!ret)
			ret = sections__each_time(sections, m, vcpus[i], add_vcpu_row, &rows);
	}
	thieves__exit(&thieves);
	return ret;
}

/* The VM that the host worked for, as far as that was asked for when it was summed up */
static u32 worked_for(const struct measurement *m, const struct axis_what *key)
{
	if (key->vcpu != TIME_AXIS_NONE)
		return m->axis.vcpus[key->vcpu].vm;
	return key->task < m->nr_tasks ? measured_task__vm(m, m->tasks[key->task]) : TIME_AXIS_NONE;
}

static int add_host_row(struct section *section, struct sections *sections,
			const struct measurement *m, const struct tally_entry *sum)
{
	bool charge_guest = sections->opts->attribution == ATTRIBUTION_DOMAIN_SWITCH;
	struct profile_key key = { .module = "", .comm = "", .pid = -1 };
	struct table_row row = {
		.key = &key,
		.cpu = sum->key.cpu,
		.info = {
			.vcpu = TABLE_NO_VCPU,
			.isa = sum->key.isa,
			.exit_reason = sum->key.exit_reason,
		},
	};
	struct vm_row names;
	u32 vm = TIME_AXIS_NONE;
	int ret = 0;

	switch ((enum cpu_time_kind)sum->key.kind) {
	case CPU_TIME_GUEST:
		vm = m->axis.vcpus[sum->key.vcpu].vm;
		charge_guest = true;
		break;
	case CPU_TIME_LOST:
		key.class = PROFILE_LOST;
		key.function = "[lost]";
		break;
	case CPU_TIME_UNCOUNTED:
		key.class = PROFILE_IDLE;
		key.function = "[idle] (no samples)";
		if (evsel__is_clock(m->evsel)) {
			key.class = m->axis.span.clock ? PROFILE_LOST : PROFILE_UNKNOWN;
			key.function = m->axis.span.clock ? "[lost] (not sampled)" :
							    "[unknown] (not sampled)";
		}
		break;
	case CPU_TIME_SAMPLE:
	default:
		vm = worked_for(m, &sum->key);
		row.cpu = m->hits.by_idx[sum->key.hit]->cpu;
		if (vm == TIME_AXIS_NONE || !charge_guest) {
			row.hit = m->hits.by_idx[sum->key.hit];
			row.key = &row.hit->key;
		}
		break;
	}
	if (vm != TIME_AXIS_NONE) {
		row.info.vm = m->vms[vm].name;
		if (sum->key.vcpu != TIME_AXIS_NONE)
			row.info.vcpu = m->axis.vcpus[sum->key.vcpu].id;
		if (charge_guest)
			key = vm_row__key(&names, m->vms[vm].name, m->vms[vm].pid);
	}
	for (u32 column = 0; !ret && column < m->nr_columns; column++) {
		const struct tally_sum *of_column = tally_entry__sum(sum, column);

		if (of_column)
			ret = section__add(section, sections, &row, column, of_column);
	}
	return ret;
}

static int add_host(struct sections *sections, const struct measurement *m)
{
	const struct tally *tally = &sections->host;
	struct section *section = sections__new(sections, SECTION_HOST, 0, 0, "Host");
	struct table_row row = { .info = { .vcpu = TABLE_NO_VCPU } };
	struct hashmap_entry *entry;
	int ret;
	size_t bkt;

	if (!section)
		return -ENOMEM;
	ret = section__add_hits(section, sections, m, tally, &row);
	if (ret)
		return ret;
	hashmap__for_each_entry(tally->others, entry, bkt) {
		ret = add_host_row(section, sections, m, entry->pvalue);
		if (ret)
			break;
	}
	return ret;
}

/* Orders by VM and id, as ids are seen in any order. */
static int vcpu__cmp(const void *_a, const void *_b)
{
	const struct axis_vcpu *a = *(const struct axis_vcpu **)_a;
	const struct axis_vcpu *b = *(const struct axis_vcpu **)_b;

	return sort_cmp(a->vm, b->vm) ?: sort_cmp(a->id, b->id);
}

/* What add_vm() needs */
struct tables_arg {
	struct sections	*sections;
	const struct measurement *m;
};

/*
 * A VM's table, and those of its vCPUs, unless that is the same one: of a VM with one vCPU there is
 * the VM's, and of one vCPU out of several there is that vCPU's.
 */
static int add_vm(const struct vm_vcpus *vcpus, void *arg)
{
	const struct tables_arg *ta = arg;
	struct sections *sections = ta->sections;
	const char *name = ta->m->vms[vcpus->vm].name;
	unsigned int levels = sections->opts->levels;
	char title[KVM_VM_NAME_LEN + 32];
	int ret = 0;

	/* It has none of --vcpu. */
	if (!vcpus->nr)
		return 0;
	if (vcpus->nr == 1 && levels & SECTIONS_VM && levels & SECTIONS_VCPU)
		levels &= ~(vcpus->of == 1 ? SECTIONS_VCPU : SECTIONS_VM);
	if (levels & SECTIONS_VM) {
		strlcpy(title, name, sizeof(title));
		if (vcpus->nr < vcpus->of)
			scnprintf(title, sizeof(title), "%s, %u of %u vCPUs", name, vcpus->nr,
				  vcpus->of);
		if (!sections__new(sections, SECTION_VM, vcpus->vm, 0, title))
			return -ENOMEM;
		ret = section__add_vcpus(sections, sections->nr - 1, ta->m, vcpus->vcpus,
					 vcpus->nr);
	}
	if (!(levels & SECTIONS_VCPU))
		return ret;
	for (u32 i = 0; !ret && i < vcpus->nr; i++) {
		const struct axis_vcpu *vcpu = vcpus->vcpus[i];

		scnprintf(title, sizeof(title), "%s, vCPU %u", name, vcpu->id);
		if (!sections__new(sections, SECTION_VCPU, vcpus->vm, vcpu->id, title))
			return -ENOMEM;
		ret = section__add_vcpus(sections, sections->nr - 1, ta->m, &vcpus->vcpus[i], 1);
	}
	return ret;
}

/* A VM's vCPUs go into the table of all guests, which is the last one yet. */
static int add_to_guests(const struct vm_vcpus *vcpus, void *arg)
{
	const struct tables_arg *ta = arg;

	return section__add_vcpus(ta->sections, ta->sections->nr - 1, ta->m, vcpus->vcpus,
				  vcpus->nr);
}

static int count_vm(const struct vm_vcpus *vcpus, void *arg)
{
	u32 *nr = arg;

	*nr += vcpus->nr > 0;
	return 0;
}

/* All guests that are wanted, as if they were one. 0 or -ENOMEM */
static int add_guests(struct tables_arg *ta)
{
	struct sections *sections = ta->sections;
	char title[KVM_VM_NAME_LEN];
	u32 nr = 0;
	int ret = sections__each_vm(sections, ta->m, count_vm, &nr);

	if (ret || !nr)
		return ret;
	scnprintf(title, sizeof(title), "%u guest%s together", nr, nr == 1 ? "" : "s");
	if (!sections__new(sections, SECTION_GUESTS, 0, 0, title))
		return -ENOMEM;
	return sections__each_vm(sections, ta->m, add_to_guests, ta);
}

/* Calls @fn for each VM that is wanted. 0 or what it returned; -ENOMEM */
int sections__each_vm(struct sections *sections, const struct measurement *m, vm_vcpus_fn fn,
		      void *arg)
{
	const struct axis_vcpu **vcpus = calloc(m->axis.nr_vcpus + 1, sizeof(*vcpus));
	const struct section_opts *opts = sections->opts;
	int ret = 0;

	if (!vcpus)
		return -ENOMEM;
	for (u32 i = 0; i < m->axis.nr_vcpus; i++)
		vcpus[i] = &m->axis.vcpus[i];
	sort_array(vcpus, m->axis.nr_vcpus, sizeof(*vcpus), vcpu__cmp);

	for (u32 i = 0, end; !ret && i < m->axis.nr_vcpus; i = end) {
		struct vm_vcpus of_vm = { .vm = vcpus[i]->vm, .vcpus = vcpus + i };

		for (end = i; end < m->axis.nr_vcpus && vcpus[end]->vm == of_vm.vm; end++) {
			if (vcpu_is_wanted(opts, vcpus[end]))
				vcpus[i + of_vm.nr++] = vcpus[end];
		}
		of_vm.of = end - i;
		if (vm_is_wanted(opts, &m->vms[of_vm.vm]))
			ret = fn(&of_vm, arg);
	}
	free(vcpus);
	return ret;
}

/**
 * sections__build - the tables: of the host, and of each VM that is wanted
 *
 * When the axis is at its end.
 *
 * 0 or -ENOMEM; the caller ends @sections in any case.
 */
int sections__build(const struct measurement *m, struct sections *sections)
{
	struct tables_arg arg = { .sections = sections, .m = m };
	int ret = 0;

	if (sections->opts->levels & SECTIONS_HOST)
		ret = add_host(sections, m);
	if (!ret && sections->opts->levels & SECTIONS_GUESTS)
		ret = add_guests(&arg);
	return ret ?: sections__each_vm(sections, m, add_vm, &arg);
}
