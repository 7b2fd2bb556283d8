// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified record: perf record with the events that the report needs,
 * and what is known only while the VMs run: their names, their vCPU threads
 * and, if told how to get them, the maps of the guests.
 *
 * Room: record/, what runs on the host during a recording.
 * Calls: format guests lib memory
 */
#include <errno.h>
#include <limits.h>
#include <paths.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/string.h>
#include <linux/types.h>
#include <api/fs/fs.h>
#include <perf/cpumap.h>
#include <subcmd/parse-options.h>

#include "builtin.h"
#include "util/config.h"
#include "util/debug.h"
#include "util/intlist.h"
#include "util/perf-hooks.h"
#include "util/tsc.h"
#include "util/util.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/format/vms.h"
#include "kvm-unified/lib/config.h"
#include "kvm-unified/lib/machine.h"
#include "kvm-unified/lib/options.h"
#include "kvm-unified/lib/patterns.h"
#include "kvm-unified/lib/warnings.h"
#include "args.h"
#include "collectors.h"
#include "continuous.h"
#include "environment.h"
#include "events.h"
#include "guest-cmds.h"
#include "guest-memory.h"
#include "hangup.h"
#include "looks.h"
#include "output.h"
#include "pipe.h"
#include "record.h"
#include "scan.h"
#include "vm-limits.h"

#define DEFAULT_OUTPUT	"perf.data"

/**
 * struct unified_record - a measurement
 * @args: what perf record is told
 * @events: what is wanted of its events
 * @output: where the profile goes, if that is a directory
 * @pipe: ... and if not, which @to_pipe says
 * @continuous: ... if it has no end
 * @vm: the VMs to record, if not all, as it was given
 * @vms: those that run, and those that did
 * @limits: what limits their CPU time
 * @collectors: what gets the maps of guests
 * @memory: what gets those of guests that no collector runs in
 */
struct unified_record {
	struct record_args   args;
	struct record_events events;
	struct record_output output;
	struct record_pipe   pipe;
	bool		     to_pipe;
	struct continuous    continuous;
	const char	     *vm;
	struct kvm_vms	     vms;
	struct limits_scan   limits;
	struct collectors    collectors;
	struct guest_memory  memory;
	struct perf_cpu_map  *online;	/* at the start */
};

static int read_config(const char *var, const char *value, void *_rec)
{
	struct unified_record *rec = _rec;

	config__check_name(var);
	if (!strcmp(var, CONFIG_GUEST_MEMORY))
		rec->memory.wanted = perf_config_bool(var, value);
	return 0;
}

/* What a recording without an end, or a segment of one, has by default */
static void set_continuous(struct unified_record *rec)
{
	const struct continuous *continuous = &rec->continuous;

	if (continuous->dir && !rec->events.freq && !rec->events.period)
		rec->events.freq = CONTINUOUS_FREQ;
	if (continuous->dir || !continuous->max_size)
		return;
	/* It is perf record's then. */
	record_args__add(&rec->args, "--max-size");
	record_args__add(&rec->args, continuous->max_size);
}

