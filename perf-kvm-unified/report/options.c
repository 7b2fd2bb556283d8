// SPDX-License-Identifier: GPL-2.0
/*
 * The options of perf kvm unified report: those that perf report has, too, are called as there.
 */
#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <perf/cpumap.h>
#include <subcmd/parse-options.h>

#include "util/callchain.h"
#include "util/config.h"
#include "util/data.h"
#include "util/debug.h"
#include "util/hist.h"
#include "util/intlist.h"
#include "util/session.h"
#include "util/sort.h"
#include "util/strlist.h"
#include "util/symbol.h"
#include "util/time-utils.h"
#include "util/util.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/lib/options.h"
#include "kvm-unified/lib/warnings.h"
#include "measurement.h"
#include "options.h"
#include "sort-keys.h"

#define DEFAULT_PERCENT_LIMIT	0.1
/* A process is told by its pid: two of the same name are two. */
#define DEFAULT_SORT_ORDER	"pid,dso,symbol"

static bool has_empty_item(const char *list)
{
	size_t len = strlen(list);

	return !len || list[0] == ',' || list[len - 1] == ',' || strstr(list, ",,");
}

/* Where what is parsed is also to be shown as it was given. The last one counts, as in perf. */
static void keep_string(const struct option *opt, const char *arg)
{
	if (opt->data)
		*(const char **)opt->data = arg;
}

static int parse_numbers(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	struct intlist **list = opt->value;

	intlist__delete(*list);
	*list = NULL;
	keep_string(opt, arg);
	if (!arg[strspn(arg, "0123456789,")] && !has_empty_item(arg))
		*list = intlist__new(arg);
	if (*list)
		return 0;
	pr_err("--%s wants numbers, each once, with commas between them, not '%s'\n",
	       opt->long_name, arg);
	return -EINVAL;
}

static int parse_names(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	struct strlist **list = opt->value;

	strlist__delete(*list);
	*list = NULL;
	keep_string(opt, arg);
	if (!has_empty_item(arg))
		*list = strlist__new(arg, NULL);
	if (*list)
		return 0;
	pr_err("--%s wants names, each once, with commas between them, not '%s'\n",
	       opt->long_name, arg);
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

static int parse_cpus(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	struct perf_cpu_map **cpus = opt->value;

	perf_cpu_map__put(*cpus);
	*cpus = NULL;
	keep_string(opt, arg);
	if (!has_open_item(arg))
		*cpus = perf_cpu_map__new(arg);
	if (*cpus)
		return 0;
	pr_err("--cpu wants a list of CPUs such as 0-3,8, not '%s'\n", arg);
	return -EINVAL;
}

/* Of tables that are not perf's histograms */
static int parse_sort(const char *arg, unsigned int *sort)
{
	static const struct {
		const char *name;
		unsigned int bit;
	} keys[] = {
		{ "sym", SECTION_SORT_SYM }, { "symbol", SECTION_SORT_SYM },
		{ "dso", SECTION_SORT_DSO }, { "comm", SECTION_SORT_COMM },
		{ "pid", SECTION_SORT_PID },
	};
	size_t len, i;

	*sort = 0;
	for (;; arg += len + 1) {
		len = strcspn(arg, ",");
		for (i = 0; i < ARRAY_SIZE(keys); i++) {
			if (strlen(keys[i].name) == len && !strncmp(keys[i].name, arg, len))
				break;
		}
		if (i == ARRAY_SIZE(keys)) {
			pr_err("With --format, --sort knows sym, dso, comm and pid, but not '%.*s'\n",
			       (int)len, arg);
			return -EINVAL;
		}
		*sort |= keys[i].bit;
		if (!arg[len])
			return 0;
	}
}

static int parse_format(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	static const struct {
		const char *name;
		print_fn fn;
	} formats[] = {
		{ "table", print_table }, { "json", print_json }, { "csv", print_csv },
	};
	struct report_options *opts = opt->value;

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(arg, formats[i].name)) {
			opts->print_fn = formats[i].fn;
			return 0;
		}
	}
	pr_err("--format knows table, json and csv, but not '%s'\n", arg);
	return -EINVAL;
}

