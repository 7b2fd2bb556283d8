// SPDX-License-Identifier: GPL-2.0
/*
 * The report for programs, as JSON. The schema is in perf-kvm-unified(1); what is
 * in it stays there under its name as long as the version is the same.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/evsel.h"
#include "util/session.h"
#include "kvm-unified/guests/guests.h"
#include "measurement.h"
#include "print.h"
#include "sections.h"

#define SCHEMA_NAME	"perf-kvm-unified-report"
#define SCHEMA_VERSION	1

/* What is no character of ASCII may be half of one: it is replaced. */
static void print_string(const char *str, FILE *fp)
{
	fputc('"', fp);
	for (; *str; str++) {
		if (*str == '"' || *str == '\\')
			fputc('\\', fp);
		fputc(isprint((unsigned char)*str) ? *str : '?', fp);
	}
	fputc('"', fp);
}

static void print_member(const char *name, const char *value, FILE *fp)
{
	fprintf(fp, "\"%s\": ", name);
	print_string(value, fp);
}

/* What was counted besides time, if anything was */
static void print_counts(const struct measurement *m, const u64 *sums, FILE *fp)
{
	if (m->nr_columns == PROFILE_TIME + 1)
		return;
	fputs(", \"counts\": {", fp);
	for (u32 column = PROFILE_TIME + 1; column < m->nr_columns; column++) {
		if (column > PROFILE_TIME + 1)
			fputs(", ", fp);
		print_string(evsel__name(m->columns[column]), fp);
		fprintf(fp, ": %" PRIu64, sums[column]);
	}
	fputc('}', fp);
}

static int print_rows(const struct measurement *m, const struct profile *p, const char *indent,
		      FILE *fp)
{
	struct profile_row **rows;
	size_t nr;

	rows = profile__sorted(p, m->period, &nr);
	if (!rows)
		return -ENOMEM;

	for (size_t i = 0; i < nr; i++) {
		const struct profile_key *key = &rows[i]->key;

		fprintf(fp, "%s\n%s{", i ? "," : "", indent);
		print_member("class", profile_class__name(key->class), fp);
		fputs(", ", fp);
		print_member("function", key->function, fp);
		fputs(", ", fp);
		print_member("module", key->module, fp);
		fputs(", ", fp);
		print_member("comm", key->comm, fp);
		if (key->pid >= 0)
			fprintf(fp, ", \"pid\": %d", key->pid);
		if (key->ns_pid)
			fprintf(fp, ", \"ns_pid\": %d", key->ns_pid);
		fprintf(fp, ", \"time_ns\": %" PRIu64 ", \"samples\": %" PRIu64
			", \"percent\": %.4f", rows[i]->sums[PROFILE_TIME], rows[i]->samples,
			profile__percent(p, rows[i]->sums[PROFILE_TIME]));
		print_counts(m, rows[i]->sums, fp);
		fputc('}', fp);
	}
	free(rows);
	return 0;
}

static int print_section(const struct measurement *m, const struct section *section, FILE *fp)
{
	static const char *const levels[] = {
		[SECTION_HOST]	= "host",
		[SECTION_VM]	= "vm",
		[SECTION_VCPU]	= "vcpu",
	};
	const struct profile *p = &section->profile;
	int ret;

	fputs("\n    {\n      ", fp);
	print_member("level", levels[section->level], fp);
	if (section->level != SECTION_HOST) {
		fputs(", ", fp);
		print_member("vm", m->vms[section->vm].name, fp);
	}
	if (section->level == SECTION_VCPU)
		fprintf(fp, ", \"vcpu\": %u", section->vcpu);
	fprintf(fp, ",\n      \"time_ns\": %" PRIu64 ", \"samples\": %" PRIu64
		", \"hidden_ns\": %" PRIu64 ",\n      \"classes_ns\": {", p->totals[PROFILE_TIME],
		profile__samples(p->totals[PROFILE_TIME], m->period), section->hidden);
	for (int i = 0; i < PROFILE_NR_CLASSES; i++)
		fprintf(fp, "%s\"%s\": %" PRIu64, i ? ", " : "", profile_class__name(i),
			p->classes[i]);
	fputc('}', fp);
	print_counts(m, p->totals, fp);
	fputs(",\n      \"rows\": [", fp);
	ret = print_rows(m, p, "        ", fp);
	if (!ret && section->level != SECTION_HOST) {
		fputs("\n      ],\n      \"steal_by_exit_reason\": [", fp);
		ret = print_rows(m, &section->reasons, "        ", fp);
	}
	fputs("\n      ]\n    }", fp);
	return ret;
}

