// SPDX-License-Identifier: GPL-2.0
/*
 * The events of a measurement: which of them can be opened here, how often each takes a
 * sample, and what perf record is told of them.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <api/fs/fs.h>
#include <api/fs/tracing_path.h>
#include <perf/cpumap.h>
#include <subcmd/parse-options.h>

#include "perf-sys.h"
#include "util/cap.h"
#include "util/debug.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/lib/warnings.h"
#include "kvm-unified/lib/write.h"
#include "args.h"
#include "bpf-timeline.h"
#include "bpf-vcpu.h"
#include "events.h"

#define TIMELINE_EVENT_DIR	KVM_TIMELINE_SYSTEM "/" KVM_TIMELINE_NAME

/* Fine enough for a time slice, and far from what costs the guests anything */
#define DEFAULT_PERIOD_NS	NSEC_PER_MSEC
#define DEFAULT_FREQ		1000

/* Can an event be opened on some CPU? 0 or -errno */
static int probe_attr(struct perf_event_attr *attr)
{
	struct perf_cpu_map *cpus = perf_cpu_map__new_online_cpus();
	int fd;

	attr->size = sizeof(*attr);
	attr->sample_period = DEFAULT_PERIOD_NS;
	attr->disabled = 1;

	/* perf_event_open_cloexec_flag() has a warning of its own where all is refused. */
	fd = sys_perf_event_open(attr, -1, perf_cpu_map__cpu(cpus, 0).cpu, -1,
				 PERF_FLAG_FD_CLOEXEC);
	perf_cpu_map__put(cpus);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int probe_event(u32 type, u64 config, bool sample_vcpu, bool exclude_guest)
{
	struct perf_event_attr attr = {
		.type = type,
		.config = config,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       (sample_vcpu ? PERF_SAMPLE_VCPU : 0),
		.exclude_guest = exclude_guest,
	};

	return probe_attr(&attr);
}

/* Its highest level in mainline; Debian's and others' kernels want CAP_SYS_ADMIN above it. */
#define PARANOID_MAX		2

/* What a hint ends with */
#define FOR_VMS								\
	"Without root, VMs and their time\n"				\
	"line want CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, too.\n"

/* The rest of a message: how to profile the whole host where that was refused */
const char *perf_rights__hint(const struct perf_rights *rights)
{
	bool strict = rights->paranoid > PARANOID_MAX;

	if (rights->sys_admin || (rights->perfmon && !strict))
		return "It has the capabilities, and perf_event_open() is refused all the same: by a\n"
		       "container's seccomp profile, which has to allow it (docker, podman:\n"
		       "--privileged), or by a security module.\n";
	if (rights->root)
		return strict ? "This root, as of a container, is without CAP_SYS_ADMIN, which the kernel\n"
				"wants where kernel.perf_event_paranoid is above 2 (docker, podman:\n"
				"--cap-add SYS_ADMIN, or --privileged).\n" :
				"This root, as of a container, is without CAP_PERFMON (docker, podman:\n"
				"--cap-add PERFMON, or --privileged).\n";
	if (strict)
		return "The sysctl kernel.perf_event_paranoid is above 2, where some kernels,\n"
		       "such as Debian's, want CAP_SYS_ADMIN. Run as root, or with that, or set\n"
		       "it to 2, where CAP_PERFMON is enough. " FOR_VMS;
	return "Run as root, or with CAP_PERFMON, or with sysctl\n"
	       "kernel.perf_event_paranoid=-1. " FOR_VMS;
}

static void pr_no_permission(void)
{
	struct perf_rights rights = {
		.root = !geteuid(),
		.perfmon = perf_cap__capable(CAP_PERFMON),
		.sys_admin = perf_cap__capable(CAP_SYS_ADMIN),
	};

	/* Without procfs it stays 0. */
	sysctl__read_int("kernel/perf_event_paranoid", &rights.paranoid);
	pr_err("No permission to profile the whole host.\n%s", perf_rights__hint(&rights));
}

/* Call chains are wanted, which the kernel may have of the host alone. */
void record_events__warn_no_callers(const struct record_events *events)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
		.guest_callchain = 1,
	};
	bool asked = events->mode == KERNEL_MODE_SERIES;
	int ret = asked ? probe_attr(&attr) : -EINVAL;

	if (ret == -EINVAL || ret == -EOPNOTSUPP)
		unified_warning("Call chains are of the host alone: %s\n", asked ?
				"this kernel has none of guests" :
				"those of guests want a kernel with PERF_SAMPLE_VCPU");
}

