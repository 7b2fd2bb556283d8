// SPDX-License-Identifier: GPL-2.0
/*
 * The report for programs, as JSON. The schema is in perf-kvm-unified(1); what is
 * in it stays there under its name as long as the version is the same.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/time64.h>

#include "util/evsel.h"
#include "util/json.h"
#include "util/session.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/measure/measurement.h"
#include "overview.h"
#include "print-limits.h"
#include "print.h"
#include "sections.h"
#include "stall-lines.h"
#include "tables.h"

#define SCHEMA_NAME	"perf-kvm-unified-report"
#define SCHEMA_VERSION	4

void print_json_member(const char *name, const char *value, FILE *fp)
{
	fprintf(fp, "\"%s\": ", name);
	json__fputs(value, fp);
}

/* Prints what was counted besides time, if anything was. */
static void print_counts(const struct measurement *m, const u64 *sums, FILE *fp)
{
	if (m->nr_columns == PROFILE_TIME + 1)
		return;
	fputs(", \"counts\": {", fp);
	for (u32 column = PROFILE_TIME + 1; column < m->nr_columns; column++) {
		if (column > PROFILE_TIME + 1)
			fputs(", ", fp);
		json__fputs(evsel__name(m->columns[column]), fp);
		fprintf(fp, ": %" PRIu64, sums[column]);
	}
	fputc('}', fp);
}

/* @total: ns that are all of it */
static int print_rows(const struct measurement *m, const struct sections *sections,
		      struct evsel *table, u64 total, FILE *fp)
{
	size_t nr;
	struct profile_row *rows = tables__rows(sections->tables, table, sections->opts->sort,
						&nr);

	if (!rows)
		return -ENOMEM;

	for (size_t i = 0; i < nr; i++) {
		const struct profile_key *key = &rows[i].key;

		fprintf(fp, "%s\n        {", i ? "," : "");
		print_json_member("class", profile_class__name(key->class), fp);
		fputs(", ", fp);
		print_json_member("function", key->function, fp);
		fputs(", ", fp);
		print_json_member("module", key->module, fp);
		fputs(", ", fp);
		print_json_member("comm", key->comm, fp);
		if (key->pid >= 0)
			fprintf(fp, ", \"pid\": %d", key->pid);
		if (key->ns_pid)
			fprintf(fp, ", \"ns_pid\": %d", key->ns_pid);
		if (key->cgroup) {
			fputs(", ", fp);
			print_json_member("cgroup", key->cgroup, fp);
		}
		fprintf(fp, ", \"time_ns\": %" PRIu64 ", \"samples\": %" PRIu64
			", \"percent\": %.4f", rows[i].sums[PROFILE_TIME], rows[i].samples,
			percent_of(rows[i].sums[PROFILE_TIME], total));
		print_counts(m, rows[i].sums, fp);
		fputc('}', fp);
	}
	free(rows);
	return 0;
}

void print_json_classes(const struct profile *p, FILE *fp)
{
	for (int i = 0; i < PROFILE_NR_CLASSES; i++)
		fprintf(fp, "%s\"%s\": %" PRIu64, i ? ", " : "", profile_class__name(i),
			p->classes[i]);
}

static int print_section(const struct measurement *m, const struct sections *sections,
			 const struct section *section, FILE *fp)
{
	const struct profile *p = &section->profile;
	int ret;

	fputs("\n    {\n      ", fp);
	print_json_member("level", section_level__name(section->level), fp);
	if (section__has_vm(section)) {
		fputs(", ", fp);
		print_json_member("vm", m->vms[section->vm].name, fp);
	}
	if (section->level == SECTION_VCPU)
		fprintf(fp, ", \"vcpu\": %u", section->vcpu);
	fprintf(fp, ",\n      \"time_ns\": %" PRIu64 ", \"samples\": %" PRIu64
		", \"hidden_ns\": %" PRIu64 ",\n      \"classes_ns\": {", p->totals[PROFILE_TIME],
		profile__samples(p->totals[PROFILE_TIME], m->period), section->hidden);
	print_json_classes(p, fp);
	fputc('}', fp);
	if (section->level != SECTION_HOST)
		fprintf(fp, ", \"taken_ns\": %" PRIu64, section->taken);
	print_counts(m, p->totals, fp);
	fputs(",\n      \"rows\": [", fp);
	ret = print_rows(m, sections, section->table, p->totals[PROFILE_TIME], fp);
	if (!ret && section->reasons) {
		fputs("\n      ],\n      \"steal_by_exit_reason\": [", fp);
		ret = print_rows(m, sections, section->reasons, section->taken, fp);
	}
	fputs("\n      ]\n    }", fp);
	return ret;
}

