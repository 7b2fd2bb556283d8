// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified record: perf record with the events that the report needs,
 * and what is known only while the VMs run: their names, their vCPU threads
 * and, if told how to get them, the maps of the guests.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <paths.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/zalloc.h>
#include <api/fs/fs.h>
#include <api/fs/tracing_path.h>
#include <perf/cpumap.h>
#include <subcmd/parse-options.h>

#include "builtin.h"
#include "perf-sys.h"
#include "util/cloexec.h"
#include "util/data.h"
#include "util/debug.h"
#include "util/record.h"
#include "util/util.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/format/vms.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/lib/options.h"
#include "kvm-unified/lib/warnings.h"
#include "collectors.h"
#include "looks.h"
#include "record.h"
#include "scan.h"

#define TIMELINE_EVENT_DIR	"kvm/kvm_vcpu_timeline"

/* Fine enough for a time slice, and far from what costs the guests anything */
#define DEFAULT_PERIOD_NS	NSEC_PER_MSEC
#define DEFAULT_FREQ		1000

#define DEFAULT_GUEST_TIMEOUT	60	/* seconds */

/* The command line that perf record gets */
struct args {
	const char	**argv;
	int		 argc;
};

struct unified_record {
	const char	*output;
	const char	*freq;
	const char	*period;
	bool		sample_vcpu;
	bool		timeline;
	bool		has_event;	/* the user has chosen events */
	bool		has_target;	/* ... or what to record */
	bool		has_cpus;	/* ... and that is some CPUs */
	bool		per_task;	/* ... or not whole CPUs */
	const char	*vm;		/* names of the VMs to record, if not all */
	const char	*cgroup;	/* that of -G */
	bool		has_old;	/* a profile that was where this one goes */
	char		*older;		/* where the one before that is for now, or NULL */
	pid_t		pid;		/* of perf itself */
	struct guest_cmds guest_cmds;
	struct args	args;
	struct kvm_vms	vms;
};

static void args__add(struct args *args, const char *arg)
{
	/* One more for the NULL at the end */
	const char **argv = reallocarray(args->argv, args->argc + 2, sizeof(*argv));

	if (!argv) {
		pr_err("Out of memory\n");
		exit(1);
	}
	argv[args->argc++] = arg;
	argv[args->argc] = NULL;
	args->argv = argv;
}

/* An option of perf record's: it goes there as it came here. */
static int pass_on(const struct option *opt, const char *arg, int unset)
{
	struct unified_record *rec = opt->value;
	char *str;

	if (opt->short_name == 'e' || (opt->long_name && !strcmp(opt->long_name, "pfm-events")))
		rec->has_event = true;
	if (opt->short_name && strchr("aC", opt->short_name))
		rec->has_target = true;
	if (opt->short_name == 'C')
		rec->has_cpus = true;
	if (opt->short_name && strchr("ptu", opt->short_name)) {
		rec->has_target = true;
		rec->per_task = true;
	}

	/* perf record wants it behind the events that it is for, which are of whole CPUs. */
	if (opt->short_name == 'G') {
		if (rec->cgroup) {
			pr_err("-G can be given once here: it is for all events\n");
			return -1;
		}
		rec->cgroup = arg;
		rec->per_task = true;
		return 0;
	}
	if (opt->long_name) {
		if (asprintf(&str, "--%s%s%s%s", unset ? "no-" : "", opt->long_name,
			     arg ? "=" : "", arg ?: "") < 0)
			return -1;
	} else {
		if (asprintf(&str, "-%c%s", opt->short_name, arg ?: "") < 0)
			return -1;
	}
	args__add(&rec->args, str);
	return 0;
}

static bool option__same(const struct option *a, const struct option *b)
{
	if (a->short_name && a->short_name == b->short_name)
		return true;
	return a->long_name && b->long_name && !strcmp(a->long_name, b->long_name);
}

