// SPDX-License-Identifier: GPL-2.0
/*
 * What has changed, for programs, as JSON. The schema is in perf-kvm-unified(1).
 */
#include <inttypes.h>
#include <stdio.h>

#include "diff.h"
#include "print.h"

#define SCHEMA_NAME	"perf-kvm-unified-diff"
#define SCHEMA_VERSION	1

static const char *const side_names[DIFF_NR_SIDES] = { "old", "new" };

static void print_change(const struct diff *diff, const struct change *change, FILE *fp)
{
	const struct profile_key *key = &change->key;

	fputs("\n        {", fp);
	print_json_member("class", profile_class__name(key->class), fp);
	fputs(", ", fp);
	print_json_member("function", key->function, fp);
	fputs(", ", fp);
	print_json_member("module", key->module, fp);
	fputs(", ", fp);
	print_json_member("comm", key->comm, fp);
	if (key->pid >= 0)
		fprintf(fp, ", \"pid\": %d", key->pid);
	for (int side = 0; side < DIFF_NR_SIDES; side++) {
		fprintf(fp, ", \"%s_ns\": %" PRIu64 ", \"%s_percent\": %.4f", side_names[side],
			change->ns[side], side_names[side], change->percent[side]);
		if (diff__knows_processes(diff))
			fprintf(fp, ", \"%s_processes\": %u", side_names[side],
				change->nr_processes[side]);
	}
	fprintf(fp, ", \"points\": %.4f}", change->points);
}

static void print_level(const struct diff *diff, const struct diff_level *level, FILE *fp)
{
	bool host = diff_level__is_host(level);

	fputs("\n    {\n      ", fp);
	print_json_member("level", host ? "host" : "vm", fp);
	if (!host) {
		fputs(", ", fp);
		print_json_member("vm", level->name, fp);
	}
	for (int side = 0; side < DIFF_NR_SIDES; side++) {
		const struct section *section = level->sections[side];

		if (!section)
			continue;
		fprintf(fp, ",\n      \"%s\": {\"time_ns\": %" PRIu64 ", ", side_names[side],
			section->profile.totals[PROFILE_TIME]);
		if (!host)
			fprintf(fp, "\"vcpus\": %u, ", level->nr_vcpus[side]);
		fputs("\"classes_ns\": {", fp);
		print_json_classes(&section->profile, fp);
		fputs("}}", fp);
	}
	fputs(",\n      \"rows\": [", fp);
	for (size_t i = 0; i < level->changes.nr; i++) {
		if (i)
			fputc(',', fp);
		print_change(diff, &level->changes.entries[i], fp);
	}
	fputs("\n      ]\n    }", fp);
}

int print_diff_json(const struct diff *diff, FILE *fp)
{
	fprintf(fp, "{\n  \"schema\": \"%s\", \"version\": %d,\n", SCHEMA_NAME, SCHEMA_VERSION);
	for (int side = 0; side < DIFF_NR_SIDES; side++) {
		char selection[SELECTION_LEN];
		const struct print_opts opts = diff__print_opts(diff, side, selection,
								sizeof(selection));

		print_json_measurement(side_names[side], &diff->readings[side].m,
				       diff->readings[side].sections.moments.zero,
				       &diff->opts.report.sections, &opts, fp);
	}
	fputs("  \"levels\": [", fp);
	for (size_t i = 0; i < diff->nr; i++) {
		if (i)
			fputc(',', fp);
		print_level(diff, &diff->levels[i], fp);
	}
	fputs("\n  ]\n}\n", fp);
	return 0;
}
