// SPDX-License-Identifier: GPL-2.0
/*
 * How long vCPUs have stood still each time, for people and as comma separated values.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#include "kvm-unified/lib/sort.h"
#include "kvm-unified/measure/measurement.h"
#include "print.h"
#include "row-columns.h"
#include "sections.h"
#include "stall-lines.h"

static void print_ms(u64 ns, FILE *fp)
{
	fprintf(fp, "  %9.3f", (double)ns / NSEC_PER_MSEC);
}

static void print_line(const struct moments *moments, const struct measurement *m,
		       const struct stall_line *line, int width, FILE *fp)
{
	const struct stall *longest = line->longest;

	print_padded(m->vms[line->vm].name, width, fp);
	fprintf(fp, "  %-9s  %8" PRIu64, stall_kind__name(line->kind), line->nr);
	print_ms(line->ns, fp);
	print_ms(line->p50, fp);
	print_ms(line->p99, fp);
	if (longest) {
		print_ms(longest->ns, fp);
		fprintf(fp, "  %10.6f  %4u", moments__since(moments, longest->start),
			m->axis.vcpus[line->longest_vcpu].id);
		if (line->thief.owner) {
			fprintf(fp, "  %5.1f %% ", percent_of(line->thief.ns, longest->ns));
			print_padded(line->thief.owner, 0, fp);
		}
	}
	fputc('\n', fp);
}

static u64 longest_ns(const struct stall_line *line)
{
	return line->longest ? line->longest->ns : 0;
}

/* The longest wait first, then in the order of VMs */
static int line__cmp(const void *_a, const void *_b)
{
	const struct stall_line *a = *(const struct stall_line **)_a;
	const struct stall_line *b = *(const struct stall_line **)_b;

	return sort_cmp(longest_ns(b), longest_ns(a)) ?: sort_cmp(a->vm, b->vm) ?:
	       sort_cmp(a->kind, b->kind);
}

/* For people, if it is asked for: of VMs alone. 0 or -ENOMEM */
int print_stalls(const struct measurement *m, const struct sections *sections,
		 const struct print_opts *opts, FILE *fp)
{
	const struct stall_lines *lines = opts->stalls;
	const struct stall_line **of_vms;
	int width = names_width(m);
	u32 nr = 0;

	if (!lines || !lines->nr)
		return 0;
	of_vms = calloc(lines->nr, sizeof(*of_vms));
	if (!of_vms)
		return -ENOMEM;
	for (u32 i = 0; i < lines->nr; i++) {
		if (lines->lines[i].vcpu == TIME_AXIS_NONE)
			of_vms[nr++] = &lines->lines[i];
	}
	sort_array(of_vms, nr, sizeof(*of_vms), line__cmp);
	fputs("# how long vCPUs have waited for a CPU each time, ms: stolen while they ran, and woken up until they ran;\n"
	      "# or have stood still: throttled by limits of their own, and stopped\n", fp);
	print_padded("# VM", width, fp);
	fprintf(fp, "  %-9s  %8s  %9s  %9s  %9s  %9s  %10s  %4s  %s\n", "waits", "number", "sum",
		"p50", "p99", "longest", "at s", "vCPU", "of it, thief");
	for (u32 i = 0; i < nr; i++)
		print_line(&sections->moments, m, of_vms[i], width, fp);
	fputc('\n', fp);
	free(of_vms);
	return 0;
}

/* Prints the stalls of VMs, and of each vCPU. */
void print_stalls_csv(const struct measurement *m, const struct sections *sections,
		      const struct print_opts *opts, FILE *fp)
{
	const struct moments *moments = &sections->moments;
	const struct stall_lines *lines = opts->stalls;

	fputs("vm,vcpu,waits,number,time_ns,p50_ns,p99_ns,longest_ns,longest_from_s,longest_vcpu,thief,thief_ns\n",
	      fp);
	for (u32 i = 0; i < lines->nr; i++) {
		const struct stall_line *line = &lines->lines[i];

		print_csv_string(m->vms[line->vm].name, fp);
		if (line->vcpu != TIME_AXIS_NONE)
			fprintf(fp, "%u", m->axis.vcpus[line->vcpu].id);
		fprintf(fp, ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
			stall_kind__name(line->kind), line->nr, line->ns, line->p50, line->p99);
		if (!line->longest) {
			fputs(",,,,\n", fp);
			continue;
		}
		fprintf(fp, "%" PRIu64 ",%.9f,%u,", line->longest->ns,
			moments__since(moments, line->longest->start),
			m->axis.vcpus[line->longest_vcpu].id);
		print_csv_string(line->thief.owner ?: "", fp);
		fprintf(fp, "%" PRIu64 "\n", line->thief.ns);
	}
}
