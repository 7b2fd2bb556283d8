// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified report: reads a session and fills profiles, one of the host
 * and one of each guest.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/zalloc.h>
#include <subcmd/parse-options.h>

#include "util/data.h"
#include "util/debug.h"
#include "util/dso.h"
#include "util/event.h"
#include "util/evlist.h"
#include "util/evsel.h"
#include "util/machine.h"
#include "util/map.h"
#include "util/sample.h"
#include "util/session.h"
#include "util/symbol.h"
#include "util/thread.h"
#include "util/tool.h"
#include "util/util.h"
#include "util/vcpu-sample.h"
#include "kvm-guests.h"
#include "kvm-unified.h"
#include "print-table.h"
#include "profile.h"

#define DEFAULT_PERCENT_LIMIT	0.1

/* More lost than this much of all samples is said as a warning. */
#define LOST_WARN_PERCENT	1.0

/* A guest of the report */
struct report_guest {
	struct list_head node;
	struct kvm_guest *guest;
	struct profile	 profile;
	u64		 *vcpu_samples;		/* by vCPU id */
	u32		 nr_vcpus;
};

struct map_arg {
	struct list_head node;
	char		 *name;
	const char	 *file;
	int		 kallsyms_fd;	/* in memory: nothing to clean up; or -1 */
};

struct report {
	struct perf_tool tool;
	struct perf_session *session;
	struct evsel	 *evsel;	/* the one whose samples are counted */
	struct profile	 host;
	struct list_head guests;
	struct list_head map_args;
	struct print_table_opts print;
	u64		 first, last;	/* ns, time of samples */
	u64		 nr_samples;
	u64		 nr_relabelled;
	u64		 nr_lost;	/* records, from PERF_RECORD_LOST */
	u64		 nr_lost_samples; /* samples of @evsel, if the kernel counts them */
	u64		 nr_timeline;
	u64		 nr_other;	/* samples of other events */
	u64		 nr_host_kernel;
	u64		 nr_host_kernel_named;
	u64		 nr_unplaced;	/* ... with a CPU or vCPU number beyond reason */
	u64		 nr_throttled;
	u64		 *cpu_samples;
	u32		 nr_cpus;
};

/* vCPU and CPU numbers come from a file: more than any machine has is an error */
#define REPORT_MAX_CPUS		65536

/* @array[@idx]++ in an array that grows */
static int count(u64 **array, u32 *nr, u32 idx)
{
	if (idx >= REPORT_MAX_CPUS)
		return -ERANGE;

	if (idx >= *nr) {
		u64 *grown = reallocarray(*array, idx + 1, sizeof(**array));

		if (!grown)
			return -ENOMEM;
		memset(grown + *nr, 0, (idx + 1 - *nr) * sizeof(**array));
		*array = grown;
		*nr = idx + 1;
	}
	(*array)[idx]++;
	return 0;
}

static struct report_guest *report__findnew_guest(struct report *rep, struct kvm_guest *guest)
{
	struct report_guest *rg;

	list_for_each_entry(rg, &rep->guests, node) {
		if (rg->guest == guest)
			return rg;
	}

	rg = zalloc(sizeof(*rg));
	if (!rg)
		return NULL;
	if (profile__init(&rg->profile)) {
		free(rg);
		return NULL;
	}
	rg->guest = guest;
	list_add_tail(&rg->node, &rep->guests);
	return rg;
}

/* The event that the report is of: the first that samples time or cycles */
static struct evsel *report__evsel(const struct report *rep)
{
	struct evsel *evsel;

	evlist__for_each_entry(rep->session->evlist, evsel) {
		if (evsel->core.attr.type != PERF_TYPE_TRACEPOINT &&
		    !evsel__is_dummy_event(evsel))
			return evsel;
	}
	return NULL;
}

