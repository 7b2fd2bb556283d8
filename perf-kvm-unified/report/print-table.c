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
#include <linux/time64.h>

#include "util/evsel.h"
#include "util/session.h"
#include "kvm-unified/guests/guests.h"
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
		if (profile__percent(p, rows[shown]->time) < opts->percent_limit)
			break;
	}
	columns__fit(columns, rows, shown);
	print_titles(columns, fp);
	for (size_t i = 0; i < shown; i++) {
		fprintf(fp, "%9" PRIu64 "  %7.2f  ", rows[i]->samples,
			profile__percent(p, rows[i]->time));
		print_row(columns, &rows[i]->key, fp);
	}
	for (size_t i = shown; i < nr; i++) {
		rest += rows[i]->time;
		rest_samples += rows[i]->samples;
	}
	if (rest)
		fprintf(fp, "%9" PRIu64 "  %7.2f  (%zu more below %.2f %%)\n", rest_samples,
			profile__percent(p, rest), nr - shown, opts->percent_limit);
	if (hidden)
		fprintf(fp, "%9" PRIu64 "  %7.2f  (rows that are not asked for)\n",
			profile__samples(p->total, period) -
			profile__samples(p->total - hidden, period),
			profile__percent(p, hidden));
	fputc('\n', fp);
	free(rows);
	return 0;
}

/* "OS:USER:IDLE:VM = 1.00%:...": the usual ones, and others if there is any of them */
static void print_ratio(const struct section *section, const struct section_opts *section_opts,
			FILE *fp)
{
	const struct profile *p = &section->profile;
	bool host = section->level == SECTION_HOST;
	enum profile_class classes[PROFILE_NR_CLASSES];
	size_t nr = 0;

	classes[nr++] = PROFILE_OS;
	classes[nr++] = PROFILE_USER;
	if (!host && section_opts->attribution == ATTRIBUTION_DOMAIN_SWITCH)
		classes[nr++] = PROFILE_HOST;
	classes[nr++] = PROFILE_IDLE;
	classes[nr++] = host ? PROFILE_VM : PROFILE_STEAL;
	if (!host && p->classes[PROFILE_VM])
		classes[nr++] = PROFILE_VM;
	if (p->classes[PROFILE_LOST])
		classes[nr++] = PROFILE_LOST;
	if (p->classes[PROFILE_UNKNOWN])
		classes[nr++] = PROFILE_UNKNOWN;

	for (size_t i = 0; i < nr; i++)
		fprintf(fp, "%s%s", i ? ":" : "  ", profile_class__name(classes[i]));
	for (size_t i = 0; i < nr; i++)
		fprintf(fp, "%s%.2f%%", i ? ":" : " = ",
			profile__percent(p, p->classes[classes[i]]));
	fputc('\n', fp);
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

	fprintf(fp, "%-28s  Total samples: %-8" PRIu64, section->title,
		profile__samples(section->profile.total, period));
	print_ratio(section, section_opts, fp);
	ret = print_rows(&section->profile, section->hidden, &columns, period, opts, fp);
	if (ret || !guest || !opts->exit_reasons)
		return ret;

	fprintf(fp, "%-28s  Stolen samples: %-8" PRIu64 " by the last exit reason before\n",
		section->title, profile__samples(section->reasons.total, period));
	return print_rows(&section->reasons, 0, &reason_columns, period, opts, fp);
}

static void print_guest_line(const struct measurement *m, u32 vm, FILE *fp)
{
	const struct kvm_guest *guest = m->vms[vm].guest;
	u32 nr_vcpus = measurement__nr_vcpus(m, vm);

	fprintf(fp, "# guest %s: pid %d, %u vCPU%s, ", m->vms[vm].name, m->vms[vm].pid,
		nr_vcpus, nr_vcpus == 1 ? "" : "s");
	if (guest->has_map)
		fprintf(fp, "map of %zu address spaces names the process of %" PRIu64 " of %" PRIu64
			" user samples (%.2f %%)", guest->map.spaces.nr, guest->nr_user_named,
			guest->nr_user,
			guest->nr_user ? 100.0 * guest->nr_user_named / guest->nr_user : 0.0);
	else
		fprintf(fp, "no map: user code by CR3, without names");
	if (guest->nr_user_shared)
		fprintf(fp, ", %" PRIu64 " of them of an address space that processes share",
			guest->nr_user_shared);
	fputc('\n', fp);
}

static void print_header(const struct measurement *m, const struct print_opts *opts, FILE *fp)
{
	u32 nr_cpus = measurement__nr_cpus(m);
	double duration = measurement__duration(m);

	fprintf(fp, "# perf kvm unified report: %.3f s on the host's clock, %s %s %.3f ms, ",
		duration / NSEC_PER_SEC,
		m->evsel ? evsel__name(m->evsel) : "no event",
		m->period_exact ? "every" : "about every", (double)m->period / NSEC_PER_MSEC);
	fprintf(fp, "%u CPU%s, kernel %s\n", nr_cpus, nr_cpus == 1 ? "" : "s",
		m->session->header.env.os_release ?: "unknown");
	fprintf(fp, "# samples %" PRIu64 " of %" PRIu64 ", lost %" PRIu64 ", throttled %" PRIu64
		" times", m->nr_samples,
		profile__samples(measurement__duration(m) * nr_cpus, m->period),
		measurement__lost(m), m->nr_throttled);
	/* Of old kernels alone */
	if (m->nr_relabelled)
		fprintf(fp, ", relabelled guest -> exit handling %" PRIu64 " (%.2f %% of %" PRIu64 ")",
			m->nr_relabelled, 100.0 * m->nr_relabelled / m->nr_guest_samples,
			m->nr_guest_samples);
	fputc('\n', fp);
	if (m->axis.span.timeline) {
		fprintf(fp, "# timeline mode: %" PRIu64 " events of what the vCPUs did, lost %"
			PRIu64 " (", m->nr_timeline, m->nr_timeline_lost);
		for (int i = 0; i < VCPU_STATE_NR; i++)
			fprintf(fp, "%s%s %" PRIu64, i ? ", " : "", vcpu_state__name(i),
				m->nr_states[i]);
		fputs(")\n", fp);
	} else {
		fprintf(fp, "# sample mode: what the vCPUs did when they did not run is told from samples, %s\n",
			opts->mode_reason);
	}
	for (u32 i = 0; i < m->nr_vms; i++)
		print_guest_line(m, i, fp);
	if (opts->selection[0])
		fprintf(fp, "# of that, the tables are of%s\n", opts->selection);
	fputc('\n', fp);
}

int print_table(const struct measurement *m, const struct sections *sections,
		const struct section_opts *section_opts, const struct print_opts *opts, FILE *fp)
{
	int ret = 0;

	print_header(m, opts, fp);
	for (u32 i = 0; !ret && i < sections->nr; i++)
		ret = print_section(&sections->entries[i], m->period, section_opts, opts, fp);
	return ret;
}
