// SPDX-License-Identifier: GPL-2.0
/*
 * What has changed, as text for people: a line for each VM, and then what was more or less.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#include "util/debug.h"
#include "util/evsel.h"
#include "util/session.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/lib/sort.h"
#include "class-columns.h"
#include "diff.h"
#include "print.h"
#include "row-columns.h"

#define VM_MIN_WIDTH	8
#define VM_MAX_WIDTH	32
/* The old percentage, the new one and the points, with a blank between each, take so much. */
#define COLUMN_WIDTH	22

static const char *const side_names[DIFF_NR_SIDES] = { "old", "new" };

static void print_profile(const struct diff *diff, enum diff_side side, FILE *fp)
{
	const struct reading *reading = &diff->readings[side];
	const struct measurement *m = &reading->m;
	double duration = measurement__duration(m);
	char selection[SELECTION_LEN];
	struct print_opts opts = diff__print_opts(diff, side, selection, sizeof(selection));

	fprintf(fp, "# %s: ", side_names[side]);
	print_padded(profile__name(&reading->data), 0, fp);
	fprintf(fp, ": %.3f s, ", duration / NSEC_PER_SEC);
	print_recorded(m, fp);
	fprintf(fp, ", %u VM%s%s\n", m->nr_vms, m->nr_vms == 1 ? "" : "s",
		m->axis.span.timeline ? "" : ", sample mode");
	if (opts.is_part)
		fputs("# the end of that recording is missing\n", fp);
	if (opts.selection[0])
		fprintf(fp, "# of that,%s\n", opts.selection);
	if (side == DIFF_NEW && opts.rows_of[0])
		fprintf(fp, "# rows are those of%s, and totals of all\n", opts.rows_of);
}

/* VMs that are in @side alone */
static void print_alone(const struct diff *diff, enum diff_side side, FILE *fp)
{
	u32 nr = 0;

	for (size_t i = 0; i < diff->nr; i++) {
		const struct diff_level *level = &diff->levels[i];

		if (diff_level__is_host(level) || diff_level__is_in_both(level) ||
		    !level->sections[side])
			continue;
		fputs(nr++ ? ", " : side == DIFF_OLD ? "# gone, only in old: " :
						       "# came, only in new: ", fp);
		print_padded(level->name, 0, fp);
	}
	if (nr)
		fputs(" (their rows: perf kvm unified report --vm)\n", fp);
}

static void print_vcpus(const struct diff *diff, FILE *fp)
{
	for (size_t i = 0; i < diff->nr; i++) {
		const struct diff_level *level = &diff->levels[i];
		const u32 *nr = level->nr_vcpus;

		if (!diff_level__is_in_both(level) || nr[DIFF_OLD] == nr[DIFF_NEW])
			continue;
		fputs("# VM ", fp);
		print_padded(level->name, 0, fp);
		fprintf(fp, ": %u vCPU%s, then %u\n", nr[DIFF_OLD], nr[DIFF_OLD] == 1 ? "" : "s",
			nr[DIFF_NEW]);
	}
}

static double column_points(const struct class_column *column, const struct diff_level *level)
{
	return class_column__percent(column, &level->sections[DIFF_NEW]->profile) -
	       class_column__percent(column, &level->sections[DIFF_OLD]->profile);
}

/* By how much has a VM changed most? */
static double level__change(const struct diff_level *level)
{
	double most = 0;

	if (!diff_level__is_in_both(level))
		return 0;
	for (u32 i = 0; i < NR_CLASS_COLUMNS; i++)
		most = max(most, fabs(column_points(&class_columns[i], level)));
	return most;
}

/* Levels in both profiles come first, and of these the one with the largest change. */
static int level__cmp(const void *_a, const void *_b)
{
	const struct diff_level *a = *(const struct diff_level *const *)_a;
	const struct diff_level *b = *(const struct diff_level *const *)_b;
	double change_a = level__change(a), change_b = level__change(b);

	if (diff_level__is_in_both(a) != diff_level__is_in_both(b))
		return diff_level__is_in_both(a) ? -1 : 1;
	if (change_a != change_b)
		return change_a > change_b ? -1 : 1;
	return strcmp(a->name, b->name);
}

static bool is_shown(const struct class_column *column, const struct diff *diff)
{
	bool shown = column->always;

	for (size_t i = 0; i < diff->nr && !shown; i++) {
		const struct diff_level *level = &diff->levels[i];

		for (int side = 0; side < DIFF_NR_SIDES; side++) {
			if (!diff_level__is_host(level) && level->sections[side])
				shown |= class_column__ns(column, &level->sections[side]->profile);
		}
	}
	return shown;
}

