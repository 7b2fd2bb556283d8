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
	char		 dir[64];	/* temporary, for its kallsyms */
};

struct report {
	struct perf_tool tool;
	struct perf_session *session;
	struct profile	 host;
	struct list_head guests;
	struct list_head map_args;
	struct print_table_opts print;
	u64		 first, last;	/* ns, time of samples */
	u64		 nr_samples;
	u64		 nr_relabelled;
	u64		 nr_lost;
	u64		 nr_timeline;
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
		return -EINVAL;

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

/* A whole guest is one row at host level. */
static int report__add_vm(struct report *rep, const struct kvm_guest *guest)
{
	char function[GUEST_VM_NAME_LEN + 2], module[32];
	struct profile_key key = {
		.class = PROFILE_VM,
		.function = function,
		.module = module,
		.comm = "",
		.pid = -1,
	};

	scnprintf(function, sizeof(function), "[%s]", guest->name);
	scnprintf(module, sizeof(module), "(VM pid %d)", guest->pid);
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
		if (ret)
			return ret;
	}
	ret = profile__add(&rg->profile, &key, 1);
	if (ret)
		return ret;
	return report__add_vm(rep, guest);
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
	struct addr_location al;
	int ret;

	if (evsel->core.attr.type == PERF_TYPE_TRACEPOINT) {
		rep->nr_timeline++;
		return 0;
	}

	rep->nr_samples++;
	if (sample->time != -1ULL) {
		rep->first = min(rep->first, sample->time);
		rep->last = max(rep->last, sample->time);
	}
	if (sample->cpu != (u32)-1) {
		ret = count(&rep->cpu_samples, &rep->nr_cpus, sample->cpu);
		if (ret)
			return ret;
	}

	if (in_guest && (sample->vcpu_ctx.flags & PERF_VCPU_LOADED) &&
	    !vcpu_sample__interrupted_guest(&sample->vcpu_ctx))
		return report__add_exit_handling(rep, sample);

	addr_location__init(&al);
	ret = machine__resolve(machine, &al, sample);
	if (!ret) {
		struct kvm_guest *guest = in_guest ?
					  kvm_guests__find(rep->session, machine->pid) : NULL;

		ret = guest ? report__add_guest(rep, sample, guest, &al) :
			      report__add_host(rep, sample, &al);
	}
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
				struct perf_sample *sample __maybe_unused,
				struct machine *machine __maybe_unused)
{
	struct report *rep = container_of(tool, struct report, tool);

	rep->nr_lost += event->lost_samples.lost;
	return 0;
}

static int process_throttle(const struct perf_tool *tool, union perf_event *event __maybe_unused,
			    struct perf_sample *sample __maybe_unused,
			    struct machine *machine __maybe_unused)
{
	struct report *rep = container_of(tool, struct report, tool);

	rep->nr_throttled++;
	return 0;
}

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

/* CPUs that have a sample */
static u32 report__nr_cpus(const struct report *rep)
{
	u32 nr = 0;

	for (u32 i = 0; i < rep->nr_cpus; i++)
		nr += !!rep->cpu_samples[i];
	return nr;
}

/*
 * The time between two samples of a CPU that is never idle, ns: what was asked
 * for if that was a time or a frequency, else what the busiest CPU got.
 */
