// SPDX-License-Identifier: GPL-2.0
/*
 * What has changed between two profiles, from literal rows.
 */
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>

#include "tests/tests.h"
#include "kvm-unified/report/changes.h"
#include "kvm-unified/report/profile.h"

#define CHANGE_ROW(class, function, module, comm, pid, ns) \
	{ .key = { (class), (function), (module), (comm), (pid), 0 }, .sums = { (ns) } }

/* The change of what is called so, or NULL */
static const struct change *find_change(const struct changes *changes, const char *function,
					const char *comm, pid_t pid)
{
	for (size_t i = 0; i < changes->nr; i++) {
		const struct profile_key *key = &changes->entries[i].key;

		if (!strcmp(key->function, function) && !strcmp(key->comm, comm) &&
		    key->pid == pid)
			return &changes->entries[i];
	}
	return NULL;
}

static int check_sizes(void)
{
	const struct profile_row before[] = {
		CHANGE_ROW(PROFILE_USER, "slow", "a.so", "web", 10, 100),
		CHANGE_ROW(PROFILE_USER, "same", "a.so", "web", 10, 100),
		CHANGE_ROW(PROFILE_USER, "gone", "a.so", "web", 10, 50),
		CHANGE_ROW(PROFILE_IDLE, "[idle] (halt_exit)", "", "", -1, 750),
	};
	/* A recording of twice the time */
	const struct profile_row now[] = {
		CHANGE_ROW(PROFILE_USER, "slow", "a.so", "web", 20, 1000),
		CHANGE_ROW(PROFILE_USER, "same", "a.so", "web", 20, 200),
		CHANGE_ROW(PROFILE_STEAL, "[steal] (on task cc1)", "", "", -1, 120),
		CHANGE_ROW(PROFILE_IDLE, "[idle] (halt_exit)", "", "", -1, 680),
	};
	const struct diff_rows sides[DIFF_NR_SIDES] = {
		{ before, ARRAY_SIZE(before), 1000 }, { now, ARRAY_SIZE(now), 2000 },
	};
	struct changes changes;
	const struct change *c;

	TEST_ASSERT_VAL("found", !changes__find(&changes, sides, false));
	c = changes.entries;
	TEST_ASSERT_EQUAL("each once", (int)changes.nr, 5);
	TEST_ASSERT_VAL("the largest first, by name", !strcmp(c[0].key.function, "slow") &&
			c[0].key.pid == -1);
	TEST_ASSERT_VAL("in percent of each", c[0].percent[DIFF_OLD] == 10.0 &&
			c[0].percent[DIFF_NEW] == 50.0 && c[0].points == 40.0);
	TEST_ASSERT_VAL("and in ns", c[0].ns[DIFF_OLD] == 100 && c[0].ns[DIFF_NEW] == 1000);
	TEST_ASSERT_VAL("then what came", !strcmp(c[1].key.function, "[steal] (on task cc1)") &&
			c[1].points == 6.0 && !c[1].ns[DIFF_OLD]);
	TEST_ASSERT_VAL("... and what went, by its size", !strcmp(c[2].key.function, "gone") &&
			c[2].points == -5.0 && !c[2].ns[DIFF_NEW]);
	TEST_ASSERT_VAL("no change is a row, too", !strcmp(c[3].key.function, "same") &&
			c[3].points == 0.0);
	TEST_ASSERT_VAL("idle is what is left", c[4].key.class == PROFILE_IDLE &&
			c[4].points == -41.0);
	changes__exit(&changes);
	return TEST_OK;
}

