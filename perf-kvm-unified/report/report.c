// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified report: the way from a file to the tables.
 *
 * Room: report/, from a session to tables of the host, its VMs and their vCPUs.
 * Calls: axis format guests lib
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/string.h>

#include "util/data.h"
#include "util/debug.h"
#include "util/evsel.h"
#include "util/header.h"
#include "util/hist.h"
#include "util/session.h"
#include "util/symbol.h"
#include "util/trace-event.h"
#include "util/util.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/guests/load.h"
#include "kvm-unified/guests/resolve.h"
#include "kvm-unified/lib/warnings.h"
#include "feed.h"
#include "measurement.h"
#include "options.h"
#include "report.h"
#include "sections.h"
#include "view.h"

/* More lost than this much of all samples is said as a warning. */
#define LOST_WARN_PERCENT	1.0

struct report {
	struct measurement m;
	struct sections	 sections;
	struct report_options opts;
};

/* What the collector could not read, or the report not use */
static void report__warn_missed(const struct kvm_guest *guest)
{
	if (guest->map.missed_events)
		unified_warning("Guest %s: %" PRIu64 " events of processes that came or went were lost in it:\n"
				"names of short-lived processes may be missing or wrong.\n",
				guest->name, guest->map.missed_events);
	if (guest->map.missed_spaces)
		unified_warning("Guest %s: the CR3 of %" PRIu64 " processes could not be read, they have no names.\n",
				guest->name, guest->map.missed_spaces);
	if (guest->nr_user_outside)
		unified_warning("Guest %s: %" PRIu64 " of %" PRIu64 " user samples are of times when it was not followed,\n"
				"they have no names: begin to follow before the measurement, and end after it.\n",
				guest->name, guest->nr_user_outside, guest->nr_user);
	if (guest->has_map && guest->asked_clock && !guest->has_clock && guest->map.followed)
		unified_warning("Guest %s: its clock cannot be told from the host's (perf record -k, a TSC that\n"
				"is not stable, or KVM's debugfs files missing): of a CR3 or a pid that several had, it is\n"
				"not known when, and %" PRIu64 " samples of such have no name.\n",
				guest->name, guest->nr_user_ambiguous);
}

/*
 * A map that is certainly of something else makes every name wrong: no report.
 * One that just does not help is told about.
 */
static int report__check_maps(struct report *rep)
{
	struct kvm_guest *guest;

	if (!rep->m.session->kvm_guests)
		return 0;

	list_for_each_entry(guest, &rep->m.session->kvm_guests->guests, node) {
		if (guest->nr_foreign_files)
			unified_warning("Guest %s: %" PRIu64 " mapped files below %s have another build-id, not used\n",
					guest->name, guest->nr_foreign_files, guest->root);
		report__warn_missed(guest);
		if (kvm_guest__map_names_nobody(guest))
			unified_warning("Guest %s: no process of its map was seen running. They may have ended\n"
					"before the map was made, or the map is of another guest.\n",
					guest->name);
		if (!kvm_guest__map_is_foreign(guest))
			continue;
		pr_err("The map of guest %s is of another guest, or of another boot of this one:\n"
		       "only %" PRIu64 " of %" PRIu64 " samples of its kernel are where the map has it.\n"
		       "Give the right one with --guest-map %s=FILE, or use --no-guest-maps.\n",
		       guest->name, guest->nr_kernel_named, guest->nr_kernel, guest->name);
		return -EINVAL;
	}
	return 0;
}

/* The part of a table that is marked as lost, in percent: of the host or VM where it is largest */
static double report__lost_percent(const struct report *rep, const char **name)
{
	double most = 0;

	for (u32 i = 0; i < rep->sections.nr; i++) {
		const struct section *section = &rep->sections.entries[i];
		double lost;

		if (section->level == SECTION_VCPU || !section->profile.totals[PROFILE_TIME])
			continue;
		lost = profile__percent(&section->profile,
					section->profile.classes[PROFILE_LOST]);
		if (lost > most) {
			most = lost;
			*name = section->title;
		}
	}
	return most;
}

