// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified report: the options, and the way from a file to the tables.
 *
 * Room: report/, from a session to tables of the host, its VMs and their vCPUs.
 * Calls: axis format guests lib
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/zalloc.h>
#include <perf/cpumap.h>
#include <subcmd/parse-options.h>

#include "util/data.h"
#include "util/debug.h"
#include "util/evsel.h"
#include "util/intlist.h"
#include "util/session.h"
#include "util/strlist.h"
#include "util/symbol.h"
#include "util/time-utils.h"
#include "util/trace-event.h"
#include "util/util.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/guests/load.h"
#include "kvm-unified/guests/options.h"
#include "kvm-unified/guests/resolve.h"
#include "kvm-unified/lib/options.h"
#include "kvm-unified/lib/warnings.h"
#include "feed.h"
#include "measurement.h"
#include "print.h"
#include "report.h"
#include "sections.h"

#define DEFAULT_PERCENT_LIMIT	0.1

/* More lost than this much of all samples is said as a warning. */
#define LOST_WARN_PERCENT	1.0

struct map_arg {
	struct list_head node;
	char		 *name;
	const char	 *file;
	int		 kallsyms_fd;	/* in memory: nothing to clean up; or -1 */
};

typedef int (*print_fn)(const struct measurement *m, const struct sections *sections,
			const struct section_opts *section_opts, const struct print_opts *opts,
			FILE *fp);

struct report {
	struct measurement m;
	struct sections	 sections;
	struct section_opts opts;
	struct print_opts print_opts;
	print_fn	 print;
	struct list_head map_args;
	struct kvm_guests_options guests_options;
	/* As they were given */
	const char	 *percent_limit;
	const char	 *format;
	const char	 *attribution;
	const char	 *sort;
	const char	 *vms;
	const char	 *vcpus;
	const char	 *pids;
	const char	 *comms;
	const char	 *dsos;
	const char	 *syms;
	const char	 *cpus;
	const char	 *times;
};

static int parse_guest_map(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	struct report *rep = opt->value;
	const char *eq = strchr(arg, '=');
	struct map_arg *ma;

	if (!eq || eq == arg || !eq[1]) {
		pr_err("--guest-map wants NAME=FILE, not '%s'\n", arg);
		return -1;
	}
	ma = zalloc(sizeof(*ma));
	if (!ma)
		return -ENOMEM;
	ma->name = strndup(arg, eq - arg);
	if (!ma->name) {
		free(ma);
		return -ENOMEM;
	}
	/* The one in the profile is not for this report. */
	if (kvm_guests_options__skip_map(&rep->guests_options, ma->name)) {
		free(ma->name);
		free(ma);
		return -ENOMEM;
	}
	ma->file = eq + 1;
	ma->kallsyms_fd = -1;
	list_add_tail(&ma->node, &rep->map_args);
	return 0;
}

static int parse_guest_root(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	int ret = kvm_guests_options__add_root(opt->value, arg);

	if (ret == -EINVAL)
		pr_err("--guest-root wants DIR or NAME=DIR, not '%s'\n", arg);
	else if (ret)
		pr_err("--guest-root %s: %s\n", arg, strerror(-ret));
	return ret;
}

static int no_such_guest(const struct report *rep, const char *option, const char *name)
{
	const struct kvm_guests *guests = rep->m.session->kvm_guests;
	const struct kvm_guest *guest;

	pr_err("%s: there is no guest '%s' in %s.\n", option, name, rep->m.session->data->path);
	if (guests) {
		list_for_each_entry(guest, &guests->guests, node)
			pr_err("There is: %s (pid %d)\n", guest->name, guest->pid);
	}
	return -ENOENT;
}

