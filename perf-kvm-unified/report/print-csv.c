// SPDX-License-Identifier: GPL-2.0
/*
 * The rows of the report as comma separated values (RFC 4180), one header line.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/compiler.h>

#include "kvm-unified/lib/names.h"
#include "kvm-unified/measure/measurement.h"
#include "class-columns.h"
#include "overview.h"
#include "print.h"
#include "sections.h"
#include "tables.h"
#include "thieves.h"

static void print_quoted(const char *str, FILE *fp)
{
	fputc('"', fp);
	for (; *str; str++) {
		if (*str == '"')
			fputc('"', fp);
		fputc(char__printable(*str), fp);
	}
	fputc('"', fp);
}

/* A field, and the comma after it */
void print_csv_string(const char *str, FILE *fp)
{
	print_quoted(str, fp);
	fputc(',', fp);
}

/* ",running_ns" and so on, for print_csv_classes() */
void print_csv_class_titles(FILE *fp)
{
	for (size_t i = 0; i < NR_CLASS_COLUMNS; i++) {
		fputc(',', fp);
		for (const char *c = class_columns[i].title; *c; c++)
			fputc(*c == '-' ? '_' : *c, fp);
		fputs("_ns", fp);
	}
}

void print_csv_classes(const struct profile *p, FILE *fp)
{
	for (size_t i = 0; i < NR_CLASS_COLUMNS; i++)
		fprintf(fp, ",%" PRIu64, class_column__ns(&class_columns[i], p));
}

static int print_section(const struct measurement *m, const struct sections *sections,
			 const struct section *section, FILE *fp)
{
	const struct profile *p = &section->profile;
	size_t nr;
	struct profile_row *rows = tables__rows(sections->tables, section->table,
						sections->opts->sort, &nr);

	if (!rows)
		return -ENOMEM;

	for (size_t i = 0; i < nr; i++) {
		const struct profile_key *key = &rows[i].key;

		fprintf(fp, "%s,", section_level__name(section->level));
		print_csv_string(section__has_vm(section) ? m->vms[section->vm].name : "", fp);
		if (section->level == SECTION_VCPU)
			fprintf(fp, "%u", section->vcpu);
		fputc(',', fp);
		fprintf(fp, "%s,", profile_class__name(key->class));
		print_csv_string(key->function, fp);
		print_csv_string(key->module, fp);
		print_csv_string(key->comm, fp);
		if (key->pid >= 0)
			fprintf(fp, "%d", key->pid);
		fprintf(fp, ",%" PRIu64 ",%" PRIu64 ",%.4f,",
			rows[i].sums[PROFILE_TIME], rows[i].samples,
			profile__percent(p, rows[i].sums[PROFILE_TIME]));
		if (key->ns_pid)
			fprintf(fp, "%d", key->ns_pid);
		fputc(',', fp);
		if (key->cgroup)
			print_quoted(key->cgroup, fp);
		fputc('\n', fp);
	}
	free(rows);
	return 0;
}

/* A line for each row of each table. 0 or -ENOMEM */
static int print_tables(const struct measurement *m, const struct sections *sections, FILE *fp)
{
	int ret = 0;

	fputs("level,vm,vcpu,class,function,module,comm,pid,time_ns,samples,percent,ns_pid,cgroup\n",
	      fp);
	for (u32 i = 0; !ret && i < sections->nr; i++)
		ret = print_section(m, sections, &sections->entries[i], fp);
	return ret;
}

/* A line for each VM, the one that was stolen most from first */
static void print_vms(const struct measurement *m, const struct overview *overview, FILE *fp)
{
	char thief[THIEF_NAME_LEN];

	fputs("vm,vcpus,time_ns", fp);
	print_csv_class_titles(fp);
	fputs(",guest_steal_ns,worst_vcpu,worst_vcpu_steal_percent,least_vcpu_steal_percent,thief,thief_ns\n",
	      fp);
	for (u32 i = 0; i < overview->nr; i++) {
		const struct overview_vm *vm = &overview->vms[i];

		print_csv_string(m->vms[vm->vm].name, fp);
		fprintf(fp, "%u,%" PRIu64, vm->nr_vcpus, vm->profile.totals[PROFILE_TIME]);
		print_csv_classes(&vm->profile, fp);
		fputc(',', fp);
		if (overview->knows_guest_steal)
			fprintf(fp, "%" PRIu64, vm->guest_steal);
		if (vm->nr_vcpus)
			fprintf(fp, ",%u,%.4f,%.4f,", vm->vcpus[vm->worst].id,
				overview_vcpu__percent(&vm->vcpus[vm->worst]),
				overview_vcpu__percent(&vm->vcpus[vm->least]));
		else
			fputs(",,,,", fp);
		print_csv_string(vm->nr_thieves ? thief_sum__name(m, &vm->thieves[0], thief,
								  sizeof(thief)) : "", fp);
		fprintf(fp, "%" PRIu64 "\n", vm->nr_thieves ? vm->thieves[0].ns : 0);
	}
}

/*
 * Prints what each VM costs the host, most first, and a line of the rest, without a VM. 0 or
 * -ENOMEM
 */
static int print_costs_of_vms(const struct measurement *m, const struct sections *sections,
			      FILE *fp)
{
	u64 host[HOST_COST_NR], sum = 0;
	struct vm_costs *costs = costs__by_vm(&sections->costs, m, host);

	if (!costs)
		return -ENOMEM;
	fputs("vm", fp);
	for (int i = 0; i < VM_COST_NR; i++)
		fprintf(fp, ",%s_ns", vm_cost__id(i));
	for (int i = 0; i < HOST_COST_NR; i++)
		fprintf(fp, ",%s_ns", host_cost__id(i));
	fputs(",sum_ns\n", fp);
	for (u32 vm = 0; vm < m->nr_vms; vm++) {
		if (!vm_costs__is_told(&costs[vm], m))
			continue;
		print_csv_string(m->vms[costs[vm].vm].name, fp);
		for (int i = 0; i < VM_COST_NR; i++)
			fprintf(fp, "%" PRIu64 ",", costs[vm].ns[i]);
		for (int i = 0; i < HOST_COST_NR; i++)
			fputc(',', fp);
		fprintf(fp, "%" PRIu64 "\n", costs[vm].sum);
	}
	free(costs);
	for (int i = 0; i < VM_COST_NR; i++)
		fputc(',', fp);
	for (int i = 0; i < HOST_COST_NR; i++) {
		fputc(',', fp);
		if (host_cost__is_known(i, m))
			fprintf(fp, "%" PRIu64, host[i]);
		sum += host[i];
	}
	fprintf(fp, ",%" PRIu64 "\n", sum);
	return 0;
}

/* One kind of lines: the first that was asked for */
int print_csv(const struct report_data *data, FILE *fp)
{
	const struct sections *sections = data->sections;
	const struct print_opts *opts = data->opts;

	if (sections->opts->interval)
		print_over_time_csv(data->m, sections, opts, fp);
	else if (opts->stalls)
		print_stalls_csv(data->m, sections, opts, fp);
	else if (opts->costs)
		return print_costs_of_vms(data->m, sections, fp);
	else if (opts->overview_alone)
		print_vms(data->m, opts->overview, fp);
	else
		return print_tables(data->m, sections, fp);
	return 0;
}