static int parse_attribution(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	enum attribution *attribution = opt->value;

	if (!strcmp(arg, "cpu-switch")) {
		*attribution = ATTRIBUTION_CPU_SWITCH;
	} else if (!strcmp(arg, "domain-switch")) {
		*attribution = ATTRIBUTION_DOMAIN_SWITCH;
	} else {
		pr_err("--attribution knows cpu-switch and domain-switch, but not '%s'\n", arg);
		return -EINVAL;
	}
	return 0;
}

static int parse_percent_limit(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	double *limit = opt->value;
	char *end;

	*limit = strtod(arg, &end);
	callchain_param.min_percent = *limit;
	if (end != arg && !*end && *limit >= 0 && *limit <= 100)
		return 0;
	pr_err("--percent-limit wants a number from 0 to 100, not '%s'\n", arg);
	return -EINVAL;
}

static int parse_call_graph(const struct option *opt, const char *arg, int unset)
{
	struct callchain_param *param = opt->value;

	param->enabled = !unset;
	symbol_conf.use_callchain = !unset;
	if (!unset)
		return parse_callchain_report_opt(arg);
	param->mode = CHAIN_NONE;
	return 0;
}

/* What perf report takes from perfconfig(1), as far as it is the same here */
static int read_config(const char *var, const char *value, void *cb)
{
	struct report_options *opts = cb;

	if (!strcmp(var, "report.percent-limit")) {
		opts->print.percent_limit = strtod(value, NULL);
		callchain_param.min_percent = opts->print.percent_limit;
	} else if (!strcmp(var, "report.children")) {
		symbol_conf.cumulate_callchain = perf_config_bool(var, value);
	} else if (!strcmp(var, "report.sort_order")) {
		default_sort_order = strdup(value);
		if (!default_sort_order)
			return -1;
	}
	return 0;
}

/* Which of the views is it? What cannot be had with it, or NULL */
static const char *choose_view(struct report_options *opts, bool tui, bool stdio)
{
	struct view *view = &opts->view;

	view->min_percent = opts->print.percent_limit;
	if (tui && stdio)
		return "--tui or --stdio, not both";
	if (tui && !isatty(STDOUT_FILENO))
		return "--tui wants a terminal to write to";
	if (!opts->print_fn) {
		view->tui = tui || (!stdio && !opts->show_header && isatty(STDOUT_FILENO));
		return opts->print.exit_reasons ?
		       "--exit-reasons wants --format table; or use --sort exit_reason" : NULL;
	}
	if (tui || stdio)
		return "--tui and --stdio have a format of their own";
	if (field_order || symbol_conf.report_hierarchy || callchain_param.enabled)
		return "--format knows no -F, -H and -g";
	return NULL;
}

/* Files that options name, those of perf kvm included */
static int check_files(void)
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
static int check_guest_code(void)
{
	if (!symbol_conf.guest_code)
		return 0;

	pr_err("perf kvm --guest-code is of no use here: what a guest executes is told by its map,\n"
	       "which --guest-cmd or --guest-follow of perf kvm unified record get, or --guest-map gives.\n");
	return -EINVAL;
}

/* @str: gets the list as it was given */
#define OPT_LIST(s, l, v, str, a, h, fn)							\
	{ .type = OPTION_CALLBACK, .short_name = (s), .long_name = (l), .value = (v),		\
	  .data = (str), .argh = (a), .help = (h), .callback = (fn) }

/* What has another name since it was first called so. It is taken, but not shown by -h. */
static void warn_renamed(bool given, const char *old, const char *now)
{
	if (given)
		unified_warning("--%s is called --%s now, as in perf report\n", old, now);
}

#define OPT_RENAMED(old, v, given, fn)								\
	{ .type = OPTION_CALLBACK, .long_name = (old), .value = (v), .set = (given),		\
	  .callback = (fn), .flags = PARSE_OPT_HIDDEN, .help = "has another name now" }

#define CALL_GRAPH_DEFAULT	"graph,0.5,caller,function,percent"