static void report__warn(const struct report *rep)
{
	const struct measurement *m = &rep->m;
	u64 nr_lost = measurement__lost(m);
	double lost = 100.0 * nr_lost / (m->nr_samples + nr_lost ?: 1);
	const char *lost_in = NULL;
	double lost_time = report__lost_percent(rep, &lost_in);

	if (lost > LOST_WARN_PERCENT)
		unified_warning("%.1f %% of the samples were lost: record with a larger buffer (-m)\n",
				lost);
	if (m->nr_throttled)
		unified_warning("The kernel has paused the sampling %" PRIu64 " times, see kernel.perf_event_max_sample_rate.\n",
				m->nr_throttled);
	if (lost_time > LOST_WARN_PERCENT)
		unified_warning("%s: %.1f %% of the time is shown as lost: what happened in it is not known.\n",
				lost_in, lost_time);
	if (m->nr_lost && !m->axis.nr_gaps)
		unified_warning("%" PRIu64 " records were lost, and it is not known when.\n",
				m->nr_lost);
	if (m->nr_other)
		unified_warning("%" PRIu64 " samples of more than %u events are not in this report: see perf report\n",
				m->nr_other, PROFILE_MAX_COLUMNS - 1);
	if (m->evsel && evsel__counts_no_time(m->evsel))
		unified_warning("%s does not count time or all cycles, and the tables take its samples for time.\n",
				evsel__name(m->evsel));
	if (m->nr_host_kernel_named < m->nr_host_kernel / 2)
		unified_warning("The host's kernel has no symbols here, so idle time counts as OS: %s\n",
				symbol_conf.vmlinux_name ? "the file of -k is not its vmlinux" :
							   "give its vmlinux (-k)");
	if (m->nr_unplaced)
		unified_warning("%" PRIu64 " records have a time, CPU or vCPU number that cannot be: is the file damaged?\n",
				m->nr_unplaced);
	if (m->nr_bad_events)
		unified_warning("%" PRIu64 " events of the time line make no sense, and are not used: is the file damaged?\n",
				m->nr_bad_events);
	if (!m->nr_samples)
		unified_warning("There is not one sample in this profile.\n");
	else if (!m->session->kvm_guests)
		unified_warning("There is no '" KVM_GUESTS_VMS "' here: this is not a profile of perf kvm unified record,\n"
				"or a part of one. Guests are not told apart.\n");
	else if (!m->axis.nr_vcpus)
		unified_warning("No guest ran during the measurement: host level only.\n");
}

static void report__exit(struct report *rep)
{
	sections__exit(&rep->sections);
	measurement__exit(&rep->m);
	report_options__exit(&rep->opts);
}

static int report__print(struct report *rep)
{
	struct report_options *opts = &rep->opts;
	char selection[512];
	int ret = 0;

	opts->print.mode_reason = rep->m.axis.span.timeline ? "" :
		!rep->m.session->kvm_guests ? "as guests are not told apart" :
		rep->m.use_timeline ? "as there is no " KVM_TIMELINE_EVENT " in the profile" :
				      "as --no-timeline says";
	report_options__selection(opts, selection, sizeof(selection));
	opts->print.selection = selection;
	if (!opts->print_fn) {
		ret = tables__init(&opts->view.tables, &rep->m);
		rep->sections.tables = &opts->view.tables;
	}
	if (!ret)
		ret = sections__build(&rep->m, &opts->sections, &rep->sections);
	if (!ret && !opts->print_fn)
		ret = tables__finish(&opts->view.tables);
	if (!ret)
		report__warn(rep);
	if (!ret && opts->print_fn)
		ret = opts->print_fn(&rep->m, &rep->sections, &opts->sections, &opts->print,
				     stdout);
	else if (!ret)
		ret = view__show(&opts->view, &rep->m, &rep->sections, &opts->sections,
				 &opts->print);
	if (!ret && (fflush(stdout) || ferror(stdout)))
		ret = -errno;
	if (ret)
		pr_err("Cannot print the report: %s\n", strerror(-ret));
	return ret;
}

/* Where not, perf has said why. */
static bool may_read(const struct perf_data *data)
{
	char path[PATH_MAX];
	struct stat st;

	scnprintf(path, sizeof(path), "%s/data", data->path);
	if (stat(path, &st)) {
		scnprintf(path, sizeof(path), "%s", data->path);
		if (stat(path, &st))
			return false;
	}
	return !access(path, R_OK) && (data->force || !st.st_uid || st.st_uid == geteuid());
}

/* A file of a profile, by which the others are not found */
static bool is_part_of_profile(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	bool is_data = !strcmp(name, "data");
	char other[PATH_MAX];
	struct stat st;

	if (!is_data && strcmp(name, KVM_GUESTS_VMS) && !strstarts(name, KVM_GUEST_MAP_PREFIX))
		return false;
	scnprintf(other, sizeof(other), "%.*s%s", (int)(name - path), path,
		  is_data ? KVM_GUESTS_VMS : "data");
	return !stat(path, &st) && S_ISREG(st.st_mode) &&
	       !stat(other, &st) && S_ISREG(st.st_mode);
}

