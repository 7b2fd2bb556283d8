// SPDX-License-Identifier: GPL-2.0
/*
 * The command that runs for each profile of a recording without an end.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <linux/compiler.h>
#include <linux/kernel.h>

#include "tests/tests.h"
#include "kvm-unified/record/profile-hook.h"
#include "environment.h"
#include "profile-hook.h"

/* A path that the shell would part, a command that fails, and the last one */
static const char *const paths[] = { "with two  blanks'", "$fails", "last" };
static const char as_they_are[] =
	"printf '%s\\n' \"with two  blanks'\" '$fails' last | cmp -s - paths";

static int check(const char *dir)
{
	char command[PATH_MAX];
	struct profile_hook hook;
	sigset_t set, before;

	scnprintf(command, sizeof(command),
		  "nice >>%s/nice; echo \"$1\" >>%s/paths; test $1 != '$fails'", dir, dir);
	TEST_ASSERT_VAL("no command", !profile_hook__start(&hook, NULL));
	profile_hook__add(&hook, paths[0]);
	profile_hook__end(&hook);

	TEST_ASSERT_VAL("a command", !profile_hook__start(&hook, command));
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &before);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		profile_hook__add(&hook, paths[i]);
	profile_hook__end(&hook);
	sigprocmask(SIG_SETMASK, &before, NULL);

	TEST_ASSERT_VAL("each in turn, as it is", run_in_dir(dir, as_they_are));
	TEST_ASSERT_VAL("with the lowest priority", run_in_dir(dir, "test $(sort -u nice) = 19"));
	return TEST_OK;
}

int test__profile_hook(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return check_in_dir(check);
}