/* Parses options. The number of arguments left in @argv, which are the command; or -errno */
static int parse(struct unified_record *rec, int argc, const char **argv)
{
	const struct option own_options[] = {
		OPT_STRING('o', "output", &rec->output.path, "dir",
			   "directory for the profile (default: perf.data); -: standard output"),
		OPT_CALLBACK(0, "guest-cmd", &rec->collectors.cmds, "NAME=COMMAND",
			     "command that prints the map of guest NAME, such as 'ssh root@vm1 perf kvm unified guest-map'; '*=ssh root@%n ...' of all guests",
			     guest_cmds__parse),
		OPT_CALLBACK(0, "guest-follow", &rec->collectors.cmds, "NAME=COMMAND",
			     "command that runs guest-map --follow in guest NAME during the measurement",
			     guest_cmds__parse_follow),
		OPT_UINTEGER(0, "guest-timeout", &rec->collectors.timeout,
			     "seconds to wait for a guest's collector, and map (default: 60)"),
		OPT_UINTEGER(0, "guest-deadline", &rec->collectors.deadline,
			     "seconds to wait for those of all guests together (default: 300)"),
		OPT_UINTEGER(0, "guest-jobs", &rec->collectors.jobs,
			     "guests to ask at the same time (default: 8)"),
		OPT_BOOLEAN_SET(0, "guest-memory", &rec->memory.wanted, &rec->memory.asked_for,
				"look at guests' memory for names (default)"),
		OPT_UINTEGER(0, "guest-memory-time", &rec->memory.look_seconds,
			     "seconds of CPU time that such a look may take (default: 2)"),
		OPT_CALLBACK(0, "kernel-mode", &rec->events.mode, "auto|series|bpf|plain",
			     "what tells the vCPU and guest CR3 of samples: the kernel, if it has PERF_SAMPLE_VCPU; a BPF program; nothing (default: auto, the first of the former two that there is)",
			     record_events__parse_mode),
		OPT_BOOLEAN(0, "sample-vcpu", &rec->events.sample_vcpu,
			    "record vCPU and guest CR3 of each sample (default)"),
		OPT_BOOLEAN_SET(0, "guest-tasks", &rec->events.guest_tasks,
				&rec->events.asked_tasks,
				"record guests' current tasks, too (default with a BPF program)"),
		OPT_BOOLEAN(0, "timeline", &rec->events.timeline,
			    "record " KVM_TIMELINE_EVENT " (default if the kernel has it)"),
		OPT_CALLBACK('F', "freq", &rec->events.freq, "freq",
			     "samples per second and CPU (default: 1000)",
			     record_events__parse_rate),
		OPT_CALLBACK('c', "count", &rec->events.period, "period",
			     "event period; in ns for cpu-clock", record_events__parse_rate),
		OPT_STRING(0, "vm", &rec->vm, "PATTERN[,PATTERN...]",
			   "record the processes of these VMs alone (default: the whole host)"),
		OPT_STRING(0, "continuous", &rec->continuous.dir, "dir",
			   "record without an end, at 19 Hz: a profile for each interval"),
		OPT_STRING(0, "interval", &rec->continuous.interval, "time",
			   "with --continuous: that long (default: 60s)"),
		OPT_STRING(0, "keep", &rec->continuous.keep, "time",
			   "with --continuous: profiles that are older go (default: 24h)"),
		OPT_STRING(0, "max-size", &rec->continuous.max_size, "size",
			   "limit the size; with --continuous of all profiles (default: 1G)"),
		OPT_STRING(0, "on-profile", &rec->continuous.on_profile, "command",
			   "with --continuous: run it for each profile, which is $1"),
		{ .type = OPTION_STRING, .long_name = "segment", .value = &rec->continuous.segment,
		  .argh = "fd,dir", .help = "for --continuous itself", .flags = PARSE_OPT_HIDDEN },
		OPT_INCR('v', "verbose", &verbose, "be more verbose"),
		OPT_BOOLEAN('q', "quiet", &quiet, "no messages but errors"),
		OPT_END()
	};
	const char *const usage[] = {
		"perf kvm unified record [<options>] [<command>]",
		"perf kvm unified record [<options>] -- <command> [<options>]",
		NULL
	};
	struct option *options = record_args__merge_options(&rec->args, own_options);

	if (!options)
		return -ENOMEM;

	record_args__add(&rec->args, "record");
	argc = parse_options(argc, argv, options, usage, PARSE_OPT_STOP_AT_NON_OPTION);
	free(options);
	set_continuous(rec);
	rec->to_pipe = !strcmp(rec->output.path, "-");
	/* A map wants a directory. */
	if (rec->to_pipe && !rec->memory.asked_for)
		rec->memory.wanted = false;
	rec->events.guest_memory = rec->memory.wanted;
	return argc;
}

