// SPDX-License-Identifier: GPL-2.0
/*
 * The overview and the costs of VMs as tables for people: a line for each VM.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <perf/cpumap.h>

#include "kvm-unified/guests/guests.h"
#include "kvm-unified/lib/guest-reasons.h"
#include "kvm-unified/lib/names.h"
#include "kvm-unified/measure/measurement.h"
#include "class-columns.h"
#include "overview.h"
#include "print-limits.h"
#include "print.h"
#include "row-columns.h"
#include "sections.h"

#define VM_MIN_WIDTH	16
/* Names are whole, but a long one does not push the figures away for all. */
#define VM_MAX_WIDTH	32
#define COST_WIDTH	14
/* The line of all VMs' thieves names so many. */
#define THIEVES_SHOWN	5

static bool is_shown(const struct class_column *column, const struct overview *overview)
{
	bool shown = column->always;

	for (u32 i = 0; i < overview->nr && !shown; i++)
		shown = class_column__ns(column, &overview->vms[i].profile);
	return shown;
}

/* So wide is a column of the names of VMs. */
int names_width(const struct measurement *m)
{
	int width = VM_MIN_WIDTH;

	for (u32 i = 0; i < m->nr_vms; i++)
		width = max(width, min((int)strlen(m->vms[i].name), VM_MAX_WIDTH));
	return width;
}

static void print_vm(const struct measurement *m, const struct overview *overview,
		     const struct overview_vm *vm, int width, FILE *fp)
{
	const struct overview_vcpu *worst = &vm->vcpus[vm->worst];
	char thief[THIEF_NAME_LEN];

	print_padded(m->vms[vm->vm].name, width, fp);
	fprintf(fp, "  %5u", vm->nr_vcpus);
	for (size_t i = 0; i < NR_CLASS_COLUMNS; i++) {
		if (is_shown(&class_columns[i], overview))
			fprintf(fp, "  %9.2f",
				class_column__percent(&class_columns[i], &vm->profile));
	}
	if (overview->knows_guest_steal)
		fprintf(fp, "  %9.2f", profile__percent(&vm->profile, vm->guest_steal));
	if (vm->nr_vcpus)
		fprintf(fp, "  %6.2f (%u)  %5.2f..%-6.2f", overview_vcpu__percent(worst), worst->id,
			overview_vcpu__percent(&vm->vcpus[vm->least]),
			overview_vcpu__percent(worst));
	if (vm->nr_thieves) {
		fprintf(fp, "  %5.2f ", profile__percent(&vm->profile, vm->thieves[0].ns));
		print_padded(thief_sum__name(m, &vm->thieves[0], thief, sizeof(thief)), 0, fp);
	}
	fputc('\n', fp);
}

/* "# stolen from these 24 VMs together 2315.4 ms: 62.10 % task backup, pid 301 (4 VMs), ..." */
static void print_thieves(const struct measurement *m, const struct overview *overview, FILE *fp)
{
	char thief[THIEF_NAME_LEN];
	u64 all = 0, shown = 0;
	u32 nr = 0;

	for (u32 i = 0; i < overview->nr; i++) {
		all += overview->vms[i].profile.classes[PROFILE_STEAL];
		nr += overview->vms[i].nr_vcpus > 0;
	}
	/* The line of a single VM names its first thief. */
	if (nr < 2 || !all)
		return;
	fprintf(fp, "# stolen from these %u VMs together %.1f ms:", nr,
		(double)all / NSEC_PER_MSEC);
	for (size_t i = 0; i < min_t(size_t, overview->nr_thieves, THIEVES_SHOWN); i++) {
		const struct thief_sum *sum = &overview->thieves[i];

		fprintf(fp, "%s %.2f %% ", i ? "," : "", percent_of(sum->ns, all));
		print_padded(thief_sum__name(m, sum, thief, sizeof(thief)), 0, fp);
		fprintf(fp, " (from %u VM%s)", sum->nr_vms, sum->nr_vms == 1 ? "" : "s");
		shown += sum->ns;
	}
	if (overview->nr_thieves > THIEVES_SHOWN)
		fprintf(fp, ", %.2f %% %zu more", percent_of(all - shown, all),
			overview->nr_thieves - THIEVES_SHOWN);
	fputc('\n', fp);
}

/* "187 of 200 guests are mapped; no map: a, b, ... 11 more"; and why not, as far as it is known */
static void print_maps(const struct measurement *m, const struct section_opts *section_opts,
		       FILE *fp)
{
	struct name_list without = { };
	struct list_head reasons;
	u32 nr = 0;

	INIT_LIST_HEAD(&reasons);
	for (u32 i = 0; i < m->nr_vms; i++) {
		const char *why;

		if (m->vms[i].left_out || !section_opts__wants_vm(section_opts, m->vms[i].name))
			continue;
		nr++;
		if (m->vms[i].guest->has_map)
			continue;
		name_list__add(&without, m->vms[i].name);
		why = kvm_guests__no_map(m->session, m->vms[i].guest);
		if (why)
			guest_reasons__add(&reasons, m->vms[i].name, why);
	}
	fprintf(fp, "# %zu of %u guest%s mapped%s%s\n", nr - without.nr, nr,
		nr == 1 ? " is" : "s are", without.nr ? "; no map: " : "",
		name_list__end(&without));
	guest_reasons__fprintf(&reasons, "no map of", fp);
	guest_reasons__free(&reasons);
}

static u64 sum_of(const u64 *ns, int nr)
{
	u64 sum = 0;

	for (int i = 0; i < nr; i++)
		sum += ns[i];
	return sum;
}