static int diff__names_width(const struct diff *diff)
{
	int width = VM_MIN_WIDTH;

	for (size_t i = 0; i < diff->nr; i++)
		width = max(width, min((int)strlen(diff->levels[i].name), VM_MAX_WIDTH));
	return width;
}

static void print_column(const struct class_column *column, const struct diff_level *level,
			 FILE *fp)
{
	fputs("  ", fp);
	for (int side = 0; side < DIFF_NR_SIDES; side++) {
		const struct section *section = level->sections[side];

		if (section)
			fprintf(fp, "%6.2f ", class_column__percent(column, &section->profile));
		else
			fprintf(fp, "%6s ", "-");
	}
	if (diff_level__is_in_both(level))
		fprintf(fp, "%+8.2f", column_points(column, level));
	else
		fprintf(fp, "%8s", "-");
}

static void print_titles(const struct diff *diff, int width, FILE *fp)
{
	print_padded("#", width, fp);
	for (u32 i = 0; i < NR_CLASS_COLUMNS; i++) {
		if (is_shown(&class_columns[i], diff))
			fprintf(fp, "  %*s", COLUMN_WIDTH, class_columns[i].title);
	}
	fputc('\n', fp);
	print_padded("# VM", width, fp);
	for (u32 i = 0; i < NR_CLASS_COLUMNS; i++) {
		if (is_shown(&class_columns[i], diff))
			fprintf(fp, "  %6s %6s %8s", "old", "new", "points");
	}
	fputc('\n', fp);
}

/* A line for each VM. 0 or -ENOMEM */
static int print_vms(const struct diff *diff, FILE *fp)
{
	/* One more: none is not an error */
	const struct diff_level **vms = calloc(diff->nr + 1, sizeof(*vms));
	int width = diff__names_width(diff);
	size_t nr = 0;

	if (!vms)
		return -ENOMEM;
	for (size_t i = 0; i < diff->nr; i++) {
		if (!diff_level__is_host(&diff->levels[i]))
			vms[nr++] = &diff->levels[i];
	}
	sort_array(vms, nr, sizeof(*vms), level__cmp);
	if (nr)
		print_titles(diff, width, fp);
	for (size_t vm = 0; vm < nr; vm++) {
		print_padded(vms[vm]->name, width, fp);
		for (u32 i = 0; i < NR_CLASS_COLUMNS; i++) {
			if (is_shown(&class_columns[i], diff))
				print_column(&class_columns[i], vms[vm], fp);
		}
		fputc('\n', fp);
	}
	free(vms);
	return 0;
}

static void print_share(const char *name, double before, double now, FILE *fp)
{
	fprintf(fp, "%s %.2f > %.2f (%+.2f)", name, before, now, now - before);
}

/* Prints what the host's CPUs did. 0 or -ENOMEM */
static int print_host(const struct diff *diff, FILE *fp)
{
	struct host_shares shares[DIFF_NR_SIDES];

	for (int side = 0; side < DIFF_NR_SIDES; side++) {
		const struct reading *reading = &diff->readings[side];

		if (costs__host_shares(&reading->sections.costs, &reading->m, &shares[side]))
			return -ENOMEM;
	}
	print_share("# host: for VMs", shares[DIFF_OLD].vms, shares[DIFF_NEW].vms, fp);
	for (int i = 0; i < HOST_COST_NR; i++) {
		/* It is in the share of VMs. */
		if (i == HOST_COST_GUESTS ||
		    (!host_cost__is_known(i, &diff->readings[DIFF_OLD].m) &&
		     !host_cost__is_known(i, &diff->readings[DIFF_NEW].m)))
			continue;
		fputs(", ", fp);
		print_share(host_cost__name(i, &diff->readings[DIFF_NEW].m),
			    shares[DIFF_OLD].host[i], shares[DIFF_NEW].host[i],
			    fp);
	}
	fputs("\n\n", fp);
	return 0;
}

/* A row, and whose it is */
struct diff_row {
	const struct diff_level *level;
	const struct change *change;
};

static int row__cmp(const void *_a, const void *_b)
{
	const struct diff_row *a = _a, *b = _b;

	return change__cmp(a->change, b->change) ?: strcmp(a->level->name, b->level->name);
}

