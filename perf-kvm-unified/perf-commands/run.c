// SPDX-License-Identifier: GPL-2.0
/*
 * Commands of perf's own on a profile with guests: the options of guests are taken off the command
 * line, and the session that the command opens knows them.
 *
 * Room: perf-commands/, perf's own commands on a profile with guests.
 * Calls: guests lib report
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <subcmd/parse-options.h>

#include "util/debug.h"
#include "util/util.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/guests/options.h"
#include "kvm-unified/lib/options.h"
#include "run.h"

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

/* The value of option @name if argument @i of a command is that option, else NULL */
const char *arg__value(int argc, const char **argv, int i, const char *name)
{
	size_t len = strlen(name);

	if (!strstarts(argv[i], name))
		return NULL;
	if (argv[i][len] == '=')
		return argv[i] + len + 1;
	return argv[i][len] ? NULL : i + 1 < argc ? argv[i + 1] : "";
}

/* The value of the last --@name or -@letter, which counts; NULL: there is none */
const char *args__last_value(int argc, const char **argv, const char *name, char letter)
{
	const char *last = NULL;

	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		const char *value = arg__value(argc, argv, i, name);

		if (!value && argv[i][0] == '-' && argv[i][1] == letter)
			value = argv[i][2] || i + 1 == argc ? argv[i] + 2 : argv[i + 1];
		last = value ?: last;
	}
	return last;
}

/* Refuses what perf does not know, or would take for --vmlinux. 0 or the exit code */
static int check_argv(const char *command, int argc, const char **argv)
{
	static const char *const of_report[] = { "--vm", "--vcpu" };
	const char *fields = strcmp(command, "script") ? "" :
			     ", which -F +machine_pid,+vcpu tells apart";

	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(of_report); k++) {
			if (!arg__value(argc, argv, i, of_report[k]))
				continue;
			pr_err("%s is an option of perf kvm unified report: %s is of all VMs%s\n",
			       of_report[k], command, fields);
			return EXIT_USAGE;
		}
	}
	return 0;
}

/**
 * perf_command__run - run a command of perf's own on a profile with guests
 * @usage: @about: for -h, which shows the options of guests alone
 * @cmd: calls the command; gets what is left of the command line
 * @guests: what it wants of the guests, and gets what the user does; is freed
 *
 * The exit code of the command
 */
int perf_command__run(int argc, const char **argv, const char *usage, const char *about,
		      perf_command_fn cmd, struct kvm_guests_options *guests)
{
	struct option options[] = {
		OPTS_KVM_GUESTS(guests),
		OPT_GROUP(about),
		OPT_END()
	};
	const char *const usages[] = { usage, NULL };
	const char *input = args__last_value(argc, argv, "--input", 'i') ?: "perf.data";
	int ret;

	options__no_negation(options);
	/* The command lists its own, and ends perf. */
	if (is_completion(argc, argv))
		list_options(options);
	else
		argc = parse_options(argc, argv, options, usages, PARSE_OPT_KEEP_ARGV0 |
				     PARSE_OPT_KEEP_UNKNOWN | PARSE_OPT_KEEP_DASHDASH);

	/* By cmd_kvm()'s default, it would be guests alone. */
	perf_host = true;
	perf_guest = true;
	ret = check_argv(argv[0], argc, argv) ?: kvm_guests_options__check(guests);
	if (!ret) {
		kvm_guests__want(guests);
		ret = cmd(argc, argv, guests);
		kvm_guests__want(NULL);
		if (ret && strcmp(input, "-") && access(input, F_OK))
			pr_err("perf kvm unified record makes %s, a profile of the host and its guests.\n",
			       input);
	}
	kvm_guests_options__exit(guests);
	return ret < 0 ? 1 : ret;
}