/* CPUs that have a sample, of those that are wanted */
static u32 nr_cpus_shown(const struct measurement *m, const struct section_opts *opts)
{
	u32 nr = 0;

	if (!opts->cpus)
		return measurement__nr_cpus(m);
	for (u32 i = 0; i < m->nr_cpus; i++)
		nr += m->cpus[i].nr_samples &&
		      perf_cpu_map__has(opts->cpus, (struct perf_cpu){ i });
	return nr;
}

/* Prints a line of what the host's CPUs did. 0 or -ENOMEM */
static int print_host_line(const struct measurement *m, const struct sections *sections, FILE *fp)
{
	u32 nr_cpus = nr_cpus_shown(m, sections->opts);
	struct host_shares shares;

	if (costs__host_shares(&sections->costs, m, &shares))
		return -ENOMEM;
	fprintf(fp, "# host: %u CPU%s: for VMs %.2f %%", nr_cpus, nr_cpus == 1 ? "" : "s",
		shares.vms);
	/* Most profiles have no such time. */
	if (shares.host[HOST_COST_GUESTS])
		fprintf(fp, " (%s %.2f %%)", host_cost__name(HOST_COST_GUESTS, m),
			shares.host[HOST_COST_GUESTS]);
	for (int i = 0; i < HOST_COST_NR; i++) {
		if (i == HOST_COST_GUESTS || !host_cost__is_known(i, m))
			continue;
		fprintf(fp, ", %s %.2f %%", host_cost__name(i, m), shares.host[i]);
	}
	fputc('\n', fp);
	return 0;
}

/* 0 or -ENOMEM */
int print_overview(const struct measurement *m, const struct sections *sections,
		   const struct print_opts *opts, FILE *fp)
{
	const struct overview *overview = opts->overview;
	int width = names_width(m), ret;

	if (!overview->nr) {
		ret = print_host_line(m, sections, fp);
		fputc('\n', fp);
		return ret;
	}
	fprintf(fp, "# of the time of a VM's vCPUs, %%; told: steal as KVM tells the guest;\n"
		"# worst: steal of the vCPU (its id) that has most, spread: of all, from..to\n");
	print_padded("# VM", width, fp);
	fprintf(fp, "  %5s", "vCPUs");
	for (size_t i = 0; i < NR_CLASS_COLUMNS; i++) {
		if (is_shown(&class_columns[i], overview))
			fprintf(fp, "  %9s", class_columns[i].title);
	}
	if (overview->knows_guest_steal)
		fprintf(fp, "  %9s", "told");
	fprintf(fp, "  %10s  %13s  %s\n", "worst", "spread", "top thief");
	for (u32 i = 0; i < overview->nr; i++)
		print_vm(m, overview, &overview->vms[i], width, fp);
	ret = print_host_line(m, sections, fp);
	print_thieves(m, overview, fp);
	print_limits(m, overview, fp);
	print_stopped(m, overview, fp);
	print_maps(m, sections->opts, fp);
	if (opts->nr_left_out)
		fprintf(fp, "# %zu tables are not shown: those of a VM are with --vm NAME,\n"
			"# what all guests execute together with --level guests, and all with --level host,vm,vcpu\n",
			opts->nr_left_out);
	fputc('\n', fp);
	return ret;
}

static void print_ns(u64 ns, FILE *fp)
{
	fprintf(fp, "  %*.3f", COST_WIDTH, (double)ns / NSEC_PER_MSEC);
}

/* Prints a cost that has a sum alone. */
static void print_cost(const char *what, u64 ns, u64 total, int width, FILE *fp)
{
	char name[48];

	scnprintf(name, sizeof(name), "(%s)", what);
	print_padded(name, width + VM_COST_NR * (COST_WIDTH + 2), fp);
	print_ns(ns, fp);
	fprintf(fp, "  %7.2f\n", percent_of(ns, total));
}

/* Prints what each VM costs the host: CPU time, ms. 0 or -ENOMEM */
int print_costs(const struct measurement *m, const struct sections *sections, FILE *fp)
{
	u64 host[HOST_COST_NR], total, others = 0;
	struct vm_costs *costs = costs__by_vm(&sections->costs, m, host);
	int width = names_width(m);

	if (!costs)
		return -ENOMEM;
	total = sum_of(host, HOST_COST_NR);
	for (u32 i = 0; i < m->nr_vms; i++)
		total += costs[i].sum;
	fprintf(fp, "# CPU time of the host by its samples, ms; all together %.3f ms\n",
		(double)total / NSEC_PER_MSEC);
	print_padded("# VM", width, fp);
	for (int i = 0; i < VM_COST_NR; i++)
		fprintf(fp, "  %*s", COST_WIDTH, vm_cost__name(i));
	fprintf(fp, "  %*s  %7s\n", COST_WIDTH, "sum", "%");
	for (u32 i = 0; i < m->nr_vms; i++) {
		if (!vm_costs__is_told(&costs[i], m))
			continue;
		if (!section_opts__wants_vm(sections->opts, m->vms[costs[i].vm].name)) {
			others += costs[i].sum;
			continue;
		}
		print_padded(m->vms[costs[i].vm].name, width, fp);
		for (int cost = 0; cost < VM_COST_NR; cost++)
			print_ns(costs[i].ns[cost], fp);
		print_ns(costs[i].sum, fp);
		fprintf(fp, "  %7.2f\n", percent_of(costs[i].sum, total));
	}
	if (others)
		print_cost("other VMs", others, total, width, fp);
	for (int i = 0; i < HOST_COST_NR; i++) {
		if (host_cost__is_known(i, m) && (i != HOST_COST_GUESTS || host[i]))
			print_cost(host_cost__name(i, m), host[i], total, width, fp);
	}
	fputc('\n', fp);
	free(costs);
	return 0;
}
