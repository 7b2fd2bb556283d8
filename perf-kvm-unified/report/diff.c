// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified diff: what has changed from one profile to another.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <linux/zalloc.h>
#include <subcmd/pager.h>

#include "util/debug.h"
#include "util/evsel.h"
#include "util/session.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/sort.h"
#include "kvm-unified/lib/warnings.h"
#include "kvm-unified/lib/write.h"
#include "diff.h"
#include "messages.h"
#include "report.h"
#include "unmatched.h"

/* Periods that are further apart than that are others, and not one that was measured twice. */
#define PERIOD_TOLERANCE	0.1

static const char *const side_names[DIFF_NR_SIDES] = { "OLD", "NEW" };

bool diff_level__is_host(const struct diff_level *level)
{
	return !level->name[0];
}

bool diff_level__is_in_both(const struct diff_level *level)
{
	return level->sections[DIFF_OLD] && level->sections[DIFF_NEW];
}

/* Is it known how many processes a row is of? Not if they are one row in each profile already. */
bool diff__knows_processes(const struct diff *diff)
{
	return diff->opts.report.sections.sort & PROFILE_SORT_PID;
}

/* A pager has its keys from there. */
static bool diff__reads_stdin(const struct diff *diff)
{
	const char *const *inputs = diff->opts.inputs;

	return !strcmp(inputs[DIFF_OLD], "-") || !strcmp(inputs[DIFF_NEW], "-");
}

/* Reads a profile. Messages meanwhile are told to be of it. 0 or -errno with a message */
static int diff__read(struct diff *diff, enum diff_side side)
{
	struct reading *reading = &diff->readings[side];
	struct report_options *opts = &diff->opts.report;
	const char *times = opts->times;
	char title[PATH_MAX + 8];
	struct messages messages;
	int ret;

	messages__keep(&messages);
	opts->input = diff->opts.inputs[side];
	if (side == DIFF_OLD && diff->opts.old_times)
		opts->times = diff->opts.old_times;
	ret = reading__init(reading, opts);
	if (!ret)
		ret = reading__read(reading);
	if (!ret)
		ret = reading__finish(reading);
	opts->times = times;
	scnprintf(title, sizeof(title), "%s, %s:", side_names[side],
		  profile__name(&reading->data));
	messages__release(&messages, title);
	return ret;
}

/* Refuses names in options that neither profile has: typing errors. 0 or -ENOENT with a message */
static int diff__check_names(const struct diff *diff)
{
	const struct report_options *opts = &diff->opts.report;
	const struct measurement *ms[DIFF_NR_SIDES];
	int ret;

	for (int side = 0; side < DIFF_NR_SIDES; side++)
		ms[side] = &diff->readings[side].m;
	ret = kvm_guests__check_names(ms[DIFF_NEW]->session, ms[DIFF_OLD]->session, &opts->guests);
	if (!ret)
		ret = report_options__check_vms(opts, ms, DIFF_NR_SIDES);
	if (!ret)
		section_opts__warn_unmatched(&opts->sections, ms, DIFF_NR_SIDES);
	return ret;
}

/* How @side is to be printed; @selection: gets its part of that, and has to stay */
struct print_opts diff__print_opts(const struct diff *diff, enum diff_side side, char *selection,
				   size_t size)
{
	struct report_options opts = diff->opts.report;

	if (side == DIFF_OLD && diff->opts.old_times)
		opts.times = diff->opts.old_times;
	if (!opts.times && diff->readings[side].window[0])
		opts.times = diff->readings[side].window;
	report_options__selection(&opts, selection, size);
	return (struct print_opts) {
		.mode_reason = reading__mode_reason(&diff->readings[side]),
		.is_part = reading__is_part(&diff->readings[side]),
		.selection = selection,
		.rows_of = diff->rows_of,
	};
}

static const char *event_name(const struct measurement *m)
{
	return m->evsel ? evsel__name(m->evsel) : "no event";
}

static bool is_same_event(const struct evsel *a, const struct evsel *b)
{
	return a && b ? a->core.attr.type == b->core.attr.type &&
			a->core.attr.config == b->core.attr.config : a == b;
}