/* These make other files than the one in the directory, or none. */
static bool option__unsuitable(const struct option *opt)
{
	static const char *const names[] = {
		"dry-run", "kcore", "output", "switch-max-files", "switch-output",
		"switch-output-event", "threads", "timestamp-filename",
	};

	for (size_t i = 0; opt->long_name && i < ARRAY_SIZE(names); i++) {
		if (!strcmp(opt->long_name, names[i]))
			return true;
	}
	return false;
}

/*
 * @own, and behind it those of perf record that have no namesake there, made so
 * that they are passed on. What parse_options() does not know about options,
 * such as that one takes an argument, would have to be known here otherwise.
 */
static struct option *merge_options(const struct option *own, struct unified_record *rec)
{
	const struct option *opt, *o;
	struct option *options;
	size_t nr_own = 0, nr = 0;

	for (opt = own; opt->type != OPTION_END; opt++)
		nr_own++;
	for (opt = record_options; opt->type != OPTION_END; opt++)
		nr++;

	options = calloc(nr_own + nr + 2, sizeof(*options));
	if (!options)
		return NULL;

	memcpy(options, own, nr_own * sizeof(*options));
	nr = nr_own;
	options[nr++] = (struct option) {
		.type = OPTION_GROUP,
		.help = "Options of perf record, see perf-record(1)",
	};
	for (opt = record_options; opt->type != OPTION_END; opt++) {
		for (o = own; o->type != OPTION_END && !option__same(o, opt); o++)
			;
		if (o->type != OPTION_END || opt->type == OPTION_GROUP ||
		    option__unsuitable(opt))
			continue;

		options[nr] = *opt;
		options[nr].type = OPTION_CALLBACK;
		options[nr].value = rec;
		options[nr].callback = pass_on;
		options[nr].set = NULL;
		options[nr].defval = 0;
		if (!option__takes_arg(opt))
			options[nr].flags |= PARSE_OPT_NOARG;
		nr++;
	}
	options__no_negation(options);
	return options;
}

/* Can the event be opened on some CPU? 0 or -errno */
static int probe_event(u32 type, u64 config, bool sample_vcpu, bool exclude_guest)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = config,
		.sample_period = DEFAULT_PERIOD_NS,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       (sample_vcpu ? PERF_SAMPLE_VCPU : 0),
		.exclude_guest = exclude_guest,
		.disabled = 1,
	};
	struct perf_cpu_map *cpus = perf_cpu_map__new_online_cpus();
	int fd;

	fd = sys_perf_event_open(&attr, -1, perf_cpu_map__cpu(cpus, 0).cpu, -1,
				 perf_event_open_cloexec_flag());
	perf_cpu_map__put(cpus);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/*
 * Without the bit in the kernel there are no names of guest user code, which is
 * what this command is for: to go on regardless is for the user to decide.
 */
static int check_kernel(struct unified_record *rec)
{
	int ret = probe_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, rec->sample_vcpu, false);
	bool no_arch = ret == -EOPNOTSUPP && rec->sample_vcpu;
	bool no_vcpu = no_arch || (ret == -EINVAL && rec->sample_vcpu);

	/* Attributes are looked at before permissions are. */
	if (no_vcpu)
		ret = probe_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, false);
	if (ret == -EACCES || ret == -EPERM) {
		pr_err("No permission to profile the whole host.\n"
		       "Run as root, with CAP_PERFMON, or with sysctl kernel.perf_event_paranoid=-1.\n");
		return ret;
	}
	if (!ret && no_arch) {
		pr_err("This kernel cannot tell the vCPU of a sample (PERF_SAMPLE_VCPU) on this architecture:\n"
		       "use --no-sample-vcpu for a profile with guest kernel functions only.\n");
		return -EOPNOTSUPP;
	}
	if (!ret && no_vcpu) {
		pr_err("This kernel has no PERF_SAMPLE_VCPU: samples cannot tell a guest's processes apart.\n"
		       "Boot a kernel that has it, or use --no-sample-vcpu for a profile with guest kernel\n"
		       "functions only.\n");
		return -EOPNOTSUPP;
	}
	if (ret)
		pr_err("The cpu-clock event cannot be opened: %s\n", strerror(-ret));
	return ret;
}

