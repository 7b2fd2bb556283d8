// SPDX-License-Identifier: GPL-2.0
/*
 * Where the time of VMs went in intervals: a line for each VM to see when, and a row for each
 * interval, or for each time in which somebody who is asked for has stolen, or in which a VM was
 * held back, for people and as comma separated values.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <subcmd/pager.h>

#include "util/spark.h"
#include "kvm-unified/measure/measurement.h"
#include "class-columns.h"
#include "overview.h"
#include "print.h"
#include "row-columns.h"
#include "sections.h"

/* Marks of a spark line, by the room that there is */
#define MIN_MARKS	40
#define MAX_MARKS	120
/* What stands before it without the VM's name, and room for the thief after it */
#define OTHER_COLUMNS	65
/* A mark in print_spark() is one character of UTF-8. */
#define MARK_BYTES	3
/* Steal in a spark line is counted in hundredths of a percent. */
#define MARK_UNIT	100

/* Rows of more VMs than that are shown only if it is said of which. */
#define MAX_VMS_WITH_ROWS	8

/* ns: less is 0.000 s in a row. */
#define LEAST_SHOWN		(NSEC_PER_MSEC / 2)

/* So many times in which VMs were held back are shown at most, of all VMs together. */
#define MAX_HELD_BACK		40U

/* Which intervals are told of, and how */
struct over_time_view {
	const struct over_time *over;
	u64		first;
	u64		end;
	double		end_s;		/* of the measurement, since its start */
	size_t		per_mark;	/* intervals */
	size_t		nr_marks;
	unsigned long	top;		/* the highest mark of all VMs */
	int		decimals;	/* of seconds */
	int		name_width;
	const char	*thieves;	/* who is asked for, or NULL: all of them */
	bool		shown[NR_CLASS_COLUMNS];
};

/* ns, of those that are asked for */
static u64 stolen(const struct over_time_view *view, const struct time_part *part)
{
	return view->thieves ? part->thief_ns : part->profile.classes[PROFILE_STEAL];
}

static double steal_percent(const struct over_time_view *view, const struct time_part *part)
{
	return profile__percent(&part->profile, stolen(view, part));
}

/* How high its mark is */
static unsigned long height(const struct over_time_view *view, const struct time_part *part)
{
	return lround(steal_percent(view, part) * MARK_UNIT);
}

/* The most time that an interval of @vm has */
static u64 longest_part(const struct over_time_view *view, u32 vm)
{
	u64 longest = 0;

	for (u64 i = view->first; i < view->end; i++) {
		const struct time_part *part = over_time__part(view->over, vm, i);

		longest = max(longest, part ? part->profile.totals[PROFILE_TIME] : 0);
	}
	return longest;
}

/*
 * The interval of @vm with the most steal, and its number; NULL: there is no steal. Percent of a
 * rest at the end that is less than half of an interval are none that others can be held against.
 */
static const struct time_part *find_peak(const struct over_time_view *view, u32 vm, u64 *nr)
{
	u64 longest = longest_part(view, vm);
	const struct time_part *peak = NULL;

	for (u64 i = view->first; i < view->end; i++) {
		const struct time_part *part = over_time__part(view->over, vm, i);

		if (!part || !stolen(view, part) ||
		    part->profile.totals[PROFILE_TIME] < longest / 2 ||
		    (peak && steal_percent(view, part) <= steal_percent(view, peak)))
			continue;
		peak = part;
		*nr = i;
	}
	return peak;
}

static void view__init(struct over_time_view *view, const struct measurement *m,
		       const struct over_time *over, const char *thieves)
{
	size_t nr = over->end - over->first, room;
	u64 end = m->axis.span.end, at;

	*view = (struct over_time_view) {
		.over = over,
		.first = over->first,
		.end = over->end,
		.end_s = (double)(end - min(over->zero, end)) / NSEC_PER_SEC,
		/* Finer ones than ms need more. */
		.decimals = over->interval % NSEC_PER_MSEC ? 6 : 3,
		.name_width = names_width(m),
		.thieves = thieves,
	};
	room = clamp(pager_get_columns() - OTHER_COLUMNS - view->name_width, MIN_MARKS, MAX_MARKS);
	view->per_mark = max_t(size_t, DIV_ROUND_UP(nr, room), 1);
	view->nr_marks = DIV_ROUND_UP(nr, view->per_mark);
	for (u32 vm = 0; vm < over->nr_vms; vm++) {
		const struct time_part *peak = find_peak(view, vm, &at);

		if (peak)
			view->top = max(view->top, height(view, peak));
	}
	for (size_t i = 0; i < NR_CLASS_COLUMNS; i++) {
		view->shown[i] = class_columns[i].always;
		for (u32 class = 0; class < class_columns[i].nr; class++)
			view->shown[i] |= over_time__has(over, class_columns[i].classes[class]);
	}
}