/* All rows of the host, or of VMs that are in both profiles. NULL: no memory */
static struct diff_row *list_rows(const struct diff *diff, bool host, size_t *nr)
{
	struct diff_row *rows;
	size_t nr_all = 0;

	for (size_t i = 0; i < diff->nr; i++)
		nr_all += diff->levels[i].changes.nr;
	rows = calloc(nr_all + 1, sizeof(*rows));
	*nr = 0;
	for (size_t i = 0; rows && i < diff->nr; i++) {
		const struct diff_level *level = &diff->levels[i];

		if (diff_level__is_host(level) != host || !diff_level__is_in_both(level))
			continue;
		for (size_t change = 0; change < level->changes.nr; change++)
			rows[(*nr)++] = (struct diff_row) {
				.level = level,
				.change = &level->changes.entries[change],
			};
	}
	if (rows)
		sort_array(rows, *nr, sizeof(*rows), row__cmp);
	return rows;
}

/* "shor (2, then 3 processes)" */
static void print_nr_processes(const struct change *change, FILE *fp)
{
	const u32 *nr = change->nr_processes;

	if (change->key.pid >= 0 || (nr[DIFF_OLD] <= 1 && nr[DIFF_NEW] <= 1))
		return;
	if (nr[DIFF_OLD] == nr[DIFF_NEW])
		fprintf(fp, " (%u processes)", nr[DIFF_NEW]);
	else
		fprintf(fp, " (%u, then %u processes)", nr[DIFF_OLD], nr[DIFF_NEW]);
}

/* Prints those of @nr rows of @all that have changed by enough. The others are counted. */
static void print_rows(const struct diff *diff, const struct diff_row *all, size_t nr, bool host,
		       FILE *fp)
{
	double limit = diff->opts.report.print.percent_limit;
	int width = host ? 0 : diff__names_width(diff);
	struct row_columns columns;
	size_t nr_shown = 0;

	row_columns__init(&columns, diff->opts.report.sections.sort,
			  !host || diff->opts.host_processes, !host);
	for (size_t i = 0; i < nr; i++) {
		if (fabs(all[i].change->points) < limit)
			continue;
		row_columns__fit(&columns, &all[i].change->key);
		nr_shown++;
	}
	if (nr_shown) {
		fprintf(fp, "%7s  %7s  %8s  ", "old %", "new %", "points");
		if (!host)
			print_padded("VM", width + 2, fp);
		row_columns__print_titles(&columns, fp);
		fputc('\n', fp);
	}
	for (size_t i = 0; i < nr; i++) {
		const struct change *change = all[i].change;

		if (fabs(change->points) < limit)
			continue;
		fprintf(fp, "%7.2f  %7.2f  %+8.2f  ", change->percent[DIFF_OLD],
			change->percent[DIFF_NEW], change->points);
		if (!host)
			print_padded(all[i].level->name, width, fp);
		fputs(host ? "" : "  ", fp);
		row_columns__print(&columns, &change->key, fp);
		if (!host && diff__knows_processes(diff))
			print_nr_processes(change, fp);
		fputc('\n', fp);
	}
	if (nr > nr_shown)
		fprintf(fp, "(%zu %sbelow %.2f points)\n", nr - nr_shown,
			nr_shown ? "more " : "rows, all ", limit);
	fputc('\n', fp);
}

static int print_table_of(const struct diff *diff, bool host, FILE *fp)
{
	size_t nr;
	struct diff_row *rows = list_rows(diff, host, &nr);

	if (!rows)
		return -ENOMEM;
	if (nr) {
		fprintf(fp, "%s\n", host ? "Host, % of the time of its CPUs" :
					   "VMs, % of the time of their vCPUs");
		print_rows(diff, rows, nr, host, fp);
	}
	free(rows);
	return 0;
}

int print_diff_table(const struct diff *diff, FILE *fp)
{
	int ret;

	fputs("# perf kvm unified diff: from old to new, in percent of the time and in points\n",
	      fp);
	for (int side = 0; side < DIFF_NR_SIDES; side++)
		print_profile(diff, side, fp);
	for (int side = 0; side < DIFF_NR_SIDES; side++)
		print_alone(diff, side, fp);
	print_vcpus(diff, fp);
	fputc('\n', fp);
	ret = print_vms(diff, fp) ?: print_host(diff, fp);
	return ret ?: print_table_of(diff, false, fp) ?: print_table_of(diff, true, fp);
}
