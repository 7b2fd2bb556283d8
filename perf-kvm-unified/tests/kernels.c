// SPDX-License-Identifier: GPL-2.0
/*
 * The symbols of guests' kernels in the directory of a recording without an end: kept once, for as
 * long as a profile has them.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <linux/compiler.h>
#include <linux/kernel.h>

#include "tests/tests.h"
#include "util/event.h"
#include "util/header.h"
#include "kvm-unified/format/records.h"
#include "kvm-unified/format/stream.h"
#include "kvm-unified/guests/map-check.h"
#include "kvm-unified/record/kernels.h"
#include "environment.h"
#include "kernels.h"

#define NR_PROFILES	4
#define VMM_PID		"7"

/* Whose kernel is whose: the first two are of one boot, the third has as many bytes. */
static const char *const texts[NR_PROFILES] = {
	"ffffffff81000000 T _stext\n", "ffffffff81000000 T _stext\n",
	"ffffffff91000000 T _stext\n", "ffffffff81000000 T _text\n",
};

struct made_map {
	struct perf_pipe_file_header head;
	struct perf_record_guest_kallsyms kallsyms;
	char text[32];
	struct perf_record_guest_missed missed;
	struct perf_event_header end;
};

static bool write_file(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "w");
	bool ok = file && fwrite(data, 1, size, file) == size;

	return file && !fclose(file) && ok;
}

static void profile_path(const char *dir, int nr, const char *name, char *path)
{
	scnprintf(path, PATH_MAX, "%s/%d.data/%s", dir, nr, name);
}

/* A profile of one guest, with a map that has the text, too */
static bool make_profile(const char *dir, int nr)
{
	struct made_map map = {
		.head = { .magic = PERF_MAGIC_LE, .size = sizeof(map.head) },
		.kallsyms = {
			.header = {
				.type = PERF_RECORD_GUEST_KALLSYMS,
				.size = sizeof(map.kallsyms) + sizeof(map.text),
			},
			.len = strlen(texts[nr]),
		},
		.missed.header = {
			.type = PERF_RECORD_GUEST_MISSED, .size = sizeof(map.missed),
		},
		.end = { .type = PERF_RECORD_FINISHED_INIT, .size = sizeof(map.end) },
	};
	char path[PATH_MAX], command[64];

	scnprintf(command, sizeof(command), "mkdir -p %d.data/kcore_dir__" VMM_PID, nr);
	if (!run_in_dir(dir, command))
		return false;
	memcpy(map.text, texts[nr], strlen(texts[nr]));
	profile_path(dir, nr, "guest_map__" VMM_PID, path);
	if (!write_file(path, &map, sizeof(map)))
		return false;
	profile_path(dir, nr, "kcore_dir__" VMM_PID "/kallsyms", path);
	return write_file(path, texts[nr], strlen(texts[nr]));
}

/* Is its text what it was? @ino: gets which file that is */
static bool has_text(const char *dir, int nr, ino_t *ino)
{
	char path[PATH_MAX], text[64] = "";
	struct stat st;
	FILE *file;

	profile_path(dir, nr, "kcore_dir__" VMM_PID "/kallsyms", path);
	file = fopen(path, "r");
	if (!file || fstat(fileno(file), &st))
		return false;
	*ino = st.st_ino;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return !strcmp(text, texts[nr]);
}

static int count_missed(const union perf_event *event, u64 time __maybe_unused, void *nr)
{
	*(int *)nr += event->header.type == PERF_RECORD_GUEST_MISSED;
	return 0;
}

/* The map has what else it had, and no text. */
static bool has_rest(const char *dir, int nr)
{
	int nr_missed = 0;
	struct guest_map_reader reader = { .take = count_missed, .arg = &nr_missed };
	char path[PATH_MAX], err[128];

	profile_path(dir, nr, "guest_map__" VMM_PID, path);
	return !guest_map__read(path, &reader, err, sizeof(err)) && nr_missed == 1 &&
	       !reader.kallsyms_size;
}

static int check(const char *dir)
{
	ino_t inos[NR_PROFILES];
	char path[PATH_MAX];

	for (int i = 0; i < NR_PROFILES; i++) {
		TEST_ASSERT_VAL("a profile", make_profile(dir, i));
		scnprintf(path, sizeof(path), "%s/%d.data", dir, i);
		TEST_ASSERT_EQUAL("kept", kernels__keep(dir, path), 0);
		TEST_ASSERT_EQUAL("once more", kernels__keep(dir, path), 0);
	}
	for (int i = 0; i < NR_PROFILES; i++) {
		TEST_ASSERT_VAL("the same text", has_text(dir, i, &inos[i]));
		TEST_ASSERT_VAL("a map without it", has_rest(dir, i));
	}
	TEST_ASSERT_VAL("one file of one boot", inos[0] == inos[1]);
	TEST_ASSERT_VAL("others of others", inos[2] != inos[0] && inos[3] != inos[0] &&
			inos[2] != inos[3]);
	TEST_ASSERT_VAL("nothing besides", run_in_dir(dir, "test $(ls -A *.data/kcore_dir__" VMM_PID
						      " | grep -c tmp) = 0 && : >kernels/mine"));
	TEST_ASSERT_VAL("three are kept", kernels__drop_unused(dir) > 0 &&
			run_in_dir(dir, "test $(ls kernels | wc -l) = 4"));
	TEST_ASSERT_VAL("a profile goes", run_in_dir(dir, "rm -r 0.data 2.data"));
	kernels__drop_unused(dir);
	TEST_ASSERT_VAL("its symbols go, unless another one has them",
			run_in_dir(dir, "test $(ls kernels | wc -l) = 3") &&
			has_text(dir, 1, &inos[1]));
	TEST_ASSERT_VAL("what is in the way",
			run_in_dir(dir, "for f in kernels/*; do echo >$f; done"));
	TEST_ASSERT_VAL("a profile", make_profile(dir, 0));
	profile_path(dir, 0, "", path);
	TEST_ASSERT_EQUAL("not shared", kernels__keep(dir, path), -EEXIST);
	TEST_ASSERT_VAL("but there", has_text(dir, 0, &inos[0]) && !has_rest(dir, 0));
	TEST_ASSERT_VAL("all go", run_in_dir(dir, "rm -r *.data"));
	TEST_ASSERT_EQUAL("nothing is kept", (int)kernels__drop_unused(dir), 0);
	TEST_ASSERT_VAL("but what is not ours", run_in_dir(dir, "test $(ls kernels) = mine"));
	return TEST_OK;
}

int test__kernels(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return check_in_dir(check);
}
