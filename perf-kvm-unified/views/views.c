// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified annotate and script: those of perf, with what the user says of the guests.
 *
 * Room: views/, perf's own commands on a profile with guests.
 * Calls: guests lib report
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>
#include <subcmd/parse-options.h>

#include "ui/ui.h"
#include "util/debug.h"
#include "util/strbuf.h"
#include "util/time-utils.h"
#include "util/util.h"
#include "kvm-unified/guests/annotate.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/guests/options.h"
#include "kvm-unified/lib/options.h"
#include "kvm-unified/report/times.h"
#include "builtin.h"
#include "views.h"

#define TIME_OPTION	"--time"

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

/* Refuses what perf does not know, or would take for --vmlinux. 0 or the exit code */
static int check_argv(const char *command, int argc, const char **argv)
{
	static const char *const of_report[] = { "--vm", "--vcpu" };
	const char *fields = strcmp(command, "script") ? "" :
			     ", which -F +machine_pid,+vcpu tells apart";

	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(of_report); k++) {
			if (!value_of(argc, argv, i, of_report[k]))
				continue;
			pr_err("%s is an option of perf kvm unified report: %s is of all VMs%s\n",
			       of_report[k], command, fields);
			return EXIT_USAGE;
		}
	}
	return 0;
}

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

/* The value of the last --@name or -@letter, which counts; NULL: there is none */
static const char *last_value(int argc, const char **argv, const char *name, char letter)
{
	const char *last = NULL;

	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		const char *value = value_of(argc, argv, i, name);

		if (!value && argv[i][0] == '-' && argv[i][1] == letter)
			value = argv[i][2] || i + 1 == argc ? argv[i] + 2 : argv[i + 1];
		last = value ?: last;
	}
	return last;
}

/* The function that perf annotate is asked for: an argument that is no option, or -s. Or NULL */
static const char *symbol_of(int argc, const char **argv)
{
	const char *argument = NULL;

	for (int i = 1; i < argc; i++) {
		if (argv[i][0] != '-' && !takes_value(argv[i - 1]))
			argument = argv[i];
	}
	return argument ?: last_value(argc, argv, "--symbol", 's');
}

/*
 * @about: for -h, which shows the options of guests alone; @guests: what the command wants of
 * them, and gets what the user does. The exit code of perf's command
 */
static int run(int argc, const char **argv, const char *usage, const char *about,
	       int (*cmd)(int argc, const char **argv), struct kvm_guests_options *guests)
{
	struct option options[] = {
		OPTS_KVM_GUESTS(guests),
		OPT_GROUP(about),
		OPT_END()
	};
	const char *const usages[] = { usage, NULL };
	const char *input = last_value(argc, argv, "--input", 'i') ?: "perf.data";
	int ret;

	options__no_negation(options);
	/* The command lists its own, and ends perf. */
	if (is_completion(argc, argv))
		list_options(options);
	else
		argc = parse_options(argc, argv, options, usages, PARSE_OPT_KEEP_ARGV0 |
				     PARSE_OPT_KEEP_UNKNOWN | PARSE_OPT_KEEP_DASHDASH);

	if (guests->code)
		guests->code->symbol = symbol_of(argc, argv);
	/* By cmd_kvm()'s default, it would be guests alone. */
	perf_host = true;
	perf_guest = true;
	ret = check_argv(argv[0], argc, argv) ?: kvm_guests_options__check(guests);
	if (!ret) {
		kvm_guests__want(guests);
		ret = cmd(argc, argv);
		kvm_guests__want(NULL);
		if (ret && strcmp(input, "-") && access(input, F_OK))
			pr_err("Of the host and its guests, perf kvm unified record makes %s\n",
			       input);
	}
	kvm_guests_options__exit(guests);
	return ret < 0 ? 1 : ret;
}

/* Ends the browser: messages from here on are for the terminal, not below its screen. */
static void end_browser(void)
{
	if (use_browser <= 0)
		return;
	ui__exit(/*wait_for_ok=*/false);
	use_browser = 0;
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
	ret = run(argc, argv, "perf kvm unified annotate [<options>] [<symbol>]",
		  "Options of perf annotate are taken, too: see perf annotate -h", cmd_annotate,
		  &guests);
	end_browser();
	guest_code__warn(&code);
	guest_code__exit(&code);
	return ret;
}

/**
 * struct own_times - a --time that report knows, and perf script does not
 * @given: as the user has typed it
 * @arg: the option for perf script, or NULL: it gets the user's
 * @value: in @arg: gets times of the host's clock when the session is open, before perf
 *	script reads it
 * @size: there are so many bytes for it
 */
struct own_times {
	const char	*given;
	char		*arg;
	char		*value;
	size_t		size;
};

/*
 * Have perf script read @own if the last --time, which counts, is one that it does not know.
 * 0 or the exit code
 */
static int own_times__init(struct own_times *own, int argc, const char **argv)
{
	const char **arg = NULL;
	bool reltime = false;

	*own = (struct own_times) { };
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		const char *time = value_of(argc, argv, i, TIME_OPTION);

		reltime |= !strcmp(argv[i], "--reltime");
		if (!time)
			continue;
		own->given = time;
		arg = &argv[i];
	}
	if (!arg || !times__are_own(own->given))
		return 0;
	if (reltime) {
		pr_err("With --reltime, seconds since the start have no sign: --time 1,2, not '%s'\n",
		       own->given);
		return EXIT_USAGE;
	}

	own->size = (strlen(own->given) + 1) * TIMES_TEXT_LEN;
	own->arg = malloc(strlen(TIME_OPTION "=") + own->size);
	if (!own->arg) {
		pr_err("Out of memory\n");
		return 1;
	}
	own->value = stpcpy(own->arg, TIME_OPTION "=");
	strlcpy(own->value, own->given, own->size);
	if (own->given == arg[1])
		arg[1] = own->value;
	else
		arg[0] = own->arg;
	return 0;
}

/* The session tells when the samples were. 0, or -errno with a message */
static int own_times__set(struct perf_session *session, void *_own)
{
	struct own_times *own = _own;
	struct perf_time_interval *times = NULL;
	struct strbuf text = STRBUF_INIT;
	int nr = times__parse(own->given, session, &times);
	int ret = nr < 0 ? nr : times__check_recorded(own->given, times, nr, session);

	if (!ret) {
		ret = times__to_text(times, nr, &text);
		if (ret)
			pr_err("Out of memory\n");
	}
	if (!ret)
		strlcpy(own->value, text.buf, own->size);
	strbuf_release(&text);
	free(times);
	return ret;
}

int cmd_kvm_unified_script(int argc, const char **argv)
{
	struct kvm_guests_options guests;
	struct own_times own;
	int ret = own_times__init(&own, argc, argv);

	if (ret)
		return ret;
	kvm_guests_options__init(&guests);
	if (own.arg) {
		guests.opened = own_times__set;
		guests.arg = &own;
	}
	ret = run(argc, argv, "perf kvm unified script [<options>]",
		  "Options of perf script are taken, too: see perf script -h", cmd_script,
		  &guests);
	free(own.arg);
	return ret;
}
