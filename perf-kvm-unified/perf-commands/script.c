// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified script: perf script, with guests, and with the times that report knows.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <linux/string.h>
#include <linux/types.h>

#include "util/debug.h"
#include "util/strbuf.h"
#include "util/time-utils.h"
#include "kvm-unified/guests/options.h"
#include "kvm-unified/lib/options.h"
#include "kvm-unified/report/times.h"
#include "builtin.h"
#include "perf-commands.h"
#include "run.h"

#define TIME_OPTION	"--time"

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
		const char *time = arg__value(argc, argv, i, TIME_OPTION);

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

static int script(int argc, const char **argv, struct kvm_guests_options *guests __maybe_unused)
{
	return cmd_script(argc, argv);
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
	ret = perf_command__run(argc, argv, "perf kvm unified script [<options>]",
				"Options of perf script are taken, too: see perf script -h", script,
				&guests);
	free(own.arg);
	return ret;
}