/* As --kernel-mode of record has it */
static const char *kernel_mode(const struct measurement *m)
{
	static const char *const names[] = {
		[VCPUS_BY_NOTHING] = "plain",
		[VCPUS_BY_KERNEL]  = "series",
		[VCPUS_BY_BPF]	   = "bpf",
	};

	return names[measurement__vcpus_by(m)];
}

/* @name: of the member; @zero: ns from which seconds count that are not of the host's clock */
void print_json_measurement(const char *name, const struct measurement *m, u64 zero,
			    const struct section_opts *section_opts,
			    const struct print_opts *opts, FILE *fp)
{
	u32 nr_cpus = measurement__nr_cpus(m);

	fprintf(fp, "  \"%s\": {\n    \"start_ns\": %" PRIu64 ", \"end_ns\": %" PRIu64
		", \"duration_ns\": %" PRIu64 ", \"zero_ns\": %" PRIu64 ",\n    ", name,
		m->axis.span.start, m->axis.span.end, measurement__duration(m), zero);
	print_json_member("event", m->evsel ? evsel__name(m->evsel) : "", fp);
	fprintf(fp, ", \"period_ns\": %" PRIu64 ", \"period_exact\": %s, \"cpus\": %u,\n    ",
		m->period, m->period_exact ? "true" : "false", nr_cpus);
	print_json_member("kernel", m->session->header.env.os_release ?: "", fp);
	fputs(", ", fp);
	print_json_member("mode", m->axis.span.timeline ? "timeline" : "samples", fp);
	fputs(", ", fp);
	print_json_member("mode_reason", opts->mode_reason, fp);
	fputs(", ", fp);
	print_json_member("kernel_mode", kernel_mode(m), fp);
	fprintf(fp, ", \"idle_known\": %s, \"complete\": %s",
		measurement__knows_idle(m) ? "true" : "false", opts->is_part ? "false" : "true");
	fputs(",\n    ", fp);
	print_json_member("attribution", section_opts->attribution == ATTRIBUTION_DOMAIN_SWITCH ?
				    "domain-switch" : "cpu-switch", fp);
	fputs(", ", fp);
	/* Each option has a blank in front of it. */
	print_json_member("selection", opts->selection + !!opts->selection[0], fp);
	fputs(", ", fp);
	print_json_member("rows_of", opts->rows_of + !!opts->rows_of[0], fp);
	fprintf(fp, ",\n    \"samples\": %" PRIu64 ", \"samples_expected\": %" PRIu64
		", \"guest_samples\": %" PRIu64 ", \"relabelled\": %" PRIu64,
		m->nr_samples, profile__samples(measurement__duration(m) * nr_cpus, m->period),
		m->nr_guest_samples, m->nr_relabelled);
	fprintf(fp, ",\n    \"lost\": %" PRIu64 ", \"lost_records\": %" PRIu64
		", \"throttled\": %" PRIu64 ", \"timeline_events\": %" PRIu64
		", \"timeline_lost\": %" PRIu64 ", \"timeline_looks\": %" PRIu64
		", \"other_samples\": %" PRIu64
		", \"bad_records\": %" PRIu64,
		measurement__lost(m), m->nr_lost, m->nr_throttled, m->nr_timeline,
		m->nr_timeline_lost, m->nr_looks, m->nr_other,
		m->nr_unplaced + m->nr_bad_events);
	fputs(",\n    \"timeline_states\": {", fp);
	for (int i = 0; i < VCPU_STATE_NR; i++)
		fprintf(fp, "%s\"%s\": %" PRIu64, i ? ", " : "", vcpu_state__name(i),
			m->nr_states[i]);
	fputs("}\n  },\n", fp);
}