static const char *const mode_names[] = {
	[KERNEL_MODE_AUTO]   = "auto",
	[KERNEL_MODE_SERIES] = "series",
	[KERNEL_MODE_BPF]    = "bpf",
	[KERNEL_MODE_PLAIN]  = "plain",
};

/* --kernel-mode. 0, or -EINVAL with a message */
int record_events__parse_mode(const struct option *opt, const char *arg,
			      int unset __maybe_unused)
{
	enum kernel_mode *mode = opt->value;

	for (size_t i = 0; i < ARRAY_SIZE(mode_names); i++) {
		if (!strcmp(arg, mode_names[i])) {
			*mode = i;
			return 0;
		}
	}
	pr_err("--kernel-mode wants auto, series, bpf or plain, not '%s'\n", arg);
	return -EINVAL;
}

/* @no_vcpu: what the kernel says to PERF_SAMPLE_VCPU; @no_bpf: why no BPF program can do it */
static void pr_no_vcpu(int no_vcpu, const char *no_bpf)
{
	if (no_vcpu == -EOPNOTSUPP)
		pr_err("This kernel cannot tell the vCPU of a sample (PERF_SAMPLE_VCPU) on this architecture.\n");
	else
		pr_err("This kernel has no PERF_SAMPLE_VCPU: samples cannot tell a guest's processes apart.\n");
	if (no_bpf)
		pr_err("Nor can a BPF program: %s.\n", no_bpf);
	pr_err("Boot a kernel that has it, or use --kernel-mode plain for a profile with guest kernel\n"
	       "functions only.\n");
}

/* Tells that BPF takes the kernel's place, if nobody has asked for that. */
static void say_mode(const struct record_events *events)
{
	static const char what[] = "This kernel has no PERF_SAMPLE_VCPU: a BPF program tells";

	if (bpf_vcpu__knows_cr3())
		unified_warning("%s the vCPU and CR3 of samples.\n", what);
	else if (events->guest_tasks)
		unified_warning("%s the vCPU of samples,\n"
				"and CR3 of what a guest has in its memory as its current task.\n",
				what);
	else
		unified_warning("%s the vCPU of samples.\n"
				"It cannot read CR3 on VMX, nor is it told of current tasks: processes of guests are not told apart.\n",
				what);
}

/* The program that tells current tasks, beside the kernel. 0 or -errno with a message */
static int add_tasks(const struct record_events *events)
{
	char err[256];
	int ret;

	if (!events->guest_tasks)
		return 0;
	bpf_vcpu__want_tasks();
	ret = bpf_vcpu__open(err, sizeof(err));
	if (ret)
		pr_err("No --guest-tasks here: %s\n", err);
	return ret;
}

/*
 * The kernel answers @no_vcpu to samples with the vCPU, if not 0: what else is there? 0 or -errno
 * with a message
 */
static int choose_mode(struct record_events *events, int no_vcpu)
{
	char err[256];

	if (events->mode == KERNEL_MODE_PLAIN)
		return 0;
	if (events->mode != KERNEL_MODE_BPF && !no_vcpu) {
		events->mode = KERNEL_MODE_SERIES;
		return add_tasks(events);
	}
	if (events->mode == KERNEL_MODE_SERIES) {
		pr_no_vcpu(no_vcpu, NULL);
		return -EOPNOTSUPP;
	}
	if (!events->asked_tasks)
		events->guest_tasks = events->guest_memory;
	if (events->guest_tasks)
		bpf_vcpu__want_tasks();
	if (!bpf_vcpu__open(err, sizeof(err))) {
		if (events->mode == KERNEL_MODE_AUTO)
			say_mode(events);
		events->mode = KERNEL_MODE_BPF;
		return 0;
	}
	if (events->mode == KERNEL_MODE_AUTO)
		pr_no_vcpu(no_vcpu, err);
	else
		pr_err("No --kernel-mode bpf here: %s\n", err);
	return -EOPNOTSUPP;
}

/*
 * Can the kernel take the samples that are wanted? If nothing can tell their vCPUs there are no
 * names of guest user code, which is what this command is for: to go on regardless is for the
 * user to decide. 0 or -errno with a message
 */
