// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified: one profile of the host, its VMMs and all guests.
 *
 * Room: top, the table of the subcommands. Documentation/architecture.md shows the rooms.
 * Calls: collector record report
 */
#include <string.h>
#include <linux/kernel.h>
#include <subcmd/parse-options.h>

#include "kvm-unified/collector/map.h"
#include "kvm-unified/record/record.h"
#include "kvm-unified/report/report.h"
#include "commands.h"

static const struct {
	const char *name;
	int (*fn)(int argc, const char **argv);
} commands[] = {
	{ "record",	cmd_kvm_unified_record },
	{ "report",	cmd_kvm_unified_report },
	{ "guest-map",	cmd_kvm_unified_guest_map },
};

int cmd_kvm_unified(int argc, const char **argv)
{
	const char *const usage[] = {
		"perf kvm unified record [<options>] [<command>]",
		"perf kvm unified report [<options>]",
		"perf kvm unified guest-map [<options>]",
		NULL
	};
	const struct option options[] = {
		OPT_END()
	};

	argc = parse_options(argc, argv, options, usage, PARSE_OPT_STOP_AT_NON_OPTION);

	for (size_t i = 0; argc && i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(argv[0], commands[i].name))
			return commands[i].fn(argc, argv);
	}
	if (argc)
		usage_with_options_msg(usage, options, "Unknown command: %s\n", argv[0]);

	usage_with_options(usage, options);
}