/* "[kernel]" for any kernel, else the file's name as perf report has it */
static const char *module_name(const struct addr_location *al)
{
	struct dso *dso = al->map ? map__dso(al->map) : NULL;

	if (!dso)
		return "[unknown]";
	if (dso__kernel(dso) && !dso__is_kmod(dso))
		return "[kernel]";
	return dso__short_name(dso);
}

static const char *function_name(const struct addr_location *al)
{
	return al->sym ? al->sym->name : "[unknown]";
}

/* A whole guest is one row at host level; @guest is NULL if it is not known. */
static int report__add_vm(struct report *rep, const struct kvm_guest *guest, pid_t pid)
{
	char function[GUEST_VM_NAME_LEN + 2], module[32];
	struct profile_key key = {
		.class = PROFILE_VM,
		.function = function,
		.module = module,
		.comm = "",
		.pid = -1,
	};

	scnprintf(function, sizeof(function), "[%s]", guest ? guest->name : "guest");
	scnprintf(module, sizeof(module), "(VM pid %d)", pid & ~KVM_GUEST_PSEUDO_PID);
	return profile__add(&rep->host, &key, 1);
}

/*
 * The interrupt came while KVM handled another exit: the host's time, though
 * the kernel could not know it when it took the sample.
 */
static int report__add_exit_handling(struct report *rep, const struct perf_sample *sample)
{
	const struct vcpu_sample *vcpu = &sample->vcpu_ctx;
	char function[64], reason[32];
	struct profile_key key = {
		.class = PROFILE_OS,
		.function = function,
		.module = "(exit handling)",
		.comm = "",
		.pid = -1,
	};

	scnprintf(function, sizeof(function), "[exit: %s]",
		  vcpu_exit_reason__name(vcpu_sample__isa(vcpu), vcpu->exit_reason,
					 reason, sizeof(reason)));
	rep->nr_relabelled++;
	return profile__add(&rep->host, &key, 1);
}

static int report__add_guest(struct report *rep, const struct perf_sample *sample,
			     struct kvm_guest *guest, const struct addr_location *al)
{
	struct report_guest *rg = report__findnew_guest(rep, guest);
	bool user = sample->cpumode == PERF_RECORD_MISC_GUEST_USER;
	struct profile_key key = {
		.class = user ? PROFILE_USER : PROFILE_OS,
		.function = function_name(al),
		.module = module_name(al),
		.comm = user ? thread__comm_str(al->thread) ?: "" : "",
		.pid = user ? (pid_t)sample->pid : -1,
	};
	int ret;

	if (!rg)
		return -ENOMEM;

	if (sample->vcpu_ctx.flags & PERF_VCPU_LOADED) {
		ret = count(&rg->vcpu_samples, &rg->nr_vcpus, sample->vcpu);
		if (ret == -ERANGE)
			rep->nr_unplaced++;
		else if (ret)
			return ret;
	}
	ret = profile__add(&rg->profile, &key, 1);
	if (ret)
		return ret;
	return report__add_vm(rep, guest, guest->pid);
}

static int report__add_host(struct report *rep, const struct perf_sample *sample,
			    const struct addr_location *al)
{
	bool user = sample->cpumode == PERF_RECORD_MISC_USER;
	struct profile_key key = {
		.class = user ? PROFILE_USER : PROFILE_OS,
		.function = function_name(al),
		.module = module_name(al),
		.comm = "",
		.pid = -1,
	};

	if (!user) {
		rep->nr_host_kernel++;
		rep->nr_host_kernel_named += !!al->sym;
	}

	/* The idle task also runs interrupts; only where it waits is idle. */
	if (!user && !sample->pid && al->sym && al->sym->idle)
		key.class = PROFILE_IDLE;

	return profile__add(&rep->host, &key, 1);
}