/* Warns if percentages of both profiles are not of the same. */
static void diff__warn(const struct diff *diff)
{
	const struct measurement *before = &diff->readings[DIFF_OLD].m;
	const struct measurement *now = &diff->readings[DIFF_NEW].m;

	if (!is_same_event(before->evsel, now->evsel))
		unified_warning("The events are not the same, %s and %s: what they find may not be, either.\n",
				event_name(before), event_name(now));
	else if (fabs((double)before->period - now->period) > PERIOD_TOLERANCE * before->period)
		unified_warning("The periods are not the same, %.3f ms and %.3f ms: the longer one finds less of what is short.\n",
				(double)before->period / NSEC_PER_MSEC,
				(double)now->period / NSEC_PER_MSEC);
	if (measurement__nr_cpus(before) != measurement__nr_cpus(now))
		unified_warning("The hosts have not as many CPUs, %u and %u: a share of the host is not the same time in both.\n",
				measurement__nr_cpus(before), measurement__nr_cpus(now));
	if (before->axis.span.timeline != now->axis.span.timeline)
		unified_warning("%s is without a time line, so that steal, idle and the like are counted in another way\n"
				"than in %s: --no-timeline counts them in the same, coarser way.\n",
				side_names[before->axis.span.timeline ? DIFF_NEW : DIFF_OLD],
				side_names[before->axis.span.timeline ? DIFF_OLD : DIFF_NEW]);
}

static bool has_map(const struct measured_vm *vm)
{
	return vm->guest->has_map;
}

/* Is it known whom its kernel worked for? */
static bool names_kernel(const struct measured_vm *vm)
{
	return vm->names_kernel;
}

/* In which profile alone is it so of a VM that is in both? DIFF_NR_SIDES: in none, or in both */
static int diff__only_side(const struct diff *diff, const struct diff_level *level,
			   bool (*is_so)(const struct measured_vm *vm))
{
	bool so[DIFF_NR_SIDES];

	if (diff_level__is_host(level) || !diff_level__is_in_both(level))
		return DIFF_NR_SIDES;
	for (int side = 0; side < DIFF_NR_SIDES; side++)
		so[side] = is_so(&diff->readings[side].m.vms[level->sections[side]->vm]);
	if (so[DIFF_OLD] == so[DIFF_NEW])
		return DIFF_NR_SIDES;
	return so[DIFF_OLD] ? DIFF_OLD : DIFF_NEW;
}

/* VMs whose processes have names in one of them alone: all of their rows have changed. */
static void diff__warn_maps(const struct diff *diff)
{
	struct name_list names[DIFF_NR_SIDES] = { };

	for (size_t i = 0; i < diff->nr; i++) {
		int side = diff__only_side(diff, &diff->levels[i], has_map);

		if (side != DIFF_NR_SIDES)
			name_list__add(&names[side], diff->levels[i].name);
	}
	for (int side = 0; side < DIFF_NR_SIDES; side++) {
		if (names[side].nr)
			unified_warning("There are maps in %s alone of: %s. The code of these guests has names there, and none in the other.\n",
					side_names[side], name_list__end(&names[side]));
	}
}

/* ... or whose kernels worked for processes that are known in one of them alone */
static void diff__warn_kernels(const struct diff *diff)
{
	const struct section_opts *sections = &diff->opts.report.sections;
	struct name_list names = { };

	for (size_t i = 0; i < diff->nr; i++) {
		if (diff__only_side(diff, &diff->levels[i], names_kernel) != DIFF_NR_SIDES)
			name_list__add(&names, diff->levels[i].name);
	}
	if (!names.nr)
		return;
	unified_warning("It is known in one profile alone whom the kernel worked for (record --guest-tasks, or\n"
			"--call-graph dwarf) of: %s. Here, the functions of these kernels are of no process%s\n",
			name_list__end(&names), sections->comms || sections->pids ?
			", and no row for --comms\nand --pid." : ".");
}

static int level__cmp_names(const void *a, const void *b)
{
	return strcmp(((const struct diff_level *)a)->name, ((const struct diff_level *)b)->name);
}

/* The tables of one profile; those of a VM that is in both are put together after that. */
static void diff__add_levels(struct diff *diff, enum diff_side side)
{
	const struct reading *reading = &diff->readings[side];

	for (u32 i = 0; i < reading->sections.nr; i++) {
		const struct section *section = &reading->sections.entries[i];
		struct diff_level *level = &diff->levels[diff->nr++];

		*level = (struct diff_level) { .name = "" };
		level->sections[side] = section;
		if (section->level == SECTION_HOST)
			continue;
		level->name = reading->m.vms[section->vm].name;
		level->nr_vcpus[side] = measurement__nr_vcpus(&reading->m, section->vm);
	}
}

/* 0 or -ENOMEM */
static int diff__pair_levels(struct diff *diff)
{
	size_t nr = 0;

	diff->levels = calloc(diff->readings[DIFF_OLD].sections.nr +
			      diff->readings[DIFF_NEW].sections.nr + 1, sizeof(*diff->levels));
	if (!diff->levels)
		return -ENOMEM;
	for (int side = 0; side < DIFF_NR_SIDES; side++)
		diff__add_levels(diff, side);
	sort_array(diff->levels, diff->nr, sizeof(*diff->levels), level__cmp_names);
	for (size_t i = 0; i < diff->nr; i++) {
		const struct diff_level *add = &diff->levels[i];
		struct diff_level *to = nr ? &diff->levels[nr - 1] : NULL;

		int side = add->sections[DIFF_OLD] ? DIFF_OLD : DIFF_NEW;

		if (!to || level__cmp_names(to, add) || to->sections[side]) {
			diff->levels[nr++] = *add;
			continue;
		}
		to->sections[side] = add->sections[side];
		to->nr_vcpus[side] = add->nr_vcpus[side];
	}
	diff->nr = nr;
	return 0;
}