/* When an interval begins, in seconds since the start */
static double begin_of(const struct over_time_view *view, u64 nr)
{
	return (double)nr * view->over->interval / NSEC_PER_SEC;
}

/*
 * The most of each mark's intervals. All VMs have the same scale: print_spark() takes it from
 * what it is given, so it is also given its ends, and their marks are left out.
 */
static void print_marks(const struct over_time_view *view, u32 vm, FILE *fp)
{
	unsigned long values[MAX_MARKS + 2] = { };
	char marks[ARRAY_SIZE(values) * MARK_BYTES + 1];

	for (u64 i = view->first; i < view->end; i++) {
		const struct time_part *part = over_time__part(view->over, vm, i);
		unsigned long *value = &values[(i - view->first) / view->per_mark];

		if (part)
			*value = max(*value, min(height(view, part), view->top));
	}
	values[view->nr_marks + 1] = view->top;
	print_spark(marks, sizeof(marks), values, view->nr_marks + 2);
	marks[view->nr_marks * MARK_BYTES] = '\0';
	fputs(marks, fp);
}

static void print_thief(const struct time_part *part, FILE *fp)
{
	if (part->thief) {
		fprintf(fp, "  %6.2f ", profile__percent(&part->profile, part->thief_ns));
		print_padded(part->thief, 0, fp);
	}
	fputc('\n', fp);
}

/* ns, of all the time */
static u64 stolen_of(const struct over_time_view *view, const struct overview_vm *vm)
{
	u64 ns = 0;

	if (!view->thieves)
		return vm->profile.classes[PROFILE_STEAL];
	for (u64 i = view->first; i < view->end; i++) {
		const struct time_part *part = over_time__part(view->over, vm->vm, i);

		ns += part ? part->thief_ns : 0;
	}
	return ns;
}

static void print_spark_line(const struct over_time_view *view, const struct measurement *m,
			     const struct overview_vm *vm, FILE *fp)
{
	u64 nr = 0;
	const struct time_part *peak = find_peak(view, vm->vm, &nr);

	print_padded(m->vms[vm->vm].name, view->name_width, fp);
	fprintf(fp, "  %6.2f", profile__percent(&vm->profile, stolen_of(view, vm)));
	if (peak)
		fprintf(fp, "  %6.2f  %10.*f  ", steal_percent(view, peak), view->decimals,
			begin_of(view, nr));
	else
		fprintf(fp, "  %6s  %10s  ", "-", "-");
	print_marks(view, vm->vm, fp);
	if (peak)
		print_thief(peak, fp);
	else
		fputc('\n', fp);
}

static void print_spark_lines(const struct over_time_view *view, const struct measurement *m,
			      const struct overview *overview, FILE *fp)
{
	fputs("# steal over time, ", fp);
	if (view->thieves)
		fprintf(fp, "by %s alone, ", view->thieves);
	fprintf(fp, "%% of a VM's vCPU time in %g s; marks from %.*f s on, ",
		(double)view->over->interval / NSEC_PER_SEC, view->decimals,
		begin_of(view, view->first));
	if (view->per_mark > 1)
		fprintf(fp, "each the most in %zu of these, ", view->per_mark);
	fprintf(fp, "from 0 to %.2f %%\n", (double)view->top / MARK_UNIT);
	print_padded("# VM", view->name_width, fp);
	fprintf(fp, "  %6s  %6s  %10s  ", "steal", "peak", "at s");
	print_padded("over time", view->nr_marks, fp);
	fputs("  thief then\n", fp);
	for (u32 i = 0; i < overview->nr; i++)
		print_spark_line(view, m, &overview->vms[i], fp);
	fputc('\n', fp);
}

/* A row for each interval of a VM */
static void print_rows(const struct over_time_view *view, const struct measurement *m, u32 vm,
		       FILE *fp)
{
	fprintf(fp, "# ");
	print_padded(m->vms[vm].name, 0, fp);
	fprintf(fp, ": %% of its vCPU time\n# %10s", "from s");
	for (size_t i = 0; i < NR_CLASS_COLUMNS; i++) {
		if (view->shown[i])
			fprintf(fp, "  %9s", class_columns[i].title);
	}
	fputs("  top thief\n", fp);
	for (u64 nr = view->first; nr < view->end; nr++) {
		const struct time_part *part = over_time__part(view->over, vm, nr);

		if (!part)
			continue;
		fprintf(fp, "%12.*f", view->decimals, begin_of(view, nr));
		for (size_t i = 0; i < NR_CLASS_COLUMNS; i++) {
			u64 ns = class_column__ns(&class_columns[i], &part->profile);

			if (view->shown[i])
				fprintf(fp, "  %9.2f", profile__percent(&part->profile, ns));
		}
		print_thief(part, fp);
	}
	fputc('\n', fp);
}

