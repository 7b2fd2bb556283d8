// SPDX-License-Identifier: GPL-2.0
/*
 * The profiles of a recording without an end: what they are called, and which go.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <linux/compiler.h>
#include <linux/kernel.h>

#include "tests/tests.h"
#include "kvm-unified/record/segments.h"
#include "environment.h"
#include "segments.h"

/* Four of them, 64 KiB each, an hour after each other; what else there is stays. */
static const char four[] =
	"for i in 1 2 3 4; do d=2026120${i}T000000Z.data; mkdir $d && "
	"head -c 65536 /dev/zero >$d/data && touch -d 2026-12-01T0$i:00:00Z $d; done && "
	"mkdir mine.data && : >mine.data/notes && : >other";
#define HOUR		(60 * 60)
/* 2026-12-01 04:00 UTC, when the last one has ended */
#define LAST_END	1796097600
#define KIB		1024ULL

static bool are(const char *dir, const char *names)
{
	char command[256];

	scnprintf(command, sizeof(command), "test \"$(echo 2026*)\" = '%s' && test -f mine.data/notes && test -f other",
		  names);
	return run_in_dir(dir, command);
}

static bool is_at(const char *path, const char *dir, const char *name)
{
	size_t len = strlen(dir);

	return !strncmp(path, dir, len) && path[len] == '/' && !strcmp(path + len + 1, name);
}

static int check_names(const char *dir)
{
	char part[PATH_MAX], path[PATH_MAX];

	segment__paths(dir, LAST_END, part, path);
	TEST_ASSERT_VAL("while it is written", is_at(part, dir, "20261201T040000Z.part"));
	TEST_ASSERT_VAL("and then", is_at(path, dir, "20261201T040000Z.data"));
	TEST_ASSERT_VAL("made",
			run_in_dir(dir, "mkdir 20261201T040000Z.data 20261201T040001Z.part"));
	segment__paths(dir, LAST_END, part, path);
	TEST_ASSERT_VAL("there are such", is_at(part, dir, "20261201T040002Z.part") &&
			is_at(path, dir, "20261201T040002Z.data"));
	TEST_ASSERT_VAL("gone",
			run_in_dir(dir, "rmdir 20261201T040000Z.data 20261201T040001Z.part"));
	return TEST_OK;
}

static int check_limits(const char *dir)
{
	struct segments segs = { .dir = dir };
	const struct segments_limits none = { }, age = { .keep = 2 * HOUR + 1 };
	/* A third one would be with the next one more than that. */
	const struct segments_limits size = { .max_size = 300 * KIB };
	const struct segments_limits less = { .max_size = 250 * KIB }, little = { .max_size = 1 };
	struct segments_dropped dropped = { };

	TEST_ASSERT_VAL("made", run_in_dir(dir, four));
	TEST_ASSERT_EQUAL("no limit", segments__limit(&segs, &none, LAST_END, &dropped), 0);
	TEST_ASSERT_VAL("all stay", are(dir, "20261201T000000Z.data 20261202T000000Z.data "
					"20261203T000000Z.data 20261204T000000Z.data"));
	TEST_ASSERT_EQUAL("age", segments__limit(&segs, &age, LAST_END, &dropped), 0);
	TEST_ASSERT_VAL("one was older", are(dir, "20261202T000000Z.data 20261203T000000Z.data "
					     "20261204T000000Z.data"));
	TEST_ASSERT_VAL("by age", dropped.by_age == 1 && !dropped.by_size);
	TEST_ASSERT_EQUAL("size", segments__limit(&segs, &size, LAST_END, &dropped), 0);
	TEST_ASSERT_VAL("all fit", !dropped.by_size);
	TEST_ASSERT_EQUAL("there is room on the disk", segments__make_room(&segs), 0);
	TEST_ASSERT_EQUAL("less", segments__limit(&segs, &less, LAST_END, &dropped), 0);
	TEST_ASSERT_VAL("one is too much",
			are(dir, "20261203T000000Z.data 20261204T000000Z.data"));
	TEST_ASSERT_VAL("something else in it", run_in_dir(dir, ": >20261203T000000Z.data/notes"));
	TEST_ASSERT_EQUAL("that stays", segments__limit(&segs, &little, LAST_END, &dropped),
			  -ENOTEMPTY);
	TEST_ASSERT_VAL("where", !strcmp(segs.left, "20261203T000000Z.data"));
	TEST_ASSERT_VAL("alone", run_in_dir(dir, "test $(ls 20261203T000000Z.data) = notes"));
	TEST_ASSERT_VAL("by size", dropped.by_age == 1 && dropped.by_size == 2);
	TEST_ASSERT_VAL("gone", run_in_dir(dir, "rm -r 20261203T000000Z.data"));
	TEST_ASSERT_EQUAL("little", segments__limit(&segs, &little, LAST_END, &dropped), 0);
	TEST_ASSERT_VAL("the last one stays", are(dir, "20261204T000000Z.data"));
	segments__exit(&segs);
	return TEST_OK;
}

/*
 * When the recorder was killed, one of those that were written had no records. One had none but
 * those of the one before it, and another one had a part of the time that is its own.
 */
static int check_recovery(const char *dir)
{
	u32 nr;

	TEST_ASSERT_VAL("made", run_in_dir(dir, "for i in 5 6 7 8; do mkdir 2026120${i}T000000Z.part && "
					   "echo x >2026120${i}T000000Z.part/data; done && "
					   ": >20261205T000000Z.part/data && "
					   "echo 5 0 >20261208T000000Z.part/data.window"));
	TEST_ASSERT_EQUAL("seen to", segments__recover(dir, &nr), 0);
	TEST_ASSERT_EQUAL("two have records of their own", (int)nr, 2);
	TEST_ASSERT_VAL("they are called as others",
			are(dir, "20261204T000000Z.data 20261206T000000Z.data "
				 "20261208T000000Z.data"));
	return TEST_OK;
}

static int check(const char *dir)
{
	int ret = check_names(dir);

	if (ret == TEST_OK)
		ret = check_limits(dir);
	if (ret == TEST_OK)
		ret = check_recovery(dir);
	return ret;
}

int test__segments(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return check_in_dir(check);
}