static void parse_argv(struct report_options *opts, int argc, const char **argv)
{
	static char call_graph_default[] = CALL_GRAPH_DEFAULT;
	static const char call_graph_help[] =
		"show call chains of the host's code:\n\n" CALLCHAIN_REPORT_HELP
		"\n\t\t\t\tDefault: " CALL_GRAPH_DEFAULT;
	char *sort_keys_help = sort_help("what makes a row, perf's keys:", SORT_MODE__NORMAL);
	char *fields_help = sort_help("the columns:", SORT_MODE__NORMAL);
	bool tui = false, stdio = false;
	const char *problem;
	struct section_opts *sections = &opts->sections;
	bool old_dso = false, old_comm = false, old_symbol = false;
	struct option options[] = {
		OPT_STRING('i', "input", &opts->input, "dir",
			   "profile to read (default: perf.data)"),
		OPT_CALLBACK(0, "format", opts, "table|json|csv",
			     "own tables, instead of perf's views", parse_format),
		OPT_BOOLEAN(0, "tui", &tui, "browse in the terminal (default, if it is one)"),
		OPT_BOOLEAN(0, "stdio", &stdio, "print text (default, if it is no terminal)"),
		OPT_CALLBACK(0, "attribution", &sections->attribution, "cpu-switch|domain-switch",
			     "charge the host's work for a guest to host (default) or guest",
			     parse_attribution),
		OPT_BOOLEAN(0, "timeline", &opts->use_timeline,
			    "use kvm:kvm_vcpu_timeline events if there are any (default)"),
		OPT_BOOLEAN(0, "exit-reasons", &opts->print.exit_reasons,
			    "show by which exit reason a guest's time was stolen"),
		OPT_STRING('s', "sort", &sort_order, "key[,key...]",
			   sort_keys_help ?: "what makes a row"),
		OPT_STRING('F', "fields", &field_order, "key[,key...]",
			   fields_help ?: "the columns"),
		OPT_BOOLEAN('H', "hierarchy", &symbol_conf.report_hierarchy,
			    "show a tree, a level for each key"),
		OPT_CALLBACK_DEFAULT('g', "call-graph", &callchain_param,
				     "print_type,threshold[,print_limit],order,sort_key[,branch],value",
				     call_graph_help, parse_call_graph, call_graph_default),
		OPT_BOOLEAN(0, "children", &symbol_conf.cumulate_callchain,
			    "charge callers with what they call, too (default, with call chains)"),
		OPT_BOOLEAN('G', "inverted", &opts->view.inverted,
			    "callers first"),
		OPT_INTEGER(0, "max-stack", &opts->view.max_stack,
			    "callers of a sample, at most"),
		OPT_STRING('p', "parent", &parent_pattern, "regex",
			   "what is a parent for --sort parent"),
		OPT_BOOLEAN('n', "show-nr-samples", &symbol_conf.show_nr_samples,
			    "show a column with the time in samples"),
		OPT_BOOLEAN(0, "show-total-period", &symbol_conf.show_total_period,
			    "show a column with the time in ns"),
		OPT_STRING('w', "column-widths", &symbol_conf.col_width_list_str,
			   "width[,width...]", "use these widths"),
		OPT_STRING_NOEMPTY('t', "field-separator", &symbol_conf.field_sep, "separator",
				   "put this between columns, and no blanks"),
		OPT_CALLBACK(0, "percentage", NULL, "relative|absolute",
			     "percent of what is shown, or of all", parse_filter_percentage),
		OPT_BOOLEAN(0, "header", &opts->show_header, "show the header of the profile"),
		OPT_BOOLEAN(0, "header-only", &opts->header_only, "show only that"),
		OPT_BOOLEAN('I', "show-info", &opts->show_info,
			    "show all of it, with the machine's topology"),
		OPT_CALLBACK(0, "percent-limit", &opts->print.percent_limit, "percent",
			     "put rows below it together (default: 0.1)", parse_percent_limit),
		OPT_LIST(0, "vm", &sections->vms, &opts->vms, "name[,name...]",
			 "only these VMs", parse_names),
		OPT_LIST(0, "vcpu", &sections->vcpus, &opts->vcpus, "id[,id...]",
			 "only these vCPUs of each VM", parse_numbers),
		OPT_CALLBACK(0, "pid", &sections->pids, "pid[,pid...]",
			     "only rows of these processes of a guest", parse_numbers),
		OPT_CALLBACK('c', "comms", &sections->comms, "comm[,comm...]",
			     "only rows of processes of these names", parse_names),
		OPT_CALLBACK('d', "dsos", &sections->dsos, "dso[,dso...]",
			     "only rows of these modules", parse_names),
		OPT_CALLBACK('S', "symbols", &sections->syms, "symbol[,symbol...]",
			     "only rows of these functions", parse_names),
		OPT_RENAMED("comm", &sections->comms, &old_comm, parse_names),
		OPT_RENAMED("dso", &sections->dsos, &old_dso, parse_names),
		OPT_RENAMED("symbol", &sections->syms, &old_symbol, parse_names),
		OPT_LIST('C', "cpu", &sections->cpus, &opts->cpus, "cpu",
			 "only what was on these CPUs of the host", parse_cpus),
		OPT_STRING(0, "time", &opts->times, "start,stop",
			   "only this time, as in perf report"),
		OPTS_KVM_GUESTS(&opts->guests),
		OPT_STRING('k', "vmlinux", &symbol_conf.vmlinux_name, "file",
			   "vmlinux of the host"),
		OPT_BOOLEAN(0, "ignore-vmlinux", &symbol_conf.ignore_vmlinux,
			    "do not look for one"),
		OPT_STRING(0, "kallsyms", &symbol_conf.kallsyms_name, "file",
			   "kallsyms of the host"),
		OPT_CALLBACK(0, "symfs", NULL, "directory[,layout]",
			     "look for the host's files below this directory",
			     symbol__config_symfs),
		OPT_BOOLEAN('f', "force", &opts->force, "don't complain, do it"),
		OPT_INCR('v', "verbose", &verbose, "be more verbose"),
		OPT_BOOLEAN('q', "quiet", &quiet, "do not show any warnings"),
		OPT_END()
	};
	const char *const usage[] = {
		"perf kvm unified report [<options>]",
		NULL
	};

	options__no_negation(options);
	argc = parse_options(argc, argv, options, usage, 0);
	if (argc)
		usage_with_options_msg(usage, options, "Unknown argument: %s\n", argv[0]);
	warn_renamed(old_comm, "comm", "comms");
	warn_renamed(old_dso, "dso", "dsos");
	warn_renamed(old_symbol, "symbol", "symbols");
	opts->show_header |= opts->header_only;
	problem = choose_view(opts, tui, stdio);
	if (problem)
		usage_with_options_msg(usage, options, "%s\n", problem);
	if (opts->print_fn && sort_order && parse_sort(sort_order, &sections->sort))
		usage_with_options(usage, options);
	free(sort_keys_help);
	free(fields_help);
}

