// SPDX-License-Identifier: GPL-2.0
/*
 * The options of perf kvm unified export: those of report, as far as they choose a part of it.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <subcmd/parse-options.h>

#include "util/debug.h"
#include "util/symbol.h"
#include "kvm-unified/lib/options.h"
#include "kvm-unified/report/option-values.h"
#include "kvm-unified/report/perf-only.h"
#include "formats.h"
#include "options.h"

static int parse_format(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	const struct export_format **format = opt->value;
	char names[64];

	*format = export_format__find(arg);
	if (*format)
		return 0;
	export_formats__names(names, sizeof(names));
	pr_err("--format knows %s, but not '%s'\n", names, arg);
	return -EINVAL;
}

static void parse_argv(struct export_options *opts, int argc, const char **argv)
{
	struct report_options *report = &opts->report;
	struct section_opts *sections = &report->sections;
	struct option options[] = {
		OPT_STRING('i', "input", &report->input, "dir",
			   "profile to read (default: perf.data); -: standard input"),
		OPT_STRING('o', "output", &opts->output, "file",
			   "file to write to (default: standard output)"),
		OPT_CALLBACK(0, "format", &opts->format, "folded|pprof|rows|speedscope|trace",
			     "whose format: of flame graphs (default), of pprof, of databases, of speedscope, or a time line",
			     parse_format),
		OPTS_CHARGING(report),
		OPT_CALLBACK(0, "level", &sections->levels, "host|vm|vcpu[,...]",
			     "only of these (default: host,vcpu, and of speedscope vcpu); vm: without vCPUs",
			     parse_option_levels),
		OPTS_VCPUS(report),
		OPTS_PROCESSES(report, 'c'),
		OPTS_WHERE_AND_WHEN(report),
		OPTS_READING(report),
		OPT_PARENT(report_only_options)
	};
	const char *const usage[] = {
		"perf kvm unified export [<options>]",
		NULL
	};

	options__no_negation(options);
	argc = parse_options(argc, argv, options, usage, 0);
	if (argc)
		usage_error(usage, "Unknown argument: %s\n", argv[0]);
	if (report_options__symfs_hides_roots(report))
		usage_error(usage, SYMFS_HIDES_ROOTS);
	if (opts->format->is_binary && !strcmp(opts->output, "-") && isatty(STDOUT_FILENO))
		usage_error(usage, "--format %s is not for a terminal: give -o FILE, or a pipe\n",
			    opts->format->name);
	if (opts->format->is_time_line && (sections->pids || sections->comms))
		usage_error(usage, "--format %s has all time, in its order: it knows no --pid and --comms\n",
			    opts->format->name);
	if (opts->format->is_time_line && sections->levels & SECTIONS_VM)
		usage_error(usage, "--format %s wants --level host or vcpu: a VM has no time line of its own\n",
			    opts->format->name);
	if (opts->format->has_no_host && sections->levels == SECTIONS_HOST)
		usage_error(usage, "--format %s is of vCPUs: --level host has none\n",
			    opts->format->name);
	if (sections->levels & SECTIONS_GUESTS)
		usage_error(usage, "--level guests is a table of report: what is exported tells VMs apart\n");
	if (sections->levels & SECTIONS_VM && sections->levels & SECTIONS_VCPU)
		usage_error(usage, "--level vm or vcpu, not both: all time is exported once\n");
}

/**
 * export_options__parse - what the command line says
 * @opts: @opts->report is to be given to report_options__exit(), whatever comes of this
 *
 * As report_options__parse()
 */
int export_options__parse(struct export_options *opts, int argc, const char **argv)
{
	struct report_options *report = &opts->report;

	*opts = (struct export_options) {
		.report = {
			.use_timeline = true,
			.input = report_options__default_input(),
		},
		.format = export_format__default(),
		.output = "-",
	};
	kvm_guests_options__init(&report->guests);
	parse_argv(opts, argc, argv);
	if (!report->sections.levels)
		report->sections.levels = SECTIONS_HOST | SECTIONS_VCPU;
	return report_options__check(report);
}
