// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified: one profile of the host, its VMMs and all guests.
 *
 * Room: top, the table of the subcommands. Documentation/architecture.md shows the rooms.
 * Calls: collector export lib record report views
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <subcmd/parse-options.h>

#include "util/debug.h"
#include "kvm-unified/export/export.h"
#include "kvm-unified/record/record.h"
#include "kvm-unified/report/report.h"
#include "kvm-unified/views/views.h"
#include "commands.h"
#include "guest-map.h"

/* perf kvm takes names of subcommands that are cut off, if so much of them is there. */
#define NAME_LEN_MIN	3

/**
 * struct command - a subcommand
 * @file_option: what perf kvm's -i or -o, in front of it, is behind it; NULL: of no use
 */
struct command {
	const char *file_option;
	int (*fn)(int argc, const char **argv);
};

static const char *const names[] = {
	"record", "report", "diff", "annotate", "script", "export", "guest-map", NULL
};

static const struct command commands[] = {
	{ "-o", cmd_kvm_unified_record },
	{ "-i", cmd_kvm_unified_report },
	{ NULL, cmd_kvm_unified_diff },
	{ "-i", cmd_kvm_unified_annotate },
	{ "-i", cmd_kvm_unified_script },
	{ "-i", cmd_kvm_unified_export },
	{ "-o", cmd_kvm_unified_guest_map },
};

/* With the file that perf kvm was given as the subcommand's first option: its own come later. */
static int run(const struct command *command, const char *file_name, int argc, const char **argv)
{
	const char **args;
	int ret, nr = 0;

	if (!file_name)
		return command->fn(argc, argv);
	if (!command->file_option) {
		pr_err("perf kvm %s: -i and -o are of no use for it, name its profiles behind it\n",
		       argv[0]);
		return 1;
	}

	/* Two more than there are, and the NULL at the end */
	args = calloc(argc + 3, sizeof(*args));
	if (!args) {
		pr_err("Out of memory\n");
		return 1;
	}
	args[nr++] = argv[0];
	args[nr++] = command->file_option;
	args[nr++] = file_name;
	memcpy(&args[nr], &argv[1], (argc - 1) * sizeof(*args));
	ret = command->fn(nr + argc - 1, args);
	free(args);
	return ret;
}

int cmd_kvm_unified(const char *file_name, int argc, const char **argv)
{
	const char *usage[] = {
		"perf kvm unified record [<options>] [<command>]",
		"perf kvm unified report [<options>]",
		"perf kvm unified diff [<options>] [<old>] [<new>]",
		"perf kvm unified annotate [<options>] [<symbol>]",
		"perf kvm unified script [<options>]",
		"perf kvm unified export [<options>]",
		"perf kvm unified guest-map [<options>]",
		NULL
	};
	const struct option options[] = {
		OPT_GROUP("    record      profile the host and its guests, as perf record does\n"
			  "    report      show where the time of the host and of each vCPU went\n"
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
			return run(&commands[i], file_name, argc, argv);
	}
	if (argc)
		usage_with_options_msg(usage, options, "Unknown command: %s\n", argv[0]);

	usage_with_options(usage, options);
}