/* The maps that were given by hand. They are used in this report only. */
static int report__load_maps(struct report *rep)
{
	struct map_arg *ma;
	char err[256], kallsyms[32];
	int ret;

	list_for_each_entry(ma, &rep->map_args, node) {
		struct kvm_guest *guest = kvm_guests__find_name(rep->m.session, ma->name);

		if (!guest)
			return no_such_guest(rep, "--guest-map", ma->name);
		if (guest->has_map) {
			pr_err("--guest-map: guest %s was given two maps\n", ma->name);
			return -EEXIST;
		}

		ma->kallsyms_fd = memfd_create("kallsyms", MFD_CLOEXEC);
		if (ma->kallsyms_fd < 0) {
			ret = -errno;
			pr_err("No memory for the guest's symbols: %s\n", strerror(-ret));
			return ret;
		}
		scnprintf(kallsyms, sizeof(kallsyms), "/proc/self/fd/%d", ma->kallsyms_fd);
		ret = kvm_guest__load_map(guest, ma->file, kallsyms, ma->kallsyms_fd,
					  err, sizeof(err));
		if (ret) {
			pr_err("The map %s %s\n", ma->file, err);
			return ret;
		}
	}
	return 0;
}

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

		if (section->level == SECTION_VCPU || !section->profile.total)
			continue;
		lost = 100.0 * section->profile.classes[PROFILE_LOST] / section->profile.total;
		if (lost > most) {
			most = lost;
			*name = section->title;
		}
	}
	return most;
}

/* As far as is known: events of a PMU's own may be of anything. */
static bool counts_other_than_time(const struct evsel *evsel)
{
	u64 config = evsel->core.attr.config;

	switch (evsel->core.attr.type) {
	case PERF_TYPE_SOFTWARE:
		return config != PERF_COUNT_SW_CPU_CLOCK && config != PERF_COUNT_SW_TASK_CLOCK;
	case PERF_TYPE_HARDWARE:
		config &= PERF_HW_EVENT_MASK;
		return config != PERF_COUNT_HW_CPU_CYCLES &&
		       config != PERF_COUNT_HW_REF_CPU_CYCLES &&
		       config != PERF_COUNT_HW_BUS_CYCLES;
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_BREAKPOINT:
		return true;
	default:
		return false;
	}
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
		unified_warning("%" PRIu64 " samples of other events than %s are not in this report: see perf report\n",
				m->nr_other, m->evsel ? evsel__name(m->evsel) : "the first");
	if (m->evsel && counts_other_than_time(m->evsel))
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
	struct map_arg *ma, *tmp;

	sections__exit(&rep->sections);
	measurement__exit(&rep->m);
	kvm_guests_options__exit(&rep->guests_options);
	strlist__delete(rep->opts.vms);
	intlist__delete(rep->opts.vcpus);
	intlist__delete(rep->opts.pids);
	strlist__delete(rep->opts.comms);
	strlist__delete(rep->opts.dsos);
	strlist__delete(rep->opts.syms);
	perf_cpu_map__put(rep->opts.cpus);
	free(rep->opts.times);
	list_for_each_entry_safe(ma, tmp, &rep->map_args, node) {
		if (ma->kallsyms_fd >= 0)
			close(ma->kallsyms_fd);
		free(ma->name);
		free(ma);
	}
}

static int report__check_roots(const struct report *rep)
{
	const char *name;

	if (!kvm_guests_options__has_two_roots(&rep->guests_options, &name))
		return 0;

	if (name)
		pr_err("--guest-root: guest %s was given two directories\n", name);
	else
		pr_err("--guest-root: all guests were given two directories: say whose they are, NAME=DIR\n");
	return -EEXIST;
}

static bool has_empty_item(const char *list)
{
	size_t len = strlen(list);

	return !len || list[0] == ',' || list[len - 1] == ',' || strstr(list, ",,");
}

static int report__parse_numbers(const char *option, const char *str, struct intlist **list)
{
	if (!str)
		return 0;

	if (!str[strspn(str, "0123456789,")] && !has_empty_item(str))
		*list = intlist__new(str);
	if (*list)
		return 0;
	pr_err("%s wants numbers, each once, with commas between them, not '%s'\n", option, str);
	return -EINVAL;
}

static int report__parse_names(const char *option, const char *str, struct strlist **list)
{
	if (!str)
		return 0;

	if (!has_empty_item(str))
		*list = strlist__new(str, NULL);
	if (*list)
		return 0;
	pr_err("%s wants names, each once, with commas between them, not '%s'\n", option, str);
	return -EINVAL;
}