static int report__run(struct report *rep, struct perf_data *data)
{
	struct perf_session *session;
	int ret;

	/* perf's own words for it would send the user to perf record. */
	if (access(data->path, F_OK)) {
		ret = -errno;
		pr_err("Cannot read %s: %s%s\n", data->path, strerror(-ret),
		       ret == -ENOENT ? ". perf kvm unified record makes one." : "");
		return ret;
	}

	if (is_part_of_profile(data->path)) {
		pr_err("%s is a file of a profile: give the directory that it is in\n", data->path);
		return -EINVAL;
	}

	measurement__set_tool(&rep->m);
	session = perf_session__new(data, &rep->m.tool);
	if (IS_ERR(session)) {
		ret = PTR_ERR(session);
		/* -1 is not an errno: perf has said more, or says it with -v. */
		if (ret == -1 && may_read(data))
			pr_err("Cannot read %s as a profile: it is cut off, damaged, or something else\n",
			       data->path);
		else if (ret != -1)
			pr_err("Cannot read %s: %s\n", data->path, strerror(-ret));
		return ret;
	}

	measurement__choose_events(&rep->m, session);
	kvm_guests__load(session, &rep->opts.guests);
	ret = rep->opts.print_fn ? 0 : view__open(&rep->opts.view, session, &rep->m,
						  &rep->opts.sections);
	if (ret)
		return ret;
	ret = symbol__init(&session->header.env) < 0 ? -EIO : 0;
	if (!ret)
		ret = measurement__open(&rep->m, session);
	if (ret == -ENODATA)
		pr_err("The samples of %s in %s have no time or no CPU: record with --sample-cpu -T,\n"
		       "or with perf kvm unified record.\n", evsel__name(rep->m.evsel), data->path);
	else if (ret)
		pr_err("Cannot prepare to read %s: %s\n", data->path, strerror(-ret));
	if (!ret)
		ret = kvm_guests__load_given(session, &rep->opts.guests);
	if (!ret)
		ret = report_options__parse_times(&rep->opts, session);
	if (!ret)
		ret = sections__init(&rep->sections, &rep->m, &rep->opts.sections);
	if (!ret && rep->opts.show_header)
		perf_session__fprintf_info(session, stdout, rep->opts.show_info);
	if (!ret && rep->opts.header_only)
		return 0;
	if (!ret) {
		ret = perf_session__process_events(session);
		if (ret == -ENOMEM)
			pr_err("There is not enough memory for %s.\n", data->path);
		else if (ret)
			pr_err("%s is damaged: not all of its records can be read.\n", data->path);
	}
	if (!ret)
		ret = report__check_maps(rep);
	if (!ret)
		ret = kvm_guests__check_roots(session, &rep->opts.guests);
	if (!ret)
		ret = report_options__check_vms(&rep->opts, &rep->m);
	if (!ret) {
		ret = measurement__finish(&rep->m);
		if (ret)
			pr_err("Cannot work out the time axis: %s\n", strerror(-ret));
	}
	if (!ret)
		ret = report_options__check_selection(&rep->opts, &rep->m);
	if (!ret)
		ret = report__print(rep);
	return ret;
}

int cmd_kvm_unified_report(int argc, const char **argv)
{
	struct report rep = { };
	struct perf_data data = { .mode = PERF_DATA_MODE_READ };
	int ret;

	ret = hists__init();
	if (!ret)
		ret = measurement__init(&rep.m);
	if (ret)
		return 1;
	ret = report_options__parse(&rep.opts, argc, argv);
	rep.m.use_timeline = rep.opts.use_timeline;
	data.path = rep.opts.input;
	data.force = rep.opts.force;

	perf_host = true;
	perf_guest = true;
#ifdef HAVE_LIBTRACEEVENT
	/* The fields of tracepoints are of use here, how to print them is not. */
	trace_event__skip_print_fmt = true;
#endif

	if (!ret)
		ret = report__run(&rep, &data);
	if (!rep.opts.print_fn)
		view__end(&rep.opts.view);

	if (rep.m.session)
		perf_session__delete(rep.m.session);
	report__exit(&rep);
	return ret ? 1 : 0;
}