static u64 report__period(const struct report *rep, const struct evsel *evsel)
{
	const struct perf_event_attr *attr = &evsel->core.attr;
	u64 most = 0;

	if (attr->freq)
		return attr->sample_freq ? NSEC_PER_SEC / attr->sample_freq : 0;

	if (evsel__match(evsel, SOFTWARE, SW_CPU_CLOCK) ||
	    evsel__match(evsel, SOFTWARE, SW_TASK_CLOCK))
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

/* A row for each vCPU: the time that it did not run the guest */
static int report_guest__add_blank(struct report_guest *rg, const struct kvm_vm *vm,
				   u64 duration, u64 period)
{
	u32 nr = max(rg->nr_vcpus, vm ? vm->nr_vcpus : 0);

	for (u32 i = 0; i < nr; i++) {
		char function[32];
		struct profile_key key = {
			.class = PROFILE_BLANK,
			.function = function,
			.module = "(outside)",
			.comm = "",
			.pid = -1,
		};
		u64 seen = i < rg->nr_vcpus ? rg->vcpu_samples[i] : 0;
		int ret;

		scnprintf(function, sizeof(function), "[blank] (vcpu%u)", i);
		ret = profile__add(&rg->profile, &key, profile__blank(duration, period, seen));
		if (ret)
			return ret;
	}
	return 0;
}

static void print_guest_line(const struct kvm_guest *guest, u32 nr_vcpus, FILE *fp)
{
	fprintf(fp, "# guest %s: pid %d, %u vCPU%s, ", guest->name, guest->pid, nr_vcpus,
		nr_vcpus == 1 ? "" : "s");
	if (guest->has_map)
		fprintf(fp, "map of %zu address spaces names the process of %" PRIu64 " of %" PRIu64
			" user samples (%.2f %%)\n", guest->spaces.nr, guest->nr_user_named,
			guest->nr_user,
			guest->nr_user ? 100.0 * guest->nr_user_named / guest->nr_user : 100.0);
	else
		fprintf(fp, "no map: user code by CR3, without names\n");
}

static int report__print(struct report *rep, FILE *fp)
{
	struct evsel *evsel = report__evsel(rep);
	u32 nr_cpus = report__nr_cpus(rep);
	const struct perf_env *env = &rep->session->header.env;
	u64 period = evsel ? report__period(rep, evsel) : 0;
	u64 duration = report__duration(rep, period);
	struct report_guest *rg;
	char title[GUEST_VM_NAME_LEN + 32];
	int ret;

	fprintf(fp, "# perf kvm unified report: %.3f s on the host's clock, %s every %.3f ms, ",
		(double)duration / NSEC_PER_SEC, evsel ? evsel__name(evsel) : "no event",
		(double)period / NSEC_PER_MSEC);
	fprintf(fp, "%u CPU%s, kernel %s\n", nr_cpus, nr_cpus == 1 ? "" : "s",
		env->os_release ?: "unknown");
	fprintf(fp, "# samples %" PRIu64 ", lost %" PRIu64 ", throttled %" PRIu64 " times, ",
		rep->nr_samples, rep->nr_lost, rep->nr_throttled);
	fprintf(fp, "relabelled guest -> exit handling %" PRIu64 " (%.2f %%), timeline events %"
		PRIu64 "\n", rep->nr_relabelled,
		profile__percent(&rep->host, rep->nr_relabelled), rep->nr_timeline);

	list_for_each_entry(rg, &rep->guests, node) {
		struct kvm_vm *vm = kvm_vms__find_pid(&rep->session->kvm_guests->vms,
						      rg->guest->pid);

		ret = report_guest__add_blank(rg, vm, duration, period);
		if (ret)
			return ret;
		print_guest_line(rg->guest, max(rg->nr_vcpus, vm ? vm->nr_vcpus : 0), fp);
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
	char err[256], kallsyms[96];
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

		scnprintf(ma->dir, sizeof(ma->dir), "/tmp/perf-kvm-unified-XXXXXX");
		if (!mkdtemp(ma->dir)) {
			ret = -errno;
			pr_err("%s: %s\n", ma->dir, strerror(-ret));
			ma->dir[0] = '\0';
			return ret;
		}
		scnprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", ma->dir);
		ret = guest_map__extract_kallsyms(ma->file, ma->dir, err, sizeof(err));
		if (!ret)
			ret = kvm_guest__load_map(guest, ma->file, kallsyms, err, sizeof(err));
		if (ret) {
			pr_err("The map %s %s\n", ma->file, err);
			return ret;
		}
	}
	return 0;
}

static int report__check_maps(struct report *rep)
{
	struct kvm_guest *guest;

	if (!rep->session->kvm_guests)
		return 0;

	list_for_each_entry(guest, &rep->session->kvm_guests->guests, node) {
		if (guest->nr_foreign_files)
			pr_warning("Guest %s: %" PRIu64 " mapped files below %s have another build-id, not used\n",
				   guest->name, guest->nr_foreign_files, guest->root);
		if (!kvm_guest__map_is_foreign(guest))
			continue;
		pr_err("The map of guest %s is of another guest, or of another boot of this one:\n"
		       "it names %" PRIu64 " of %" PRIu64 " samples of its user code and %" PRIu64
		       " of %" PRIu64 " of its kernel.\n"
		       "Give the right one with --guest-map, or use --no-guest-maps.\n",
		       guest->name, guest->nr_user_named, guest->nr_user,
		       guest->nr_kernel_named, guest->nr_kernel);
		return -EINVAL;
	}
	return 0;
}

static void report__warn(const struct report *rep)
{
	double lost = 100.0 * rep->nr_lost / (rep->nr_samples + rep->nr_lost ?: 1);

	if (lost > LOST_WARN_PERCENT)
		pr_warning("%.1f %% of the samples were lost: record with a larger buffer (-m)\n",
			   lost);
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
		char kallsyms[96];

		if (ma->dir[0]) {
			scnprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", ma->dir);
			unlink(kallsyms);
			rmdir(ma->dir);
		}
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
		pr_err("Cannot read %s: %s\n", data->path, strerror(-ret));
		return ret;
	}

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
		if (end == percent_limit || *end) {
			pr_err("--percent-limit wants a number, not '%s'\n", percent_limit);
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