/* Some intervals of a VM, one after the other, in each of which something was withheld from it */
struct time_range {
	u64	first;
	u64	end;
	u64	time;		/* ns, of its vCPUs */
	u64	withheld;	/* ns */
	u64	most;		/* ns, in an interval */
	const char *why;	/* in that */
};

static void time_range__add(struct time_range *range, const struct time_part *part, u64 ns,
			    const char *why)
{
	range->time += part->profile.totals[PROFILE_TIME];
	range->withheld += ns;
	if (!range->why || ns > range->most) {
		range->most = ns;
		range->why = why;
	}
}

/* @nr: the interval that is next */
static void time_range__add_next(struct time_range *range, u64 nr, const struct time_part *part,
				 u64 ns, const char *why)
{
	if (!range->why)
		range->first = nr;
	range->end = nr + 1;
	time_range__add(range, part, ns, why);
}

/* @known: it is known when that was */
static void print_range(const struct over_time_view *view, const char *vm,
			const struct time_range *range, bool known, FILE *fp)
{
	if (!range->withheld || (!known && range->withheld < LEAST_SHOWN))
		return;
	print_padded(vm, view->name_width, fp);
	if (known)
		fprintf(fp, "  %10.*f  %10.*f", view->decimals, begin_of(view, range->first),
			view->decimals, fmin(begin_of(view, range->end), view->end_s));
	else
		fprintf(fp, "  %10s  %10s", "-", "-");
	fprintf(fp, "  %8.3f  %6.2f  ", (double)range->withheld / NSEC_PER_SEC,
		percent_of(range->withheld, range->time));
	print_padded(range->why, 0, fp);
	fputc('\n', fp);
}

/* Prints when those that are asked for stole from a VM, and their share of short waits. */
static void print_ranges_of(const struct over_time_view *view, const char *name, u32 vm, FILE *fp)
{
	struct time_range range = { }, other = { };

	for (u64 nr = view->first; nr < view->end; nr++) {
		const struct time_part *part = over_time__part(view->over, vm, nr);

		if (part && part->thief_seen) {
			time_range__add_next(&range, nr, part, part->thief_ns, part->thief);
			continue;
		}
		print_range(view, name, &range, /*known=*/true, fp);
		range = (struct time_range) { };
		if (part && part->thief_ns)
			time_range__add(&other, part, part->thief_ns, part->thief);
	}
	print_range(view, name, &range, /*known=*/true, fp);
	print_range(view, name, &other, /*known=*/false, fp);
}

/* Prints from when to when they stole from each VM. */
static void print_ranges(const struct over_time_view *view, const struct measurement *m,
			 const struct overview *overview, FILE *fp)
{
	fprintf(fp, "# when %s had a CPU that a VM wanted: s, and %% of the VM's vCPU time then; "
		"begin and end are those of intervals of %g s\n",
		view->thieves, (double)view->over->interval / NSEC_PER_SEC);
	if (view->over->some_not_kept)
		fputs("# ... at least: of the threads that had a CPU in an interval, 64 are told apart\n",
		      fp);
	print_padded("# VM", view->name_width, fp);
	fprintf(fp, "  %10s  %10s  %8s  %6s  %s\n", "from s", "to s", "stolen s", "steal", "thief");
	for (u32 i = 0; i < overview->nr; i++)
		print_ranges_of(view, m->vms[overview->vms[i].vm].name, overview->vms[i].vm, fp);
	fputc('\n', fp);
}

/*
 * When a VM was held back in this way, and how long: @max rows at most. How many there are, those
 * that are not shown included
 */
static u32 print_held_back_of(const struct over_time_view *view, const char *name, u32 vm,
			      enum profile_class class, const char *how, u32 max, FILE *fp)
{
	struct time_range range = { };
	u32 nr_rows = 0;

