// SPDX-License-Identifier: GPL-2.0
/*
 * The command line that perf record gets: its own options are taken as if they were ours,
 * and passed on as they came.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <subcmd/parse-options.h>

#include "util/debug.h"
#include "util/record.h"
#include "kvm-unified/lib/options.h"
#include "args.h"

/* @arg has to stay. Without memory perf ends here. */
void record_args__add(struct record_args *args, const char *arg)
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

/* These tell when a measurement begins and ends. */
static bool option__is_of_once(const struct option *opt)
{
	return opt->long_name &&
	       (!strcmp(opt->long_name, "delay") || !strcmp(opt->long_name, "control"));
}

/* Notes what the option means for the measurement. @unset: it was given as --no-... */
static void note_option(struct record_args *args, const struct option *opt, const char *arg,
			bool unset)
{
	if (opt->short_name == 'e' || (opt->long_name && !strcmp(opt->long_name, "pfm-events")))
		args->has_event = true;
	if (opt->short_name && strchr("aC", opt->short_name))
		args->has_target = true;
	if (opt->short_name == 'C')
		args->has_cpus = true;
	if (opt->short_name == 'g' || (opt->long_name && !strcmp(opt->long_name, "call-graph")))
		args->has_callers = !unset;
	if (opt->short_name == 'p')
		args->pids = arg;
	if (opt->short_name == 'k')
		args->clock = arg;
	if (option__is_of_once(opt))
		args->of_once = opt->long_name;
	if (opt->short_name && strchr("ptu", opt->short_name)) {
		args->has_target = true;
		args->per_task = true;
	}
}

/* An option of perf record's: it goes there as it came here. */
static int pass_on(const struct option *opt, const char *arg, int unset)
{
	struct record_args *args = opt->value;
	char *str;

	note_option(args, opt, arg, unset);

	/* perf record wants it after the events that it is for, which are of whole CPUs. */
	if (opt->short_name == 'G') {
		if (args->cgroup) {
			pr_err("-G can be given once here: it is for all events\n");
			return -1;
		}
		args->cgroup = arg;
		args->per_task = true;
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
	record_args__add(args, str);
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

static int refuse(const struct option *opt, const char *arg __maybe_unused,
		  int unset __maybe_unused)
{
	pr_err("--%s is not in perf kvm unified record: it makes perf record write other files, or none\n",
	       opt->long_name);
	exit(EXIT_USAGE);
}

static size_t options__nr(const struct option *options)
{
	size_t nr = 0;

	while (options[nr].type != OPTION_END)
		nr++;
	return nr;
}

static bool options__have(const struct option *options, const struct option *wanted)
{
	for (const struct option *opt = options; opt->type != OPTION_END; opt++) {
		if (option__same(opt, wanted))
			return true;
	}
	return false;
}

/**
 * record_args__merge_options - options for parse_options()
 * @args: gets those of perf record as they are parsed
 * @own: those of this command
 *
 * @own, and after it those of perf record that have no namesake there, made so that
 * they are passed on. What parse_options() does not know about options, such as that
 * one takes an argument, would have to be known here otherwise.
 *
 * Return: to be freed, or NULL
 */
struct option *record_args__merge_options(struct record_args *args, const struct option *own)
{
	size_t nr = options__nr(own);
	/* A heading comes between them, and OPTION_END after them. */
	struct option *options = calloc(nr + options__nr(record_options) + 2, sizeof(*options));

	if (!options)
		return NULL;

	memcpy(options, own, nr * sizeof(*options));
	options[nr++] = (struct option) {
		.type = OPTION_GROUP,
		.help = "Options of perf record, see perf-record(1)",
	};
	for (const struct option *opt = record_options; opt->type != OPTION_END; opt++) {
		if (options__have(own, opt) || opt->type == OPTION_GROUP)
			continue;

		options[nr] = *opt;
		options[nr].type = OPTION_CALLBACK;
		options[nr].value = args;
		options[nr].callback = pass_on;
		options[nr].set = NULL;
		options[nr].defval = 0;
		if (option__unsuitable(opt)) {
			options[nr].callback = refuse;
			options[nr].flags |= PARSE_OPT_HIDDEN | PARSE_OPT_OPTARG;
		} else if (!option__takes_arg(opt)) {
			options[nr].flags |= PARSE_OPT_NOARG;
		}
		nr++;
	}
	options__no_negation(options);
	return options;
}
