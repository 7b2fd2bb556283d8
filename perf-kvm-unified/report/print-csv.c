// SPDX-License-Identifier: GPL-2.0
/*
 * The rows of the report as comma separated values (RFC 4180), one header line.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/compiler.h>

#include "measurement.h"
#include "print.h"
#include "sections.h"
#include "tables.h"

/* A field, and the comma behind it */
void print_csv_string(const char *str, FILE *fp)
{
	fputc('"', fp);
	for (; *str; str++) {
		if (*str == '"')
			fputc('"', fp);
		fputc(isprint((unsigned char)*str) ? *str : '?', fp);
	}
	fputs("\",", fp);
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

		fputs(section->level == SECTION_HOST ? "host," :
		      section->level == SECTION_VM ? "vm," : "vcpu,", fp);
		print_csv_string(section->level == SECTION_HOST ? "" :
				 m->vms[section->vm].name, fp);
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
		fputc('\n', fp);
	}
	free(rows);
	return 0;
}

int print_csv(const struct measurement *m, const struct sections *sections,
	      const struct section_opts *section_opts __maybe_unused,
	      const struct print_opts *opts __maybe_unused, FILE *fp)
{
	int ret = 0;

	fputs("level,vm,vcpu,class,function,module,comm,pid,time_ns,samples,percent,ns_pid\n", fp);
	for (u32 i = 0; !ret && i < sections->nr; i++)
		ret = print_section(m, sections, &sections->entries[i], fp);
	return ret;
}
