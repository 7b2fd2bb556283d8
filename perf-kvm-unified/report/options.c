// SPDX-License-Identifier: GPL-2.0
/*
 * The options of perf kvm unified report and diff: those that perf report has, too, are called
 * as there.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/time64.h>
#include <linux/zalloc.h>
#include <internal/lib.h>
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
#include "util/srcline.h"
#include "util/symbol.h"
#include "util/time-utils.h"
#include "util/util.h"
#include "ui/ui.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/options.h"
#include "kvm-unified/lib/patterns.h"
#include "kvm-unified/lib/warnings.h"
#include "kvm-unified/measure/measurement.h"
#include "key-list.h"
#include "option-values.h"
#include "options.h"
#include "output.h"
#include "perf-only.h"
#include "row-keys.h"
#include "sort-keys.h"
#include "times.h"

#define DEFAULT_PERCENT_LIMIT	0.1
/* Until a limit was asked for */
#define NO_PERCENT_LIMIT	(-1)
/* Smaller changes may be chance, at some thousand samples. */
#define DEFAULT_POINTS_LIMIT	0.5
/* A process is told by its pid: two of the same name are two. */
#define DEFAULT_SORT_ORDER	"pid,dso,symbol"
/* ... but not in the table of all guests */
#define GUESTS_SORT_ORDER	"dso,symbol"
/* What -x is for */
#define PARENT_KEY		"parent"

static int parse_format(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	struct report_options *opts = opt->value;
	char names[64];

	opts->output = output__find(arg);
	if (opts->output)
		return 0;
	outputs__names(names, sizeof(names));
	pr_err("--format knows %shtml, but not '%s'\n", names, arg);
	return -EINVAL;
}

static int parse_diff_format(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	static const struct {
		const char *name;
		print_diff_fn fn;
	} formats[] = {
		{ "table", print_diff_table }, { "json", print_diff_json },
		{ "csv", print_diff_csv },
	};
	struct diff_options *opts = opt->value;

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(arg, formats[i].name)) {
			opts->print_fn = formats[i].fn;
			return 0;
		}
	}
	pr_err("--format knows table, json and csv, but not '%s'\n", arg);
	return -EINVAL;
}

static int parse_interval(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	u64 *interval = opt->value;

	if (!parse_duration(arg, interval) && *interval)
		return 0;
	pr_err("--interval wants a time such as 1s, 500ms or 100ms, not '%s'\n", arg);
	return -EINVAL;
}

static int set_percent_limit(double *limit, const char *name, const char *value)
{
	char *end;

	*limit = strtod(value, &end);
	callchain_param.min_percent = *limit;
	if (end != value && (!*end || !strcmp(end, "%")) && *limit >= 0 && *limit <= 100)
		return 0;
	pr_err("%s wants a number from 0 to 100, not '%s'\n", name, value);
	return -EINVAL;
}

static int parse_percent_limit(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	return set_percent_limit(opt->value, "--percent-limit", arg);
}

static int parse_max_stack(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	int *max_stack = opt->value;
	char *end;
	long nr = strtol(arg, &end, 10);

	*max_stack = nr;
	if (end != arg && !*end && nr > 0 && nr <= INT_MAX)
		return 0;
	pr_err("--max-stack wants a number of callers, 1 or more, not '%s'\n", arg);
	return -EINVAL;
}

static int parse_stdio_color(const struct option *opt, const char *arg, int unset)
{
	static const char *const modes[] = { "always", "never", "auto" };

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		if (!strcasecmp(arg, modes[i]))
			return stdio__config_color(opt, arg, unset);
	}
	pr_err("--stdio-color knows always, never and auto, but not '%s'\n", arg);
	return -EINVAL;
}

static int parse_widths(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	const char **widths = opt->value;

	*widths = arg;
	if (*arg && strspn(arg, "0123456789,") == strlen(arg))
		return 0;
	pr_err("--column-widths wants numbers with commas between them, not '%s'\n", arg);
	return -EINVAL;
}

static int parse_call_graph(const struct option *opt, const char *arg, int unset)
{
	struct callchain_param *param = opt->value;

	param->enabled = !unset;
	symbol_conf.use_callchain = !unset;
	if (unset) {
		param->mode = CHAIN_NONE;
		return 0;
	}
	if (parse_callchain_report_opt(arg)) {
		pr_err("-g wants words and numbers with commas between them, such as caller,0.5, not '%s'\n",
		       arg);
		return -EINVAL;
	}
	/* What a row has of a chain is one sum. */
	if (param->value != CCVAL_COUNT)
		return 0;
	pr_err("-g wants percent or period as its value: callers have shares of the time, and no counts\n");
	return -EINVAL;
}