static void print_guest(const struct measurement *m, u32 vm, FILE *fp)
{
	const struct kvm_guest *guest = m->vms[vm].guest;
	const struct kvm_guest *earlier = kvm_guests__find_earlier(m->session, guest);
	const char *no_map = kvm_guests__no_map(m->session, guest);

	fputs("\n    {", fp);
	print_json_member("name", m->vms[vm].name, fp);
	fprintf(fp, ", \"pid\": %d, \"vcpus\": %u, \"map\": %s, \"address_spaces\": %zu",
		m->vms[vm].pid, measurement__nr_vcpus(m, vm),
		guest->has_map ? "true" : "false", guest->map.spaces.nr);
	if (no_map) {
		fputs(", ", fp);
		print_json_member("no_map", no_map, fp);
	}
	fprintf(fp, ", \"followed\": %s, \"clock\": %s",
		guest->map.followed ? "true" : "false", guest->has_clock ? "true" : "false");
	fprintf(fp, ", \"user_samples\": %" PRIu64 ", \"user_samples_named\": %" PRIu64,
		guest->nr_user, guest->nr_user_named + guest->nr_user_told);
	fprintf(fp, ", \"user_samples_told\": %" PRIu64, guest->nr_user_told);
	fprintf(fp, ", \"user_samples_shared\": %" PRIu64 ", \"user_samples_ambiguous\": %" PRIu64
		", \"user_samples_outside\": %" PRIu64,
		guest->nr_user_shared, guest->nr_user_ambiguous, guest->nr_user_outside);
	fprintf(fp, ", \"samples_before_boot\": %" PRIu64, earlier ? earlier->nr_samples : 0);
	fprintf(fp, ", \"missed_processes\": %" PRIu64 ", \"missed_events\": %" PRIu64 "}",
		guest->map.missed_spaces, guest->map.missed_events);
}

static void print_guests(const struct measurement *m, const struct section_opts *section_opts,
			 FILE *fp)
{
	bool first = true;

	fputs("  \"guests\": [", fp);
	for (u32 i = 0; i < m->nr_vms; i++) {
		if (!section_opts__wants_vm(section_opts, m->vms[i].name))
			continue;
		if (!first)
			fputc(',', fp);
		first = false;
		print_guest(m, i, fp);
	}
	fputs("\n  ],\n", fp);
}

/* Prints what an operator needs to act on a task that steals. */
static void print_thief_task(const struct measurement *m, const struct vm_cgroups *cgroups,
			     const struct measured_task *task, FILE *fp)
{
	const char *cgroup = measured_task__cgroup(m, task);
	u32 vm = measured_task__helped_vm(m, task, cgroups);

	fprintf(fp, "\"pid\": %d, ", task->tid);
	if (cgroup) {
		print_json_member("cgroup", cgroup, fp);
		fputs(", ", fp);
	}
	if (vm != TIME_AXIS_NONE) {
		print_json_member("vm", m->vms[vm].name, fp);
		fputs(", ", fp);
	}
}

static void print_overview_thief(const struct measurement *m, const struct vm_cgroups *cgroups,
				 const struct thief_sum *thief, FILE *fp)
{
	print_json_member("name", thief->owner, fp);
	fputs(", ", fp);
	if (thief->task && !thief->several)
		print_thief_task(m, cgroups, thief->task, fp);
	fprintf(fp, "\"time_ns\": %" PRIu64, thief->ns);
	if (thief->several) {
		fputs(", \"tasks\": [", fp);
		for (u32 i = 0; i < thief->nr_tasks; i++) {
			fputs(i ? ", {" : "{", fp);
			print_thief_task(m, cgroups, thief->tasks[i].task, fp);
			fprintf(fp, "\"time_ns\": %" PRIu64 "}", thief->tasks[i].ns);
		}
		fputc(']', fp);
	}
	if (thief->nr_more)
		fprintf(fp, ", \"more_tasks\": %u, \"more_tasks_ns\": %" PRIu64, thief->nr_more,
			thief->more_ns);
}