static int check_kvm(void)
{
	if (!access("/dev/kvm", F_OK))
		return 0;

	pr_err("No /dev/kvm: this host cannot run KVM guests.\n"
	       "Load kvm_intel or kvm_amd and check that virtualization is switched on in the firmware.\n");
	return -ENODEV;
}

/*
 * A rate of 0 is no rate, though perf record takes -c 0 for its default, and of a negative
 * one it loses the sign.
 */
static bool has_rate(const struct unified_record *rec)
{
	const char *rate = rec->freq ?: rec->period;
	char option = rec->freq ? 'F' : 'c', *end;
	bool positive;

	if (rec->freq && rec->period) {
		pr_err("-F and -c cannot be used together\n");
		return false;
	}
	if (!rate || (rec->freq && !strcmp(rate, "max")))
		return true;
	positive = strtoull(rate, &end, 0);
	if (!isdigit(rate[0]) || *end) {
		pr_err("-%c wants a number%s, not '%s'\n", option,
		       rec->freq ? " or max" : "", rate);
		return false;
	}
	if (!positive)
		pr_err("-%c 0 takes no samples\n", option);
	return positive;
}

/* "max" as in perf record; anything else as it is, or NULL with a message */
static const char *parse_freq(const char *freq)
{
	char *str;
	int max;

	if (strcmp(freq, "max"))
		return freq;
	if (sysctl__read_int("kernel/perf_event_max_sample_rate", &max) ||
	    asprintf(&str, "%d", max) < 0) {
		pr_err("Cannot read the maximal sampling rate\n");
		return NULL;
	}
	return str;
}

static char *event_with_rate(const char *event, const struct unified_record *rec, bool in_ns)
{
	char *str = NULL;
	int ret;

	if (rec->period)
		ret = asprintf(&str, "%s/period=%s/", event, rec->period);
	else if (rec->freq)
		ret = asprintf(&str, "%s/freq=%s/", event, rec->freq);
	else if (in_ns)
		ret = asprintf(&str, "%s/period=%ld/", event, DEFAULT_PERIOD_NS);
	else
		ret = asprintf(&str, "%s/freq=%d/", event, DEFAULT_FREQ);

	return ret < 0 ? NULL : str;
}

static bool has_timeline(void)
{
	char *path = get_events_file(TIMELINE_EVENT_DIR);
	bool has = path && !access(path, F_OK);

	put_events_file(path);
	return has;
}

/*
 * Does it tell of a state when that ends? In its first version it did as a state begins,
 * when perf has taken the event of a task away: it needs whole CPUs then.
 */
static bool timeline_tells_at_end(void)
{
	char *path = get_events_file(TIMELINE_EVENT_DIR "/format");
	char *format = NULL;
	bool tells = false;
	size_t len;

	if (path && !filename__read_str(path, &format, &len))
		tells = strstr(format, " ns;");
	put_events_file(path);
	free(format);
	return tells;
}

/* May a VM's vPMU be a mediated one? With either of KVM's modules for x86 */
static bool has_mediated_pmu(void)
{
	static const char *const modules[] = { "kvm_intel", "kvm_amd" };
	char path[64];
	bool on;

	for (size_t i = 0; i < ARRAY_SIZE(modules); i++) {
		scnprintf(path, sizeof(path), "module/%s/parameters/enable_mediated_pmu",
			  modules[i]);
		if (!sysfs__read_bool(path, &on) && on)
			return true;
	}
	return false;
}

/*
 * The default event. Where a VM has a mediated vPMU, events of the CPU that include
 * guests are refused, and while there is such an event, such a VM.
 */
