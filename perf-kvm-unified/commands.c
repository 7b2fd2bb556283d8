// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified: one profile of the host, its VMMs and all guests.
 *
 * Room: top, the table of the subcommands. Documentation/architecture.md shows the rooms.
 * Calls: collector export lib live perf-commands record report
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <subcmd/parse-options.h>

#include "util/debug.h"
#include "kvm-unified/export/export.h"
#include "kvm-unified/live/top.h"
#include "kvm-unified/perf-commands/perf-commands.h"
#include "kvm-unified/record/record.h"
#include "kvm-unified/report/report.h"
#include "commands.h"
#include "guest-map.h"

/* perf kvm takes names of subcommands that are cut off, if so much of them is there. */
#define NAME_LEN_MIN	3

/**
 * struct command - a subcommand
 * @takes_input: @takes_output: it has the option -i, -o, which may be before "unified", too
 */
struct command {
	bool takes_input;
	bool takes_output;
	int (*fn)(int argc, const char **argv);
};

static const char *const names[] = {
	"record", "report", "top", "diff", "annotate", "script", "export", "guest-map", NULL
};

static const struct command commands[] = {
	{ .takes_output = true, .fn = cmd_kvm_unified_record },
	{ .takes_input = true, .fn = cmd_kvm_unified_report },
	{ .fn = cmd_kvm_unified_top },
	{ .fn = cmd_kvm_unified_diff },
	{ .takes_input = true, .fn = cmd_kvm_unified_annotate },
	{ .takes_input = true, .fn = cmd_kvm_unified_script },
	{ .takes_input = true, .takes_output = true, .fn = cmd_kvm_unified_export },
	{ .takes_output = true, .fn = cmd_kvm_unified_guest_map },
};

/* Adds option @opt with @file to @args, of which there are @nr; NULL: it was not given. 0 or 1 */
static int add_file(const char **args, int *nr, const char *opt, const char *file, bool takes)
{
	if (!file)
		return 0;
	if (!takes) {
		pr_err("perf kvm unified %s: %s %s in front of it is of no use for it\n",
		       args[0], opt, file);
		return 1;
	}
	args[(*nr)++] = opt;
	args[(*nr)++] = file;
	return 0;
}

/* The files that perf kvm was given are the subcommand's first options: its own come later. */
static int run(const struct command *command, const char *input, const char *output, int argc,
	       const char **argv)
{
	/* Two more for each file, and the NULL at the end */
	const char **args = calloc(argc + 5, sizeof(*args));
	int ret, nr = 0;

	if (!args) {
		pr_err("Out of memory\n");
		return 1;
	}
	args[nr++] = argv[0];
	ret = add_file(args, &nr, "-i", input, command->takes_input) ?:
	      add_file(args, &nr, "-o", output, command->takes_output);
	if (!ret) {
		memcpy(&args[nr], &argv[1], (argc - 1) * sizeof(*args));
		ret = command->fn(nr + argc - 1, args);
	}
	free(args);
	return ret;
}

/* @input: @output: -i and -o before "unified", or NULL; they may be after it, too */
int cmd_kvm_unified(const char *input, const char *output, int argc, const char **argv)
{
	const char *usage[] = {
		"perf kvm unified record [<options>] [<command>]",
		"perf kvm unified report [<options>]",
		"perf kvm unified top [<options of record>] [-- <options of report>]",
		"perf kvm unified diff [<options>] [<old>] [<new>]",
		"perf kvm unified annotate [<options>] [<symbol>]",
		"perf kvm unified script [<options>]",
		"perf kvm unified export [<options>]",
		"perf kvm unified guest-map [<options>]",
		NULL
	};
	const struct option options[] = {
		OPT_STRING('i', "input", &input, "dir", "the -i of the command"),
		OPT_STRING('o', "output", &output, "dir", "the -o of the command"),
		OPT_GROUP("    record      profile the host and its guests, as perf record does\n"
			  "    report      show where the time of the host and of each vCPU went\n"
			  "    top         show that of some seconds, again and again\n"
			  "    diff        show what has changed from one profile to another\n"
			  "    annotate    show code with its samples, as perf annotate does\n"
			  "    script      print samples one by one, as perf script does\n"
			  "    export      write a report's time for other tools, as flame graphs\n"
			  "    guest-map   in a guest, or on its host: say which processes it has"),
		OPT_END()
	};

	argc = parse_options_subcommand(argc, argv, options, names, usage,
					PARSE_OPT_STOP_AT_NON_OPTION);

	for (size_t i = 0; argc && i < ARRAY_SIZE(commands); i++) {
		if (strlen(argv[0]) >= NAME_LEN_MIN && strstarts(names[i], argv[0]))
			return run(&commands[i], input, output, argc, argv);
	}
	if (argc)
		usage_with_options_msg(usage, options, "Unknown command: %s\n", argv[0]);

	usage_with_options(usage, options);
}
