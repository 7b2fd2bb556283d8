// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified guest-map: a map of a guest, made by hand: in the guest, or from the host.
 */
#include <stdbool.h>
#include <stddef.h>
#include <subcmd/parse-options.h>

#include "util/debug.h"
#include "kvm-unified/collector/map.h"
#include "kvm-unified/lib/machine.h"
#include "kvm-unified/lib/options.h"
#include "kvm-unified/record/host-map.h"
#include "guest-map.h"

int cmd_kvm_unified_guest_map(int argc, const char **argv)
{
	const char *output = "-", *host = NULL;
	bool follow = false, old_follow = false, from_host = false;
	struct option options[] = {
		OPT_STRING('o', "output", &output, "file",
			   "file to write the map to (default: standard output)"),
		OPT_STRING(0, "host", &host, "PID|NAME",
			   "on the host: of this VM, out of its memory; nothing runs in it"),
		OPT_BOOLEAN(0, "follow", &follow,
			    "take down what processes do, until the input pipe ends or Ctrl-C"),
		OPT_BOOLEAN(0, "from-host", &from_host,
			    "only if standard input is a vsock connection of the host"),
		OPT_BOOLEAN_FLAG('f', NULL, &old_follow, "is called --follow now",
				 PARSE_OPT_HIDDEN),
		OPT_INCR('v', "verbose", &verbose, "be more verbose"),
		OPT_END()
	};
	const char *const usage[] = {
		"perf kvm unified guest-map [--follow] [--from-host] [-o <file>]",
		"perf kvm unified guest-map --host <pid>|<name> [-o <file>]",
		NULL
	};

	options__no_negation(options);
	argc = parse_options(argc, argv, options, usage, 0);
	if (argc)
		usage_error(usage, "Unknown argument: %s\n", argv[0]);
	if (old_follow) {
		pr_warning("-f is called --follow now: in perf, -f is --force\n");
		follow = true;
	}
	if (machine__check("guest-map"))
		return 1;
	if (!host)
		return guest_map__write_own(output, follow, from_host) ? 1 : 0;
	if (follow || from_host) {
		pr_err("--host is for the host, --follow and --from-host are for the guest: give one of them.\n");
		return 1;
	}
	return host_map__write(host, output) ? 1 : 0;
}