static char *default_event(const struct unified_record *rec)
{
	int ret = probe_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, rec->sample_vcpu,
			      false);
	bool mediated;

	if (!ret) {
		if (has_mediated_pmu())
			unified_warning("KVM's enable_mediated_pmu is on: no VM with a vPMU can start while this records\n"
					"(\"Device or resource busy\"). With -e cpu-clock they can.\n");
		return event_with_rate("cycles", rec, false);
	}
	mediated = ret == -EOPNOTSUPP &&
		   !probe_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, true);
	unified_warning("No cycles event %s (%s), using cpu-clock: time instead of cycles,\n"
			"and code that runs with interrupts off is seen where they go on again.\n",
			mediated ? "of guests here, as one has a mediated vPMU" : "here",
			strerror(-ret));
	return event_with_rate("cpu-clock", rec, true);
}

/* The events, unless the user has chosen, and the rest of perf record's line */
static int add_events(struct unified_record *rec)
{
	char *event;

	if (rec->has_event) {
		/*
		 * perf record applies a rate to all events, and one in so many
		 * events of the time line is none at all.
		 */
		if (rec->freq || rec->period) {
			args__add(&rec->args, rec->freq ? "-F" : "-c");
			args__add(&rec->args, rec->freq ?: rec->period);
			if (rec->timeline)
				unified_warning("No " KVM_TIMELINE_EVENT " with -e and -F or -c:\n"
						"give the rate with the event, as in -e cycles/freq=1000/, to get it.\n");
			return 0;
		}
	} else {
		event = default_event(rec);
		if (!event)
			return -ENOMEM;
		args__add(&rec->args, "-e");
		args__add(&rec->args, event);
	}

	if (!rec->timeline)
		return 0;

	if (rec->per_task && has_timeline() && !timeline_tells_at_end()) {
		unified_warning("No %s of this kernel for single tasks or cgroups: it needs whole CPUs.\n",
				KVM_TIMELINE_EVENT);
	} else if (has_timeline()) {
		args__add(&rec->args, "-e");
		args__add(&rec->args, KVM_TIMELINE_EVENT);
	} else {
		unified_warning("No %s tracepoint here: what a vCPU did while it did not run\n"
				"will have to be told from samples alone.\n", KVM_TIMELINE_EVENT);
	}
	return 0;
}

/* Behind the events: it is for all of them. 0 or -errno with a message */
static int add_cgroup(struct unified_record *rec)
{
	if (!rec->cgroup)
		return 0;
	/* perf record would give one to each event, and does not survive one without a name. */
	if (!*rec->cgroup || strchr(rec->cgroup, ',')) {
		pr_err("-G takes one cgroup here, for all events, not '%s'\n", rec->cgroup);
		return -EINVAL;
	}
	args__add(&rec->args, "-G");
	args__add(&rec->args, rec->cgroup);
	return 0;
}

/* The processes of --vm for perf record. 0 or -errno with a message */
static int add_vms(struct unified_record *rec)
{
	char *names, *name, *rest, *pids = NULL;

	if (rec->has_target || rec->cgroup) {
		pr_err("--vm says what to record, and so do -a, -C, -G, -p, -t and -u: give one of them.\n");
		return -EINVAL;
	}
	names = strdup(rec->vm);
	if (!names)
		return -ENOMEM;
	for (rest = names; (name = strsep(&rest, ",")); ) {
		const struct kvm_vm *vm = kvm_vms__find_name(&rec->vms, name);
		char *more;

		if (!vm) {
			kvm_vms__pr_no_such(&rec->vms, "vm", name);
			free(names);
			free(pids);
			return -ENOENT;
		}
		if (asprintf(&more, "%s%s%d", pids ?: "-p", pids ? "," : "", vm->pid) < 0)
			more = NULL;
		free(pids);
		pids = more;
		if (!pids)
			break;
	}
	free(names);
	if (!pids)
		return -ENOMEM;
	args__add(&rec->args, pids);
	rec->has_target = true;
	rec->per_task = true;
	return 0;
}

/*
 * Removes the directory if there is no profile in it, nor anything else: it is what a
 * measurement leaves that has not begun, with what came of the guests by then.
 */