int record_events__check_kernel(struct record_events *events)
{
	int no_vcpu = 0, ret;
	bool wants_vcpu;

	if (!events->sample_vcpu && events->mode != KERNEL_MODE_AUTO &&
	    events->mode != KERNEL_MODE_PLAIN) {
		pr_err("--no-sample-vcpu is --kernel-mode plain, and not %s\n",
		       mode_names[events->mode]);
		return -EINVAL;
	}
	if (!events->sample_vcpu)
		events->mode = KERNEL_MODE_PLAIN;
	if (events->guest_tasks && events->mode == KERNEL_MODE_PLAIN) {
		pr_err("--guest-tasks is of samples with their vCPUs: no --kernel-mode plain\n");
		return -EINVAL;
	}
	if (events->guest_tasks && !events->guest_memory) {
		pr_err("--guest-tasks looks at guests' memory: no --no-guest-memory, and no -o -\n");
		return -EINVAL;
	}
	wants_vcpu = events->mode == KERNEL_MODE_AUTO || events->mode == KERNEL_MODE_SERIES;
	ret = probe_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, wants_vcpu, false);
	/* Attributes are looked at before permissions are. */
	if (wants_vcpu && (ret == -EOPNOTSUPP || ret == -EINVAL)) {
		no_vcpu = ret;
		ret = probe_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, false);
	}
	if (ret == -EACCES || ret == -EPERM) {
		pr_no_permission();
		return ret;
	}
	if (!ret)
		return choose_mode(events, no_vcpu);
	pr_err("The cpu-clock event cannot be opened: %s\n"
	       "In a container, the seccomp profile has to allow it (docker, podman: --privileged).\n",
	       strerror(-ret));
	return ret;
}

/*
 * -F or -c: 0 is no rate, though perf record takes -c 0 for its default, and of a negative
 * one it loses the sign.
 */
int record_events__parse_rate(const struct option *opt, const char *arg,
			      int unset __maybe_unused)
{
	bool is_freq = opt->short_name == 'F', positive;
	const char **rate = opt->value;
	char *end;

	*rate = arg;
	if (is_freq && !strcmp(arg, "max"))
		return 0;
	positive = strtoull(arg, &end, 0);
	if (!isdigit(arg[0]) || *end) {
		pr_err("-%c wants a number%s, not '%s'\n", opt->short_name,
		       is_freq ? " or max" : "", arg);
		return -EINVAL;
	}
	if (!positive) {
		pr_err("-%c 0 takes no samples\n", opt->short_name);
		return -EINVAL;
	}
	return 0;
}

/* 0 or -EINVAL with a message */
int record_events__check_rate(const struct record_events *events)
{
	if (!events->freq || !events->period)
		return 0;

	pr_err("-F and -c cannot be used together\n");
	return -EINVAL;
}

/* "max" as in perf record; anything else stays as it is. 0 or -errno with a message */
int record_events__read_max_freq(struct record_events *events)
{
	char *freq;
	int max;

	if (!events->freq || strcmp(events->freq, "max"))
		return 0;
	if (sysctl__read_int("kernel/perf_event_max_sample_rate", &max) ||
	    asprintf(&freq, "%d", max) < 0) {
		pr_err("Cannot read the maximal sampling rate\n");
		return -EIO;
	}
	events->freq = freq;
	return 0;
}

static char *event_with_rate(const char *event, const struct record_events *events, bool in_ns)
{
	char *str = NULL;
	int ret;

	if (events->period)
		ret = asprintf(&str, "%s/period=%s/", event, events->period);
	else if (events->freq)
		ret = asprintf(&str, "%s/freq=%s/", event, events->freq);
	else if (in_ns)
		ret = asprintf(&str, "%s/period=%ld/", event, DEFAULT_PERIOD_NS);
	else
		ret = asprintf(&str, "%s/freq=%d/", event, DEFAULT_FREQ);

	return ret < 0 ? NULL : str;
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
static char *default_event(const struct record_events *events)
{
	int ret = probe_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
			      events->mode == KERNEL_MODE_SERIES, false);
	bool mediated;

	if (!ret) {
		if (has_mediated_pmu())
			unified_warning("KVM's enable_mediated_pmu is on: no VM with a vPMU can start while this records\n"
					"(\"Device or resource busy\"). With -e cpu-clock they can.\n");
		return event_with_rate("cycles", events, false);
	}
	mediated = ret == -EOPNOTSUPP &&
		   !probe_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, true);
	unified_warning("No cycles event %s (%s), using cpu-clock: time instead of cycles,\n"
			"and code that runs with interrupts off is seen where they go on again.\n",
			mediated ? "of guests here, as one has a mediated vPMU" : "here",
			strerror(-ret));
	return event_with_rate("cpu-clock", events, true);
}

/* Are there any tracepoints? A mount that another one is on is in the table of mounts, too. */
static bool has_tracefs(void)
{
	char *path = get_events_file("enable");
	bool there = path && (!access(path, F_OK) || errno != ENOENT);

	put_events_file(path);
	return there;
}