/* Can the profile go to standard output, if it is to? 0 or -EINVAL with a message */
static int check_pipe(const struct unified_record *rec)
{
	if (!rec->to_pipe)
		return 0;
	if (!list_empty(&rec->collectors.cmds) || rec->memory.wanted)
		pr_err("--guest-cmd, --guest-follow and --guest-memory want a directory for the maps: -o <dir>, not -o -\n");
	else if (isatty(STDOUT_FILENO))
		pr_err("A profile is not for a terminal: send it through a pipe or to a file, or give -o <dir>\n");
	else
		return 0;
	return -EINVAL;
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

static int check_kvm(void)
{
	if (!access("/dev/kvm", F_OK))
		return 0;

	pr_err("No /dev/kvm: this host cannot run KVM guests.\n"
	       "Load kvm_intel or kvm_amd and check that virtualization is switched on in the firmware.\n");
	return -ENODEV;
}

static const char *proc_dir(void)
{
	return procfs__mountpoint() ?: "/proc";
}

static const char *debugfs_dir(void)
{
	return debugfs__mountpoint() ?: "/sys/kernel/debug";
}

/* Remembers which CPUs are online, or finds out that there are others than before. */
static void look_at_cpus(struct unified_record *rec, u32 flag)
{
	if (flag == GUEST_VCPU_AT_START) {
		perf_cpu_map__put(rec->online);
		rec->online = perf_cpu_map__new_online_cpus();
	} else if (cpus__have_come(rec->online)) {
		rec->vms.flags |= GUEST_RECORDING_CPUS_CAME;
	}
}

/* Where the cgroups are that have the CPU controller, or NULL */
static const char *cgroup_dir(char *buf, size_t size)
{
	return cgroupfs_find_mountpoint(buf, size, "cpu") ? NULL : buf;
}

static int scan_vms(struct unified_record *rec, u32 flag)
{
	char mount[PATH_MAX];
	int ret;

	look_at_cpus(rec, flag);
	ret = kvm_vms__scan(&rec->vms, proc_dir(), debugfs_dir(), flag);
	if (ret)
		return ret;
	rec->limits.proc = proc_dir();
	rec->limits.mount = cgroup_dir(mount, sizeof(mount));
	ret = limits_scan__look(&rec->limits, &rec->vms);
	rec->limits.mount = NULL;
	if (ret)
		unified_warning("Not all limits on the CPU time of VMs are recorded: %s\n",
				ret == -E2BIG ? "there are too many" : strerror(-ret));
	return 0;
}

/* 0 or -errno with a message */
static int parse_vm(struct unified_record *rec)
{
	if (rec->args.has_target || rec->args.cgroup) {
		pr_err("--vm says what to record, and so do -a, -C, -G, -p, -t and -u: give one of them.\n");
		return -EINVAL;
	}
	rec->collectors.selected = patterns__parse("vm", rec->vm);
	return rec->collectors.selected ? 0 : -EINVAL;
}

/* Tells that no VM has a name that matches a pattern of --vm. */
static void pr_no_vm(const struct kvm_vms *vms, const struct pattern *pattern)
{
	const struct kvm_vm *vm = pattern->in_file ? NULL : kvm_vms__find_part(vms, pattern->text);

	kvm_vms__pr_no_such(vms, "vm", pattern->text);
	if (vm)
		pr_err("A comma in a name is written with a backslash in a list, as in 'a\\,b': one is called '%s'.\n",
		       vm->name);
}

/* A pattern of --vm that no VM is called by is a typing error. */
static int check_vm(const struct unified_record *rec)
{
	const struct patterns *selected = rec->collectors.selected;

	for (size_t i = 0; i < selected->nr; i++) {
		if (selected->entries[i].matched)
			continue;
		pr_no_vm(&rec->vms, &selected->entries[i]);
		return -ENOENT;
	}
	return 0;
}

/* The processes of --vm for perf record. 0 or -errno with a message */
static int add_vms(struct unified_record *rec)
{
	char *pids = NULL, *more, *option;
	int ret;

	for (size_t i = 0; i < rec->vms.nr; i++) {
		const struct kvm_vm *vm = &rec->vms.entries[i];

		if (!patterns__match(rec->collectors.selected, vm->name))
			continue;
		if (asprintf(&more, "%s%s%d", pids ?: "", pids ? "," : "", kvm_vm__vmm(vm)) < 0)
			more = NULL;
		free(pids);
		pids = more;
		if (!pids)
			goto no_memory;
	}
	ret = check_vm(rec);
	if (ret) {
		free(pids);
		return ret;
	}
	if (asprintf(&option, "-p%s", pids) < 0)
		goto no_memory;
	record_args__add(&rec->args, option);
	rec->args.pids = pids;
	rec->args.has_target = true;
	rec->args.per_task = true;
	return 0;
no_memory:
	free(pids);
	pr_err("Out of memory\n");
	return -ENOMEM;
}

/* The VMs that run, and those of the options among them. 0 or -errno */
static int find_vms(struct unified_record *rec)
{
	int ret = rec->vm ? parse_vm(rec) : 0;
	char buf[KVM_VMS_UNSEEN_LEN];
	const char *unseen;

	if (ret)
		return ret;
	ret = scan_vms(rec, GUEST_VCPU_AT_START);
	if (ret) {
		pr_err("Cannot look for VMs: %s\n", strerror(-ret));
		return ret;
	}
	if (rec->vm)
		ret = kvm_vms__complete(&rec->vms, rec->collectors.selected);
	if (!ret)
		ret = collectors__check(&rec->collectors, &rec->vms);
	if (!ret && rec->vm)
		ret = add_vms(rec);
	if (ret)
		return ret;
	unseen = kvm_vms__unseen(&rec->vms, buf, sizeof(buf));
	if (unseen)
		unified_warning("%s\n", unseen);
	else if (!rec->vms.nr)
		unified_warning("No VM is running: this will be a profile of the host alone.\n");
	return 0;
}

/* Adds what perf record is to measure. 0 or -errno */
static int add_measurement(struct unified_record *rec)
{
	bool bpf = rec->events.mode == KERNEL_MODE_BPF || rec->events.guest_tasks;

	if (rec->events.mode == KERNEL_MODE_SERIES)
		record_args__add(&rec->args, "--sample-vcpu");
	if (bpf && rec->args.per_task) {
		pr_err("With %s whole CPUs are recorded: no -G, -p, -t, -u and --vm\n",
		       rec->events.mode == KERNEL_MODE_BPF ? "--kernel-mode bpf" : "--guest-tasks");
		return -EINVAL;
	}
	if (bpf)
		record_args__add(&rec->args, "--bpf-vcpu");
	rec->memory.callers = rec->args.has_callers;
	rec->memory.current_tasks = rec->events.guest_tasks;
	if (rec->args.has_callers)
		record_events__warn_no_callers(&rec->events);
	/* perf record leaves it out where it does not record whole CPUs. */
	record_args__add(&rec->args, "--sample-cpu");
	rec->vms.flags = rec->args.per_task ? GUEST_RECORDING_PER_TASK : 0;
	if (rec->args.has_cpus)
		unified_warning("What vCPUs do on other CPUs than those of -C will not be known.\n");
	if (!rec->args.has_target)
		record_args__add(&rec->args, "-a");
	return record_events__add(&rec->events, &rec->args);
}

/* ... and where it is to go, what to say meanwhile, and the command */
static void add_rest(struct unified_record *rec, int argc, const char **argv)
{
	record_args__add(&rec->args, "-o");
	record_args__add(&rec->args, rec->to_pipe ? rec->output.path : rec->output.data);
	for (int i = 0; i < verbose; i++)
		record_args__add(&rec->args, "-v");
	if (quiet)
		record_args__add(&rec->args, "-q");
	if (argc)
		record_args__add(&rec->args, "--");
	for (int i = 0; i < argc; i++)
		record_args__add(&rec->args, argv[i]);
}

/* Looks when perf record is about to disable its events, at the end or by --control. */
static void look_before_pause(void *looks)
{
	vcpu_looks__look_before_pause(looks, rdtsc());
}

/*
 * Without them, a state that lasts for long is known when it ends: no reason to stop. false: there
 * are none
 */
static bool start_looks(const struct unified_record *rec, struct vcpu_looks *looks)
{
	char path[PATH_MAX];
	int err;

	if (!rec->events.timeline || rec->to_pipe)
		return false;
	scnprintf(path, sizeof(path), "%s/" VCPU_LOOKS_FILE, rec->output.path);
	err = vcpu_looks__open(looks, path, proc_dir(), debugfs_dir());
	if (!err) {
		looks->online = rec->online;
		err = vcpu_looks__start(looks);
		if (err)
			vcpu_looks__close(looks);
	}
	if (err)
		unified_warning("Cannot look at vCPU threads: %s\n", strerror(-err));
	else
		perf_hooks__set_hook("evlist_disable", look_before_pause, looks);
	return !err;
}

static void end_looks(struct vcpu_looks *looks)
{
	int err;

	vcpu_looks__stop(looks);
	err = vcpu_looks__close(looks);
	if (looks->failed)
		err = -looks->failed;
	if (err)
		unified_warning("The looks at vCPU threads ended early: %s\n", strerror(-err));
}

/* perf record, and the looks for as long as it runs. Its exit code */
static int run_perf_record(struct unified_record *rec)
{
	struct vcpu_looks looks = { };
	int verbosity = verbose, ret;
	bool looking;

	/*
	 * Both: by cmd_kvm()'s default, events would exclude one of them. Since Linux 7.2
	 * what the guest interrupted is labelled the host's for an event with exclude_guest.
	 */
	perf_host = true;
	perf_guest = true;
	exclude_GH_default = false;

	looking = start_looks(rec, &looks);
	guest_memory__look_on(&rec->memory);
	ret = cmd_record(rec->args.argc, rec->args.argv);
	hangup__ends_nothing();
	/* With -q perf record has turned off all messages, and errors are not to be lost. */
	verbose = verbosity;
	guest_memory__look_no_more(&rec->memory);
	if (looking)
		end_looks(&looks);
	if (looks.cpus_came)
		rec->vms.flags |= GUEST_RECORDING_CPUS_CAME;
	return ret;
}

/* They stay in the table: who had a CPU is called by its name. */
static void leave_out_others(struct unified_record *rec)
{
	struct intlist *pids = rec->args.pids ? intlist__new(rec->args.pids) : NULL;

	if (pids)
		kvm_vms__leave_out_others(&rec->vms, pids);
	intlist__delete(pids);
}

/* Puts the table in the place of the one before, which stays if that fails. 0 or -errno */
static int write_vms(struct unified_record *rec)
{
	char path[PATH_MAX], new[PATH_MAX];
	int err;

	leave_out_others(rec);
	scnprintf(path, sizeof(path), "%s/" KVM_GUESTS_VMS, rec->output.path);
	scnprintf(new, sizeof(new), "%s/" KVM_GUESTS_VMS_NEW, rec->output.path);
	err = kvm_vms__write(&rec->vms, new);
	if (!err && rename(new, path))
		err = -errno;
	if (err) {
		unlink(new);
		pr_err("Cannot write %s: %s\n", path, strerror(-err));
	}
	return err;
}

/* Writes the VMs that a profile has if its recorder does not end. 0 or -errno with a message */
static int write_first_vms(struct unified_record *rec)
{
	char path[PATH_MAX];
	int err;

	rec->vms.flags |= GUEST_RECORDING_AT_START;
	err = write_vms(rec);
	rec->vms.flags &= ~GUEST_RECORDING_AT_START;
	if (err || !rec->events.timeline)
		return err;
	scnprintf(path, sizeof(path), "%s/" KVM_TIMELINE_FORMAT_FILE, rec->output.path);
	err = record_events__write_format(path);
	if (err)
		pr_debug("Cannot write %s: %s\n", path, strerror(-err));
	return 0;
}

/* Also those that were started meanwhile; those that are gone stay. 0 or -errno with a message */
static int write_last_vms(struct unified_record *rec)
{
	int err = scan_vms(rec, GUEST_VCPU_AT_END);

	if (!err)
		return write_vms(rec);
	pr_err("Cannot look for VMs: %s\n", strerror(-err));
	return err;
}

static void cancel_collectors(struct record_output *output)
{
	struct unified_record *rec = container_of(output, struct unified_record, output);

	collectors__cancel(&rec->collectors, output->path);
}

/* The measurement, with what is written before and after it. The exit code */
static int measure(struct unified_record *rec)
{
	bool failed;
	int ret;

	leave_out_others(rec);
	if (collectors__start(&rec->collectors, rec->output.path) ||
	    guest_memory__start(&rec->memory, &rec->collectors, &rec->vms)) {
		pr_err("Interrupted before the measurement\n");
		record_output__undo(&rec->output);
		return 1;
	}
	if (record_output__check(&rec->output) || write_first_vms(rec)) {
		record_output__undo(&rec->output);
		return 1;
	}
	ret = run_perf_record(rec);
	if (record_output__check(&rec->output) || !record_output__has_data(&rec->output)) {
		record_output__undo(&rec->output);
		return ret ?: 1;	/* it is said why, by perf record if not here */
	}
	record_output__keep(&rec->output, ret);
	/* Maps are of use with the first table, too. */
	failed = write_last_vms(rec);
	collectors__fetch(&rec->collectors, &rec->vms, rec->output.path);
	guest_memory__take(&rec->memory, &rec->collectors, &rec->vms, rec->output.path);
	/* With why there are no maps of some */
	if (!failed && kvm_vms__miss_maps(&rec->vms))
		failed = write_vms(rec);
	return ret ?: failed;
}

/* The same to standard output */
static int measure_to_pipe(struct unified_record *rec)
{
	int ret = run_perf_record(rec);

	/* Without them, the stream has the VMs as they were before. */
	if (rec->pipe.begun && scan_vms(rec, GUEST_VCPU_AT_END))
		unified_warning("Cannot look for VMs at the end\n");
	leave_out_others(rec);
	if (record_pipe__close(&rec->pipe))
		return ret ?: 1;
	return ret;
}

static int open_output(struct unified_record *rec)
{
	return rec->to_pipe ? record_pipe__open(&rec->pipe, &rec->vms) :
			      record_output__make(&rec->output);
}

/* @nr_left: so many arguments are no options; @argv: the command line. The exit code */
static int run_continuous(struct unified_record *rec, int nr_left, int argc, const char **argv)
{
	if (nr_left || strcmp(rec->output.path, DEFAULT_OUTPUT)) {
		pr_err("--continuous has profiles in its own directory until a signal ends it: no -o, and no command\n");
		return EXIT_USAGE;
	}
	if (rec->args.of_once) {
		pr_err("--%s is of one measurement, and not for --continuous\n", rec->args.of_once);
		return EXIT_USAGE;
	}
	rec->continuous.clock = rec->args.clock;
	return continuous__run(&rec->continuous, argc, argv);
}

int cmd_kvm_unified_record(int argc, const char **argv)
{
	struct unified_record rec = {
		.events.sample_vcpu = true,
		.events.timeline = true,
		.output.path = DEFAULT_OUTPUT,
		.output.cancel = cancel_collectors,
	};
	/* parse_options() moves what is left to the front. */
	const char **given = memdup(argv, argc * sizeof(*argv));
	int nr_given = argc, ret;

	if (hold_std_fds())
		return 1;
	collectors__init(&rec.collectors);
	guest_memory__init(&rec.memory);
	if (perf_config(read_config, &rec))
		return 1;
	argc = parse(&rec, argc, argv);
	if (argc < 0 || !given) {
		pr_err("Out of memory\n");
		return 1;
	}
	if (continuous__check(&rec.continuous))
		return EXIT_USAGE;
	if (rec.continuous.dir && !rec.continuous.segment)
		return run_continuous(&rec, argc, nr_given, given);
	free(given);
	if (rec.continuous.segment) {
		rec.output.path = continuous__begin_segment(&rec.continuous);
		if (!rec.output.path)
			return EXIT_USAGE;
	}
	if (!rec.to_pipe)
		closed_pipe__ends_nothing();
	/* All that can be known to be wrong is found before anything is changed. */
	if (machine__check("perf kvm unified record") || check_pipe(&rec) ||
	    guest_memory__check(&rec.memory) ||
	    record_events__check_rate(&rec.events) || (argc && check_command(argv[0])) ||
	    record_events__read_max_freq(&rec.events) ||
	    record_events__check_kernel(&rec.events) || check_kvm() ||
	    check_pid_namespace(proc_dir()) ||
	    find_vms(&rec) || add_measurement(&rec) || open_output(&rec))
		return 1;
	add_rest(&rec, argc, argv);
	hangup__ends_measurement();
	ret = rec.to_pipe ? measure_to_pipe(&rec) : measure(&rec);
	guest_memory__exit(&rec.memory);
	collectors__exit(&rec.collectors);
	patterns__delete(rec.collectors.selected);
	perf_cpu_map__put(rec.online);
	kvm_vms__exit(&rec.vms);
	limits_scan__exit(&rec.limits);
	return ret;
}