static int process_sample(const struct perf_tool *tool, union perf_event *event __maybe_unused,
			  struct perf_sample *sample, struct evsel *evsel,
			  struct machine *machine)
{
	struct report *rep = container_of(tool, struct report, tool);
	bool in_guest = sample->cpumode == PERF_RECORD_MISC_GUEST_USER ||
			sample->cpumode == PERF_RECORD_MISC_GUEST_KERNEL;
	const struct perf_env *env = &rep->session->header.env;
	struct kvm_guest *guest;
	struct addr_location al;
	int ret;

	/* In a pipe's data, the events come with the records. */
	if (!rep->evsel)
		rep->evsel = report__evsel(rep);
	if (evsel != rep->evsel) {
		if (evsel__name_is(evsel, "kvm:kvm_vcpu_timeline"))
			rep->nr_timeline++;
		else
			rep->nr_other++;
		return 0;
	}

	rep->nr_samples++;
	if (sample->time != -1ULL) {
		rep->first = min(rep->first, sample->time);
		rep->last = max(rep->last, sample->time);
	}
	/* machine__resolve() looks it up in a table of the CPUs there are. */
	if (sample->cpu != (u32)-1 && env->nr_cpus_avail > 0 &&
	    sample->cpu >= (u32)env->nr_cpus_avail) {
		rep->nr_unplaced++;
		sample->cpu = -1;
	}
	if (sample->cpu != (u32)-1) {
		ret = count(&rep->cpu_samples, &rep->nr_cpus, sample->cpu);
		if (ret == -ERANGE)
			rep->nr_unplaced++;
		else if (ret)
			return ret;
	}

	if (in_guest && (sample->vcpu_ctx.flags & PERF_VCPU_LOADED) &&
	    !vcpu_sample__interrupted_guest(&sample->vcpu_ctx))
		return report__add_exit_handling(rep, sample);

	guest = in_guest ? kvm_guests__find(rep->session, machine->pid) : NULL;
	if (in_guest && !guest)
		return report__add_vm(rep, NULL, machine->pid);

	addr_location__init(&al);
	ret = machine__resolve(machine, &al, sample);
	if (!ret)
		ret = guest ? report__add_guest(rep, sample, guest, &al) :
			      report__add_host(rep, sample, &al);
	addr_location__exit(&al);
	return ret;
}

static int process_lost(const struct perf_tool *tool, union perf_event *event,
			struct perf_sample *sample __maybe_unused,
			struct machine *machine __maybe_unused)
{
	struct report *rep = container_of(tool, struct report, tool);

	rep->nr_lost += event->lost.lost;
	return 0;
}

static int process_lost_samples(const struct perf_tool *tool, union perf_event *event,
				struct perf_sample *sample,
				struct machine *machine __maybe_unused)
{
	struct report *rep = container_of(tool, struct report, tool);

	/* What a BPF filter has dropped was to be dropped. */
	if (event->header.misc & PERF_RECORD_MISC_LOST_SAMPLES_BPF)
		return 0;
	if (evlist__id2evsel(rep->session->evlist, sample->id) == rep->evsel)
		rep->nr_lost_samples += event->lost_samples.lost;
	return 0;
}

/*
 * The kernel counts a lost sample twice: in the buffer's count, together with
 * other records, and in the event's, if it is asked for that.
 */
static u64 report__lost(const struct report *rep)
{
	if (rep->evsel && (rep->evsel->core.attr.read_format & PERF_FORMAT_LOST))
		return rep->nr_lost_samples;
	return rep->nr_lost;
}

static int process_throttle(const struct perf_tool *tool, union perf_event *event __maybe_unused,
			    struct perf_sample *sample __maybe_unused,
			    struct machine *machine __maybe_unused)
{
	struct report *rep = container_of(tool, struct report, tool);

	rep->nr_throttled++;
	return 0;
}

/* CPUs that have a sample */
static u32 report__nr_cpus(const struct report *rep)
{
	u32 nr = 0;

	for (u32 i = 0; i < rep->nr_cpus; i++)
		nr += !!rep->cpu_samples[i];
	return nr;
}