static void print_overview_vm(const struct measurement *m, const struct overview *overview,
			      const struct overview_vm *vm, FILE *fp)
{
	fputs("\n    {", fp);
	print_json_member("vm", m->vms[vm->vm].name, fp);
	fprintf(fp, ", \"vcpus\": %u, \"time_ns\": %" PRIu64 ",\n     \"classes_ns\": {",
		vm->nr_vcpus, vm->profile.totals[PROFILE_TIME]);
	print_json_classes(&vm->profile, fp);
	fputs("},\n     ", fp);
	if (overview->knows_guest_steal)
		fprintf(fp, "\"guest_steal_ns\": %" PRIu64 ", ", vm->guest_steal);
	if (vm->nr_vcpus)
		fprintf(fp, "\"worst_vcpu\": %u, \"worst_vcpu_steal_percent\": %.4f, \"least_vcpu_steal_percent\": %.4f, ",
			vm->vcpus[vm->worst].id, overview_vcpu__percent(&vm->vcpus[vm->worst]),
			overview_vcpu__percent(&vm->vcpus[vm->least]));
	fputs("\"thieves\": [", fp);
	for (size_t i = 0; i < vm->nr_thieves; i++) {
		fputs(i ? ", {" : "{", fp);
		print_overview_thief(m, &overview->cgroups, &vm->thieves[i], fp);
		fputc('}', fp);
	}
	fputc(']', fp);
	print_json_limits(m, vm->vm, fp);
	fputc('}', fp);
}

/* Prints who has stolen from all VMs. */
static void print_all_thieves(const struct measurement *m, const struct overview *overview,
			      FILE *fp)
{
	fputs("  \"thieves\": [", fp);
	for (size_t i = 0; i < overview->nr_thieves; i++) {
		fputs(i ? ",\n    {" : "\n    {", fp);
		print_overview_thief(m, &overview->cgroups, &overview->thieves[i], fp);
		fprintf(fp, ", \"vms\": %u}", overview->thieves[i].nr_vms);
	}
	fputs("\n  ],\n", fp);
}

static int print_costs_of_vms(const struct measurement *m, const struct sections *sections,
			      FILE *fp)
{
	u64 host[HOST_COST_NR];
	struct vm_costs *costs = costs__by_vm(&sections->costs, m, host);

	if (!costs)
		return -ENOMEM;
	fputs("  \"costs\": {\n    \"vms\": [", fp);
	for (u32 vm = 0; vm < m->nr_vms; vm++) {
		fprintf(fp, "%s\n      {", vm ? "," : "");
		print_json_member("vm", m->vms[costs[vm].vm].name, fp);
		for (int i = 0; i < VM_COST_NR; i++)
			fprintf(fp, ", \"%s_ns\": %" PRIu64, vm_cost__id(i), costs[vm].ns[i]);
		fprintf(fp, ", \"sum_ns\": %" PRIu64 "}", costs[vm].sum);
	}
	fputs("\n    ],\n    \"host\": {", fp);
	for (int i = 0; i < HOST_COST_NR; i++)
		fprintf(fp, "%s\"%s_ns\": %" PRIu64, i ? ", " : "", host_cost__id(i), host[i]);
	fputs("}\n  },\n", fp);
	free(costs);
	return 0;
}

/* "thief" and its time, if there is one */
static void print_thief(const char *thief, u64 ns, FILE *fp)
{
	if (!thief)
		return;
	fputs(", ", fp);
	print_json_member("thief", thief, fp);
	fprintf(fp, ", \"thief_ns\": %" PRIu64, ns);
}

/* @of_some: of thieves who are asked for */
static void print_interval(const struct moments *moments, const char *vm, u64 nr,
			   const struct time_part *part, bool of_some, FILE *fp)
{
	const struct over_time *over = &moments->over_time;

	fputs("\n    {", fp);
	print_json_member("vm", vm, fp);
	fprintf(fp, ", \"from_s\": %.9f, \"time_ns\": %" PRIu64 ", \"classes_ns\": {",
		(double)nr * over->interval / NSEC_PER_SEC, part->profile.totals[PROFILE_TIME]);
	print_json_classes(&part->profile, fp);
	fputc('}', fp);
	print_thief(part->thief, part->thief_ns, fp);
	if (of_some && part->thief)
		fprintf(fp, ", \"thief_seen_ns\": %" PRIu64, part->thief_seen);
	if (part->thief_at_least)
		fputs(", \"thief_at_least\": true", fp);
	fputc('}', fp);
}

