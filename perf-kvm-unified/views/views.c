// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified annotate and script: those of perf, with what the user says of the guests.
 *
 * Room: views/, perf's own commands on a profile with guests.
 * Calls: guests lib
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/string.h>
#include <linux/types.h>
#include <subcmd/parse-options.h>

#include "builtin.h"
#include "util/debug.h"
#include "util/util.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/guests/options.h"
#include "kvm-unified/lib/options.h"
#include "kvm-unified/lib/warnings.h"
#include "views.h"

static bool is_completion(int argc, const char **argv)
{
	return argc > 1 && !strcmp(argv[argc - 1], "--list-opts");
}

static void list_options(const struct option *options)
{
	for (; options->type != OPTION_END; options++) {
		if (options->long_name)
			printf("--%s ", options->long_name);
	}
}

/* The value of option @name if argument @i is that option, else NULL */
static const char *value_of(int argc, const char **argv, int i, const char *name)
{
	size_t len = strlen(name);

	if (!strstarts(argv[i], name))
		return NULL;
	if (argv[i][len] == '=')
		return argv[i] + len + 1;
	return argv[i][len] ? NULL : i + 1 < argc ? argv[i + 1] : "";
}

/* What perf would take for --vmlinux, or for times of its own. 0 or the exit code */
static int check_argv(const char *command, int argc, const char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		const char *time = value_of(argc, argv, i, "--time");

		if (value_of(argc, argv, i, "--vm")) {
			pr_err("--vm is an option of perf kvm unified report: %s is of all VMs\n",
			       command);
			return EXIT_USAGE;
		}
		if (time && (*time == '+' || *time == '-')) {
			pr_err("--time %s is for perf kvm unified report: %s has the times of the clock, as in --time 100.5,101\n",
			       time, command);
			return EXIT_USAGE;
		}
	}
	return 0;
}

/* What is the last argument if that is no option, and no file as some options have one; or NULL */
static const char *symbol_of(int argc, const char **argv)
{
	const char *last = argv[argc - 1];

	return argc > 1 && last[0] != '-' && access(last, F_OK) ? last : NULL;
}

/*
 * @about: for -h, which shows the options of guests alone; @nr_kernel: gets how many samples were
 * in guests' kernels, or NULL. The exit code of perf's command
 */
static int run(int argc, const char **argv, const char *usage, const char *about,
	       int (*cmd)(int argc, const char **argv), u64 *nr_kernel)
{
	struct kvm_guests_options guests;
	struct option options[] = {
		OPTS_KVM_GUESTS(&guests),
		OPT_GROUP(about),
		OPT_END()
	};
	const char *const usages[] = { usage, NULL };
	int ret;

	kvm_guests_options__init(&guests);
	guests.nr_kernel = nr_kernel;
	options__no_negation(options);
	/* The command lists its own, and ends perf. */
	if (is_completion(argc, argv))
		list_options(options);
	else
		argc = parse_options(argc, argv, options, usages, PARSE_OPT_KEEP_ARGV0 |
				     PARSE_OPT_KEEP_UNKNOWN | PARSE_OPT_KEEP_DASHDASH);

	guests.kernel_symbol = symbol_of(argc, argv);
	/* By cmd_kvm()'s default, it would be guests alone. */
	perf_host = true;
	perf_guest = true;
	ret = check_argv(argv[0], argc, argv) ?: kvm_guests_options__check(&guests);
	if (!ret) {
		kvm_guests__want(&guests);
		ret = cmd(argc, argv);
		kvm_guests__want(NULL);
	}
	kvm_guests_options__exit(&guests);
	return ret < 0 ? 1 : ret;
}

int cmd_kvm_unified_annotate(int argc, const char **argv)
{
	u64 nr_kernel = 0;
	int ret = run(argc, argv, "perf kvm unified annotate [<options>] [<symbol>]",
		      "Options of perf annotate are taken, too: see perf annotate -h", cmd_annotate,
		      &nr_kernel);

	if (nr_kernel)
		unified_warning("Functions of guests' kernels are not annotated: their code is in a vmlinux, which does not say\n"
				"where the guest has its kernel, and no option (--guestvmlinux, -k) is for it. Without\n"
				"samples, it is there: objdump -d --disassemble=FUNCTION VMLINUX\n"
				"Those of its programs are, if their files are below --guest-root.\n");
	return ret;
}

int cmd_kvm_unified_script(int argc, const char **argv)
{
	return run(argc, argv, "perf kvm unified script [<options>]",
		   "Options of perf script are taken, too: see perf script -h", cmd_script,
		   /*nr_kernel=*/NULL);
}
