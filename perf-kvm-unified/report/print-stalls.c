// SPDX-License-Identifier: GPL-2.0
/*
 * How long vCPUs have waited for a CPU each time, for people and as comma separated values.
 */
#include <inttypes.h>
#include <stdio.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#include "measurement.h"
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
	fprintf(fp, "  %-7s  %8" PRIu64, stall_kind__name(line->kind), line->nr);
	print_ms(line->ns, fp);
	print_ms(line->p50, fp);
	print_ms(line->p99, fp);
	if (longest) {
		print_ms(longest->ns, fp);
		fprintf(fp, "  %10.6f  %4u  ", moments__since(moments, longest->start),
			m->axis.vcpus[line->longest_vcpu].id);
		print_padded(line->thief.owner ?: "", 0, fp);
	}
	fputc('\n', fp);
}

/* For people, if it is asked for: of VMs alone */
void print_stalls(const struct measurement *m, const struct sections *sections,
		  const struct print_opts *opts, FILE *fp)
{
	const struct stall_lines *lines = opts->stalls;
	int width = names_width(m);

	if (!lines || !lines->nr)
		return;
	fputs("# how long vCPUs have waited for a CPU each time, ms: stolen while they ran, and woken up until they ran\n",
	      fp);
	print_padded("# VM", width, fp);
	fprintf(fp, "  %-7s  %8s  %9s  %9s  %9s  %9s  %10s  %4s  %s\n", "waits", "number", "sum",
		"p50", "p99", "longest", "at s", "vCPU", "culprit");
	for (u32 i = 0; i < lines->nr; i++) {
		if (lines->lines[i].vcpu == TIME_AXIS_NONE)
			print_line(&sections->moments, m, &lines->lines[i], width, fp);
	}
	fputc('\n', fp);
}

/* Of VMs, and of each vCPU */
int print_stalls_csv(const struct measurement *m, const struct sections *sections,
		     const struct section_opts *section_opts __maybe_unused,
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
	return 0;
}