/**
 * report_options__parse - what the command line says
 * @opts: to be given to report_options__exit(), whatever comes of this
 *
 * A usage error ends perf. 0, or -errno with a message about what can be told to be wrong
 * before the profile is opened.
 */
int report_options__parse(struct report_options *opts, int argc, const char **argv)
{
	int ret;

	*opts = (struct report_options) {
		.sections.sort = SECTION_SORT_ALL,
		.print.percent_limit = DEFAULT_PERCENT_LIMIT,
		.view = { .max_stack = PERF_MAX_STACK_DEPTH, .stderr_fd = -1 },
		.use_timeline = true,
		.input = "perf.data",
	};
	kvm_guests_options__init(&opts->guests);
	sort_keys__add();
	default_sort_order = DEFAULT_SORT_ORDER;
	ret = perf_config(read_config, opts);
	if (ret)
		return ret;
	parse_argv(opts, argc, argv);

	if (!strcmp(opts->input, "-")) {
		pr_err("The profile is a directory and cannot come from standard input\n");
		return -EINVAL;
	}
	return check_guest_code() ?: kvm_guests_options__check(&opts->guests) ?: check_files();
}

void report_options__exit(struct report_options *opts)
{
	struct section_opts *sections = &opts->sections;

	kvm_guests_options__exit(&opts->guests);
	strlist__delete(sections->vms);
	intlist__delete(sections->vcpus);
	intlist__delete(sections->pids);
	strlist__delete(sections->comms);
	strlist__delete(sections->dsos);
	strlist__delete(sections->syms);
	perf_cpu_map__put(sections->cpus);
	free(sections->times);
}

