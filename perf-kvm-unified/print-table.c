// SPDX-License-Identifier: GPL-2.0
/*
 * Profiles as tables for people.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "print-table.h"
#include "profile.h"

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
	} else if (key->pid >= 0) {
		print_column(key->comm, 0, fp);
		/* Pseudo processes have no pid to speak of */
		if (key->comm[0] != '[')
			fprintf(fp, " (%d)", key->pid);
	}
}

static int print_rows(const struct profile *p, bool processes,
		      const struct print_table_opts *opts, FILE *fp)
{
	int function_width = FUNCTION_MIN_WIDTH, module_width = MODULE_MIN_WIDTH;
	struct profile_row **rows;
	u64 rest = 0;
	size_t nr, shown;

	rows = profile__sorted(p, &nr);
	if (!rows)
		return -ENOMEM;

	for (shown = 0; shown < nr; shown++) {
		if (profile__percent(p, rows[shown]->samples) < opts->percent_limit)
			break;
		function_width = column_width(function_width, rows[shown]->key.function);
		module_width = column_width(module_width, rows[shown]->key.module);
	}

	fprintf(fp, "%9s  %7s  %-*s  ", "Samples", "%Ratio", function_width, "Function");
	if (processes)
		fprintf(fp, "%-*s  %s\n", module_width, "Module", "Process");
	else
		fprintf(fp, "%s\n", "Module");

	for (size_t i = 0; i < shown; i++) {
		const struct profile_key *key = &rows[i]->key;

		fprintf(fp, "%9" PRIu64 "  %7.2f  ", rows[i]->samples,
			profile__percent(p, rows[i]->samples));
		print_column(key->function, function_width, fp);
		print_column(key->module, processes ? module_width : 0, fp);
		if (processes)
			print_process(key, fp);
		fputc('\n', fp);
	}
	for (size_t i = shown; i < nr; i++)
		rest += rows[i]->samples;
	if (rest)
		fprintf(fp, "%9" PRIu64 "  %7.2f  (%zu more below %.2f %%)\n", rest,
			profile__percent(p, rest), nr - shown, opts->percent_limit);
	fputc('\n', fp);
	free(rows);
	return 0;
}

static double class_percent(const struct profile *p, enum profile_class class)
{
	return profile__percent(p, p->classes[class]);
}

int print_table__host(const struct profile *p, const char *title,
		      const struct print_table_opts *opts, FILE *fp)
{
	fprintf(fp, "%-28s  Total samples: %-8" PRIu64
		"  OS:USER:IDLE:VM = %.2f%%:%.2f%%:%.2f%%:%.2f%%\n",
		title, p->total, class_percent(p, PROFILE_OS), class_percent(p, PROFILE_USER),
		class_percent(p, PROFILE_IDLE), class_percent(p, PROFILE_VM));
	return print_rows(p, /*processes=*/false, opts, fp);
}

int print_table__guest(const struct profile *p, const char *title,
		       const struct print_table_opts *opts, FILE *fp)
{
	fprintf(fp, "%-28s  Total samples: %-8" PRIu64
		"  OS:USER:BLANK = %.2f%%:%.2f%%:%.2f%%\n",
		title, p->total, class_percent(p, PROFILE_OS), class_percent(p, PROFILE_USER),
		class_percent(p, PROFILE_BLANK));
	return print_rows(p, /*processes=*/true, opts, fp);
}