/* If they are asked for */
static void print_intervals(const struct measurement *m, const struct moments *moments,
			    const struct print_opts *opts, FILE *fp)
{
	const struct over_time *over = &moments->over_time;
	const struct overview *overview = opts->overview;
	bool first = true;

	if (!over->interval)
		return;
	fprintf(fp, "  \"interval_ns\": %" PRIu64 ",\n", over->interval);
	if (opts->thieves) {
		fputs("  ", fp);
		print_json_member("interval_thieves", opts->thieves, fp);
		fputs(",\n", fp);
	}
	fputs("  \"intervals\": [", fp);
	for (u32 i = 0; i < overview->nr; i++) {
		u32 vm = overview->vms[i].vm;

		for (u64 nr = over->first; nr < over->end; nr++) {
			const struct time_part *part = over_time__part(over, vm, nr);

			if (!part)
				continue;
			if (!first)
				fputc(',', fp);
			first = false;
			print_interval(moments, m->vms[vm].name, nr, part, opts->thieves, fp);
		}
	}
	fputs("\n  ],\n", fp);
}

static void print_stall(const struct measurement *m, const struct moments *moments,
			const struct stall_line *line, FILE *fp)
{
	fputs("\n    {", fp);
	print_json_member("vm", m->vms[line->vm].name, fp);
	if (line->vcpu != TIME_AXIS_NONE)
		fprintf(fp, ", \"vcpu\": %u", m->axis.vcpus[line->vcpu].id);
	fputs(", ", fp);
	print_json_member("waits", stall_kind__name(line->kind), fp);
	fprintf(fp, ", \"number\": %" PRIu64 ", \"time_ns\": %" PRIu64 ", \"p50_ns\": %" PRIu64
		", \"p99_ns\": %" PRIu64, line->nr, line->ns, line->p50, line->p99);
	if (line->longest) {
		fprintf(fp, ",\n     \"longest_ns\": %" PRIu64 ", \"longest_from_s\": %.9f"
			", \"longest_vcpu\": %u", line->longest->ns,
			moments__since(moments, line->longest->start),
			m->axis.vcpus[line->longest_vcpu].id);
		print_thief(line->thief.owner, line->thief.ns, fp);
	}
	fputc('}', fp);
}

static void print_stalls_of_vms(const struct measurement *m, const struct moments *moments,
				const struct stall_lines *lines, FILE *fp)
{
	fputs("  \"stalls\": [", fp);
	for (u32 i = 0; i < lines->nr; i++) {
		if (i)
			fputc(',', fp);
		print_stall(m, moments, &lines->lines[i], fp);
	}
	fputs("\n  ],\n", fp);
}

int print_json(const struct report_data *data, FILE *fp)
{
	const struct sections *sections = data->sections;
	const struct print_opts *opts = data->opts;
	const struct measurement *m = data->m;
	int ret;

	fprintf(fp, "{\n  \"schema\": \"%s\", \"version\": %d,\n", SCHEMA_NAME, SCHEMA_VERSION);
	print_json_measurement("measurement", m, sections->moments.zero, sections->opts, opts,
			       fp);
	print_guests(m, sections->opts, fp);
	fputs("  \"overview\": [", fp);
	for (u32 i = 0; i < opts->overview->nr; i++) {
		if (i)
			fputc(',', fp);
		print_overview_vm(m, opts->overview, &opts->overview->vms[i], fp);
	}
	fputs("\n  ],\n", fp);
	print_all_thieves(m, opts->overview, fp);
	print_intervals(m, &sections->moments, opts, fp);
	print_stalls_of_vms(m, &sections->moments, opts->stalls, fp);
	ret = print_costs_of_vms(m, sections, fp);
	fputs("  \"levels\": [", fp);
	for (u32 i = 0; !ret && i < sections->nr; i++) {
		if (i)
			fputc(',', fp);
		ret = print_section(m, sections, &sections->entries[i], fp);
	}
	fputs("\n  ]\n}\n", fp);
	return ret;
}
