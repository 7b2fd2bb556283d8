// SPDX-License-Identifier: GPL-2.0
/*
 * The report as metrics, for Prometheus' textfile collector: OpenMetrics, with nothing in it that
 * the text format of Prometheus has otherwise. A recording is not a counter that goes on: these
 * are gauges, and summaries.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#include "kvm-unified/lib/names.h"
#include "kvm-unified/measure/measurement.h"
#include "overview.h"
#include "print.h"
#include "sections.h"
#include "stall-lines.h"

/* So many thieves of a VM have a metric each. */
#define THIEVES_SHOWN	5

/* A family of metrics begins. */
static void print_family(const char *name, const char *type, const char *help, FILE *fp)
{
	fprintf(fp, "# HELP %s %s.\n# TYPE %s %s\n", name, help, name, type);
}

static void print_label(const char *name, const char *value, FILE *fp)
{
	fprintf(fp, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', fp);
		fputc(char__printable(*value), fp);
	}
	fputc('"', fp);
}

/* Are they the same when they are printed? */
static bool is_same_label(const char *a, const char *b)
{
	while (*a && char__printable(*a) == char__printable(*b)) {
		a++;
		b++;
	}
	return !*a && !*b;
}

static void print_seconds(u64 ns, FILE *fp)
{
	fprintf(fp, " %" PRIu64 ".%09" PRIu64 "\n", ns / NSEC_PER_SEC, ns % NSEC_PER_SEC);
}

static void print_times(const struct measurement *m, const struct overview *overview, FILE *fp)
{
	static const char name[] = "perf_kvm_vcpu_time_seconds";

	print_family(name, "gauge", "Where the time of a vCPU went in the recording", fp);
	for (u32 i = 0; i < overview->nr; i++) {
		const struct overview_vm *vm = &overview->vms[i];

		for (u32 vcpu = 0; vcpu < vm->nr_vcpus; vcpu++) {
			for (int class = 0; class < PROFILE_NR_CLASSES; class++) {
				fprintf(fp, "%s{", name);
				print_label("vm", m->vms[vm->vm].name, fp);
				fprintf(fp, ",vcpu=\"%u\",class=\"%s\"}", vm->vcpus[vcpu].id,
					profile_class__name(class));
				print_seconds(vm->vcpus[vcpu].profile.classes[class], fp);
			}
		}
	}
}

/* The name of a metric, and the labels that tell whose it is; the last one is left open */
static void print_stall_name(const struct measurement *m, const struct stall_line *line,
			     const char *name, FILE *fp)
{
	fprintf(fp, "%s{", name);
	print_label("vm", m->vms[line->vm].name, fp);
	if (line->vcpu != TIME_AXIS_NONE)
		fprintf(fp, ",vcpu=\"%u\"", m->axis.vcpus[line->vcpu].id);
	fprintf(fp, ",waits=\"%s\"", stall_kind__name(line->kind));
}

static void print_summary(const struct measurement *m, const struct stall_line *line,
			  const char *name, FILE *fp)
{
	const struct {
		const char	*quantile;
		u64		ns;
	} quantiles[] = {
		{ "0.5", line->p50 },
		{ "0.99", line->p99 },
		{ "1", line->longest ? line->longest->ns : 0 },
	};
	char part[64];

	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++) {
		print_stall_name(m, line, name, fp);
		fprintf(fp, ",quantile=\"%s\"}", quantiles[i].quantile);
		print_seconds(quantiles[i].ns, fp);
	}
	scnprintf(part, sizeof(part), "%s_sum", name);
	print_stall_name(m, line, part, fp);
	fputc('}', fp);
	print_seconds(line->ns, fp);
	scnprintf(part, sizeof(part), "%s_count", name);
	print_stall_name(m, line, part, fp);
	fprintf(fp, "} %" PRIu64 "\n", line->nr);
}

/* Prints the stalls of VMs, or of vCPUs. */
static void print_stall_summaries(const struct measurement *m, const struct stall_lines *lines,
				  bool of_vcpus, FILE *fp)
{
	const char *name = of_vcpus ? "perf_kvm_vcpu_stall_seconds" : "perf_kvm_vm_stall_seconds";

	print_family(name, "summary", of_vcpus ?
		     "How long the vCPU has waited for a CPU at once, quantile 1 is the longest" :
		     "How long a vCPU of the VM has waited for a CPU at once, quantile 1 is the longest",
		     fp);
	for (u32 i = 0; i < lines->nr; i++) {
		bool is_vms = lines->lines[i].vcpu == TIME_AXIS_NONE;

		if (is_vms != of_vcpus)
			print_summary(m, &lines->lines[i], name, fp);
	}
}