static void remove_empty(const char *output)
{
	char path[PATH_MAX];
	struct stat st;

	scnprintf(path, sizeof(path), "%s/data", output);
	if (!lstat(path, &st) && S_ISREG(st.st_mode) && !st.st_size)
		rm_rf_perf_data(output);
	else
		rmdir(output);
}

static bool exists(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

/*
 * perf's own way keeps one profile, and moves it to where the one before it is, which goes.
 * That is not to be before the measurement has begun. 0 or -errno with a message
 */
static int put_older_aside(struct unified_record *rec)
{
	char old[PATH_MAX];
	int err;

	scnprintf(old, sizeof(old), "%s.old", rec->output);
	if (!rec->has_old || !exists(old))
		return 0;
	if (asprintf(&rec->older, "%s.%d", old, getpid()) < 0)
		rec->older = NULL;
	if (rec->older && !rename(old, rec->older))
		return 0;
	err = rec->older ? -errno : -ENOMEM;
	pr_err("Cannot move %s: %s\n", old, strerror(-err));
	zfree(&rec->older);
	return err;
}

static void remove_older(struct unified_record *rec)
{
	int ret = rec->older ? rm_rf_perf_data(rec->older) : 0;

	if (ret)
		pr_err("What was %s.old is %s now, and cannot be removed: %s\n", rec->output,
		       rec->older,
		       ret == -2 ? "there is more in it than a profile" : strerror(errno));
	zfree(&rec->older);
}

static void put_back(const char *from, const char *to)
{
	if (exists(to) || rename(from, to))
		pr_err("What was %s is %s now\n", to, from);
}

/* perf record ends the process itself where it does not like an option. */
static struct unified_record *not_begun;

/* Without a measurement, all is as it was before: the last profiles are where they were. */
static void undo(void)
{
	struct unified_record *rec = not_begun;
	char old[PATH_MAX];

	/* A command that cannot be started ends in a child. */
	if (!rec || getpid() != rec->pid)
		return;
	not_begun = NULL;
	guest_cmds__cancel(&rec->guest_cmds, &rec->vms, rec->output);
	scnprintf(old, sizeof(old), "%s.old", rec->output);
	remove_empty(rec->output);
	if (rec->has_old && exists(old))
		put_back(old, rec->output);
	if (rec->older)
		put_back(rec->older, old);
	zfree(&rec->older);
}

/* Makes the directory as perf record --kcore does; an older one is kept. */
static int make_output(struct unified_record *rec, char *data_path, size_t size)
{
	struct perf_data data = {
		.path = rec->output,
		.mode = PERF_DATA_MODE_WRITE,
		.is_dir = true,
	};
	int err;

	if (!strcmp(rec->output, "-")) {
		pr_err("The profile is a directory and cannot go to standard output\n");
		return -EINVAL;
	}
	scnprintf(data_path, size, "%s/data", rec->output);
	/* It is not to take the place of the profile before it, which would be removed. */
	remove_empty(rec->output);
	rec->has_old = !access(rec->output, F_OK);
	err = put_older_aside(rec);
	if (err)
		return err;
	rec->pid = getpid();
	not_begun = rec;
	atexit(undo);
	if (perf_data__open(&data) < 0) {
		err = -errno ?: -EIO;
		pr_err("Cannot create %s: %s\n", rec->output, strerror(-err));
		undo();
		return err;
	}
	perf_data__close(&data);
	return 0;
}

/*
 * perf record has begun when it finds that a command cannot be started, and what it leaves
 * takes the place of a profile. As execvp() looks for it
 */
static int check_command(const char *name)
{
	const char *dirs = getenv("PATH") ?: _PATH_DEFPATH;
	int err = ENOENT;

	if (!*name || strchr(name, '/'))
		dirs = "";
	for (;;) {
		size_t len = strcspn(dirs, ":");
		char path[PATH_MAX];
		struct stat st;

		scnprintf(path, sizeof(path), "%.*s%s%s", (int)len, dirs, len ? "/" : "", name);
		if (!stat(path, &st)) {
			if (S_ISREG(st.st_mode) && !access(path, X_OK))
				return 0;
			err = EACCES;
		} else if (errno == EACCES || strchr(name, '/')) {
			err = errno;
		}
		if (!dirs[len])
			break;
		dirs += len + 1;
	}
	pr_err("Cannot start '%s': %s\n", name, strerror(err));
	return -err;
}

static int scan_vms(struct unified_record *rec, u32 flag)
{
	return kvm_vms__scan(&rec->vms, procfs__mountpoint() ?: "/proc",
			     debugfs__mountpoint() ?: "/sys/kernel/debug", flag);
}

/* Without them, a state that lasts for long is known when it ends: no reason to stop. */
static void start_looks(struct unified_record *rec, struct vcpu_looks *looks)
{
	char path[PATH_MAX];
	int err;

	if (!rec->timeline)
		return;
	scnprintf(path, sizeof(path), "%s/" VCPU_LOOKS_FILE, rec->output);
	err = vcpu_looks__open(looks, path, procfs__mountpoint() ?: "/proc",
			       debugfs__mountpoint() ?: "/sys/kernel/debug");
	if (!err) {
		err = vcpu_looks__start(looks);
		if (err)
			vcpu_looks__close(looks);
	}
	if (err)
		unified_warning("Cannot look at vCPU threads: %s\n", strerror(-err));
}

static void end_looks(struct vcpu_looks *looks)
{
	int err;

	if (!looks->running)
		return;
	vcpu_looks__stop(looks);
	err = vcpu_looks__close(looks);
	if (looks->failed)
		err = -looks->failed;
	if (err)
		unified_warning("The looks at vCPU threads ended early: %s\n", strerror(-err));
}

int cmd_kvm_unified_record(int argc, const char **argv)
{
	struct unified_record rec = {
		.output = "perf.data",
		.sample_vcpu = true,
		.timeline = true,
		.guest_cmds.list = LIST_HEAD_INIT(rec.guest_cmds.list),
		.guest_cmds.timeout = DEFAULT_GUEST_TIMEOUT,
	};
	struct option own_options[] = {
		OPT_STRING('o', "output", &rec.output, "dir",
			   "directory to write the profile to (default: perf.data)"),
		OPT_CALLBACK(0, "guest-cmd", &rec.guest_cmds, "NAME=COMMAND",
			     "command that prints the map of guest NAME, such as 'ssh root@vm1 perf kvm unified guest-map'",
			     guest_cmds__parse),
		OPT_CALLBACK(0, "guest-follow", &rec.guest_cmds, "NAME=COMMAND",
			     "command that runs guest-map --follow in guest NAME during the measurement",
			     guest_cmds__parse_follow),
		OPT_UINTEGER(0, "guest-timeout", &rec.guest_cmds.timeout,
			     "seconds to wait for a guest's collector, and map (default: 60)"),
		OPT_BOOLEAN(0, "sample-vcpu", &rec.sample_vcpu,
			    "record vCPU and guest CR3 of each sample (default)"),
		OPT_BOOLEAN(0, "timeline", &rec.timeline,
			    "record " KVM_TIMELINE_EVENT " (default if the kernel has it)"),
		OPT_STRING('F', "freq", &rec.freq, "freq",
			   "samples per second and CPU (default: 1000)"),
		OPT_STRING('c', "count", &rec.period, "period",
			   "event period; in ns for cpu-clock"),
		OPT_STRING(0, "vm", &rec.vm, "NAME[,NAME...]",
			   "record the processes of these VMs alone (default: the whole host)"),
		OPT_INCR('v', "verbose", &verbose, "be more verbose"),
		OPT_BOOLEAN('q', "quiet", &quiet, "no messages but errors"),
		OPT_END()
	};
	const char *const usage[] = {
		"perf kvm unified record [<options>] [<command>]",
		"perf kvm unified record [<options>] -- <command> [<options>]",
		NULL
	};
	char data_path[PATH_MAX], vms_path[PATH_MAX];
	struct vcpu_looks looks = { };
	struct option *options;
	struct stat st;
	int ret, err, verbosity;

	options = merge_options(own_options, &rec);
	if (!options)
		return -ENOMEM;

	args__add(&rec.args, "record");
	argc = parse_options(argc, argv, options, usage, PARSE_OPT_STOP_AT_NON_OPTION);
	verbosity = verbose;

	if (!has_rate(&rec) || (argc && check_command(argv[0])))
		return 1;
	if (rec.freq) {
		rec.freq = parse_freq(rec.freq);
		if (!rec.freq)
			return 1;
	}

	/*
	 * Both: by cmd_kvm()'s default, events would exclude one of them. Since Linux 7.2
	 * what the guest interrupted is labelled the host's for an event with exclude_guest.
	 */
	perf_host = true;
	perf_guest = true;
	exclude_GH_default = false;

	if (check_kernel(&rec) || check_kvm())
		return 1;

	ret = scan_vms(&rec, GUEST_VCPU_AT_START);
	if (ret) {
		pr_err("Cannot look for VMs: %s\n", strerror(-ret));
		return 1;
	}
	if (guest_cmds__check(&rec.guest_cmds, &rec.vms) || (rec.vm && add_vms(&rec)))
		return 1;
	if (!rec.vms.nr)
		unified_warning("No VM is running: this will be a profile of the host alone.\n");

	if (rec.sample_vcpu)
		args__add(&rec.args, "--sample-vcpu");
	/* perf record leaves it out where it does not record whole CPUs. */
	args__add(&rec.args, "--sample-cpu");
	rec.vms.per_task = rec.per_task;
	if (rec.has_cpus)
		unified_warning("What vCPUs do on other CPUs than those of -C will not be known.\n");
	if (!rec.has_target)
		args__add(&rec.args, "-a");
	if (add_events(&rec) || add_cgroup(&rec) || make_output(&rec, data_path, sizeof(data_path)))
		return 1;
	args__add(&rec.args, "-o");
	args__add(&rec.args, data_path);
	for (int i = 0; i < verbosity; i++)
		args__add(&rec.args, "-v");
	if (quiet)
		args__add(&rec.args, "-q");
	args__add(&rec.args, "--");
	for (int i = 0; i < argc; i++)
		args__add(&rec.args, argv[i]);
	if (!argc)
		rec.args.argv[--rec.args.argc] = NULL;

	if (guest_cmds__start(&rec.guest_cmds, &rec.vms, rec.output)) {
		pr_err("Interrupted before the measurement\n");
		undo();
		return 1;
	}
	start_looks(&rec, &looks);
	ret = cmd_record(rec.args.argc, rec.args.argv);
	/* With -q perf record has turned off all messages, and errors are not to be lost. */
	verbose = verbosity;
	end_looks(&looks);
	if (stat(data_path, &st) || !st.st_size) {
		undo();
		return ret ?: 1;	/* perf record has said why */
	}
	not_begun = NULL;
	remove_older(&rec);

	/* Also those that were started meanwhile; those that are gone stay. */
	err = scan_vms(&rec, GUEST_VCPU_AT_END);
	scnprintf(vms_path, sizeof(vms_path), "%s/" KVM_GUESTS_VMS, rec.output);
	if (!err)
		err = kvm_vms__write(&rec.vms, vms_path);
	if (err) {
		pr_err("Cannot write %s: %s\n", vms_path, strerror(-err));
		ret = ret ?: 1;
		guest_cmds__cancel(&rec.guest_cmds, &rec.vms, rec.output);
	} else {
		guest_cmds__fetch(&rec.guest_cmds, &rec.vms, rec.output);
	}

	kvm_vms__exit(&rec.vms);
	free(options);
	return ret;
}