static bool report__period_is_exact(struct evsel *evsel)
{
	return !evsel->core.attr.freq && (evsel__match(evsel, SOFTWARE, SW_CPU_CLOCK) ||
					  evsel__match(evsel, SOFTWARE, SW_TASK_CLOCK));
}

/*
 * The time between two samples of a CPU that is never idle, ns: what was asked
 * for if that was a time or a frequency, else what the busiest CPU got.
 */
static u64 report__period(const struct report *rep, struct evsel *evsel)
{
	const struct perf_event_attr *attr = &evsel->core.attr;
	u64 most = 0;

	if (attr->freq)
		return attr->sample_freq ? NSEC_PER_SEC / attr->sample_freq : 0;

	if (report__period_is_exact(evsel))
		return attr->sample_period;

	for (u32 i = 0; i < rep->nr_cpus; i++)
		most = max(most, rep->cpu_samples[i]);
	return most ? (rep->last - rep->first) / most : 0;
}

/* What the measurement lasted: the last sample stands for a period, too. */
static u64 report__duration(const struct report *rep, u64 period)
{
	return rep->nr_samples ? rep->last - rep->first + period : 0;
}

static u64 report_guest__seen(const struct report_guest *rg, u32 id)
{
	return id < rg->nr_vcpus ? rg->vcpu_samples[id] : 0;
}

/* The highest vCPU id and 1. Ids have gaps: they are x86 APIC ids. */
static u32 report_guest__end(const struct report_guest *rg, const struct kvm_vm *vm)
{
	u32 end = rg->nr_vcpus;

	for (u32 i = 0; vm && i < vm->nr_vcpus; i++) {
		if (vm->vcpus[i].id < REPORT_MAX_CPUS)
			end = max(end, vm->vcpus[i].id + 1);
	}
	return end;
}

/* A vCPU is one that the VM has, or that was seen in a sample. */
static u32 report_guest__nr_vcpus(const struct report_guest *rg, const struct kvm_vm *vm)
{
	u32 nr = 0;

	for (u32 id = 0; id < report_guest__end(rg, vm); id++)
		nr += report_guest__seen(rg, id) || (vm && kvm_vm__has_vcpu(vm, id));
	return nr;
}

/*
 * A row for each vCPU: the time that it did not run the guest. Not known without
 * vCPU contexts, nor for the guests that a guest runs.
 */
static int report_guest__add_blank(struct report_guest *rg, const struct kvm_vm *vm,
				   u64 duration, u64 period)
{
	if (!rg->nr_vcpus || rg->guest->nested)
		return 0;

	for (u32 id = 0; id < report_guest__end(rg, vm); id++) {
		char function[32];
		struct profile_key key = {
			.class = PROFILE_BLANK,
			.function = function,
			.module = "(outside)",
			.comm = "",
			.pid = -1,
		};
		u64 seen = report_guest__seen(rg, id);
		int ret;

		if (!seen && !(vm && kvm_vm__has_vcpu(vm, id)))
			continue;
		scnprintf(function, sizeof(function), "[blank] (vcpu%u)", id);
		ret = profile__add(&rg->profile, &key, profile__blank(duration, period, seen));
		if (ret)
			return ret;
	}
	return 0;
}

static void print_guest_line(const struct kvm_guest *guest, u32 nr_vcpus, FILE *fp)
{
	fprintf(fp, "# guest %s: pid %d, %u vCPU%s, ", guest->name,
		guest->pid & ~KVM_GUEST_PSEUDO_PID, nr_vcpus, nr_vcpus == 1 ? "" : "s");
	if (guest->nested)
		fprintf(fp, "what its own guests run, by CR3\n");
	else if (guest->has_map)
		fprintf(fp, "map of %zu address spaces names the process of %" PRIu64 " of %" PRIu64
			" user samples (%.2f %%)\n", guest->spaces.nr, guest->nr_user_named,
			guest->nr_user,
			guest->nr_user ? 100.0 * guest->nr_user_named / guest->nr_user : 0.0);
	else
		fprintf(fp, "no map: user code by CR3, without names\n");
}

