// SPDX-License-Identifier: GPL-2.0
/*
 * What rows of tables are called, as text in columns.
 */
#include <string.h>
#include <linux/kernel.h>

#include "kvm-unified/lib/names.h"
#include "profile.h"
#include "row-columns.h"

#define FUNCTION_MIN_WIDTH	24
#define MODULE_MIN_WIDTH	16
#define CGROUP_MIN_WIDTH	16
/* C++ has names of kilobytes; they are whole, but do not push the rest away. */
#define COLUMN_MAX_WIDTH	60

/* Prints @str padded to @width; what comes from a guest may hold escapes. */
void print_padded(const char *str, int width, FILE *fp)
{
	int printed = 0;

	for (; *str; str++, printed++)
		fputc(char__printable(*str), fp);
	fprintf(fp, "%*s", printed < width ? width - printed : 0, "");
}

static void print_column(const char *str, int width, FILE *fp)
{
	print_padded(str, width, fp);
	if (width)
		fputs("  ", fp);
}

static int column_width(int width, const char *str)
{
	int len = strlen(str);

	return len > width ? min(len, COLUMN_MAX_WIDTH) : width;
}

/* What rows are not sorted by has no name. Code of a kernel is not its process's user code. */
static const char *module_of(const struct profile_key *key)
{
	return key->module[0] || key->class != PROFILE_OS ? key->module :
							    profile_key__class_row(key);
}

static void print_process(const struct profile_key *key, bool guest, FILE *fp)
{
	/* A guest's kernel, of which it is not known whom it works for */
	if (guest && key->class == PROFILE_OS && !key->comm[0] && key->pid < 0) {
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

/**
 * row_columns__init - the columns for what rows are sorted by
 * @sort: PROFILE_SORT_*
 * @process: rows may be of processes
 * @guest: they are of a guest
 */
void row_columns__init(struct row_columns *c, unsigned int sort, bool process, bool guest)
{
	*c = (struct row_columns) {
		.function = sort & PROFILE_SORT_SYM,
		.module = sort & PROFILE_SORT_DSO || !(sort & PROFILE_SORT_SYM),
		.cgroup = guest && sort & PROFILE_SORT_CGROUP,
		.process = process && sort & (PROFILE_SORT_COMM | PROFILE_SORT_PID),
		.guest = guest,
	};
	/* The last one needs no blanks after it. */
	if (c->process || c->cgroup || c->module)
		c->function_width = FUNCTION_MIN_WIDTH;
	if (c->process || c->cgroup)
		c->module_width = MODULE_MIN_WIDTH;
	if (c->process)
		c->cgroup_width = CGROUP_MIN_WIDTH;
}

/* Makes them wide enough for a row. */
void row_columns__fit(struct row_columns *c, const struct profile_key *key)
{
	if (c->function_width)
		c->function_width = column_width(c->function_width, key->function);
	if (c->module_width)
		c->module_width = column_width(c->module_width, module_of(key));
	if (c->cgroup_width && key->cgroup)
		c->cgroup_width = column_width(c->cgroup_width, key->cgroup);
}

void row_columns__print_titles(const struct row_columns *c, FILE *fp)
{
	if (c->function)
		print_column("Function", c->function_width, fp);
	if (c->module)
		print_column("Module", c->module_width, fp);
	if (c->cgroup)
		print_column("Cgroup", c->cgroup_width, fp);
	if (c->process)
		print_column("Process", 0, fp);
}

void row_columns__print(const struct row_columns *c, const struct profile_key *key, FILE *fp)
{
	if (c->function)
		print_column(key->function, c->function_width, fp);
	if (c->module)
		print_column(module_of(key), c->module_width, fp);
	if (c->cgroup)
		print_column(key->cgroup ?: "", c->cgroup_width, fp);
	if (c->process)
		print_process(key, c->guest, fp);
}