/* Takes from perfconfig(1) what perf report takes, as far as it is the same here. */
static int read_config(const char *var, const char *value, void *cb)
{
	struct report_options *opts = cb;

	if (!strcmp(var, "report.percent-limit")) {
		if (set_percent_limit(&opts->print.percent_limit, var, value))
			return -1;
	} else if (!strcmp(var, "report.children")) {
		symbol_conf.cumulate_callchain = perf_config_bool(var, value);
	} else if (!strcmp(var, "report.sort_order")) {
		default_sort_order = strdup(value);
		if (!default_sort_order)
			return -1;
	} else if (!strcmp(var, "tui.report")) {
		opts->no_tui = !perf_config_bool(var, value);
	}
	return 0;
}

/* Are the rows wanted that the tables alone have? */
static bool selects_rows(const struct section_opts *sections)
{
	return sections->pids || sections->comms || sections->dsos || sections->syms ||
	       sections->filter;
}

/* Formats that have no rows, but one kind of lines. What cannot be had with them, or NULL */
static const char *choose_metrics(struct report_options *opts)
{
	struct section_opts *sections = &opts->sections;
	int nr = !!sections->interval + sections->stalls + opts->print.costs;

	if (opts->output->has_one_table && nr > 1)
		return "--format=csv has one table: --interval, --stalls or --costs";
	if (!(opts->output->has_one_table && (nr || opts->summary)) && !opts->output->has_no_rows)
		return NULL;
	if (selects_rows(sections))
		return "--pid, --comms, --dsos, --symbols: there are no rows in this --format";
	if (opts->output->has_no_rows && (sections->interval || opts->print.exit_reasons))
		return "--format=openmetrics has no --interval and --exit-reasons";
	if (sections->levels)
		return "--level is for tables, which this --format has none of";
	opts->summary = true;
	return NULL;
}

/* Which of the views is it? What cannot be had with it, or NULL */
static const char *choose_view(struct report_options *opts, bool tui, bool stdio)
{
	bool from_stdin = !strcmp(opts->input, "-");
	bool is_text = opts->summary || opts->show_header || opts->sections.interval ||
		       opts->sections.stalls || opts->print.costs;
	const struct output *output = opts->output;
	struct view_options *view = &opts->view;

	view->limit_given = opts->print.percent_limit >= 0;
	if (!view->limit_given)
		opts->print.percent_limit = DEFAULT_PERCENT_LIMIT;
	view->min_percent = opts->print.percent_limit;
	if (opts->sections.thieves && !opts->sections.interval)
		return "--thief is for --interval, as in --interval 100ms";
	if (opts->print.costs && opts->sections.vcpus)
		return "--costs is of whole VMs: it knows no --vcpu";
	/* They are in no other one. */
	if (opts->print.exit_reasons && output->is_view && (tui || stdio))
		return "--exit-reasons wants --format table; or use --sort exit_reason";
	if (opts->print.exit_reasons && output->is_view) {
		output = output__find("table");
		opts->output = output;
	}
	if (opts->summary && selects_rows(&opts->sections))
		return "--pid, --comms, --dsos, --symbols: there are no rows with --summary";
	if (tui && stdio)
		return "--tui or --stdio, not both";
	if (tui && is_text)
		return "--summary, --header, --interval, --stalls, --costs are text: not for --tui";
	if (tui && !isatty(STDOUT_FILENO))
		return "--tui wants a terminal to write to";
	if (tui && from_stdin)
		return "--tui wants standard input for its keys, where the profile comes from";
	view->pager = !from_stdin;
	if (output->is_view) {
		view->tui = tui || (!stdio && !opts->no_tui && !from_stdin && !is_text &&
				    isatty(STDOUT_FILENO));
		return NULL;
	}
	if (tui || stdio)
		return "--tui and --stdio have a format of their own";
	if ((opts->show_header || opts->show_info) && !output->for_people)
		return "--header, --header-only and -I are text, and not in this --format";
	if (field_order || symbol_conf.report_hierarchy || callchain_param.enabled ||
	    symbol_conf.field_sep || symbol_conf.col_width_list_str ||
	    symbol_conf.show_nr_samples || symbol_conf.show_total_period ||
	    parent_pattern != default_parent_pattern)
		return "--format knows no -F, -H, -g, -p, -t, -w, -n and --show-total-period";
	if ((opts->view.children_given && symbol_conf.cumulate_callchain) || opts->view.inverted ||
	    opts->view.max_stack != PERF_MAX_STACK_DEPTH)
		return "--format has no call chains: it knows no --children, -G and --max-stack";
	if (symbol_conf.filter_relative && !opts->relative_by_config)
		return "--format has percentages of all: it knows no --percentage=relative";
	if (output->has_one_table && opts->print.exit_reasons)
		return "--exit-reasons is not in CSV: JSON has it";
	return choose_metrics(opts);
}