static int report__parse_sort(struct report *rep)
{
	static const struct {
		const char *name;
		unsigned int bit;
	} keys[] = {
		{ "sym", SECTION_SORT_SYM }, { "symbol", SECTION_SORT_SYM },
		{ "dso", SECTION_SORT_DSO }, { "comm", SECTION_SORT_COMM },
		{ "pid", SECTION_SORT_PID },
	};
	const char *str = rep->sort;
	size_t len, i;

	rep->opts.sort = SECTION_SORT_ALL;
	if (!str)
		return 0;

	rep->opts.sort = 0;
	for (;; str += len + 1) {
		len = strcspn(str, ",");
		for (i = 0; i < ARRAY_SIZE(keys); i++) {
			if (strlen(keys[i].name) == len && !strncmp(keys[i].name, str, len))
				break;
		}
		if (i == ARRAY_SIZE(keys)) {
			pr_err("--sort knows sym, dso, comm and pid, but not '%.*s'\n",
			       (int)len, str);
			return -EINVAL;
		}
		rep->opts.sort |= keys[i].bit;
		if (!str[len])
			return 0;
	}
}

static int report__parse_format(struct report *rep)
{
	static const struct {
		const char *name;
		print_fn fn;
	} formats[] = {
		{ "table", print_table }, { "json", print_json }, { "csv", print_csv },
	};

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(rep->format, formats[i].name)) {
			rep->print = formats[i].fn;
			return 0;
		}
	}
	pr_err("--format knows table, json and csv, but not '%s'\n", rep->format);
	return -EINVAL;
}

static int report__parse_attribution(struct report *rep)
{
	if (!strcmp(rep->attribution, "cpu-switch")) {
		rep->opts.attribution = ATTRIBUTION_CPU_SWITCH;
	} else if (!strcmp(rep->attribution, "domain-switch")) {
		rep->opts.attribution = ATTRIBUTION_DOMAIN_SWITCH;
	} else {
		pr_err("--attribution knows cpu-switch and domain-switch, but not '%s'\n",
		       rep->attribution);
		return -EINVAL;
	}
	return 0;
}

static int report__parse_percent_limit(struct report *rep)
{
	char *end;

	if (!rep->percent_limit)
		return 0;

	rep->print_opts.percent_limit = strtod(rep->percent_limit, &end);
	if (end != rep->percent_limit && !*end && rep->print_opts.percent_limit >= 0 &&
	    rep->print_opts.percent_limit <= 100)
		return 0;
	pr_err("--percent-limit wants a number from 0 to 100, not '%s'\n", rep->percent_limit);
	return -EINVAL;
}

static int report__parse_lists(struct report *rep)
{
	const struct {
		const char *option;
		const char *str;
		struct intlist **list;
	} numbers[] = {
		{ "--vcpu", rep->vcpus, &rep->opts.vcpus },
		{ "--pid", rep->pids, &rep->opts.pids },
	};
	const struct {
		const char *option;
		const char *str;
		struct strlist **list;
	} names[] = {
		{ "--vm", rep->vms, &rep->opts.vms },
		{ "--comm", rep->comms, &rep->opts.comms },
		{ "--dso", rep->dsos, &rep->opts.dsos },
		{ "--symbol", rep->syms, &rep->opts.syms },
	};
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(numbers); i++)
		ret = report__parse_numbers(numbers[i].option, numbers[i].str, numbers[i].list);
	for (size_t i = 0; !ret && i < ARRAY_SIZE(names); i++)
		ret = report__parse_names(names[i].option, names[i].str, names[i].list);
	return ret;
}

/* Files that options name, those of perf kvm included */
static int report__check_files(void)
{
	const struct {
		const char *option;
		const char *path;
	} files[] = {
		{ "--vmlinux", symbol_conf.vmlinux_name },
		{ "--guestmount", symbol_conf.guestmount },
		{ "--guestvmlinux", symbol_conf.default_guest_vmlinux_name },
		{ "--guestkallsyms", symbol_conf.default_guest_kallsyms },
		{ "--guestmodules", symbol_conf.default_guest_modules },
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		int err;

		if (!files[i].path || !access(files[i].path, R_OK))
			continue;
		err = -errno;
		pr_err("%s %s: %s\n", files[i].option, files[i].path, strerror(-err));
		return err;
	}
	return 0;
}

