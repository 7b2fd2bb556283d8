// SPDX-License-Identifier: GPL-2.0
/*
 * What has changed, as comma separated values (RFC 4180), one header line.
 */
#include <inttypes.h>
#include <stdio.h>

#include "diff.h"
#include "print.h"

static void print_change(const struct diff *diff, const struct diff_level *level,
			 const struct change *change, FILE *fp)
{
	const struct profile_key *key = &change->key;

	fputs(diff_level__is_host(level) ? "host," : "vm,", fp);
	print_csv_string(level->name, fp);
	fputs(diff_level__is_in_both(level) ? "both," :
	      level->sections[DIFF_OLD] ? "old," : "new,", fp);
	fprintf(fp, "%s,", profile_class__name(key->class));
	print_csv_string(key->function, fp);
	print_csv_string(key->module, fp);
	print_csv_string(key->comm, fp);
	if (key->pid >= 0)
		fprintf(fp, "%d", key->pid);
	fprintf(fp, ",%" PRIu64 ",%" PRIu64 ",%.4f,%.4f,%.4f,", change->ns[DIFF_OLD],
		change->ns[DIFF_NEW], change->percent[DIFF_OLD], change->percent[DIFF_NEW],
		change->points);
	if (diff__knows_processes(diff))
		fprintf(fp, "%u,%u", change->nr_processes[DIFF_OLD],
			change->nr_processes[DIFF_NEW]);
	else
		fputc(',', fp);
	fputc('\n', fp);
}

int print_diff_csv(const struct diff *diff, FILE *fp)
{
	fputs("level,vm,in,class,function,module,comm,pid,old_ns,new_ns,old_percent,new_percent,points,old_processes,new_processes\n",
	      fp);
	for (size_t i = 0; i < diff->nr; i++) {
		const struct diff_level *level = &diff->levels[i];

		for (size_t change = 0; change < level->changes.nr; change++)
			print_change(diff, level, &level->changes.entries[change], fp);
	}
	return 0;
}