/* What the report is of, if not of all, as options say it */
void report_options__selection(const struct report_options *opts, char *buf, size_t size)
{
	scnprintf(buf, size, "%s%s%s%s%s%s%s%s",
		  opts->vms ? " --vm " : "", opts->vms ?: "",
		  opts->vcpus ? " --vcpu " : "", opts->vcpus ?: "",
		  opts->cpus ? " --cpu " : "", opts->cpus ?: "",
		  opts->times ? " --time " : "", opts->times ?: "");
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
int report_options__parse_times(struct report_options *opts, struct perf_session *session)
{
	struct section_opts *sections = &opts->sections;
	int size;

	if (!opts->times)
		return 0;
	if (!perf_time__parse_for_ranges(opts->times, session, &sections->times, &size,
					 &sections->nr_times) && sections->nr_times > 0) {
		for (int i = 0; i < sections->nr_times; i++) {
			const struct perf_time_interval *time = &sections->times[i];

			if (time->end && time->start >= time->end)
				goto bad;
		}
		sections->nr_times = merge_times(sections->times, sections->nr_times);
		return 0;
	}
bad:
	pr_err("--time wants start,stop in seconds, or parts such as 10%%-20%%, not '%s'\n",
	       opts->times);
	return -EINVAL;
}

/* A VM that is asked for and not there is a typing error. */
int report_options__check_vms(const struct report_options *opts, const struct measurement *m)
{
	struct str_node *node;

	if (!opts->sections.vms)
		return 0;

	strlist__for_each_entry(node, opts->sections.vms) {
		u32 i;

		for (i = 0; i < m->nr_vms; i++) {
			if (!strcmp(m->vms[i].name, node->s))
				break;
		}
		if (i < m->nr_vms)
			continue;
		pr_err("--vm: there is no VM '%s' in %s.", node->s, m->session->data->path);
		for (i = 0; i < m->nr_vms; i++)
			pr_err("%s%s", i ? ", " : " There is: ", m->vms[i].name);
		pr_err("\n");
		return -ENOENT;
	}
	return 0;
}

static int check_vcpus(const struct report_options *opts, const struct time_axis *ta)
{
	struct int_node *node;

	if (!opts->sections.vcpus)
		return 0;

	intlist__for_each_entry(node, opts->sections.vcpus) {
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
int report_options__check_selection(const struct report_options *opts, const struct measurement *m)
{
	const struct section_opts *sections = &opts->sections;
	const struct time_axis *ta = &m->axis;
	bool found;

	if (check_vcpus(opts, ta))
		return -ENOENT;

	found = !sections->cpus;
	for (u32 i = 0; !found && i < m->nr_cpus; i++)
		found = m->cpu_samples[i] &&
			perf_cpu_map__has(sections->cpus, (struct perf_cpu){ i });
	if (!found) {
		pr_err("--cpu: there is no sample of CPU %s.\n", opts->cpus);
		return -ENOENT;
	}

	found = !sections->nr_times;
	for (int i = 0; !found && i < sections->nr_times; i++) {
		const struct perf_time_interval *time = &sections->times[i];

		found = time->start < ta->span.end && (!time->end || time->end > ta->span.start);
	}
	if (!found) {
		pr_err("--time: the measurement is from %.6f to %.6f.\n",
		       1.0 * ta->span.start / NSEC_PER_SEC, 1.0 * ta->span.end / NSEC_PER_SEC);
		return -ENOENT;
	}
	return 0;
}