	for (u64 nr = view->first; nr <= view->end; nr++) {
		const struct time_part *part = nr < view->end ?
					       over_time__part(view->over, vm, nr) : NULL;
		u64 ns = part ? part->profile.classes[class] : 0;

		if (ns) {
			time_range__add_next(&range, nr, part, ns, how);
			continue;
		}
		if (range.withheld && nr_rows++ < max)
			print_range(view, name, &range, /*known=*/true, fp);
		range = (struct time_range) { };
	}
	return nr_rows;
}

/* Prints from when to when VMs were held back by limits of their own, or stopped. */
static void print_held_back(const struct over_time_view *view, const struct measurement *m,
			    const struct overview *overview, FILE *fp)
{
	static const struct {
		enum profile_class class;
		const char *how;
	} ways[] = {
		{ PROFILE_THROTTLED, "throttled" }, { PROFILE_STOPPED, "stopped" },
	};
	u32 nr = 0;

	if (!over_time__has(view->over, PROFILE_THROTTLED) &&
	    !over_time__has(view->over, PROFILE_STOPPED))
		return;
	fprintf(fp, "# when VMs were throttled or stopped: s, and %% of the VM's vCPU time then; begin and end are those of intervals of %g s\n",
		(double)view->over->interval / NSEC_PER_SEC);
	print_padded("# VM", view->name_width, fp);
	fprintf(fp, "  %10s  %10s  %8s  %6s  %s\n", "from s", "to s", "s", "%", "how");
	for (u32 i = 0; i < overview->nr; i++) {
		u32 vm = overview->vms[i].vm;

		for (size_t way = 0; way < ARRAY_SIZE(ways); way++)
			nr += print_held_back_of(view, m->vms[vm].name, vm, ways[way].class,
						 ways[way].how,
						 MAX_HELD_BACK - min(nr, MAX_HELD_BACK), fp);
	}
	if (nr > MAX_HELD_BACK)
		fprintf(fp, "# %u more of these times are not shown: take a longer interval, --vm or --format csv\n",
			nr - MAX_HELD_BACK);
	fputc('\n', fp);
}

/* Prints the intervals for people, if they were asked for. */
void print_over_time(const struct measurement *m, const struct sections *sections,
		     const struct print_opts *opts, FILE *fp)
{
	const struct overview *overview = opts->overview;
	struct over_time_view view;

	if (!sections->opts->interval || !sections->moments.over_time.end)
		return;
	view__init(&view, m, &sections->moments.over_time, opts->thieves);
	print_spark_lines(&view, m, overview, fp);
	if (view.thieves) {
		print_ranges(&view, m, overview, fp);
		return;
	}
	print_held_back(&view, m, overview, fp);
	if (overview->nr > MAX_VMS_WITH_ROWS && !sections->opts->vms) {
		fprintf(fp, "# rows of %u VMs are not shown: those of a VM are with --vm NAME, and all with --format csv\n\n",
			overview->nr);
		return;
	}
	for (u32 i = 0; i < overview->nr; i++)
		print_rows(&view, m, overview->vms[i].vm, fp);
}

/* @of_some: of thieves who are asked for */
static void print_csv_row(const struct moments *moments, const struct measurement *m, u32 vm,
			  u64 nr, bool of_some, FILE *fp)
{
	const struct over_time *over = &moments->over_time;
	const struct time_part *part = over_time__part(over, vm, nr);

	if (!part)
		return;
	print_csv_string(m->vms[vm].name, fp);
	fprintf(fp, "%.9f,%" PRIu64, (double)nr * over->interval / NSEC_PER_SEC,
		part->profile.totals[PROFILE_TIME]);
	print_csv_classes(&part->profile, fp);
	fputc(',', fp);
	print_csv_string(part->thief ?: "", fp);
	fprintf(fp, "%" PRIu64, part->thief_ns);
	if (of_some)
		fprintf(fp, ",%" PRIu64 ",%d", part->thief_seen, part->thief_at_least);
	fputc('\n', fp);
}

/* A row for each VM and interval */
void print_over_time_csv(const struct measurement *m, const struct sections *sections,
			 const struct print_opts *opts, FILE *fp)
{
	const struct moments *moments = &sections->moments;
	const struct over_time *over = &moments->over_time;

	fputs("vm,from_s,time_ns", fp);
	print_csv_class_titles(fp);
	fputs(",thief,thief_ns", fp);
	if (opts->thieves)
		fputs(",thief_seen_ns,thief_at_least", fp);
	fputc('\n', fp);
	for (u32 i = 0; i < opts->overview->nr; i++) {
		for (u64 nr = over->first; nr < over->end; nr++)
			print_csv_row(moments, m, opts->overview->vms[i].vm, nr, opts->thieves, fp);
	}
}
