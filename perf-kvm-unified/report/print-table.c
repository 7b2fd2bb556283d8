// SPDX-License-Identifier: GPL-2.0
/*
 * The report as tables for people.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "measurement.h"
#include "print.h"
#include "sections.h"

#define FUNCTION_MIN_WIDTH	24
#define MODULE_MIN_WIDTH	16
/* C++ has names of kilobytes; they are whole, but do not push the rest away. */
#define COLUMN_MAX_WIDTH	60

/* Prints @str padded to @width; what comes from a guest may hold escapes. */
static void print_column(const char *str, int width, FILE *fp)
{
	int printed = 0;

	for (; *str; str++, printed++)
		fputc(isprint((unsigned char)*str) ? *str : '?', fp);
	if (width)
		fprintf(fp, "%*s  ", printed < width ? width - printed : 0, "");
}

static int column_width(int width, const char *str)
{
	int len = strlen(str);

	return len > width ? min(len, COLUMN_MAX_WIDTH) : width;
}

static void print_process(const struct profile_key *key, FILE *fp)
{
	if (key->class == PROFILE_OS) {
		fputs("[k]", fp);
		return;
	}
	print_column(key->comm, 0, fp);
	/* Pseudo processes have no pid to speak of */
	if (key->pid < 0 || key->comm[0] == '[')
		return;
	fprintf(fp, "%s(%d", key->comm[0] ? " " : "", key->pid);
	if (key->ns_pid)
		fprintf(fp, ", inside %d", key->ns_pid);
	fputc(')', fp);
}

/* The columns of a table */
struct columns {
	bool	function;
	bool	module;
	bool	process;
	int	function_width;
	int	module_width;
};

static void columns__fit(struct columns *c, struct profile_row **rows, size_t nr)
{
	c->function_width = FUNCTION_MIN_WIDTH;
	c->module_width = MODULE_MIN_WIDTH;
	for (size_t i = 0; i < nr; i++) {
		c->function_width = column_width(c->function_width, rows[i]->key.function);
		c->module_width = column_width(c->module_width, rows[i]->key.module);
	}
	/* The last one needs no blanks behind it. */
	if (!c->process && c->module)
		c->module_width = 0;
	if (!c->process && !c->module)
		c->function_width = 0;
}

static void print_titles(const struct columns *c, FILE *fp)
{
	fprintf(fp, "%9s  %7s  ", "Samples", "%Ratio");
	if (c->function)
		print_column("Function", c->function_width, fp);
	if (c->module)
		print_column("Module", c->module_width, fp);
	if (c->process)
		print_column("Process", 0, fp);
	fputc('\n', fp);
}

static void print_row(const struct columns *c, const struct profile_key *key, FILE *fp)
{
	if (c->function)
		print_column(key->function, c->function_width, fp);
	if (c->module)
		print_column(key->module, c->module_width, fp);
	if (c->process)
		print_process(key, fp);
	fputc('\n', fp);
}

static int print_rows(const struct profile *p, u64 hidden, struct columns *columns, u64 period,
		      const struct print_opts *opts, FILE *fp)
{
	struct profile_row **rows;
	u64 rest = 0, rest_samples = 0;
	size_t nr, shown;

	rows = profile__sorted(p, period, &nr);
	if (!rows)
		return -ENOMEM;

	for (shown = 0; shown < nr; shown++) {
		if (profile__percent(p, rows[shown]->sums[PROFILE_TIME]) < opts->percent_limit)
			break;
	}
	columns__fit(columns, rows, shown);
	print_titles(columns, fp);
	for (size_t i = 0; i < shown; i++) {
		fprintf(fp, "%9" PRIu64 "  %7.2f  ", rows[i]->samples,
			profile__percent(p, rows[i]->sums[PROFILE_TIME]));
		print_row(columns, &rows[i]->key, fp);
	}
	for (size_t i = shown; i < nr; i++) {
		rest += rows[i]->sums[PROFILE_TIME];
		rest_samples += rows[i]->samples;
	}
	if (rest)
		fprintf(fp, "%9" PRIu64 "  %7.2f  (%zu more below %.2f %%)\n", rest_samples,
			profile__percent(p, rest), nr - shown, opts->percent_limit);
	if (hidden)
		fprintf(fp, "%9" PRIu64 "  %7.2f  (rows that are not asked for)\n",
			profile__samples(p->totals[PROFILE_TIME], period) -
			profile__samples(p->totals[PROFILE_TIME] - hidden, period),
			profile__percent(p, hidden));
	fputc('\n', fp);
	free(rows);
	return 0;
}

static int print_section(const struct section *section, u64 period,
			 const struct section_opts *section_opts, const struct print_opts *opts,
			 FILE *fp)
{
	bool guest = section->level != SECTION_HOST;
	struct columns columns = {
		.function = section_opts->sort & SECTION_SORT_SYM,
		.module = section_opts->sort & SECTION_SORT_DSO ||
			  !(section_opts->sort & SECTION_SORT_SYM),
		.process = guest && section_opts->sort & (SECTION_SORT_COMM | SECTION_SORT_PID),
	};
	struct columns reason_columns = { .function = true };
	int ret;

	print_section_title(section, period, section_opts, fp);
	ret = print_rows(&section->profile, section->hidden, &columns, period, opts, fp);
	if (ret || !guest || !opts->exit_reasons)
		return ret;

	fprintf(fp, "%-28s  Stolen samples: %-8" PRIu64 " by the last exit reason before\n",
		section->title, profile__samples(section->reasons.totals[PROFILE_TIME], period));
	return print_rows(&section->reasons, 0, &reason_columns, period, opts, fp);
}

int print_table(const struct measurement *m, const struct sections *sections,
		const struct section_opts *section_opts, const struct print_opts *opts, FILE *fp)
{
	int ret = 0;

	print_report_header(m, opts, fp);
	for (u32 i = 0; !ret && i < sections->nr; i++)
		ret = print_section(&sections->entries[i], m->period, section_opts, opts, fp);
	return ret;
}