/* What differs in each recording, such as numbers in names, is not told. */
static int check_names(void)
{
	const struct profile_row before[] = {
		CHANGE_ROW(PROFILE_USER, "query", "db", "postgres", 10, 1),
		CHANGE_ROW(PROFILE_USER, "query", "db", "postgres", 11, 2),
		CHANGE_ROW(PROFILE_USER, "work", "a", "shor", 50, 4),
		CHANGE_ROW(PROFILE_USER, "work", "a", "shor", 51, 8),
		CHANGE_ROW(PROFILE_USER, "f", "[JIT] tid 7", "node", 7, 16),
		CHANGE_ROW(PROFILE_USER, "[unknown]", "[unknown]", "[cr3 0x1000]", -1, 32),
		CHANGE_ROW(PROFILE_VM, "[alpha]", "(VM pid 123)", "", -1, 64),
		CHANGE_ROW(PROFILE_VM, "[unknown]", "alpha:nested", "[other cr3]", -1, 128),
	};
	const struct profile_row now[] = {
		CHANGE_ROW(PROFILE_USER, "query", "db", "postgres", 11, 2),
		CHANGE_ROW(PROFILE_USER, "query", "db", "postgres", 12, 2),
		CHANGE_ROW(PROFILE_USER, "query", "db", "postgres", 13, 2),
		CHANGE_ROW(PROFILE_USER, "work", "a", "shor", 50, 5),
		CHANGE_ROW(PROFILE_USER, "work", "a", "shor", 51, 8),
		CHANGE_ROW(PROFILE_USER, "f", "[JIT] tid 9", "node", 9, 16),
		CHANGE_ROW(PROFILE_USER, "[unknown]", "[unknown]", "[cr3 0x2000]", -1, 16),
		CHANGE_ROW(PROFILE_USER, "[unknown]", "[unknown]", "[cr3 0x3000]", -1, 16),
		CHANGE_ROW(PROFILE_VM, "[alpha]", "(VM pid 321)", "", -1, 64),
		CHANGE_ROW(PROFILE_VM, "[unknown]", "alpha:nested", "[other cr3]", -1, 128),
	};
	const struct diff_rows sides[DIFF_NR_SIDES] = {
		{ before, ARRAY_SIZE(before), 100 }, { now, ARRAY_SIZE(now), 100 },
	};
	struct changes changes;
	const struct change *c;

	TEST_ASSERT_VAL("found", !changes__find(&changes, sides, false));
	TEST_ASSERT_EQUAL("each once", (int)changes.nr, 7);
	c = find_change(&changes, "query", "postgres", -1);
	TEST_ASSERT_VAL("others of the name: as one", c && c->ns[DIFF_OLD] == 3 &&
			c->ns[DIFF_NEW] == 6);
	TEST_ASSERT_VAL("... and how many", c->nr_processes[DIFF_OLD] == 2 &&
			c->nr_processes[DIFF_NEW] == 3);
	c = find_change(&changes, "work", "shor", 50);
	TEST_ASSERT_VAL("the same ones of a name: by pid", c && c->ns[DIFF_OLD] == 4 &&
			c->ns[DIFF_NEW] == 5 && find_change(&changes, "work", "shor", 51));
	c = find_change(&changes, "f", "node", -1);
	TEST_ASSERT_VAL("a module with a pid", c && c->points == 0.0 &&
			!strcmp(c->key.module, "[JIT]"));
	c = find_change(&changes, "[unknown]", "[cr3]", -1);
	TEST_ASSERT_VAL("address spaces", c && c->points == 0.0 &&
			c->nr_processes[DIFF_OLD] == 1 && c->nr_processes[DIFF_NEW] == 2);
	c = find_change(&changes, "[alpha]", "", -1);
	TEST_ASSERT_VAL("a VM, by name", c && c->points == 0.0 && !c->nr_processes[DIFF_OLD]);
	c = find_change(&changes, "[unknown]", "[other cr3]", -1);
	TEST_ASSERT_VAL("a name that stays", c && !strcmp(c->key.module, "alpha:nested"));
	changes__exit(&changes);

	TEST_ASSERT_VAL("found", !changes__find(&changes, sides, true));
	c = find_change(&changes, "query", "postgres", 11);
	TEST_ASSERT_VAL("by pids, as asked for", c && c->points == 0.0);
	changes__exit(&changes);
	return TEST_OK;
}

static int test__changes(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	const struct diff_rows none[DIFF_NR_SIDES] = { };
	struct changes changes;

	TEST_ASSERT_VAL("nothing", !changes__find(&changes, none, false) && !changes.nr);
	changes__exit(&changes);
	return check_sizes() ?: check_names();
}

static struct test_case changes_tests[] = {
	TEST_CASE("kvm unified: rows that are more or less", changes),
	{ .name = NULL, }
};

struct test_suite suite__kvm_unified_changes = {
	.desc = "kvm unified: what has changed",
	.test_cases = changes_tests,
};
