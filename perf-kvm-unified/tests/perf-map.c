// SPDX-License-Identifier: GPL-2.0
/*
 * Which /tmp/perf-PID.map is whose.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "util/event.h"
#include "kvm-unified/collector/perf-map.h"
#include "perf-map.h"

#define TICKS_PER_S	100
#define PATH_LEN	64
/* A process of the test has not been there for so many s, and the machine has. */
#define BEFORE_PROCESS	(24 * 60 * 60)

static int check_start(void)
{
#define BEHIND_NAME	" S 1 8 8 0 -1 4194560 9 0 0 0 1 2 3 4 20 0 1 0 "
	static const struct {
		const char *stat;
		u64 start;
	} lines[] = {
		{ "8 (jit)" BEHIND_NAME "1234 5678 9", 12340 * NSEC_PER_MSEC },
		{ "8 (a) S 1 (b))" BEHIND_NAME "7 8\n", 70 * NSEC_PER_MSEC },
		{ "8 (jit)" BEHIND_NAME, 0 },
		{ "8 (jit) S 1 8", 0 },
		{ "8 (jit)" BEHIND_NAME "18446744073709551615 1", 0 },
		{ "8 jit", 0 },
		{ "", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		TEST_ASSERT_VAL(lines[i].stat,
				process__start_ns(lines[i].stat, TICKS_PER_S) == lines[i].start);
	return TEST_OK;
}

/* A mapping of that name; @has_id: its file has a build-id or what stands for one */
static bool may_be_own_code(const char *name, bool has_id)
{
	struct perf_record_mmap2 mmap2 = {
		.header.misc = has_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0,
	};

	scnprintf(mmap2.filename, sizeof(mmap2.filename), "%s", name);
	return guest_mmap2__may_be_own_code(&mmap2);
}

static int check_own_code(void)
{
	static const char *const own[] = {
		"//anon", "[heap]", "[anon:Ruby:rb_yjit_reserve_addr_space]", "[anon_shmem:code]",
		"/dev/zero (deleted)", "/SYSV00000000 (deleted)", "/memfd:doublemapper (deleted)",
		"/dev/shm/doublemapper (deleted)", "/tmp/.NET code (deleted)",
	};
	static const char *const others[] = {
		"/usr/bin/jit", "[vdso]", "[vsyscall]", "/tmp/[anon:jit]", "/usr/lib/libjit.so",
		"/dev/shm/doublemapper", "/tmp/ (deleted)/jit",
	};

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		TEST_ASSERT_VAL(own[i], may_be_own_code(own[i], false));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		TEST_ASSERT_VAL(others[i], !may_be_own_code(others[i], false));
	TEST_ASSERT_VAL("a program", !may_be_own_code("/usr/bin/jit (deleted)", true));
	return TEST_OK;
}

static int check_older(void)
{
	/* Booted at 1000 s, and the process began 50 s later */
	const s64 offset = 1000LL * NSEC_PER_SEC;
	const u64 start = 50ULL * NSEC_PER_SEC;

	TEST_ASSERT_VAL("of an earlier boot", perf_map__is_older(999, start, offset));
	TEST_ASSERT_VAL("of an earlier process", perf_map__is_older(1040, start, offset));
	TEST_ASSERT_VAL("a little earlier", !perf_map__is_older(1049, start, offset));
	TEST_ASSERT_VAL("later", !perf_map__is_older(1051, start, offset));
	TEST_ASSERT_VAL("no time at all", !perf_map__is_older(0, 0, 0));
	return TEST_OK;
}

/* A process that does nothing, if it can be with an empty root directory, or -1 */
static pid_t start_process(const char *root)
{
	int ready[2];
	pid_t pid;
	char ok = 0;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (!pid) {
		ok = !root || !chroot(root);
		if (write(ready[1], &ok, sizeof(ok)) == sizeof(ok) && ok)
			pause();
		_exit(0);
	}
	if (pid > 0 && (read(ready[0], &ok, sizeof(ok)) != sizeof(ok) || !ok)) {
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* An empty file that was written to at @mtime */
static bool make_file(const char *path, const struct timespec *mtime)
{
	const struct timespec times[2] = { *mtime, *mtime };
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
	bool ok = fd >= 0 && !futimens(fd, times);

	if (fd >= 0)
		close(fd);
	return ok;
}

static const struct timespec now = { .tv_nsec = UTIME_NOW };

/* Has each process of @pids a file by now that is opened? A bit for each */
static int opened(struct perf_maps *maps, const pid_t *pids, size_t nr, u64 since)
{
	int bits = 0;

	perf_maps__exit(maps);
	for (size_t i = 0; i < nr; i++) {
		if (perf_maps__add(maps, pids[i]))
			pr_debug("out of memory\n");
	}
	perf_maps__sort(maps);
	for (size_t i = 0; i < nr; i++) {
		int fd = perf_maps__open(maps, pids[i], since);

		if (fd < 0)
			continue;
		bits |= 1 << i;
		close(fd);
	}
	perf_maps__exit(maps);
	return bits;
}

/* @pids: of two processes that are there, with the files @paths */
static int check_files(const pid_t *pids, const char (*paths)[PATH_LEN])
{
	struct perf_maps maps = { };
	struct timespec boot, before;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_REALTIME, &before);
	before.tv_sec -= BEFORE_PROCESS;
	TEST_ASSERT_EQUAL("none", opened(&maps, pids, 2, 0), 0);
	TEST_ASSERT_VAL("file", make_file(paths[0], &now) && make_file(paths[1], &now));
	TEST_ASSERT_EQUAL("two", opened(&maps, pids, 2, 0), 3);
	TEST_ASSERT_EQUAL("nothing to say", (int)(maps.nr_old + maps.nr_shared), 0);
	TEST_ASSERT_EQUAL("execve() since",
			  opened(&maps, pids, 2, (boot.tv_sec + 60) * NSEC_PER_SEC), 0);
	TEST_ASSERT_EQUAL("is said", (int)maps.nr_old, 2);

	unlink(paths[0]);
	TEST_ASSERT_VAL("file", make_file(paths[0], &before));
	TEST_ASSERT_EQUAL("an old one", opened(&maps, pids, 2, 0), 2);
	TEST_ASSERT_EQUAL("is said", (int)maps.nr_old, 3);

	unlink(paths[0]);
	TEST_ASSERT_VAL("link", !link(paths[1], paths[0]));
	TEST_ASSERT_EQUAL("one file", opened(&maps, pids, 2, 0), 0);
	TEST_ASSERT_EQUAL("is said of both", (int)maps.nr_shared, 2);
	unlink(paths[0]);
	TEST_ASSERT_EQUAL("of one only", opened(&maps, pids, 2, 0), 2);

	TEST_ASSERT_VAL("link", !symlink(paths[1], paths[0]));
	TEST_ASSERT_EQUAL("no symbolic links", opened(&maps, pids, 2, 0), 2);
	unlink(paths[0]);
	TEST_ASSERT_VAL("pipe", !mkfifo(paths[0], 0600));
	TEST_ASSERT_EQUAL("no pipes", opened(&maps, pids, 2, 0), 2);
	return TEST_OK;
}

/* A process elsewhere has not the file of its pid here, which is there for one that is gone. */
static int check_root(void)
{
	char dir[] = "/tmp/perf-test-XXXXXX", path[PATH_LEN];
	struct perf_maps maps = { };
	int living, gone;
	pid_t pid;
	bool ok;

	TEST_ASSERT_VAL("directory", mkdtemp(dir));
	pid = start_process(dir);
	rmdir(dir);
	/* Not everybody may have another root. */
	if (pid < 0)
		return TEST_OK;
	scnprintf(path, sizeof(path), "/" PERF_MAP_FMT, pid);
	ok = make_file(path, &now);
	living = opened(&maps, &pid, 1, 0);
	end_process(pid);
	gone = opened(&maps, &pid, 1, 0);
	unlink(path);
	TEST_ASSERT_VAL("file", ok);
	TEST_ASSERT_EQUAL("of another root", living, 0);
	TEST_ASSERT_EQUAL("gone", gone, 1);
	return TEST_OK;
}

int test__perf_maps(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	const pid_t pids[2] = { getpid(), start_process(NULL) };
	char paths[2][PATH_LEN];
	int ret;

	TEST_ASSERT_VAL("process", pids[1] > 0);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		scnprintf(paths[i], sizeof(paths[i]), "/" PERF_MAP_FMT, pids[i]);
	ret = check_files(pids, paths);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		unlink(paths[i]);
	end_process(pids[1]);
	return ret ?: check_own_code() ?: check_start() ?: check_older() ?: check_root();
}
