// SPDX-License-Identifier: GPL-2.0
/*
 * The report as tables for people.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/kernel.h>

#include "util/debug.h"
#include "kvm-unified/measure/measurement.h"
#include "print.h"
#include "row-columns.h"
#include "sections.h"
#include "tables.h"

/* @total: ns that are all of it, and @hidden of rows that are not shown */
static int print_rows(const struct sections *sections, struct evsel *table, u64 total, u64 hidden,
		      struct row_columns *columns, const struct print_opts *opts, FILE *fp)
{
	u64 rest = 0, rest_samples = 0, vms = 0, period = sections->tables->m->period;
	const char *largest_vm = NULL;
	size_t nr, shown, nr_vms = 0;
	struct profile_row *rows = tables__rows(sections->tables, table, sections->opts->sort,
						&nr);

	if (!rows)
		return -ENOMEM;

	for (shown = 0; shown < nr; shown++) {
		if (percent_of(rows[shown].sums[PROFILE_TIME], total) < opts->percent_limit)
			break;
	}
	for (size_t i = 0; i < shown; i++)
		row_columns__fit(columns, &rows[i].key);
	fprintf(fp, "%9s  %7s  ", "Samples", "%Ratio");
	row_columns__print_titles(columns, fp);
	fputc('\n', fp);
	for (size_t i = 0; i < shown; i++) {
		fprintf(fp, "%9" PRIu64 "  %7.2f  ", rows[i].samples,
			percent_of(rows[i].sums[PROFILE_TIME], total));
		row_columns__print(columns, &rows[i].key, fp);
		fputc('\n', fp);
	}
	for (size_t i = shown; i < nr; i++) {
		rest += rows[i].sums[PROFILE_TIME];
		rest_samples += rows[i].samples;
		if (rows[i].key.class != PROFILE_VM)
			continue;
		if (!nr_vms++)
			largest_vm = rows[i].key.function;
		vms += rows[i].sums[PROFILE_TIME];
	}
	if (rest)
		fprintf(fp, "%9" PRIu64 "  %7.2f  (%zu more below %.2f %%)\n", rest_samples,
			percent_of(rest, total), nr - shown, opts->percent_limit);
	if (nr_vms > 1) {
		fprintf(fp, "%9s  %7.2f  (of these, %zu VMs together; the largest is ", "",
			percent_of(vms, total), nr_vms);
		print_padded(largest_vm, 0, fp);
		fputs(")\n", fp);
	}
	if (hidden)
		fprintf(fp, "%9" PRIu64 "  %7.2f  (rows that are not asked for)\n",
			profile__samples(total, period) -
			profile__samples(total - hidden, period),
			percent_of(hidden, total));
	fputc('\n', fp);
	free(rows);
	return 0;
}

static int print_section(const struct sections *sections, const struct section *section,
			 u64 period, const struct print_opts *opts, FILE *fp)
{
	struct row_columns columns, reason_columns;
	int ret;

	row_columns__init(&columns, sections->opts->sort, true, section->level != SECTION_HOST);
	row_columns__init(&reason_columns, PROFILE_SORT_SYM, false, false);
	print_section_title(section, period, sections->opts, fp);
	ret = print_rows(sections, section->table, section->profile.totals[PROFILE_TIME],
			 section->hidden, &columns, opts, fp);
	if (ret || !section->reasons)
		return ret;

	fprintf(fp, "%-28s  Samples not had: %-8" PRIu64 " by the last exit reason before\n",
		section->title, profile__samples(section->taken, period));
	return print_rows(sections, section->reasons, section->taken, 0, &reason_columns,
			  opts, fp);
}

int print_table(const struct report_data *data, FILE *fp)
{
	const struct sections *sections = data->sections;
	const struct print_opts *opts = data->opts;
	const struct measurement *m = data->m;
	int ret = 0;

	if (!quiet)
		print_report_header(m, sections->opts, opts, fp);
	/* As in perf's views */
	if (!quiet || !sections->nr)
		ret = print_overview(m, sections, opts, fp);
	if (!ret && opts->costs)
		ret = print_costs(m, sections, fp);
	print_over_time(m, sections, opts, fp);
	ret = ret ?: print_stalls(m, sections, opts, fp);
	for (u32 i = 0; !ret && i < sections->nr; i++)
		ret = print_section(sections, &sections->entries[i], m->period, opts, fp);
	return ret;
}