/* A host has hundreds: its processes are told apart only if that is asked for. */
static void forget_processes(struct profile_row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		rows[i].key.comm = "";
		rows[i].key.pid = -1;
	}
}

/*
 * As the other profile has no process for what the kernel did: else, all of it would have come, or
 * be gone. So it is no row of the processes that are chosen, either. How many rows there are then
 */
static size_t forget_kernels_processes(struct profile_row *rows, size_t nr,
				       const struct section_opts *opts)
{
	unsigned int sort = opts->sort & ~(PROFILE_SORT_COMM | PROFILE_SORT_PID |
					   PROFILE_SORT_CGROUP);
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		if (rows[i].key.class != PROFILE_OS) {
			rows[kept++] = rows[i];
		} else if (!opts->comms && !opts->pids) {
			rows[kept] = rows[i];
			rows[kept].key = profile_key__reduce(&rows[i].key, sort);
			kept++;
		}
	}
	return kept;
}

/* 0 or -ENOMEM */
static int diff__compare_level(const struct diff *diff, struct diff_level *level)
{
	struct profile_row *rows[DIFF_NR_SIDES] = { };
	struct diff_rows sides[DIFF_NR_SIDES] = { };
	int ret = 0;

	for (int side = 0; !ret && side < DIFF_NR_SIDES; side++) {
		const struct sections *sections = &diff->readings[side].sections;
		const struct section *section = level->sections[side];

		if (!section)
			continue;
		rows[side] = tables__rows(sections->tables, section->table, sections->opts->sort,
					  &sides[side].nr);
		sides[side].rows = rows[side];
		sides[side].total = section->profile.totals[PROFILE_TIME];
		if (!rows[side])
			ret = -ENOMEM;
		else if (section->level == SECTION_HOST && !diff->opts.host_processes)
			forget_processes(rows[side], sides[side].nr);
		else if (diff__only_side(diff, level, names_kernel) != DIFF_NR_SIDES)
			sides[side].nr = forget_kernels_processes(rows[side], sides[side].nr,
								  sections->opts);
	}
	if (!ret)
		ret = changes__find(&level->changes, sides, diff->opts.keep_pids);
	for (int side = 0; side < DIFF_NR_SIDES; side++)
		free(rows[side]);
	return ret;
}

static int diff__compare(struct diff *diff)
{
	int ret = diff__pair_levels(diff);

	if (ret)
		return ret;
	diff__warn_maps(diff);
	diff__warn_kernels(diff);
	for (size_t i = 0; !ret && i < diff->nr; i++)
		ret = diff__compare_level(diff, &diff->levels[i]);
	return ret;
}

static int diff__print(struct diff *diff)
{
	int ret = diff__compare(diff);

	if (!ret && diff->opts.print_fn == print_diff_table && !diff__reads_stdin(diff))
		setup_pager();
	if (!ret)
		ret = diff->opts.print_fn(diff, stdout);
	if (!ret)
		ret = write_printed(stdout);
	/* Who reads it has had enough, as head has. */
	diff->unread = ret == -EPIPE;
	if (ret && !diff->unread)
		pr_err("Cannot print the changes: %s\n", strerror(-ret));
	return ret;
}

static void diff__exit(struct diff *diff)
{
	for (size_t i = 0; i < diff->nr; i++)
		changes__exit(&diff->levels[i].changes);
	free(diff->levels);
	for (int side = 0; side < DIFF_NR_SIDES; side++) {
		if (diff->readings[side].opts)
			reading__exit(&diff->readings[side]);
	}
	report_options__exit(&diff->opts.report);
}

int cmd_kvm_unified_diff(int argc, const char **argv)
{
	struct diff diff = { };
	int ret;

	if (readings__setup())
		return 1;
	ret = diff_options__parse(&diff.opts, argc, argv);
	report_options__rows_of(&diff.opts.report, diff.rows_of, sizeof(diff.rows_of));
	for (int side = 0; !ret && side < DIFF_NR_SIDES; side++)
		ret = diff__read(&diff, side);
	if (!ret)
		ret = diff__check_names(&diff);
	if (!ret) {
		diff__warn(&diff);
		ret = diff__print(&diff);
	}
	diff__exit(&diff);
	return diff.unread ? EXIT_UNREAD : ret ? 1 : 0;
}
