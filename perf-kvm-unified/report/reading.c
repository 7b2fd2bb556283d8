// SPDX-License-Identifier: GPL-2.0
/*
 * The way from a file to the tables, which commands print. What rows are told apart by, and much
 * else, is one for all of perf: where several profiles are read, it is the same for each.
 *
 * Room: report/, from a measurement to tables of the host, its VMs and their vCPUs.
 * Calls: axis format guests lib measure
 */
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "util/build-id.h"
#include "util/data.h"
#include "util/debug.h"
#include "util/dso.h"
#include "util/evsel.h"
#include "util/header.h"
#include "util/hist.h"
#include "util/machine.h"
#include "util/map.h"
#include "util/session.h"
#include "util/symbol.h"
#include "util/time-utils.h"
#include "util/trace-event.h"
#include "util/util.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/format/window.h"
#include "kvm-unified/guests/foreign.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/guests/killed.h"
#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/warnings.h"
#include "kvm-unified/measure/cpu-limit.h"
#include "kvm-unified/measure/feed.h"
#include "kvm-unified/measure/measurement.h"
#include "nameless.h"
#include "options.h"
#include "reading.h"
#include "row-keys.h"
#include "sections.h"
#include "tables.h"
#include "tally.h"
#include "unmatched.h"

/* Arrays of so many bytes are given back to the kernel when they are freed, or shrink. */
#define LARGE_ARRAY	(32 * 1024)

/* More lost than this much of all samples is said as a warning. */
#define LOST_WARN_PERCENT	1.0
/* perf's verbosity, with which it prints no warnings */
#define NO_WARNINGS		-1
/* Warns of samples from before the boot that the map is of. */
static void reading__warn_earlier(struct perf_session *session, const struct kvm_guest *guest)
{
	const struct kvm_guest *earlier = kvm_guests__find_earlier(session, guest);

	if (earlier && earlier != guest)
		unified_warning("Guest %s: by its clock, it was booted after the recording had begun.\n"
				"%" PRIu64 " of %" PRIu64 " samples of it are from before that, and have no names: its map is of this boot.\n",
				guest->name, earlier->nr_samples,
				earlier->nr_samples + guest->nr_samples);
}

