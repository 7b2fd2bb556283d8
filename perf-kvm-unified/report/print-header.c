// SPDX-License-Identifier: GPL-2.0
/*
 * What is above the tables, for people: what was measured, and what limits it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#include "util/evsel.h"
#include "util/session.h"
#include "kvm-unified/guests/guests.h"
#include "measurement.h"
#include "print.h"
#include "sections.h"

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

/* A line: what a table is of, and its classes */
void print_section_title(const struct section *section, u64 period,
			 const struct section_opts *opts, FILE *fp)
{
	fprintf(fp, "%-28s  Total samples: %-8" PRIu64, section->title,
		profile__samples(section->profile.totals[PROFILE_TIME], period));
	print_ratio(section, opts, fp);
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

/* What was measured, in lines that begin with # */
void print_report_header(const struct measurement *m, const struct print_opts *opts, FILE *fp)
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
