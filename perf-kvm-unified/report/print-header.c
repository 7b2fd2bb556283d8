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
#include "kvm-unified/measure/measurement.h"
#include "print.h"
#include "row-columns.h"
#include "sections.h"

/* As the tracepoint prints it */
const char *vcpu_state__name(enum vcpu_state state)
{
	static const char *const names[VCPU_STATE_NR] = {
		[VCPU_STATE_RUN]	= "run",
		[VCPU_STATE_USER]	= "user",
		[VCPU_STATE_PREEMPTED]	= "preempted",
		[VCPU_STATE_BLOCKED]	= "blocked",
		[VCPU_STATE_HALTED]	= "halted",
		[VCPU_STATE_HALT_POLL]	= "halt-poll",
		[VCPU_STATE_THROTTLED]	= "throttled",
	};

	return names[state];
}

/* Is it told of any host, or of any guest, and not only where there is some of it? */
static bool is_usual(enum profile_class class, bool host, bool charge_guest)
{
	if (class == PROFILE_OS || class == PROFILE_USER || class == PROFILE_IDLE)
		return true;
	if (host)
		return class == PROFILE_VM;
	return class == PROFILE_STEAL || class == (charge_guest ? PROFILE_HOST : PROFILE_EXIT);
}

/* "OS:USER:IDLE:VM = 1.00%:...": the usual ones, and others if there is any of them */
static void print_ratio(const struct section *section, const struct section_opts *section_opts,
			FILE *fp)
{
	const struct profile *p = &section->profile;
	bool host = section->level == SECTION_HOST;
	bool charge_guest = section_opts->attribution == ATTRIBUTION_DOMAIN_SWITCH;
	enum profile_class shown[PROFILE_NR_CLASSES];
	size_t nr = 0;

	for (int class = 0; class < PROFILE_NR_CLASSES; class++) {
		if (is_usual(class, host, charge_guest) || p->classes[class])
			shown[nr++] = class;
	}
	for (size_t i = 0; i < nr; i++)
		fprintf(fp, "%s%s", i ? ":" : "  ", profile_class__name(shown[i]));
	for (size_t i = 0; i < nr; i++)
		fprintf(fp, "%s%.2f%%", i ? ":" : " = ", profile__percent(p, p->classes[shown[i]]));
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
		fprintf(fp, "map of %zu address space%s names the process of %" PRIu64
			" of %" PRIu64 " user samples%s (%.2f %%)", guest->map.spaces.nr,
			guest->map.spaces.nr == 1 ? "" : "s", guest->nr_user_named, guest->nr_user,
			m->nr_columns > 1 ? " of all events" : "",
			guest->nr_user ? 100.0 * guest->nr_user_named / guest->nr_user : 0.0);
	else if (!guest->nr_user_told)
		fprintf(fp, "no map: its processes have no names, and are told apart by CR3");
	else
		fprintf(fp, "no map");
	if (guest->nr_user_told)
		fprintf(fp, ", its current task names that of %" PRIu64 "%s (%.2f %%)",
			guest->nr_user_told, guest->has_map ? " more" : " user samples",
			100.0 * guest->nr_user_told / guest->nr_user);
	if (guest->nr_user_shared)
		fprintf(fp, ", %" PRIu64 " of them of an address space that processes share",
			guest->nr_user_shared);
	fputc('\n', fp);
}

/* Prints with what was recorded, and on what. A file's texts may hold escapes. */
void print_recorded(const struct measurement *m, FILE *fp)
{
	u32 nr_cpus = measurement__nr_cpus(m);

	print_padded(m->evsel ? evsel__name(m->evsel) : "no event", 0, fp);
	fprintf(fp, " %s %.3f ms, %u CPU%s, kernel ", m->period_exact ? "every" : "about every",
		(double)m->period / NSEC_PER_MSEC, nr_cpus, nr_cpus == 1 ? "" : "s");
	print_padded(m->session->header.env.os_release ?: "unknown", 0, fp);
}

/* Prints what was measured, in lines that begin with #. */
void print_report_header(const struct measurement *m, const struct section_opts *section_opts,
			 const struct print_opts *opts, FILE *fp)
{
	u32 nr_cpus = measurement__nr_cpus(m);
	double duration = measurement__duration(m);

	fprintf(fp, "# perf kvm unified report: %.3f s from %.6f on the host's clock, ",
		duration / NSEC_PER_SEC, (double)m->axis.span.start / NSEC_PER_SEC);
	print_recorded(m, fp);
	fputc('\n', fp);
	fprintf(fp, "# samples %" PRIu64 " of %" PRIu64 ", lost %" PRIu64 ", sampling paused %"
		PRIu64 " times", m->nr_samples,
		profile__samples(measurement__duration(m) * nr_cpus, m->period),
		measurement__lost(m), m->nr_throttled);
	/* Only old kernels do so. */
	if (m->nr_relabelled)
		fprintf(fp, ", %" PRIu64 " of %" PRIu64 " (%.2f %%) that the kernel has as a guest's are of the host, which handled an exit",
			m->nr_relabelled, m->nr_guest_samples,
			100.0 * m->nr_relabelled / m->nr_guest_samples);
	fputc('\n', fp);
	if (m->axis.span.timeline) {
		fprintf(fp, "# timeline mode: %" PRIu64 " events of what the vCPUs did (",
			m->nr_timeline);
		for (int i = 0; i < VCPU_STATE_NR; i++)
			fprintf(fp, "%s%s %" PRIu64, i ? ", " : "", vcpu_state__name(i),
				m->nr_states[i]);
		fprintf(fp, "), lost %" PRIu64 "\n", m->nr_timeline_lost);
	} else {
		fprintf(fp, "# sample mode: what the vCPUs did when they did not run is told from samples, %s\n",
			opts->mode_reason);
	}
	if (opts->is_part)
		fputs("# the end of the recording is missing: this is of a part of it\n", fp);
	if (measurement__vcpus_by(m) == VCPUS_BY_BPF)
		fputs("# a BPF program has told the vCPUs of samples, as the kernel does not by itself\n",
		      fp);
	if (!measurement__knows_idle(m))
		fputs("# idle time of the host counts as OS, as its kernel has no symbols here (-k)\n",
		      fp);
	/* If there are many, the overview tells which have maps. */
	for (u32 i = 0; i < m->nr_vms && !opts->overview_alone; i++) {
		if (!m->vms[i].left_out && section_opts__wants_vm(section_opts, m->vms[i].name))
			print_guest_line(m, i, fp);
	}
	if (opts->selection[0])
		fprintf(fp, "# of that, the tables are of%s\n", opts->selection);
	if (opts->rows_of[0])
		fprintf(fp, "# rows are those of%s, and totals of all\n", opts->rows_of);
	fputc('\n', fp);
}