static int report__print(struct report *rep, FILE *fp)
{
	struct evsel *evsel = rep->evsel;
	u32 nr_cpus = report__nr_cpus(rep);
	const struct perf_env *env = &rep->session->header.env;
	u64 period = evsel ? report__period(rep, evsel) : 0;
	u64 duration = report__duration(rep, period);
	struct report_guest *rg;
	char title[GUEST_VM_NAME_LEN + 32];
	int ret;

	fprintf(fp, "# perf kvm unified report: %.3f s on the host's clock, %s %s %.3f ms, ",
		(double)duration / NSEC_PER_SEC, evsel ? evsel__name(evsel) : "no event",
		evsel && report__period_is_exact(evsel) ? "every" : "about every",
		(double)period / NSEC_PER_MSEC);
	fprintf(fp, "%u CPU%s, kernel %s\n", nr_cpus, nr_cpus == 1 ? "" : "s",
		env->os_release ?: "unknown");
	fprintf(fp, "# samples %" PRIu64 ", lost %" PRIu64 ", throttled %" PRIu64 " times, ",
		rep->nr_samples, report__lost(rep), rep->nr_throttled);
	fprintf(fp, "relabelled guest -> exit handling %" PRIu64 " (%.2f %%), timeline events %"
		PRIu64 "\n", rep->nr_relabelled,
		profile__percent(&rep->host, rep->nr_relabelled), rep->nr_timeline);

	list_for_each_entry(rg, &rep->guests, node) {
		struct kvm_vm *vm = kvm_vms__find_pid(&rep->session->kvm_guests->vms,
						      rg->guest->pid);

		ret = report_guest__add_blank(rg, vm, duration, period);
		if (ret)
			return ret;
		print_guest_line(rg->guest, report_guest__nr_vcpus(rg, vm), fp);
	}
	fputc('\n', fp);

	ret = print_table__host(&rep->host, "Host", &rep->print, fp);
	list_for_each_entry(rg, &rep->guests, node) {
		if (ret)
			break;
		scnprintf(title, sizeof(title), "%s", rg->guest->name);
		ret = print_table__guest(&rg->profile, title, &rep->print, fp);
	}
	if (!ret && (fflush(fp) || ferror(fp)))
		ret = -errno;
	return ret;
}

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
	ma->file = eq + 1;
	ma->kallsyms_fd = -1;
	list_add_tail(&ma->node, &rep->map_args);
	return 0;
}

static int parse_guest_root(const struct option *opt __maybe_unused, const char *arg,
			    int unset __maybe_unused)
{
	int ret = kvm_guests__add_root(arg);

	if (ret)
		pr_err("--guest-root %s: %s\n", arg, strerror(-ret));
	return ret;
}

/* The maps that were given by hand. They are used in this report only. */
static int report__load_maps(struct report *rep)
{
	struct map_arg *ma;
	char err[256], kallsyms[32];
	int ret;

	list_for_each_entry(ma, &rep->map_args, node) {
		struct kvm_guest *guest = kvm_guests__find_name(rep->session, ma->name);

		if (!guest) {
			pr_err("--guest-map: there is no guest '%s' in %s.\n", ma->name,
			       rep->session->data->path);
			if (rep->session->kvm_guests) {
				list_for_each_entry(guest, &rep->session->kvm_guests->guests, node)
					pr_err("There is: %s (pid %d)\n", guest->name, guest->pid);
			}
			return -ENOENT;
		}
		if (guest->has_map) {
			pr_err("--guest-map: guest %s has a map in %s already (--no-guest-maps leaves it out)\n",
			       ma->name, rep->session->data->path);
			return -EEXIST;
		}

		ma->kallsyms_fd = memfd_create("kallsyms", MFD_CLOEXEC);
		if (ma->kallsyms_fd < 0) {
			ret = -errno;
			pr_err("No memory for the guest's symbols: %s\n", strerror(-ret));
			return ret;
		}
		scnprintf(kallsyms, sizeof(kallsyms), "/proc/self/fd/%d", ma->kallsyms_fd);
		ret = guest_map__extract_kallsyms(ma->file, ma->kallsyms_fd, err, sizeof(err));
		if (!ret)
			ret = kvm_guest__load_map(guest, ma->file, kallsyms, err, sizeof(err));
		if (ret) {
			pr_err("The map %s %s\n", ma->file, err);
			return ret;
		}
	}
	return 0;
}