/*
 * Is there the event of the time line? 0, -ENODEV: no tracefs is mounted, or can be,
 * -ENOENT: this kernel has no such event, or -EACCES
 */
static int find_timeline(void)
{
	/* perf mounts it here, if it may. */
	char *path = get_events_file(TIMELINE_EVENT_DIR "/id");
	/* access() would not heed the capabilities of who is not root. */
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	int err = fd < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	put_events_file(path);
	if (err && !has_tracefs())
		return -ENODEV;
	return err == -EPERM ? -EACCES : err;
}

static void warn_no_timeline(int err)
{
	static const char without[] =
		"What a vCPU did while it did not run will have to be told from samples alone.\n";

	if (err == -EACCES)
		unified_warning("The tracefs may not be read, and it has %s:\n"
				"it takes root or CAP_DAC_READ_SEARCH.\n%s",
				KVM_TIMELINE_EVENT, without);
	else if (err == -ENODEV)
		unified_warning("No tracefs is mounted here, and it has %s. In a container,\n"
				"give it the host's (-v /sys/kernel/tracing:/sys/kernel/tracing).\n%s",
				KVM_TIMELINE_EVENT, without);
	else
		unified_warning("No %s tracepoint here: what a vCPU did while it did not run\n"
				"will have to be told from samples alone.\n", KVM_TIMELINE_EVENT);
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

/* Writes the event's fields for a report that finds no header: guests/killed.c. 0 or -errno */
int record_events__write_format(const char *path)
{
	char *from = get_events_file(TIMELINE_EVENT_DIR "/format"), *format = NULL;
	size_t len;
	int fd, ret = from ? filename__read_str(from, &format, &len) : -ENOMEM;

	put_events_file(from);
	if (ret)
		return ret;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ret = fd < 0 ? -errno : write_all(fd, format, len);
	if (fd >= 0 && close(fd) && !ret)
		ret = -errno;
	free(format);
	return ret;
}

/* Adds BPF programs that tell the same as an event which this kernel does not have. */
static void add_bpf_timeline(struct record_args *args)
{
	char err[256];

	if (!bpf_timeline__open(err, sizeof(err)))
		record_args__add(args, "--bpf-vcpu-timeline");
	else
		unified_warning("What a vCPU did while it did not run will have to be told from samples alone:\n%s.\n",
				err);
}

static void add_timeline(const struct record_events *events, struct record_args *args)
{
	int err = find_timeline();

	if (err == -ENOENT && events->mode == KERNEL_MODE_BPF) {
		add_bpf_timeline(args);
	} else if (err) {
		warn_no_timeline(err);
	} else if (args->per_task && !timeline_tells_at_end()) {
		unified_warning("No %s of this kernel for single tasks or cgroups: it needs whole CPUs.\n",
				KVM_TIMELINE_EVENT);
	} else {
		record_args__add(args, "-e");
		record_args__add(args, KVM_TIMELINE_EVENT);
	}
}

/* Behind the events: it is for all of them. 0 or -errno with a message */
static int add_cgroup(struct record_args *args)
{
	if (!args->cgroup)
		return 0;
	/* perf record would give one to each event, and does not survive one without a name. */
	if (!*args->cgroup || strchr(args->cgroup, ',')) {
		pr_err("-G takes one cgroup here, for all events, not '%s'\n", args->cgroup);
		return -EINVAL;
	}
	record_args__add(args, "-G");
	record_args__add(args, args->cgroup);
	return 0;
}

/**
 * record_events__add - add the events to perf record's line, with all that is of them
 * @events: what is wanted of them
 * @args: without an event of the user's it gets the default event
 *
 * Return: 0 or -errno
 */
int record_events__add(const struct record_events *events, struct record_args *args)
{
	const char *rate = events->freq ?: events->period;
	bool timeline = events->timeline;

	if (!args->has_event) {
		const char *event = default_event(events);

		if (!event)
			return -ENOMEM;
		record_args__add(args, "-e");
		record_args__add(args, event);
	} else if (rate) {
		record_args__add(args, events->freq ? "-F" : "-c");
		record_args__add(args, rate);
		/*
		 * perf record applies a rate to all events, and one in so many
		 * events of the time line is none at all.
		 */
		if (timeline)
			unified_warning("No " KVM_TIMELINE_EVENT " with -e and -F or -c:\n"
					"give the rate with the event, as in -e cycles/freq=1000/, to get it.\n");
		timeline = false;
	}
	if (timeline)
		add_timeline(events, args);
	return add_cgroup(args);
}
