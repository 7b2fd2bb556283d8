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

#include "util/evsel.h"
#include "util/hashmap.h"
#include "util/hist.h"
#include "util/intlist.h"
#include "util/strlist.h"
#include "util/time-utils.h"
#include "util/vcpu-sample.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/sort.h"
#include "exits.h"
#include "measurement.h"
#include "sections.h"
#include "tables.h"
#include "tally.h"

/* Long enough for any row that is not a function */
#define ROW_NAME_LEN	(GUEST_VM_NAME_LEN + 64)

/* The kernel's threads that move a guest's packets are called vhost-<pid of the VMM> */
#define VHOST_COMM	"vhost-"

/* How much of an interval is to be shown, ns */
static u64 visible(const struct section_opts *opts, u64 start, u64 end, u32 cpu)
{
	u64 time = 0;

	if (opts->cpus &&
	    (cpu == TIME_AXIS_NONE || !perf_cpu_map__has(opts->cpus, (struct perf_cpu){ cpu })))
		return 0;
	if (!opts->nr_times)
		return end - start;

	for (int i = 0; i < opts->nr_times; i++) {
		/* An end of 0 is that of the file. */
		u64 from = max(start, opts->times[i].start);
		u64 until = opts->times[i].end ? min(end, opts->times[i].end) : end;

		time += from < until ? until - from : 0;
	}
	return time;
}

/* Why a row is not shown: bits of enum hist_filter; 0: it is */
static u16 filters(const struct section_opts *opts, const struct profile_key *key)
{
	u16 filtered = 0;

	if ((opts->pids && (key->pid < 0 || !intlist__has_entry(opts->pids, key->pid))) ||
	    (opts->comms && !strlist__has_entry(opts->comms, key->comm)))
		filtered |= 1 << HIST_FILTER__THREAD;
	if (opts->dsos && !strlist__has_entry(opts->dsos, key->module))
		filtered |= 1 << HIST_FILTER__DSO;
	if (opts->syms && !strlist__has_entry(opts->syms, key->function))
		filtered |= 1 << HIST_FILTER__SYMBOL;
	return filtered;
}

/* @key with only what rows are sorted by */
static struct profile_key reduce_key(const struct section_opts *opts,
				     const struct profile_key *key)
{
	struct profile_key reduced = *key;

	if (!(opts->sort & SECTION_SORT_COMM))
		reduced.comm = "";
	if (!(opts->sort & SECTION_SORT_PID)) {
		reduced.pid = -1;
		reduced.ns_pid = 0;
	}
	if (!(opts->sort & SECTION_SORT_DSO))
		reduced.module = "";
	if (!(opts->sort & SECTION_SORT_SYM)) {
		bool code = key->class == PROFILE_OS || key->class == PROFILE_USER;

		reduced.function = "";
		/* What is no code, or has no name left, is called what it is. */
		if (!code || (!reduced.module[0] && !reduced.comm[0] && reduced.pid < 0))
			reduced.module = profile_key__class_row(key);
	}
	return reduced;
}

/* @row is changed: it gets what keeps it from being shown. 0 or -ENOMEM */
static int section__add(struct section *section, struct sections *sections,
			struct table_row *row, u32 column, u64 sum)
{
	const struct section_opts *opts = sections->opts;
	const struct profile_key *key = row->key;
	struct profile_key reduced;

	row->filtered = filters(opts, key);
	if (row->filtered && column == PROFILE_TIME)
		section->hidden += sum;
	if (sections->tables || row->filtered) {
		section->profile.totals[column] += sum;
		if (column == PROFILE_TIME)
			section->profile.classes[key->class] += sum;
		return sections->tables ?
		       tables__add(sections->tables, section->table, row, column, sum) : 0;
	}
	reduced = reduce_key(opts, key);
	return profile__add(&section->profile, &reduced, column, sum);
}

/* What was hit and nothing else is known of. 0 or -ENOMEM */
static int section__add_hits(struct section *section, struct sections *sections,
			     const struct measurement *m, const struct tally *tally,
			     struct table_row *row)
{
	int ret = 0;