/*
 * A map that is certainly of something else makes every name wrong: no report.
 * One that just does not help is told about.
 */
static int report__check_maps(struct report *rep)
{
	struct kvm_guest *guest;

	if (!rep->session->kvm_guests)
		return 0;

	list_for_each_entry(guest, &rep->session->kvm_guests->guests, node) {
		if (guest->nr_foreign_files)
			pr_warning("Guest %s: %" PRIu64 " mapped files below %s have another build-id, not used\n",
				   guest->name, guest->nr_foreign_files, guest->root);
		if (kvm_guest__map_names_nobody(guest))
			pr_warning("Guest %s: no process of its map was seen running. They may have ended\n"
				   "before the map was made, or the map is of another guest.\n",
				   guest->name);
		if (!kvm_guest__map_is_foreign(guest))
			continue;
		pr_err("The map of guest %s is of another guest, or of another boot of this one:\n"
		       "only %" PRIu64 " of %" PRIu64 " samples of its kernel are where the map has it.\n"
		       "Give the right one with --guest-map, or use --no-guest-maps.\n",
		       guest->name, guest->nr_kernel_named, guest->nr_kernel);
		return -EINVAL;
	}
	return 0;
}

static void report__warn(const struct report *rep)
{
	u64 nr_lost = report__lost(rep);
	double lost = 100.0 * nr_lost / (rep->nr_samples + nr_lost ?: 1);

	if (lost > LOST_WARN_PERCENT)
		pr_warning("%.1f %% of the samples were lost, and are part of what is shown as blank:\n"
			   "record with a larger buffer (-m)\n", lost);
	if (rep->nr_other)
		pr_warning("%" PRIu64 " samples of other events than %s are not in this report: see perf report\n",
			   rep->nr_other, rep->evsel ? evsel__name(rep->evsel) : "the first");
	if (rep->nr_host_kernel_named < rep->nr_host_kernel / 2)
		pr_warning("The host's kernel has no symbols here, so idle time counts as OS: give its vmlinux (-k)\n");
	if (rep->nr_unplaced)
		pr_warning("%" PRIu64 " samples have a CPU or vCPU number that cannot be: is the file damaged?\n",
			   rep->nr_unplaced);
	if (!rep->nr_samples)
		pr_warning("There is not one sample in this profile.\n");
	else if (!rep->session->kvm_guests)
		pr_warning("This is not a profile of perf kvm unified record: guests are not told apart.\n");
	else if (list_empty(&rep->guests))
		pr_warning("No guest ran during the measurement: host level only.\n");
}

static void report__exit(struct report *rep)
{
	struct report_guest *rg, *tmp;
	struct map_arg *ma, *tmp_ma;

	profile__exit(&rep->host);
	free(rep->cpu_samples);
	list_for_each_entry_safe(rg, tmp, &rep->guests, node) {
		profile__exit(&rg->profile);
		free(rg->vcpu_samples);
		free(rg);
	}
	list_for_each_entry_safe(ma, tmp_ma, &rep->map_args, node) {
		if (ma->kallsyms_fd >= 0)
			close(ma->kallsyms_fd);
		free(ma->name);
		free(ma);
	}
}

