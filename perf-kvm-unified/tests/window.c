// SPDX-License-Identifier: GPL-2.0
/*
 * The part of a profile that is its own: written, and read, also where the file makes no sense.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <linux/compiler.h>
#include <linux/kernel.h>

#include "tests/tests.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/format/window.h"
#include "environment.h"
#include "window.h"

static bool write_text(const char *dir, const char *text)
{
	char path[PATH_MAX];
	FILE *fp;
	bool ok;

	scnprintf(path, sizeof(path), "%s/" PROFILE_WINDOW_FILE, dir);
	fp = fopen(path, "w");
	ok = fp && fputs(text, fp) >= 0;
	return fp && !fclose(fp) && ok;
}

static int check(const char *dir)
{
	static const struct profile_window windows[] = {
		{ 0, 5 }, { 5, 0 }, { 123456789012345, 123456789012346 }, { 0, LLONG_MAX },
		{ 0, 0 },
	};
	static const char *const wrong[] = {
		"", "1", "1 ", "1 2 3\n", "2 1\n", "2 2\n", "-1 2\n", "1 -2\n", "a b\n", "1 2x\n",
		"9223372036854775808 0\n", "99999999999999999999999999999999999999999999999999999999999999 1\n",
	};
	struct profile_window read;
	char err[64];
	size_t len = sizeof(err);

	TEST_ASSERT_EQUAL("there is none", profile_window__read(&read, dir, err, len), -ENOENT);
	for (size_t i = 0; i < ARRAY_SIZE(windows); i++) {
		TEST_ASSERT_EQUAL("written", profile_window__write(&windows[i], dir), 0);
		TEST_ASSERT_EQUAL("read", profile_window__read(&read, dir, err, len), 0);
		TEST_ASSERT_VAL("the same", read.from == windows[i].from &&
				read.until == windows[i].until);
	}
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		TEST_ASSERT_VAL("written as it is", write_text(dir, wrong[i]));
		TEST_ASSERT_EQUAL(wrong[i], profile_window__read(&read, dir, err, len), -EINVAL);
	}
	TEST_ASSERT_EQUAL("no such place", profile_window__write(&windows[0], "/none"), -ENOENT);
	return TEST_OK;
}

int test__window(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return check_in_dir(check);
}