/* It makes perf take the VMM's own code for that of the guest's processes. */
static int report__check_guest_code(void)
{
	if (!symbol_conf.guest_code)
		return 0;

	pr_err("perf kvm --guest-code is of no use here: what a guest executes is told by its map,\n"
	       "which --guest-cmd or --guest-follow of perf kvm unified record get, or --guest-map gives.\n");
	return -EINVAL;
}

/*
 * perf's parser takes 0- for CPU 0, and ends without a word at an item that does not begin
 * with a digit.
 */
static bool has_open_item(const char *cpus)
{
	for (size_t len; ; cpus += len + 1) {
		len = strcspn(cpus, ",");
		if (!len || !isdigit(cpus[0]) || !isdigit(cpus[len - 1]))
			return true;
		if (!cpus[len])
			return false;
	}
}

static int report__parse_cpus(struct report *rep)
{
	if (!rep->cpus)
		return 0;

	if (!has_open_item(rep->cpus))
		rep->opts.cpus = perf_cpu_map__new(rep->cpus);
	if (rep->opts.cpus)
		return 0;
	pr_err("--cpu wants a list of CPUs such as 0-3,8, not '%s'\n", rep->cpus);
	return -EINVAL;
}

/* What can be told to be wrong before a file is opened */
static int report__parse(struct report *rep)
{
	return report__parse_percent_limit(rep) ?: report__parse_format(rep) ?:
	       report__parse_attribution(rep) ?: report__parse_sort(rep) ?:
	       report__parse_lists(rep) ?: report__parse_cpus(rep) ?:
	       report__check_guest_code() ?: report__check_roots(rep) ?:
	       report__check_files();
}