static int report__run(struct report *rep, struct perf_data *data)
{
	int ret;

	rep->session = perf_session__new(data, &rep->tool);
	if (IS_ERR(rep->session)) {
		ret = PTR_ERR(rep->session);
		rep->session = NULL;
		/* -1 is not an errno: perf has said more, or says it with -v. */
		if (ret == -1)
			pr_err("Cannot read %s as a profile\n", data->path);
		else
			pr_err("Cannot read %s: %s\n", data->path, strerror(-ret));
		return ret;
	}

	rep->evsel = report__evsel(rep);
	ret = symbol__init(&rep->session->header.env) < 0 ? -EIO : 0;
	if (!ret)
		ret = report__load_maps(rep);
	if (!ret) {
		ret = perf_session__process_events(rep->session);
		if (ret)
			pr_err("%s is damaged: not all of its records can be read.\n", data->path);
	}
	if (!ret)
		ret = report__check_maps(rep);
	if (!ret) {
		report__warn(rep);
		ret = report__print(rep, stdout);
		if (ret)
			pr_err("Cannot print the report: %s\n", strerror(-ret));
	}
	return ret;
}

int cmd_kvm_unified_report(int argc, const char **argv)
{
	struct report rep = {
		.guests = LIST_HEAD_INIT(rep.guests),
		.map_args = LIST_HEAD_INIT(rep.map_args),
		.print.percent_limit = DEFAULT_PERCENT_LIMIT,
		.first = ~0ULL,
	};
	struct perf_data data = {
		.path = "perf.data",
		.mode = PERF_DATA_MODE_READ,
	};
	const char *percent_limit = NULL;
	const struct option options[] = {
		OPT_STRING('i', "input", &data.path, "dir",
			   "profile to read (default: perf.data)"),
		OPT_CALLBACK(0, "guest-map", &rep, "NAME=FILE",
			     "map of guest NAME, made by perf kvm unified guest-map in it",
			     parse_guest_map),
		OPT_BOOLEAN(0, "guest-maps", &kvm_guests__use_maps,
			    "use the maps in the profile (default)"),
		OPT_CALLBACK(0, "guest-root", NULL, "[NAME=]DIR",
			     "where the root file system of guest NAME, or of all guests, is mounted",
			     parse_guest_root),
		OPT_STRING(0, "percent-limit", &percent_limit, "percent",
			   "put rows below it together (default: 0.1)"),
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

	argc = parse_options(argc, argv, options, usage, 0);
	if (argc)
		usage_with_options(usage, options);

	if (percent_limit) {
		char *end;

		rep.print.percent_limit = strtod(percent_limit, &end);
		if (end == percent_limit || *end ||
		    !(rep.print.percent_limit >= 0 && rep.print.percent_limit <= 100)) {
			pr_err("--percent-limit wants a number from 0 to 100, not '%s'\n",
			       percent_limit);
			return 1;
		}
	}
	if (quiet)
		perf_quiet_option();

	perf_host = true;
	perf_guest = true;

	perf_tool__init(&rep.tool, /*ordered_events=*/true);
	rep.tool.sample		= process_sample;
	rep.tool.mmap		= perf_event__process_mmap;
	rep.tool.mmap2		= perf_event__process_mmap2;
	rep.tool.comm		= perf_event__process_comm;
	rep.tool.namespaces	= perf_event__process_namespaces;
	rep.tool.cgroup		= perf_event__process_cgroup;
	rep.tool.fork		= perf_event__process_fork;
	rep.tool.exit		= perf_event__process_exit;
	rep.tool.ksymbol	= perf_event__process_ksymbol;
	rep.tool.bpf		= perf_event__process_bpf;
	rep.tool.text_poke	= perf_event__process_text_poke;
	rep.tool.lost		= process_lost;
	rep.tool.lost_samples	= process_lost_samples;
	rep.tool.throttle	= process_throttle;

	ret = profile__init(&rep.host);
	if (!ret)
		ret = report__run(&rep, &data);

	report__exit(&rep);
	if (rep.session)
		perf_session__delete(rep.session);
	return ret ? 1 : 0;
}
