// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified annotate: perf annotate, with the code of guests.
 */
#include <stdbool.h>
#include <string.h>
#include <linux/kernel.h>

#include "ui/ui.h"
#include "util/debug.h"
#include "kvm-unified/guests/annotate.h"
#include "kvm-unified/guests/options.h"
#include "builtin.h"
#include "perf-commands.h"
#include "run.h"

/* Is the argument after @arg the value of that option of perf annotate? */
static bool takes_value(const char *arg)
{
	static const char *const names[] = {
		"--addr2line", "--cpu", "--disassembler-style", "--dsos", "--input", "--objdump",
		"--percent-limit", "--percent-type", "--prefix", "--prefix-strip", "--stdio-color",
		"--symbol", "--symfs", "--vmlinux",
	};

	if (arg[0] == '-' && arg[1] && arg[1] != '-')
		return strchr("CMdiks", arg[strlen(arg) - 1]);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(arg, names[i]))
			return true;
	}
	return false;
}

/* The function that perf annotate is asked for: an argument that is no option, or -s. Or NULL */
static const char *symbol_of(int argc, const char **argv)
{
	const char *argument = NULL;

	for (int i = 1; i < argc; i++) {
		if (argv[i][0] != '-' && !takes_value(argv[i - 1]))
			argument = argv[i];
	}
	return argument ?: args__last_value(argc, argv, "--symbol", 's');
}

/* Ends the browser: messages from here on are for the terminal, not below its screen. */
static void end_browser(void)
{
	if (use_browser <= 0)
		return;
	ui__exit(/*wait_for_ok=*/false);
	use_browser = 0;
}

static int annotate(int argc, const char **argv, struct kvm_guests_options *guests)
{
	guests->code->symbol = symbol_of(argc, argv);
	return cmd_annotate(argc, argv);
}

int cmd_kvm_unified_annotate(int argc, const char **argv)
{
	struct kvm_guests_options guests;
	struct guest_code code;
	int ret;

	if (guest_code__init(&code)) {
		pr_err("Out of memory\n");
		return 1;
	}
	kvm_guests_options__init(&guests);
	guests.code = &code;
	ret = perf_command__run(argc, argv, "perf kvm unified annotate [<options>] [<symbol>]",
				"Options of perf annotate are taken, too: see perf annotate -h",
				annotate, &guests);
	end_browser();
	guest_code__warn(&code);
	guest_code__exit(&code);
	return ret;
}