/*
 * What all have that are called as thief number @nr is; 0 if one of them comes before it. The
 * same metric must not be there twice.
 */
static u64 same_thieves(const struct overview_vm *vm, size_t nr)
{
	u64 ns = 0;

	for (size_t i = 0; i < vm->nr_thieves; i++) {
		if (!is_same_label(vm->thieves[i].owner, vm->thieves[nr].owner))
			continue;
		if (i < nr)
			return 0;
		ns += vm->thieves[i].ns;
	}
	return ns;
}

static void print_thieves_of(const struct measurement *m, const struct overview_vm *vm,
			     const char *name, FILE *fp)
{
	size_t nr_shown = 0;

	for (size_t i = 0; i < vm->nr_thieves && nr_shown < THIEVES_SHOWN; i++) {
		u64 ns = same_thieves(vm, i);

		if (!ns)
			continue;
		fprintf(fp, "%s{", name);
		print_label("vm", m->vms[vm->vm].name, fp);
		fputc(',', fp);
		print_label("thief", vm->thieves[i].owner, fp);
		fputc('}', fp);
		print_seconds(ns, fp);
		nr_shown++;
	}
}

static void print_thieves(const struct measurement *m, const struct overview *overview, FILE *fp)
{
	static const char name[] = "perf_kvm_vm_thief_seconds";

	print_family(name, "gauge", "What those who have stolen most had of the time of the VM's vCPUs",
		     fp);
	for (u32 i = 0; i < overview->nr; i++)
		print_thieves_of(m, &overview->vms[i], name, fp);
}

/* Prints what the host's CPUs did for each VM, and otherwise. 0 or -ENOMEM */
static int print_costs_of_vms(const struct measurement *m, const struct sections *sections,
			      FILE *fp)
{
	static const char of_vm[] = "perf_kvm_vm_cost_seconds";
	static const char of_host[] = "perf_kvm_host_cpu_seconds";
	u64 host[HOST_COST_NR];
	struct vm_costs *costs = costs__by_vm(&sections->costs, m, host);

	if (!costs)
		return -ENOMEM;
	print_family(of_vm, "gauge", "CPU time of the host that the VM took, by its samples", fp);
	for (u32 vm = 0; vm < m->nr_vms; vm++) {
		if (!vm_costs__is_told(&costs[vm], m))
			continue;
		for (int i = 0; i < VM_COST_NR; i++) {
			fprintf(fp, "%s{", of_vm);
			print_label("vm", m->vms[costs[vm].vm].name, fp);
			fprintf(fp, ",cost=\"%s\"}", vm_cost__id(i));
			print_seconds(costs[vm].ns[i], fp);
		}
	}
	free(costs);
	print_family(of_host, "gauge", "CPU time of the host that no known VM took", fp);
	for (int i = 0; i < HOST_COST_NR; i++) {
		if (!host_cost__is_known(i, m))
			continue;
		fprintf(fp, "%s{cost=\"%s\"}", of_host,
			i == HOST_COST_OWN && !measurement__knows_idle(m) ? "own_work_or_idle" :
									    host_cost__id(i));
		print_seconds(host[i], fp);
	}
	return 0;
}

int print_openmetrics(const struct report_data *data, FILE *fp)
{
	static const char length[] = "perf_kvm_recording_seconds";
	const struct section_opts *section_opts = data->sections->opts;
	const struct print_opts *opts = data->opts;
	const struct measurement *m = data->m;
	int ret;

	print_family(length, "gauge", "How long the recording is, or what of it is asked for", fp);
	fputs(length, fp);
	print_seconds(section_opts__time(section_opts, m->axis.span.start, m->axis.span.end), fp);
	print_times(m, opts->overview, fp);
	print_stall_summaries(m, opts->stalls, /*of_vcpus=*/false, fp);
	print_stall_summaries(m, opts->stalls, /*of_vcpus=*/true, fp);
	print_thieves(m, opts->overview, fp);
	/* They are of whole VMs. */
	ret = section_opts->vcpus ? 0 : print_costs_of_vms(m, data->sections, fp);
	if (!ret)
		fputs("# EOF\n", fp);
	return ret;
}