static void print_measurement(const struct measurement *m,
			      const struct section_opts *section_opts,
			      const struct print_opts *opts, FILE *fp)
{
	u32 nr_cpus = measurement__nr_cpus(m);

	fprintf(fp, "  \"measurement\": {\n    \"start_ns\": %" PRIu64 ", \"end_ns\": %" PRIu64
		", \"duration_ns\": %" PRIu64 ",\n    ", m->axis.span.start, m->axis.span.end,
		measurement__duration(m));
	print_member("event", m->evsel ? evsel__name(m->evsel) : "", fp);
	fprintf(fp, ", \"period_ns\": %" PRIu64 ", \"period_exact\": %s, \"cpus\": %u,\n    ",
		m->period, m->period_exact ? "true" : "false", nr_cpus);
	print_member("kernel", m->session->header.env.os_release ?: "", fp);
	fputs(", ", fp);
	print_member("mode", m->axis.span.timeline ? "timeline" : "samples", fp);
	fputs(", ", fp);
	print_member("mode_reason", opts->mode_reason, fp);
	fputs(",\n    ", fp);
	print_member("attribution", section_opts->attribution == ATTRIBUTION_DOMAIN_SWITCH ?
				    "domain-switch" : "cpu-switch", fp);
	fputs(", ", fp);
	print_member("selection", opts->selection, fp);
	fprintf(fp, ",\n    \"samples\": %" PRIu64 ", \"samples_expected\": %" PRIu64
		", \"guest_samples\": %" PRIu64 ", \"relabelled\": %" PRIu64,
		m->nr_samples, profile__samples(measurement__duration(m) * nr_cpus, m->period),
		m->nr_guest_samples, m->nr_relabelled);
	fprintf(fp, ",\n    \"lost\": %" PRIu64 ", \"lost_records\": %" PRIu64
		", \"throttled\": %" PRIu64 ", \"timeline_events\": %" PRIu64
		", \"timeline_lost\": %" PRIu64 ", \"timeline_looks\": %" PRIu64
		", \"other_samples\": %" PRIu64
		", \"bad_records\": %" PRIu64,
		measurement__lost(m), m->nr_lost, m->nr_throttled, m->nr_timeline,
		m->nr_timeline_lost, m->nr_looks, m->nr_other,
		m->nr_unplaced + m->nr_bad_events);
	fputs(",\n    \"timeline_states\": {", fp);
	for (int i = 0; i < VCPU_STATE_NR; i++)
		fprintf(fp, "%s\"%s\": %" PRIu64, i ? ", " : "", vcpu_state__name(i),
			m->nr_states[i]);
	fputs("}\n  },\n", fp);
}

static void print_guests(const struct measurement *m, FILE *fp)
{
	fputs("  \"guests\": [", fp);
	for (u32 i = 0; i < m->nr_vms; i++) {
		const struct kvm_guest *guest = m->vms[i].guest;

		fprintf(fp, "%s\n    {", i ? "," : "");
		print_member("name", m->vms[i].name, fp);
		fprintf(fp, ", \"pid\": %d, \"vcpus\": %u, \"map\": %s, \"address_spaces\": %zu",
			m->vms[i].pid, measurement__nr_vcpus(m, i),
			guest->has_map ? "true" : "false", guest->map.spaces.nr);
		fprintf(fp, ", \"followed\": %s, \"clock\": %s",
			guest->map.followed ? "true" : "false", guest->has_clock ? "true" : "false");
		fprintf(fp, ", \"user_samples\": %" PRIu64 ", \"user_samples_named\": %" PRIu64,
			guest->nr_user, guest->nr_user_named);
		fprintf(fp, ", \"user_samples_shared\": %" PRIu64
			", \"user_samples_ambiguous\": %" PRIu64
			", \"user_samples_outside\": %" PRIu64,
			guest->nr_user_shared, guest->nr_user_ambiguous, guest->nr_user_outside);
		fprintf(fp, ", \"missed_processes\": %" PRIu64 ", \"missed_events\": %" PRIu64 "}",
			guest->map.missed_spaces, guest->map.missed_events);
	}
	fputs("\n  ],\n", fp);
}

int print_json(const struct measurement *m, const struct sections *sections,
	       const struct section_opts *section_opts, const struct print_opts *opts, FILE *fp)
{
	int ret = 0;

	fprintf(fp, "{\n  \"schema\": \"%s\", \"version\": %d,\n", SCHEMA_NAME, SCHEMA_VERSION);
	print_measurement(m, section_opts, opts, fp);
	print_guests(m, fp);
	fputs("  \"levels\": [", fp);
	for (u32 i = 0; !ret && i < sections->nr; i++) {
		if (i)
			fputc(',', fp);
		ret = print_section(m, &sections->entries[i], fp);
	}
	fputs("\n  ]\n}\n", fp);
	return ret;
}