/* Warns of what the collector could not read, or the report could not use. */
static void reading__warn_missed(const struct kvm_guest *guest)
{
	if (guest->map.missed_events)
		unified_warning("Guest %s: %" PRIu64 " events of processes that came or went were lost in it:\n"
				"names of short-lived processes may be missing or wrong.\n",
				guest->name, guest->map.missed_events);
	if (guest->has_map && !guest->map.spaces.nr)
		unified_warning("Guest %s: its map has no CR3s (a kernel without BTF or kcore, or that is locked down):\n"
				"its processes have no names, and are told apart by CR3.\n",
				guest->name);
	else if (guest->map.missed_spaces)
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

/* Guests with files below their root directories that are others */
struct foreign_files {
	struct name_list names;
	const struct kvm_guest *last;
	u64	nr;
};

static void foreign_files__add(struct foreign_files *files, const struct kvm_guest *guest)
{
	if (!guest->nr_foreign_files)
		return;
	name_list__add(&files->names, guest->name);
	files->nr += guest->nr_foreign_files;
	files->last = guest;
}

/* Warns of all at once: many guests may have one root directory. */
static void foreign_files__warn(struct foreign_files *files)
{
	if (files->names.nr == 1)
		unified_warning("Guest %s: %" PRIu64 " mapped file%s below %s %s another build-id, not used (-v: which)\n",
				files->last->name, files->nr, files->nr == 1 ? "" : "s",
				files->last->root, files->nr == 1 ? "has" : "have");
	else if (files->names.nr)
		unified_warning("Guests %s: %" PRIu64 " mapped files below their --guest-root have another build-id, not used (-v: which)\n",
				name_list__end(&files->names), files->nr);
}

/* Warns of maps of wanted VMs that are wrong, or of no use. */
static void reading__warn_maps(const struct reading *reading)
{
	const struct section_opts *opts = &reading->opts->sections;
	struct perf_session *session = reading->m.session;
	struct foreign_files foreign = { };
	struct kvm_guest *guest;

	if (!session->kvm_guests)
		return;

	list_for_each_entry(guest, &session->kvm_guests->guests, node) {
		if (!section_opts__wants_vm(opts, guest->name))
			continue;
		foreign_files__add(&foreign, guest);
		reading__warn_missed(guest);
		reading__warn_earlier(session, guest);
		if (guest->map.spaces.nr && kvm_guest__map_names_nobody(guest))
			unified_warning("Guest %s: no process of its map was seen running. They may have ended\n"
					"before the map was made, or the map is of another guest.\n",
					guest->name);
	}
	foreign_files__warn(&foreign);
	foreign_maps__warn(&reading->foreign, session, opts->vms);
}

static void compare_lost(const struct time_share *lost, const char *of, double *most,
			 const char **name)
{
	double percent = percent_of(lost->part, lost->all);

	if (percent > *most) {
		*most = percent;
		*name = of;
	}
}

/* The part of the time that is marked as lost, in percent: of the host or VM where it is largest */
static double reading__lost_percent(const struct reading *reading, const char **name)
{
	const struct sections *sections = &reading->sections;
	const struct measurement *m = &reading->m;
	struct time_share host = { }, *vms = calloc(m->nr_vms + 1, sizeof(*vms));
	double most = 0;

	tally__add_part(&sections->host, CPU_TIME_LOST, &host);
	compare_lost(&host, "Host", &most, name);
	for (u32 i = 0; vms && i < sections->nr_vcpus; i++)
		tally__add_part(&sections->vcpus[i], VCPU_TIME_LOST, &vms[m->axis.vcpus[i].vm]);
	for (u32 vm = 0; vms && vm < m->nr_vms; vm++) {
		if (!m->vms[vm].left_out &&
		    section_opts__wants_vm(sections->opts, m->vms[vm].name))
			compare_lost(&vms[vm], m->vms[vm].name, &most, name);
	}
	free(vms);
	return most;
}

static bool is_cut_off(const struct measurement *m)
{
	const struct kvm_guests *guests = m->session->kvm_guests;

	return guests && kvm_vms__are_cut_off(&guests->vms);
}

static void reading__warn_mixed(const struct reading *reading, const struct axis_vcpu *vcpu)
{
	const char *name = reading->m.vms[vcpu->vm].name;

	if (section_opts__wants_vm(&reading->opts->sections, name))
		unified_warning("Guest %s: vCPU %u is those of several VMs in one process, whose threads are not known:\n"
				"its time line is of all of them, and may be wrong.\n",
				name, vcpu->id);
}

#define NO_HOST_SYMBOLS \
	"The host's kernel has no symbols here, so idle time counts as OS: %s\n(its build-id is %s)\n"

/* Which vmlinux is missing, or what -k has is not */
static void reading__warn_idle(const struct reading *reading)
{
	struct map *map = machine__kernel_map(&reading->m.session->machines.host);
	char build_id[SBUILD_ID_SIZE] = "not known";
	const char *advice = "give its vmlinux (-k)";

	if (map && dso__has_build_id(map__dso(map)))
		build_id__snprintf(dso__bid(map__dso(map)), build_id, sizeof(build_id));
	if (symbol_conf.vmlinux_name)
		advice = "the file of -k is not its vmlinux";
	else if (symbol_conf.kallsyms_name)
		advice = "the file of --kallsyms is no copy of its /proc/kallsyms";
	/* Who has given a file takes idle time for known: no -q keeps that back. */
	if (symbol_conf.vmlinux_name || symbol_conf.kallsyms_name)
		pr_err(NO_HOST_SYMBOLS, advice, build_id);
	else
		unified_warning(NO_HOST_SYMBOLS, advice, build_id);
}

static void reading__warn(const struct reading *reading)
{
	const struct measurement *m = &reading->m;
	u64 nr_lost = measurement__lost(m);
	double lost = 100.0 * nr_lost / (m->nr_samples + nr_lost ?: 1);
	const char *lost_in = NULL;
	double lost_time = reading__lost_percent(reading, &lost_in);

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
		unified_warning("%" PRIu64 " samples are of events without a column (there are %u at most), and not in this\n"
				"report: see perf report\n", m->nr_other, PROFILE_MAX_COLUMNS - 1);
	if (m->evsel && evsel__counts_no_time(m->evsel))
		unified_warning("%s does not count time or all cycles, and the tables take its samples for time.\n",
				evsel__name(m->evsel));
	if (!measurement__knows_idle(m))
		reading__warn_idle(reading);
	if (m->nr_unplaced)
		unified_warning("%" PRIu64 " records have a time, CPU or vCPU number that cannot be: is the file damaged?\n",
				m->nr_unplaced);
	if (m->nr_bad_events)
		unified_warning("%" PRIu64 " events of the time line make no sense, and are not used: is the file damaged?\n",
				m->nr_bad_events);
	if (m->silent_cpu != TIME_AXIS_NONE)
		unified_warning("CPU %u has no samples for %.1f s: was it offline? perf does not record it when it is back.\n"
				"vCPUs that have run there are shown as lost.\n",
				m->silent_cpu, (double)m->silent_ns / NSEC_PER_SEC);
	if (m->session->kvm_guests &&
	    (m->session->kvm_guests->vms.flags & GUEST_RECORDING_CPUS_CAME))
		unified_warning("CPUs of the host came online meanwhile, and perf has not recorded them.\n"
				"vCPUs that have run there are shown as lost.\n");
	if (m->mixed_vcpu != TIME_AXIS_NONE)
		reading__warn_mixed(reading, &m->axis.vcpus[m->mixed_vcpu]);
	if (reading->cpu_limit.in_header && m->nr_cpus > reading->cpu_limit.in_header)
		unified_warning("There are records of CPU %u, and the header ends with CPU %u: CPUs came meanwhile, or it\n"
				"is damaged. They are in the report, too.\n",
				m->nr_cpus - 1, reading->cpu_limit.in_header - 1);
	if (is_cut_off(m))
		unified_warning("The stream ends before the recording did: the report is of a part of it.\n");
	if (reading->killed)
		unified_warning("The recorder was killed, or had no room left on its disk, or still records: the report is of what it had\n"
				"written by then. The end is missing, and so are maps that are made after it.\n");
	if (!m->nr_samples)
		unified_warning("There is not one sample in this profile.\n");
	else if (!m->session->kvm_guests)
		unified_warning("There is no '" KVM_GUESTS_VMS "' here: this is not a profile of perf kvm unified record,\n"
				"or a part of one. Guests are not told apart.\n");
	else if (!m->axis.nr_vcpus)
		unified_warning("No guest ran during the measurement: host level only.\n");
	sections__warn_nameless(&reading->sections);
}

static bool is_stdin(const struct perf_data *data)
{
	return !strcmp(data->path, "-");
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

/* Is it the directory of a recording without an end? @last: gets the path of its last profile */
static bool has_profiles(const char *path, char *last, size_t size)
{
	char pattern[PATH_MAX];
	glob_t found;
	bool has;

	scnprintf(pattern, sizeof(pattern), "%s/data", path);
	if (!access(pattern, F_OK))
		return false;
	scnprintf(pattern, sizeof(pattern), "%s/*" SEGMENT_WHOLE, path);
	if (glob(pattern, GLOB_ONLYDIR, /*errfunc=*/NULL, &found))
		return false;
	has = found.gl_pathc;
	if (has)
		strlcpy(last, found.gl_pathv[found.gl_pathc - 1], size);
	globfree(&found);
	return has;
}

/* Checks what the input's path tells. 0 or -errno with a message */
static int check_path(const char *path)
{
	char profile[PATH_MAX];
	int err;

	/* perf's own words for it would send the user to perf record. */
	if (access(path, F_OK)) {
		err = -errno;
		pr_err("Cannot read %s: %s%s\n", path, strerror(-err),
		       err == -ENOENT ? ". perf kvm unified record makes one." : "");
		return err;
	}
	if (is_part_of_profile(path)) {
		pr_err("%s is a file of a profile: give the directory that it is in\n", path);
		return -EINVAL;
	}
	if (has_profiles(path, profile, sizeof(profile))) {
		pr_err("%s is a directory of profiles: give one of them, as the last one, %s\n",
		       path, profile);
		return -EINVAL;
	}
	return 0;
}

/* Opens the profile. If its recorder was killed, one message tells what is missing. */
static struct perf_session *new_session(struct reading *reading)
{
	struct perf_session *session;
	int verbosity = verbose;

	if (reading->killed && !verbose && may_read(&reading->data))
		verbose = NO_WARNINGS;
	session = perf_session__new(&reading->data, &reading->m.tool);
	verbose = verbosity;
	if (!IS_ERR(session) && reading->killed)
		killed_session__mend(session);
	return session;
}

/* 0 or -errno with a message */
static int reading__open(struct reading *reading)
{
	struct perf_data *data = &reading->data;
	struct perf_session *session;
	int ret = is_stdin(data) ? 0 : check_path(data->path);

	if (ret)
		return ret;
	measurement__set_tool(&reading->m);
	reading->killed = !is_stdin(data) && profile__was_killed(data->path);
	session = new_session(reading);
	if (!IS_ERR(session)) {
		reading->m.session = session;
		return 0;
	}
	ret = PTR_ERR(session);
	/* -1 is not an errno: perf has said more, or says it with -v. */
	if (ret == -1 && is_stdin(data))
		pr_err("Standard input is no stream of perf kvm unified record -o -: it is empty, damaged, or\n"
		       "something else. A profile that is a directory is for -i <dir>.\n");
	else if (ret == -1 && may_read(data))
		pr_err("Cannot read %s as a profile: it is cut off, damaged, or something else\n",
		       data->path);
	else if (ret != -1)
		pr_err("Cannot read %s: %s\n", data->path, strerror(-ret));
	return ret;
}

/* Before the first sample, and when the header has been printed. 0 or -ENOMEM with a message */
static int reading__raise_cpu_limit(struct reading *reading)
{
	struct perf_session *session = reading->m.session;
	int ret = cpu_limit__raise(&reading->cpu_limit, perf_session__env(session));

	if (ret)
		pr_err("There is not enough memory for %s.\n", profile__name(session->data));
	return ret;
}

/*
 * Begins, when it is known on which machine it was recorded, and which guests that had. 0 or
 * -errno
 */
static int reading__begin(struct reading *reading)
{
	struct report_options *opts = reading->opts;
	struct perf_session *session = reading->m.session;
	int ret;

	kvm_guests__load(session, &opts->guests, &reading->foreign);
	ret = reading->begin ? reading->begin(reading) : 0;
	if (!ret)
		ret = symbol__init(perf_session__env(session)) < 0 ? -EIO : 0;
	if (ret) {
		pr_err("Cannot prepare to read %s: %s\n", profile__name(session->data),
		       strerror(-ret));
		return ret;
	}
	return kvm_guests__load_given(session, &opts->guests);
}

/* Profiles of a recording without an end overlap: by default, the time is its own part. */
static void reading__use_window(struct reading *reading)
{
	struct profile_window window;
	char from[TIMES_TEXT_LEN / 2] = "", until[TIMES_TEXT_LEN / 2] = "", err[64];
	int ret;

	if (reading->opts->times || perf_data__is_pipe(&reading->data))
		return;
	ret = profile_window__read(&window, reading->data.path, err, sizeof(err));
	if (ret == -EINVAL)
		unified_warning("%s/" PROFILE_WINDOW_FILE " %s: what other profiles have, too, is in this report.\n",
				reading->data.path, err);
	if (ret)
		return;
	if (window.from)
		timestamp__scnprintf_nsec(window.from, from, sizeof(from));
	if (window.until)
		timestamp__scnprintf_nsec(window.until, until, sizeof(until));
	scnprintf(reading->window, sizeof(reading->window), "%s,%s", from, until);
	reading->opts->times = reading->window;
}

/* ... and which events: before the first sample. 0 or -errno with a message */
static int reading__begin_events(struct reading *reading)
{
	struct report_options *opts = reading->opts;
	struct perf_session *session = reading->m.session;
	struct measure_wants wants = { .timeline = opts->use_timeline };
	const char *name = profile__name(session->data);
	int ret;

	measurement__choose_events(&reading->m, session);
	ret = reading->begin_events ? reading->begin_events(reading, &wants) : 0;
	if (!ret)
		ret = sections__init(&reading->sections, &reading->m, &opts->sections, &wants);
	if (ret)
		return ret;
	ret = measurement__open(&reading->m, &wants);
	if (ret == -ENODATA)
		pr_err("The samples of %s in %s have no time or no CPU: record with --sample-cpu -T,\n"
		       "or with perf kvm unified record.\n", evsel__name(reading->m.evsel), name);
	else if (ret)
		pr_err("Cannot prepare to read %s: %s\n", name, strerror(-ret));
	if (ret)
		return ret;
	reading__use_window(reading);
	return report_options__parse_times(opts, session);
}

/* Checks that no more moments were asked for than can be had. 0 or -EINVAL with a message */
static int reading__check_moments(const struct reading *reading)
{
	const char *problem = reading->sections.moments.problem;

	if (!problem[0])
		return 0;
	pr_err("%s\n", problem);
	return -EINVAL;
}

/* Messages of perf's own while records go by are warnings, as of symbols that are not here. */
static void hush(void)
{
	if (quiet && !verbose)
		verbose = -1;
}

/* All records of the session go by. 0 or -errno with a message */
static int reading__process(struct reading *reading)
{
	const char *name = profile__name(reading->m.session->data);
	int was_verbose = verbose;
	int ret;

	if (!perf_data__is_pipe(&reading->data))
		hush();
	ret = perf_session__process_events(reading->m.session);
	verbose = was_verbose;
	cpu_limit__restore(&reading->cpu_limit, perf_session__env(reading->m.session));
	if (ret == -ENOMEM)
		pr_err("There is not enough memory for %s.\n", name);
	else if (ret && reading->killed && !reading->m.session->header.data_size)
		pr_err("%s has no record: its recorder was killed before it had written one.\n",
		       name);
	else if (ret)
		pr_err("%s is damaged: not all of its records can be read.\n", name);
	return ret ?: reading__check_moments(reading);
}

static int reading__read_directory(struct reading *reading)
{
	struct perf_session *session = reading->m.session;
	int ret = reading__begin(reading);

	if (!ret)
		ret = reading__begin_events(reading);
	if (!ret && reading->opts->show_header && !reading->again)
		perf_session__fprintf_info(session, stdout, reading->opts->show_info);
	if (ret || reading->opts->header_only)
		return ret;
	return reading__raise_cpu_limit(reading) ?: reading__process(reading);
}

static int begin(struct profile_stream *stream)
{
	struct reading *reading = container_of(stream, struct reading, stream);

	return reading__begin(reading) ?: reading__raise_cpu_limit(reading);
}

static int begin_events(struct profile_stream *stream)
{
	int ret = reading__begin_events(container_of(stream, struct reading, stream));

	if (!ret)
		hush();
	return ret;
}

static void on_interrupt(int sig __maybe_unused)
{
}

/*
 * Ctrl-C is for perf record in front of the pipe, which comes to its end by it, and for all
 * others in the foreground. If that is no end, a second one is for the report, too.
 */
static int read_until_writer_ends(struct reading *reading)
{
	const struct sigaction once = {
		.sa_handler = on_interrupt,
		.sa_flags = SA_RESETHAND | SA_RESTART,
	};
	struct sigaction old;
	int ret;

	sigaction(SIGINT, &once, &old);
	ret = reading__process(reading);
	sigaction(SIGINT, &old, NULL);
	return ret;
}

static int reading__read_stream(struct reading *reading)
{
	const struct report_options *opts = reading->opts;
	struct perf_session *session = reading->m.session;
	int ret;

	reading->stream.begin = opts->header_only ? NULL : begin;
	reading->stream.begin_events = begin_events;
	profile_stream__open(&reading->stream, &reading->m);
	measurement__set_stream(&reading->m);
	if (opts->show_header) {
		/* What it says of the machine is printed as it comes. */
		perf_session__fprintf_info(session, stdout, opts->show_info);
		reading->m.tool.show_feat_hdr = opts->show_info ? SHOW_FEAT_HEADER_FULL_INFO :
							      SHOW_FEAT_HEADER;
		reading->stream.header = stdout;
	}
	ret = is_stdin(session->data) ? read_until_writer_ends(reading) : reading__process(reading);
	return ret ?: profile_stream__end(&reading->stream);
}

/* Once in a command, whatever it reads. 0 or -errno */
int readings__setup(void)
{
	/* A file that is larger than ulimit -f allows is an error of write(), with a message. */
	signal(SIGXFSZ, SIG_IGN);
	perf_host = true;
	perf_guest = true;
#ifdef HAVE_LIBTRACEEVENT
	/* The fields of tracepoints are of use here, how to print them is not. */
	trace_event__skip_print_fmt = true;
#endif
	return hists__init();
}

/*
 * Of each vCPU and each CPU there are arrays that grow and shrink. glibc takes what was freed once
 * for what is to stay, however large it is, and that is full of holes then; and what one thread has
 * freed is of no use to the other.
 */
static void keep_heap_small(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, LARGE_ARRAY);
	mallopt(M_ARENA_MAX, 1);
#endif
}

/**
 * reading__init - begin
 * @opts: complete; to stay, as long as it is read
 *
 * 0 or -ENOMEM; reading__exit() comes after it in any case.
 */
int reading__init(struct reading *reading, struct report_options *opts)
{
	reading->opts = opts;
	reading->data = (struct perf_data) {
		.mode = PERF_DATA_MODE_READ,
		.path = opts->input,
		.force = opts->force,
	};
	keep_heap_small();
	return measurement__init(&reading->m);
}

/* All but what is known of its maps */
static void reading__exit_once(struct reading *reading)
{
	tables__exit(&reading->tables);
	if (reading->m.session)
		perf_session__delete(reading->m.session);
	sections__exit(&reading->sections);
	measurement__exit(&reading->m);
}

/* 0 or -errno with a message */
static int reading__read_once(struct reading *reading)
{
	int ret = reading__open(reading);

	if (ret)
		return ret;
	return perf_data__is_pipe(&reading->data) ? reading__read_stream(reading) :
						    reading__read_directory(reading);
}

/*
 * From the beginning, without the maps that have turned out to be foreign: rows are told apart
 * by names, and each that such a map has given may be a wrong one. What is to be said of the
 * rest was said. 0 or -errno with a message
 */
static int reading__read_again(struct reading *reading)
{
	bool was_quiet = quiet;
	int ret;

	reading__exit_once(reading);
	reading->m = (struct measurement) { };
	reading->sections = (struct sections) { };
	reading->cpu_limit = (struct cpu_limit) { };
	reading->again = true;
	ret = reading__init(reading, reading->opts);
	quiet = true;
	if (!ret)
		ret = reading__read_once(reading);
	quiet = was_quiet;
	return ret;
}

/**
 * reading__read - read all that there is, or, if that is wanted, the header alone
 *
 * All VMs are known then. 0, or -errno with a message
 */
int reading__read(struct reading *reading)
{
	int ret = reading__read_once(reading);

	if (ret || reading->opts->header_only)
		return ret;
	ret = foreign_maps__find(&reading->foreign, reading->m.session);
	/* A stream has no maps but those that were given, of which none is foreign now. */
	if (!ret && reading->foreign.nr)
		ret = reading__read_again(reading);
	return ret;
}

/* Makes the tables. 0, or -errno with a message */
int reading__finish(struct reading *reading)
{
	struct tables *tables = &reading->tables;
	int ret = measurement__finish(&reading->m);

	reading__warn_maps(reading);
	if (!ret)
		ret = moments__finish(&reading->sections.moments, &reading->m,
				      reading->opts->sections.interval,
				      reading->opts->sections.thieves);
	if (ret) {
		pr_err("Cannot work out the time axis: %s\n", strerror(-ret));
		return ret;
	}
	ret = reading__check_moments(reading);
	if (ret)
		return ret;
	ret = report_options__check_selection(reading->opts, &reading->m);
	if (ret)
		return ret;

	reading->sections.tables = tables;
	row_keys__setup_reasons(&tables->reason_keys, &tables->reason_key);
	ret = tables__init(tables, &reading->m);
	if (!ret)
		ret = sections__build(&reading->m, &reading->sections);
	if (!ret)
		ret = tables__finish(tables, reading->opts->sections.filter);
	if (ret)
		pr_err("Cannot make the tables: %s\n", strerror(-ret));
	else
		reading__warn(reading);
	return ret;
}

/**
 * reading__run - all of it, of a profile that is read alone
 * @opts: as for reading__init(); where the header alone is wanted, there are no tables
 *
 * 0, or -errno with a message; reading__exit() comes after it in any case.
 */
int reading__run(struct reading *reading, struct report_options *opts)
{
	const struct measurement *m = &reading->m;
	int ret = reading__init(reading, opts) ?: reading__read(reading);

	if (ret || opts->header_only)
		return ret;
	ret = kvm_guests__check_names(m->session, NULL, &opts->guests);
	if (!ret)
		ret = report_options__check_vms(opts, &m, 1);
	if (!ret)
		ret = reading__finish(reading);
	if (!ret)
		section_opts__warn_unmatched(&opts->sections, &m, 1);
	return ret;
}

/* Is the end of the recording missing? */
bool reading__is_part(const struct reading *reading)
{
	return reading->killed || is_cut_off(&reading->m);
}

/* Why there is no time line, or "" if there is one */
const char *reading__mode_reason(const struct reading *reading)
{
	const struct measurement *m = &reading->m;

	if (m->axis.span.timeline)
		return "";
	if (!m->session->kvm_guests)
		return "as guests are not told apart";
	return m->wants.timeline ? "as there is no " KVM_TIMELINE_EVENT " in the profile" :
				   "as --no-timeline says";
}

void reading__exit(struct reading *reading)
{
	reading__exit_once(reading);
	foreign_maps__exit(&reading->foreign);
}