static int time_interval__cmp(const void *_a, const void *_b)
{
	const struct perf_time_interval *a = _a, *b = _b;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Parts that overlap are not to be counted twice. An end of 0 is that of the file. */
static int merge_times(struct perf_time_interval *times, int nr)
{
	int merged = 0;

	qsort(times, nr, sizeof(*times), time_interval__cmp);
	for (int i = 1; i < nr; i++) {
		struct perf_time_interval *last = &times[merged];

		if (last->end && times[i].start > last->end) {
			times[++merged] = times[i];
			continue;
		}
		if (last->end)
			last->end = times[i].end ? max(last->end, times[i].end) : 0;
	}
	return merged + 1;
}

/* A time may be a part of the whole, which the session knows. */
static int report__parse_times(struct report *rep)
{
	int size;

	if (!rep->times)
		return 0;
	if (!perf_time__parse_for_ranges(rep->times, rep->m.session, &rep->opts.times, &size,
					 &rep->opts.nr_times) && rep->opts.nr_times > 0) {
		for (int i = 0; i < rep->opts.nr_times; i++) {
			const struct perf_time_interval *time = &rep->opts.times[i];

			if (time->end && time->start >= time->end)
				goto bad;
		}
		rep->opts.nr_times = merge_times(rep->opts.times, rep->opts.nr_times);
		return 0;
	}
bad:
	pr_err("--time wants start,stop in seconds, or parts such as 10%%-20%%, not '%s'\n",
	       rep->times);
	return -EINVAL;
}

/* A VM that is asked for and not there is a typing error. */
static int report__check_vms(const struct report *rep)
{
	const char *name = kvm_guests__unused_root(rep->m.session, &rep->guests_options);
	struct str_node *node;

	if (name)
		return no_such_guest(rep, "--guest-root", name);
	if (!rep->opts.vms)
		return 0;

	strlist__for_each_entry(node, rep->opts.vms) {
		u32 i;

		for (i = 0; i < rep->m.nr_vms; i++) {
			if (!strcmp(rep->m.vms[i].name, node->s))
				break;
		}
		if (i < rep->m.nr_vms)
			continue;
		pr_err("--vm: there is no VM '%s' in %s.", node->s, rep->m.session->data->path);
		for (i = 0; i < rep->m.nr_vms; i++)
			pr_err("%s%s", i ? ", " : " There is: ", rep->m.vms[i].name);
		pr_err("\n");
		return -ENOENT;
	}
	return 0;
}

static int report__check_vcpus(const struct report *rep)
{
	const struct time_axis *ta = &rep->m.axis;
	struct int_node *node;

	if (!rep->opts.vcpus)
		return 0;

	intlist__for_each_entry(node, rep->opts.vcpus) {
		bool found = false;

		for (u32 i = 0; !found && i < ta->nr_vcpus; i++)
			found = ta->vcpus[i].id == node->i;
		if (!found) {
			pr_err("--vcpu: no VM has a vCPU %lu.\n", node->i);
			return -ENOENT;
		}
	}
	return 0;
}

/* A vCPU, CPU or time of which there is nothing: the same. When the axis is built */
static int report__check_selection(const struct report *rep)
{
	const struct measurement *m = &rep->m;
	const struct time_axis *ta = &m->axis;
	bool found;

	if (report__check_vcpus(rep))
		return -ENOENT;

	found = !rep->opts.cpus;
	for (u32 i = 0; !found && i < m->nr_cpus; i++)
		found = m->cpu_samples[i] &&
			perf_cpu_map__has(rep->opts.cpus, (struct perf_cpu){ i });
	if (!found) {
		pr_err("--cpu: there is no sample of CPU %s.\n", rep->cpus);
		return -ENOENT;
	}

	found = !rep->opts.nr_times;
	for (int i = 0; !found && i < rep->opts.nr_times; i++) {
		const struct perf_time_interval *time = &rep->opts.times[i];

		found = time->start < ta->span.end && (!time->end || time->end > ta->span.start);
	}
	if (!found) {
		pr_err("--time: the measurement is from %.6f to %.6f.\n",
		       1.0 * ta->span.start / NSEC_PER_SEC, 1.0 * ta->span.end / NSEC_PER_SEC);
		return -ENOENT;
	}
	return 0;
}

static int report__print(struct report *rep)
{
	char selection[512];
	int ret;

	rep->print_opts.mode_reason = rep->m.axis.span.timeline ? "" :
		!rep->m.session->kvm_guests ? "as guests are not told apart" :
		rep->m.use_timeline ? "as there is no " KVM_TIMELINE_EVENT " in the profile" :
				      "as --no-timeline says";
	scnprintf(selection, sizeof(selection), "%s%s%s%s%s%s%s%s",
		  rep->vms ? " --vm " : "", rep->vms ?: "",
		  rep->vcpus ? " --vcpu " : "", rep->vcpus ?: "",
		  rep->cpus ? " --cpu " : "", rep->cpus ?: "",
		  rep->times ? " --time " : "", rep->times ?: "");
	rep->print_opts.selection = selection;
	ret = sections__build(&rep->m, &rep->opts, &rep->sections);
	if (!ret) {
		report__warn(rep);
		ret = rep->print(&rep->m, &rep->sections, &rep->opts, &rep->print_opts, stdout);
	}
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

	rep->m.session = session;
	kvm_guests__load(session, &rep->guests_options);
	ret = symbol__init(&session->header.env) < 0 ? -EIO : 0;
	if (!ret)
		ret = measurement__open(&rep->m, session);
	if (ret == -ENODATA)
		pr_err("The samples of %s in %s have no time or no CPU: record with --sample-cpu -T,\n"
		       "or with perf kvm unified record.\n", evsel__name(rep->m.evsel), data->path);
	else if (ret)
		pr_err("Cannot prepare to read %s: %s\n", data->path, strerror(-ret));
	if (!ret)
		ret = report__load_maps(rep);
	if (!ret)
		ret = report__parse_times(rep);
	if (!ret)
		ret = sections__init(&rep->sections, &rep->m, &rep->opts);
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
		ret = report__check_vms(rep);
	if (!ret) {
		ret = measurement__finish(&rep->m);
		if (ret)
			pr_err("Cannot work out the time axis: %s\n", strerror(-ret));
	}
	if (!ret)
		ret = report__check_selection(rep);
	if (!ret)
		ret = report__print(rep);
	return ret;
}

int cmd_kvm_unified_report(int argc, const char **argv)
{
	struct report rep = {
		.map_args = LIST_HEAD_INIT(rep.map_args),
		.print_opts.percent_limit = DEFAULT_PERCENT_LIMIT,
		.format = "table",
		.attribution = "cpu-switch",
	};
	struct perf_data data = {
		.path = "perf.data",
		.mode = PERF_DATA_MODE_READ,
	};
	struct option options[] = {
		OPT_STRING('i', "input", &data.path, "dir",
			   "profile to read (default: perf.data)"),
		OPT_STRING(0, "format", &rep.format, "table|json|csv",
			   "what to print (default: table)"),
		OPT_STRING(0, "attribution", &rep.attribution, "cpu-switch|domain-switch",
			   "charge the host's work for a guest to host (default) or guest"),
		OPT_BOOLEAN(0, "timeline", &rep.m.use_timeline,
			    "use kvm:kvm_vcpu_timeline events if there are any (default)"),
		OPT_BOOLEAN(0, "exit-reasons", &rep.print_opts.exit_reasons,
			    "show by which exit reason a guest's time was stolen"),
		OPT_STRING('s', "sort", &rep.sort, "key[,key...]",
			   "what makes a row: sym, dso, comm, pid (default: all)"),
		OPT_STRING(0, "percent-limit", &rep.percent_limit, "percent",
			   "put rows below it together (default: 0.1)"),
		OPT_STRING(0, "vm", &rep.vms, "name[,name...]", "only these VMs"),
		OPT_STRING(0, "vcpu", &rep.vcpus, "id[,id...]", "only these vCPUs of each VM"),
		OPT_STRING(0, "pid", &rep.pids, "pid[,pid...]",
			   "only rows of these processes of a guest"),
		OPT_STRING(0, "comm", &rep.comms, "comm[,comm...]",
			   "only rows of processes of these names"),
		OPT_STRING('d', "dso", &rep.dsos, "dso[,dso...]", "only rows of these modules"),
		OPT_STRING('S', "symbol", &rep.syms, "symbol[,symbol...]",
			   "only rows of these functions"),
		OPT_STRING('C', "cpu", &rep.cpus, "cpu",
			   "only what was on these CPUs of the host"),
		OPT_STRING(0, "time", &rep.times, "start,stop",
			   "only this time, as in perf report"),
		OPT_CALLBACK(0, "guest-map", &rep, "NAME=FILE",
			     "map of guest NAME, made by perf kvm unified guest-map in it",
			     parse_guest_map),
		OPT_BOOLEAN(0, "guest-maps", &rep.guests_options.use_maps,
			    "use the maps in the profile (default)"),
		OPT_CALLBACK(0, "guest-root", &rep.guests_options, "[NAME=]DIR",
			     "where the root file system of guest NAME, or of all guests, is mounted",
			     parse_guest_root),
		OPT_STRING('k', "vmlinux", &symbol_conf.vmlinux_name, "file",
			   "vmlinux of the host"),
		OPT_BOOLEAN('f', "force", &data.force, "don't complain, do it"),
		OPT_INCR('v', "verbose", &verbose, "be more verbose"),
		OPT_BOOLEAN('q', "quiet", &quiet, "do not show any warnings"),
		OPT_END()
	};
	const char *const usage[] = {
		"perf kvm unified report [<options>]",
		NULL
	};
	int ret;

	kvm_guests_options__init(&rep.guests_options);
	ret = measurement__init(&rep.m);
	if (ret)
		return 1;

	options__no_negation(options);
	argc = parse_options(argc, argv, options, usage, 0);
	if (argc)
		usage_with_options_msg(usage, options, "Unknown argument: %s\n", argv[0]);
	if (!strcmp(data.path, "-")) {
		pr_err("The profile is a directory and cannot come from standard input\n");
		return 1;
	}

	perf_host = true;
	perf_guest = true;
#ifdef HAVE_LIBTRACEEVENT
	/* The fields of tracepoints are of use here, how to print them is not. */
	trace_event__skip_print_fmt = true;
#endif

	ret = report__parse(&rep);
	if (!ret)
		ret = report__run(&rep, &data);

	if (rep.m.session)
		perf_session__delete(rep.m.session);
	report__exit(&rep);
	return ret ? 1 : 0;
}