	for (u32 column = 0; !ret && column < m->nr_columns; column++) {
		const struct hit_sums *hits = &tally->hits[column];

		for (u32 hit = 0; !ret && hit < hits->nr; hit++) {
			if (!hits->sums[hit])
				continue;
			row->hit = m->hits.by_idx[hit];
			row->key = &row->hit->key;
			ret = section__add(section, sections, row, column, hits->sums[hit]);
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
	if (profile__init(&section->profile))
		return NULL;
	sections->nr++;
	if (sections->tables) {
		section->table = tables__new(sections->tables, section->title);
		if (!section->table)
			return NULL;
	}
	return profile__init(&section->reasons) ? NULL : section;
}

void sections__exit(struct sections *sections)
{
	for (u32 i = 0; i < sections->nr_vcpus; i++)
		tally__exit(&sections->vcpus[i]);
	zfree(&sections->vcpus);
	tally__exit(&sections->host);
	for (u32 i = 0; i < sections->nr; i++) {
		profile__exit(&sections->entries[i].profile);
		profile__exit(&sections->entries[i].reasons);
	}
	zfree(&sections->entries);
	sections->nr = 0;
}

/* The sums of vCPU number @vcpu, empty ones if it is new; NULL: no memory */
static struct tally *sections__tally(struct sections *sections, u32 vcpu)
{
	while (sections->nr_vcpus <= vcpu) {
		if (grow_array(sections->vcpus, sections->nr_vcpus, sections->allocated_vcpus) ||
		    tally__init(&sections->vcpus[sections->nr_vcpus]))
			return NULL;
		sections->nr_vcpus++;
	}
	return &sections->vcpus[vcpu];
}

/* A vCPU's interval comes off the axis. 0 or -ENOMEM */
static int sum_up_vcpu(u32 vcpu, const struct vcpu_interval *interval, void *arg)
{
	struct sections *sections = arg;
	struct tally *tally = sections__tally(sections, vcpu);
	u64 time = visible(sections->opts, interval->start, interval->end, interval->cpu);
	const struct tally_key key = {
		.kind = interval->kind,
		.vcpu = interval->vcpu,
		.task = interval->task,
		.shared = interval->shared,
		.isa = interval->isa,
		.exit_reason = interval->exit_reason,
		.why = interval->why,
		.woken = interval->woken,
	};

	if (!tally)
		return -ENOMEM;
	if (!time)
		return 0;
	if (interval->kind == VCPU_TIME_GUEST_USER || interval->kind == VCPU_TIME_GUEST_KERNEL)
		return tally__add_hit(tally, interval->hit, PROFILE_TIME, time);
	return tally__add(tally, &key, PROFILE_TIME, time);
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
	struct tally_key key = {
		.kind = CPU_TIME_SAMPLE,
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

/* A CPU's interval. 0 or -ENOMEM */
static int sum_up_cpu(const struct cpu_interval *interval, void *arg)
{
	struct sections *sections = arg;
	u64 time = visible(sections->opts, interval->start, interval->end, interval->cpu);
	const struct tally_key key = {
		.kind = interval->kind,
		.vcpu = interval->vcpu,
	};

	if (!time)
		return 0;
	if (interval->kind == CPU_TIME_SAMPLE)
		return sum_up_host_sample(sections, interval->sample, PROFILE_TIME, time);
	return tally__add(&sections->host, &key, PROFILE_TIME, time);
}

/* What a sample of another event has counted: on its CPU at that moment. 0 or -ENOMEM */
static int sum_up_count(const struct axis_sample *sample, u32 column, u64 count, void *arg)
{
	struct sections *sections = arg;
	const struct tally_key key = {
		.kind = CPU_TIME_GUEST,
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
 *
 * 0 or -ENOMEM; the caller ends @sections in any case.
 */
int sections__init(struct sections *sections, struct measurement *m,
		   const struct section_opts *opts)
{
	sections->opts = opts;
	m->axis.sink = (struct axis_sink) {
		.vcpu = sum_up_vcpu,
		.cpu = sum_up_cpu,
		.arg = sections,
	};
	m->count_sink = (struct count_sink) { .count = sum_up_count, .arg = sections };
	return tally__init(&sections->host);
}

/* The VM that a thread of the host works for, or TIME_AXIS_NONE */
static u32 task__vm(const struct measurement *m, const struct measured_task *task)
{
	pid_t pid = task->pid;
	char end;
	long vm;

	if (strstarts(task->comm, VHOST_COMM) &&
	    sscanf(task->comm + strlen(VHOST_COMM), "%d%c", &pid, &end) != 1)
		pid = task->pid;

	return hashmap__find(m->vm_by_pid, pid, &vm) ? vm : TIME_AXIS_NONE;
}

/* "[steal] (on ...)": who had the CPU that @self wanted */
static void steal_name(const struct measurement *m, const struct axis_vcpu *self,
		       const struct vcpu_interval *interval, char *name, size_t size)
{
	const struct measured_task *task = NULL;
	u32 vcpu = interval->vcpu, vm = TIME_AXIS_NONE;

	if (interval->task < m->nr_tasks) {
		task = m->tasks[interval->task];
		vcpu = task->vcpu;
		vm = task__vm(m, task);
	}
	if (vcpu != TIME_AXIS_NONE)
		vm = m->axis.vcpus[vcpu].vm;

	if (vm != TIME_AXIS_NONE && vm != self->vm)
		scnprintf(name, size, "[steal] (on VM %s)", m->vms[vm].name);
	else if (vcpu != TIME_AXIS_NONE && &m->axis.vcpus[vcpu] != self)
		scnprintf(name, size, "[steal] (on vcpu%u)", m->axis.vcpus[vcpu].id);
	else if (!task)
		scnprintf(name, size, "[steal] (on something not sampled)");
	else if (vcpu != TIME_AXIS_NONE)
		/* Has the CPU already, and is not back in KVM_RUN yet */
		scnprintf(name, size, "[steal] (switching)");
	else if (!task->tid)
		scnprintf(name, size, interval->woken ? "[steal] (waking up)" :
							"[steal] (CPU idle: quota)");
	else if (task->comm[0])
		scnprintf(name, size, "[steal] (on task %s)", task->comm);
	else
		scnprintf(name, size, "[steal] (on task %d)", task->tid);
}

static const char *exit_name(const struct vcpu_interval *interval, char *buf, size_t size)
{
	if (!interval->isa)
		return "not known";
	return vcpu_exit_reason__name(interval->isa, interval->exit_reason, buf, size);
}

/* What an interval of @vcpu is called in its guest's table; @name: ROW_NAME_LEN */
static struct profile_key interval__key(const struct measurement *m,
					const struct section_opts *opts,
					const struct axis_vcpu *vcpu,
					const struct vcpu_interval *interval, char *name)
{
	bool charge_guest = opts->attribution == ATTRIBUTION_DOMAIN_SWITCH;
	struct profile_key key = {
		.class = PROFILE_STEAL,
		.function = name,
		.module = "",
		.comm = "",
		.pid = -1,
	};
	char buf[32];

	switch (interval->kind) {
	case VCPU_TIME_GUEST_USER:
	case VCPU_TIME_GUEST_KERNEL:
		return m->hits.by_idx[interval->hit]->key;
	case VCPU_TIME_EXIT:
		if (charge_guest)
			key.class = PROFILE_HOST;
		scnprintf(name, ROW_NAME_LEN, "%s: %s)",
			  charge_guest ? "[host] (exit" : "[steal] (outside",
			  exit_name(interval, buf, sizeof(buf)));
		break;
	case VCPU_TIME_VMM:
		if (charge_guest)
			key.class = PROFILE_HOST;
		scnprintf(name, ROW_NAME_LEN, "%s (VMM: %s)", charge_guest ? "[host]" : "[steal]",
			  m->axis.span.timeline ? kvm_exit__name(interval->why, buf, sizeof(buf)) :
					     "user space");
		break;
	case VCPU_TIME_HALT_POLL:
		key.class = PROFILE_IDLE;
		key.function = "[halt-poll]";
		break;
	case VCPU_TIME_HALTED:
		key.class = PROFILE_IDLE;
		key.function = "[idle] (halt_exit)";
		break;
	case VCPU_TIME_PREEMPTED:
		steal_name(m, vcpu, interval, name, ROW_NAME_LEN);
		break;
	case VCPU_TIME_BLOCKED:
		key.function = "[steal] (blocked in the host)";
		break;
	case VCPU_TIME_RUN:
		key.class = PROFILE_UNKNOWN;
		key.function = "[ran] (not sampled)";
		break;
	case VCPU_TIME_LOST:
		key.class = PROFILE_LOST;
		key.function = "[lost]";
		break;
	case VCPU_TIME_ABSENT:
		key.class = PROFILE_UNKNOWN;
		key.function = "[absent]";
		break;
	case VCPU_TIME_UNKNOWN:
	case VCPU_TIME_NR:
	default:
		key.class = PROFILE_UNKNOWN;
		key.function = "[unknown]";
		break;
	}
	return key;
}

static int section__add_reason(struct section *section, const struct vcpu_interval *interval,
			       u64 time)
{
	char buf[32];
	struct profile_key key = {
		.class = PROFILE_STEAL,
		.function = exit_name(interval, buf, sizeof(buf)),
		.module = "",
		.comm = "",
		.pid = -1,
	};

	return profile__add(&section->reasons, &key, PROFILE_TIME, time);
}

/* For the calls of time_axis__share() */
struct vcpu_rows {
	struct sections	*sections;
	struct section	*section;
	const struct measurement *m;
	const struct axis_vcpu *vcpu;
	struct vcpu_interval interval;	/* all that is of use of those that are summed up */
};

static int add_vcpu_row(const struct vcpu_rows *rows, u64 time)
{
	const struct vcpu_interval *interval = &rows->interval;
	char name[ROW_NAME_LEN];
	struct profile_key key = interval__key(rows->m, rows->sections->opts, rows->vcpu,
					       interval, name);
	struct table_row row = {
		.key = &key,
		.info = {
			.vm = rows->m->vms[rows->vcpu->vm].name,
			.vcpu = rows->vcpu->id,
			.isa = interval->isa,
			.exit_reason = interval->exit_reason,
		},
	};
	int ret = section__add(rows->section, rows->sections, &row, PROFILE_TIME, time);

	if (!ret && key.class == PROFILE_STEAL && !rows->sections->tables)
		ret = section__add_reason(rows->section, interval, time);
	return ret;
}

static int add_shared_row(u32 task, u64 time, void *arg)
{
	struct vcpu_rows *rows = arg;

	rows->interval.task = task;
	return add_vcpu_row(rows, time);
}

static int section__add_vcpu(struct sections *sections, u32 section, struct measurement *m,
			     const struct axis_vcpu *vcpu)
{
	const struct tally *tally = sections__tally(sections, vcpu - m->axis.vcpus);
	struct vcpu_rows rows = {
		.sections = sections,
		.section = &sections->entries[section],
		.m = m,
		.vcpu = vcpu,
	};
	struct table_row row = { .info = { .vm = m->vms[vcpu->vm].name, .vcpu = vcpu->id } };
	struct hashmap_entry *entry;
	int ret;
	size_t bkt;

	if (!tally)
		return -ENOMEM;
	ret = section__add_hits(rows.section, sections, m, tally, &row);
	if (ret)
		return ret;
	hashmap__for_each_entry(tally->others, entry, bkt) {
		const struct tally_entry *sum = entry->pvalue;

		rows.interval = (struct vcpu_interval) {
			.kind = sum->key.kind,
			.vcpu = sum->key.vcpu,
			.task = sum->key.task,
			.shared = sum->key.shared,
			.isa = sum->key.isa,
			.exit_reason = sum->key.exit_reason,
			.why = sum->key.why,
			.woken = sum->key.woken,
		};
		if (sum->key.shared == TIME_AXIS_NONE)
			ret = add_vcpu_row(&rows, sum->sums[PROFILE_TIME]);
		else
			ret = time_axis__share(&m->axis, sum->key.shared,
					       sum->sums[PROFILE_TIME],
					       add_shared_row, &rows);
		if (ret)
			break;
	}
	return ret;
}

/* The VM that the host worked for, as far as that was asked for when it was summed up */
static u32 tally_key__vm(const struct measurement *m, const struct tally_key *key)
{
	if (key->vcpu != TIME_AXIS_NONE)
		return m->axis.vcpus[key->vcpu].vm;
	return key->task < m->nr_tasks ? task__vm(m, m->tasks[key->task]) : TIME_AXIS_NONE;
}

static int add_host_row(struct section *section, struct sections *sections,
			const struct measurement *m, const struct tally_entry *sum)
{
	bool charge_guest = sections->opts->attribution == ATTRIBUTION_DOMAIN_SWITCH;
	struct profile_key key = { .module = "", .comm = "", .pid = -1 };
	struct table_row row = {
		.key = &key,
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
		vm = tally_key__vm(m, &sum->key);
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
		if (sum->sums[column])
			ret = section__add(section, sections, &row, column, sum->sums[column]);
	}
	return ret;
}

static int add_host(struct sections *sections, struct measurement *m)
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

static bool vcpu_is_wanted(const struct section_opts *opts, const struct axis_vcpu *vcpu)
{
	return !opts->vcpus || intlist__has_entry(opts->vcpus, vcpu->id);
}

/* By VM and id: ids are seen in any order. */
static int vcpu__cmp(const void *_a, const void *_b)
{
	const struct axis_vcpu *a = *(const struct axis_vcpu **)_a;
	const struct axis_vcpu *b = *(const struct axis_vcpu **)_b;

	return sort_cmp(a->vm, b->vm) ?: sort_cmp(a->id, b->id);
}

/* A VM's table, and those of its vCPUs, @nr, if it has more than one */
static int add_vm(struct sections *sections, struct measurement *m,
		  const struct section_opts *opts, const struct axis_vcpu **vcpus, u32 nr)
{
	u32 vm = vcpus[0]->vm, first = sections->nr;
	char title[GUEST_VM_NAME_LEN + 32];
	int ret = 0;

	if (!sections__new(sections, SECTION_VM, vm, 0, m->vms[vm].name))
		return -ENOMEM;

	for (u32 i = 0; !ret && i < nr; i++) {
		if (!vcpu_is_wanted(opts, vcpus[i]))
			continue;
		ret = section__add_vcpu(sections, first, m, vcpus[i]);
		if (ret || nr == 1)
			continue;
		scnprintf(title, sizeof(title), "%s, vCPU %u", m->vms[vm].name, vcpus[i]->id);
		if (!sections__new(sections, SECTION_VCPU, vm, vcpus[i]->id, title))
			return -ENOMEM;
		ret = section__add_vcpu(sections, sections->nr - 1, m, vcpus[i]);
	}
	return ret;
}

static int add_vms(struct sections *sections, struct measurement *m,
		   const struct section_opts *opts)
{
	const struct axis_vcpu **vcpus = calloc(m->axis.nr_vcpus + 1, sizeof(*vcpus));
	int ret = 0;

	if (!vcpus)
		return -ENOMEM;
	for (u32 i = 0; i < m->axis.nr_vcpus; i++)
		vcpus[i] = &m->axis.vcpus[i];
	sort_array(vcpus, m->axis.nr_vcpus, sizeof(*vcpus), vcpu__cmp);

	for (u32 i = 0, end; !ret && i < m->axis.nr_vcpus; i = end) {
		u32 vm = vcpus[i]->vm;

		for (end = i; end < m->axis.nr_vcpus && vcpus[end]->vm == vm; end++)
			;
		if (!opts->vms || strlist__has_entry(opts->vms, m->vms[vm].name))
			ret = add_vm(sections, m, opts, vcpus + i, end - i);
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
int sections__build(struct measurement *m, const struct section_opts *opts,
		    struct sections *sections)
{
	int ret = add_host(sections, m);

	return ret ?: add_vms(sections, m, opts);
}