/* Reads the first @size bytes of @path. false: it has not so many, or cannot be read */
static bool read_beginning(const char *path, void *buf, size_t size)
{
	/* A FIFO is not waited for. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool is_read;

	if (fd < 0)
		return false;
	is_read = readn(fd, buf, size) == (ssize_t)size;
	close(fd);
	return is_read;
}

/* The image that a boot loader takes is no ELF file. */
static bool is_elf(const char *path)
{
	char magic[SELFMAG];

	return read_beginning(path, magic, sizeof(magic)) && !memcmp(magic, ELFMAG, SELFMAG);
}

/* Files that options name, those of perf kvm included */
static int check_files(void)
{
	const struct {
		const char *option;
		const char *path;
	} files[] = {
		{ "--vmlinux", symbol_conf.vmlinux_name },
		{ "--kallsyms", symbol_conf.kallsyms_name },
		{ "--guestmount", symbol_conf.guestmount },
		{ "--symfs", symbol_conf.symfs[0] ? symbol_conf.symfs : NULL },
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
	if (symbol_conf.vmlinux_name && !is_elf(symbol_conf.vmlinux_name)) {
		pr_err("--vmlinux %s: it is no ELF file, as the vmlinux of a kernel's build is; --kallsyms takes a copy of the host's /proc/kallsyms\n",
		       symbol_conf.vmlinux_name);
		return -EINVAL;
	}
	return 0;
}

/* It says where a kernel was linked, and not where KASLR has put it: names would be wrong ones. */
static int check_guest_vmlinux(void)
{
	if (!symbol_conf.default_guest_vmlinux_name)
		return 0;

	pr_err("perf kvm --guestvmlinux is of no use here: it does not say where a guest has its kernel.\n"
	       "--guestkallsyms does, for which 'nm FILE' is as good if the kernel stays where it was linked.\n");
	return -EINVAL;
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

/* Warns of an option that has another name now. It is taken, but not shown by -h. */
static void warn_renamed(bool given, const char *old, const char *now)
{
	if (given)
		unified_warning("--%s is called --%s now, as in perf report\n", old, now);
}

static int parse_percentage(const struct option *opt, const char *arg, int unset)
{
	int ret = parse_filter_percentage(opt, arg, unset);

	if (ret)
		pr_err("--percentage wants relative or absolute, not '%s'\n", arg);
	return ret;
}

#define OPT_RENAMED(old, v, str, given)								\
	{ .type = OPTION_CALLBACK, .long_name = (old), .value = (v), .data = (str),		\
	  .set = (given), .callback = parse_option_names, .flags = PARSE_OPT_HIDDEN,		\
	  .help = "has another name now" }

/* It goes before all paths: then the files of guests are not where --guest-root says. */
bool report_options__symfs_hides_roots(const struct report_options *opts)
{
	return symbol_conf.symfs[0] && !list_empty(&opts->guests.roots);
}

#define CALL_GRAPH_DEFAULT	"graph,0.5,caller,function,percent"

/* Does the file @path with @suffix begin as perf's profiles do? */
static bool is_profile(const char *path, const char *suffix)
{
	char file[PATH_MAX];
	u64 magic;

	scnprintf(file, sizeof(file), "%s%s", path, suffix);
	return read_beginning(file, &magic, sizeof(magic)) && is_perf_magic(magic);
}

/* The keys of a table of all guests, where it is the only one. What cannot be had, or NULL */
static const char *choose_keys_of_guests(const struct report_options *opts)
{
	if (opts->sections.levels != SECTIONS_GUESTS)
		return NULL;
	if (sort_keys__ask_for_process())
		return "--level guests tells no processes apart: it has no pid, tgid and comm";
	default_sort_order = GUESTS_SORT_ORDER;
	return NULL;
}

/* Takes what is not taken here out of a help text of perf's. */
static void cut_out(char *text, const char *what)
{
	char *at = strstr(text, what);

	if (at)
		memmove(at, at + strlen(what), strlen(at + strlen(what)) + 1);
}

static void parse_argv(struct report_options *opts, int argc, const char **argv)
{
	static char call_graph_default[] = CALL_GRAPH_DEFAULT;
	static char call_graph_help[] =
		"show call chains:\n\n" CALLCHAIN_REPORT_HELP
		"\n\t\t\t\tDefault: " CALL_GRAPH_DEFAULT;
	char *sort_keys_help = sort_keys__help("what makes a row:");
	char *fields_help = sort_keys__help("the columns:");
	bool tui = false, stdio = false;
	const char *problem, *filter = NULL;
	struct section_opts *sections = &opts->sections;
	bool old_dso = false, old_comm = false, old_symbol = false;
	struct option options[] = {
		OPT_STRING('i', "input", &opts->input, "dir",
			   "profile to read (default: perf.data); -: standard input"),
		OPT_CALLBACK(0, "format", opts, "table|json|csv|openmetrics|html",
			     "own tables, or a page, instead of perf's views", parse_format),
		OPT_BOOLEAN(0, "tui", &tui, "browse in the terminal (default, if it is one)"),
		OPT_BOOLEAN(0, "stdio", &stdio, "print text (default, if it is no terminal)"),
		OPT_CALLBACK_DEFAULT(0, "stdio-color", NULL, "mode",
				     "colors of --stdio: always (default of the option), never or auto",
				     parse_stdio_color, "always"),
		OPTS_CHARGING(opts),
		OPT_BOOLEAN(0, "summary", &opts->summary,
			    "only a line for each VM, and for the host"),
		OPT_CALLBACK(0, "level", &sections->levels, "host|guests|vm|vcpu[,...]",
			     "only tables of these (default: all but guests, or none if they are many)",
			     parse_option_levels),
		OPT_BOOLEAN(0, "costs", &opts->print.costs,
			    "show what each VM costs the host, in CPU time"),
		OPT_CALLBACK(0, "interval", &sections->interval, "time",
			     "show where the time of VMs went in intervals such as 1s or 100ms",
			     parse_interval),
		OPT_LIST(0, "thief", &sections->thieves, &opts->print.thieves, "pattern[,pattern...]",
			 "with --interval: from when to when these had a CPU that VMs wanted",
			 parse_option_names),
		OPT_BOOLEAN(0, "stalls", &sections->stalls,
			    "show how long vCPUs have waited for a CPU each time"),
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
		OPT_BOOLEAN_SET(0, "children", &symbol_conf.cumulate_callchain,
				&opts->view.children_given,
				"charge callers with what they call, too (default, with chains)"),
		OPT_BOOLEAN('G', "inverted", &opts->view.inverted,
			    "callers first"),
		OPT_CALLBACK(0, "max-stack", &opts->view.max_stack, "number",
			     "callers of a sample, at most", parse_max_stack),
		OPT_BOOLEAN(0, "inline", &symbol_conf.inline_name,
			    "show inlined functions as callers (default)"),
		OPT_STRING('p', "parent", &parent_pattern, "regex",
			   "what is a parent for --sort parent"),
		OPT_BOOLEAN('x', "exclude-other", &symbol_conf.exclude_other,
			    "only rows that have such a parent"),
		OPT_BOOLEAN('U', "hide-unresolved", &symbol_conf.hide_unresolved,
			    "no rows of functions that have no name"),
		OPT_BOOLEAN('n', "show-nr-samples", &symbol_conf.show_nr_samples,
			    "show a column with the time in samples"),
		OPT_BOOLEAN(0, "show-total-period", &symbol_conf.show_total_period,
			    "show a column with the time in ns"),
		OPT_CALLBACK('w', "column-widths", &symbol_conf.col_width_list_str,
			     "width[,width...]", "use these widths", parse_widths),
		OPT_STRING_NOEMPTY('t', "field-separator", &symbol_conf.field_sep, "separator",
				   "put this between columns"),
		OPT_CALLBACK(0, "percentage", NULL, "relative|absolute",
			     "percent of what is shown, or of all", parse_percentage),
		OPT_BOOLEAN(0, "header", &opts->show_header, "show the header of the profile"),
		OPT_BOOLEAN(0, "header-only", &opts->header_only, "show only that"),
		OPT_BOOLEAN('I', "show-info", &opts->show_info,
			    "show all of it, with the machine's topology"),
		OPT_CALLBACK(0, "percent-limit", &opts->print.percent_limit, "percent",
			     "put rows below it together (default: 0.1; with several events 0)",
			     parse_percent_limit),
		OPTS_VCPUS(opts),
		OPTS_PROCESSES(opts, 'c'),
		OPTS_CODE(opts),
		OPT_STRING(0, "symbol-filter", &filter, "filter",
			   "only rows of functions with this in their names"),
		OPT_RENAMED("comm", &sections->comms, &opts->comms, &old_comm),
		OPT_RENAMED("dso", &sections->dsos, &opts->dsos, &old_dso),
		OPT_RENAMED("symbol", &sections->syms, &opts->syms, &old_symbol),
		OPTS_WHERE_AND_WHEN(opts),
		OPT_BOOLEAN('m', "modules", &symbol_conf.use_modules,
			    "with -k, look for the host's modules, too (on the host itself)"),
		OPT_BOOLEAN(0, "demangle", &symbol_conf.demangle,
			    "show names of C++ and Rust as they were written (default)"),
		OPT_BOOLEAN(0, "demangle-kernel", &symbol_conf.demangle_kernel,
			    "... of kernels, too"),
		OPT_STRING(0, "addr2line", &symbol_conf.addr2line_path, "path",
			   "with --sort srcline, use this addr2line"),
		OPT_BOOLEAN(0, "full-source-path", &srcline_full_filename,
			    "with --sort srcline, show whole paths"),
		OPTS_READING(opts),
		OPT_PARENT(perf_only_options)
	};
	const char *const usage[] = {
		"perf kvm unified report [<options>] [<filter>]",
		NULL
	};

	cut_out(call_graph_help, "|count");
	options__no_negation(options);
	opts->relative_by_config = symbol_conf.filter_relative;
	argc = parse_options(argc, argv, options, usage, 0);
	/* As in perf report: what is left is a symbol filter. */
	if (argc > 1)
		usage_error(usage, "Unknown argument: %s\n", argv[1]);
	if (argc)
		filter = argv[0];
	/* diff takes profiles there, and who forgets -i would get the report of another one. */
	if (filter && (is_profile(filter, "") || is_profile(filter, "/data")))
		usage_error(usage, "%s is a profile: -i %s\n", filter, filter);
	if (filter) {
		/* It is only read. */
		opts->filter.text = (char *)filter;
		sections->filter = &opts->filter;
	}
	warn_renamed(old_comm, "comm", "comms");
	warn_renamed(old_dso, "dso", "dsos");
	warn_renamed(old_symbol, "symbol", "symbols");
	opts->show_header |= opts->header_only;
	if (sort_order && key_list__is_empty(sort_order))
		usage_error(usage, "--sort wants keys, with commas between them, not '%s'\n",
			    sort_order);
	if (field_order && key_list__is_empty(field_order))
		usage_error(usage, "--fields wants keys, with commas between them, not '%s'\n",
			    field_order);
	if (symbol_conf.field_sep && *symbol_conf.field_sep == '.')
		usage_error(usage, "-t wants another separator: '.' is in numbers\n");
	if (report_options__symfs_hides_roots(opts))
		usage_error(usage, SYMFS_HIDES_ROOTS);
	if (opts->summary && sections->levels)
		usage_error(usage, "--summary or --level, not both\n");
	if (symbol_conf.exclude_other && !key_list__has(field_order, PARENT_KEY) &&
	    !key_list__has(sort_order ?: default_sort_order, PARENT_KEY))
		usage_error(usage, "-x is for --sort parent: without it, no row has a parent\n");
	opts->tui = tui;
	problem = choose_view(opts, tui, stdio);
	if (problem)
		usage_error(usage, "%s\n", problem);
	if (!opts->output->is_view && row_keys__setup(&sections->sort))
		usage_error(usage, "With --format, --sort knows sym, dso, comm, pid, cgroup and class, but not '%s'.\n"
			    "--level tells VMs and vCPUs apart; for all keys there is --stdio, and -t for fields.\n",
			    row_keys__wrong(sort_order));
	if (opts->output->is_view && !(sort_keys__are_known("--sort", sort_order) &&
				       sort_keys__are_known("--fields", field_order)))
		exit(EXIT_USAGE);
	/* It is made for perf report, which has more keys. */
	if (opts->output->is_view && !sort_order &&
	    !sort_keys__are_known("report.sort_order", default_sort_order)) {
		unified_warning("report.sort_order of perfconfig is not used here; --sort can be given\n");
		default_sort_order = DEFAULT_SORT_ORDER;
	}
	problem = choose_keys_of_guests(opts);
	if (problem)
		usage_error(usage, "%s\n", problem);
	sections->thieves_by_pid = !opts->output->is_view && sort_order &&
				   sections->sort & PROFILE_SORT_PID;
	sections->reasons = opts->output->has_reasons || opts->print.exit_reasons;
	sections->stalls |= opts->output->has_stalls;
	free(sort_keys_help);
	free(fields_help);
}

/* Can what options name be used? 0 or -errno with a message */
int report_options__check(const struct report_options *opts)
{
	return check_guest_code() ?: kvm_guests_options__check(&opts->guests) ?: check_files() ?:
	       check_guest_vmlinux();
}

/* As in perf report: what comes through a pipe needs no -i. */
const char *report_options__default_input(void)
{
	struct stat st;

	return !fstat(STDIN_FILENO, &st) && S_ISFIFO(st.st_mode) ? "-" : "perf.data";
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
		.print.percent_limit = NO_PERCENT_LIMIT,
		.output = output__views(),
		.view = { .max_stack = PERF_MAX_STACK_DEPTH },
		.use_timeline = true,
		.input = report_options__default_input(),
	};
	kvm_guests_options__init(&opts->guests);
	sort_keys__add();
	default_sort_order = DEFAULT_SORT_ORDER;
	ret = perf_config(read_config, opts);
	if (ret)
		return ret;
	parse_argv(opts, argc, argv);

	return report_options__check(opts);
}

/* Parses diff's options: those of report that make sense for two profiles. */
static void parse_diff_argv(struct diff_options *opts, int argc, const char **argv)
{
	struct report_options *report = &opts->report;
	struct section_opts *sections = &report->sections;
	struct option options[] = {
		OPT_CALLBACK(0, "format", opts, "table|json|csv",
			     "how to print it (default: table)", parse_diff_format),
		OPTS_CHARGING(report),
		OPT_STRING('s', "sort", &sort_order, "key[,key...]",
			   "what makes a row: sym, dso, comm, pid, class; see the manual"),
		OPT_CALLBACK(0, "percent-limit", &report->print.percent_limit, "points",
			     "put changes below it together (default: 0.5)", parse_percent_limit),
		OPT_LIST(0, "vm", &sections->vms, &report->vms, "pattern[,pattern...]",
			 "only these VMs", parse_option_names),
		OPTS_PROCESSES(report, 'C'),
		OPTS_CODE(report),
		OPT_LIST(0, "cpu", &sections->cpus, &report->cpus, "cpu",
			 "only what was on these CPUs of the host", parse_option_cpus),
		OPT_STRING(0, "time", &report->times, "start,stop",
			   "only this time of each, as in report"),
		OPT_STRING(0, "old-time", &opts->old_times, "start,stop",
			   "only this time of the old one"),
		OPTS_READING(report),
		OPT_PARENT(perf_diff_only_options)
	};
	const char *const usage[] = {
		"perf kvm unified diff [<options>] [<old>] [<new>]",
		NULL
	};

	options__no_negation(options);
	argc = parse_options(argc, argv, options, usage, 0);
	if (report_options__symfs_hides_roots(report))
		usage_error(usage, SYMFS_HIDES_ROOTS);
	if (argc > DIFF_NR_SIDES)
		usage_error(usage, "Two profiles are compared, not %d\n", argc);
	/* As perf diff has them */
	if (argc)
		opts->inputs[DIFF_NEW] = argv[argc - 1];
	if (argc == DIFF_NR_SIDES)
		opts->inputs[DIFF_OLD] = argv[0];
	if ((sort_order && key_list__is_empty(sort_order)) || row_keys__setup(&sections->sort) ||
	    sections->sort & PROFILE_SORT_CGROUP)
		usage_error(usage, "--sort knows sym, dso, comm, pid and class, but not '%s'\n",
			    row_keys__wrong(sort_order));
	opts->keep_pids = sort_order && sections->sort & PROFILE_SORT_PID;
	opts->host_processes = sort_order &&
			       sections->sort & (PROFILE_SORT_COMM | PROFILE_SORT_PID);
}

/**
 * diff_options__parse - what the command line says
 * @opts: @opts->report is to be given to report_options__exit(), whatever comes of this
 *
 * As report_options__parse()
 */
int diff_options__parse(struct diff_options *opts, int argc, const char **argv)
{
	struct report_options *report = &opts->report;

	*opts = (struct diff_options) {
		.report = {
			.print.percent_limit = DEFAULT_POINTS_LIMIT,
			.sections = {
				.levels = SECTIONS_HOST | SECTIONS_VM,
				.plain_thieves = true,
			},
			.use_timeline = true,
		},
		.print_fn = print_diff_table,
		.inputs = { "perf.data.old", "perf.data" },
	};
	kvm_guests_options__init(&report->guests);
	parse_diff_argv(opts, argc, argv);
	if (!strcmp(opts->inputs[DIFF_OLD], "-") && !strcmp(opts->inputs[DIFF_NEW], "-")) {
		pr_err("Only one of the profiles can come from standard input\n");
		return -EINVAL;
	}
	return report_options__check(report);
}

/* Does what is asked for mean that there are to be tables, however many? */
bool report_options__wants_tables(const struct report_options *opts)
{
	return !opts->output->for_people || opts->tui || opts->vms ||
	       opts->vcpus || selects_rows(&opts->sections);
}

void report_options__exit(struct report_options *opts)
{
	struct section_opts *sections = &opts->sections;

	kvm_guests_options__exit(&opts->guests);
	patterns__delete(sections->vms);
	intlist__delete(sections->vcpus);
	intlist__delete(sections->pids);
	patterns__delete(sections->comms);
	patterns__delete(sections->dsos);
	patterns__delete(sections->syms);
	patterns__delete(sections->thieves);
	perf_cpu_map__put(sections->cpus);
	free(sections->times);
}

struct given_option {
	const char *name;
	const char *arg;
};

static void list_options(const struct given_option *options, size_t nr, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < nr; i++) {
		if (options[i].arg)
			len += scnprintf(buf + len, size - len, " --%s %s", options[i].name,
					 options[i].arg);
	}
}

/* @buf: gets the options by which the report is not of all; empty if it is */
void report_options__selection(const struct report_options *opts, char *buf, size_t size)
{
	const struct given_option options[] = {
		{ "vm", opts->vms }, { "vcpu", opts->vcpus }, { "cpu", opts->cpus },
		{ "time", opts->times },
	};

	list_options(options, ARRAY_SIZE(options), buf, size);
}

/* ... and what rows are shown of that, whose totals are of all */
void report_options__rows_of(const struct report_options *opts, char *buf, size_t size)
{
	const struct given_option options[] = {
		{ "pid", opts->pids }, { "comms", opts->comms }, { "dsos", opts->dsos },
		{ "symbols", opts->syms }, { "symbol-filter", opts->filter.text },
	};

	list_options(options, ARRAY_SIZE(options), buf, size);
}

/* A time may be a part of the whole, which the session knows. */
int report_options__parse_times(struct report_options *opts, struct perf_session *session)
{
	struct section_opts *sections = &opts->sections;
	int nr;

	/* Those of another session */
	zfree(&sections->times);
	sections->nr_times = 0;
	if (!opts->times)
		return 0;
	nr = times__parse(opts->times, session, &sections->times);
	if (nr < 0)
		return nr;
	sections->nr_times = nr;
	return 0;
}

static void pr_no_vm(const struct measurement *m, const char *name)
{
	struct near_names near = { .wanted = name };
	const char *what, *names;

	for (u32 i = 0; i < m->nr_vms; i++)
		near_names__add(&near, m->vms[i].name);
	if (near.begin_so.nr > 1) {
		pr_err("--vm: '%s' is short for several VMs: %s. '%s*' is all of them.\n", name,
		       name_list__end(&near.begin_so), name);
		return;
	}
	what = near_names__sentence(&near, &names);
	pr_err("--vm: there is no VM '%s' in %s.%s%s\n", name, profile__name(m->session->data),
	       what, names);
}

/* Which of @m are asked for? One that was not recorded is told of. */
static void match_vms(struct patterns *vms, const struct measurement *m)
{
	for (u32 i = 0; i < m->nr_vms; i++) {
		if (patterns__match(vms, m->vms[i].name) && m->vms[i].left_out)
			unified_warning("--vm: VM '%s' was not recorded: other VMs were\n",
					m->vms[i].name);
	}
}

/* Names in place of pids and of beginnings, before anything is counted. 0 or -ENOMEM */
int report_options__complete_vms(const struct report_options *opts,
				 const struct kvm_guests *guests)
{
	int ret = 0;

	if (opts->sections.vms && guests)
		ret = kvm_vms__complete(&guests->vms, opts->sections.vms);
	if (ret)
		pr_err("Out of memory\n");
	return ret;
}

/* A VM that is asked for and in none of @ms, @nr of them, is a typing error. */
int report_options__check_vms(const struct report_options *opts,
			      const struct measurement *const ms[], u32 nr)
{
	struct patterns *vms = opts->sections.vms;

	if (!vms)
		return 0;

	/* By names from before the real ones were known */
	for (size_t i = 0; i < vms->nr; i++)
		vms->entries[i].matched = false;
	for (u32 i = 0; i < nr; i++)
		match_vms(vms, ms[i]);
	for (size_t i = 0; i < vms->nr; i++) {
		const char *text = vms->entries[i].text;
		const struct kvm_vm *vm = NULL;

		if (vms->entries[i].matched)
			continue;
		/* Short for one that was not known at first, or for one of two profiles */
		for (u32 side = 0; !vm && side < nr; side++) {
			const struct kvm_guests *guests = ms[side]->session->kvm_guests;

			vm = guests ? kvm_vms__find_short(&guests->vms, text) : NULL;
		}
		if (vm)
			pr_err("--vm: '%s' is VM '%s' here: give its name.\n", text, vm->name);
		for (u32 side = 0; !vm && side < nr; side++)
			pr_no_vm(ms[side], text);
		return -ENOENT;
	}
	return 0;
}

static int check_vcpus(const struct report_options *opts, const struct measurement *m)
{
	const struct section_opts *sections = &opts->sections;
	const struct time_axis *ta = &m->axis;
	struct int_node *node;

	if (!sections->vcpus)
		return 0;

	intlist__for_each_entry(node, sections->vcpus) {
		bool found = false;

		for (u32 i = 0; !found && i < ta->nr_vcpus; i++)
			found = ta->vcpus[i].id == node->i &&
				section_opts__wants_vm(sections, m->vms[ta->vcpus[i].vm].name);
		if (!found) {
			pr_err("--vcpu: no VM%s has a vCPU %lu.\n",
			       opts->vms ? " of --vm" : "", node->i);
			return -ENOENT;
		}
	}
	return 0;
}

/* Their numbers are below that: a header may be of before some came. */
static u32 nr_host_cpus(const struct measurement *m)
{
	int avail = m->session->header.env.nr_cpus_avail;

	return avail > 0 ? max_t(u32, m->nr_cpus, avail) : m->nr_cpus;
}

/* A vCPU, CPU or time of which there is nothing: the same. When the axis is built */
int report_options__check_selection(const struct report_options *opts, const struct measurement *m)
{
	const struct section_opts *sections = &opts->sections;
	const struct time_axis *ta = &m->axis;
	bool found;

	if (check_vcpus(opts, m))
		return -ENOENT;

	found = !sections->cpus;
	for (u32 i = 0; !found && i < m->nr_cpus; i++)
		found = m->cpus[i].nr_samples &&
			perf_cpu_map__has(sections->cpus, (struct perf_cpu){ i });
	if (!found) {
		pr_err("--cpu: there is no sample of CPU %s.\n", opts->cpus);
		return -ENOENT;
	}
	/* One that the host has may have had nothing to do. */
	if (sections->cpus && (u32)perf_cpu_map__max(sections->cpus).cpu >= nr_host_cpus(m)) {
		pr_err("--cpu: there is no CPU %d; the host has %u.\n",
		       perf_cpu_map__max(sections->cpus).cpu, nr_host_cpus(m));
		return -ENOENT;
	}

	return times__check(opts->times, sections->times, sections->nr_times, &ta->span,
			    measurement__zero(m));
}
