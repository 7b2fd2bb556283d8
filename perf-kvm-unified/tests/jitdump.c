// SPDX-License-Identifier: GPL-2.0
/*
 * What is read of a JIT compiler's dump file.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "util/jitdump.h"
#include "kvm-unified/collector/jitdump.h"
#include "kvm-unified/collector/symbols.h"
#include "kvm-unified/format/records.h"
#include "jitdump.h"

#define CODE_SIZE	32
#define NR_MAPS		2

/* A file that has nothing but the header */
static void write_header(FILE *file, u32 magic, u64 flags)
{
	const struct jitheader header = {
		.magic = magic,
		.version = JITHEADER_VERSION,
		.total_size = sizeof(header),
		.flags = flags,
	};

	rewind(file);
	if (ftruncate(fileno(file), 0))
		pr_debug("cannot be emptied\n");
	fwrite(&header, sizeof(header), 1, file);
}

/* @len bytes of @name, and the code, by the process @pid at @time */
static void write_load_of(FILE *file, pid_t pid, u64 time, u64 index, u64 address,
			  const char *name, size_t len)
{
	const char code[CODE_SIZE] = "\xc3";
	const struct jr_code_load load = {
		.p.id = JIT_CODE_LOAD,
		.p.total_size = sizeof(load) + len + CODE_SIZE,
		.p.timestamp = time,
		.pid = pid,
		.code_addr = address,
		.code_size = CODE_SIZE,
		.code_index = index,
	};

	fwrite(&load, sizeof(load), 1, file);
	fwrite(name, 1, len, file);
	fwrite(code, sizeof(code), 1, file);
}

static void write_load(FILE *file, u64 index, u64 address, const char *name, size_t len)
{
	write_load_of(file, getpid(), 0, index, address, name, len);
}

static void write_move(FILE *file, pid_t pid, u64 index, u64 address)
{
	const struct jr_code_move move = {
		.p.id = JIT_CODE_MOVE,
		.p.total_size = sizeof(move),
		.pid = pid,
		.new_code_addr = address,
		.code_size = CODE_SIZE,
		.code_index = index,
	};

	fwrite(&move, sizeof(move), 1, file);
}

static void write_prefix(FILE *file, u32 id, u32 size)
{
	const struct jr_prefix prefix = { .id = id, .total_size = size };
	const char rest[64] = "";

	fwrite(&prefix, sizeof(prefix), 1, file);
	if (size > sizeof(prefix))
		fwrite(rest, size - sizeof(prefix), 1, file);
}

static int print_symbol(u64 start, u64 size, const char *name, void *arg)
{
	char *text = arg;

	if (!strcmp(name, "stop"))
		return -ECANCELED;
	sprintf(text + strlen(text), "%" PRIx64 " %" PRIx64 " %s;", start, size, name);
	return 0;
}

static int read_back_of(FILE *file, const struct jitdump_process *process, char *text)
{
	u32 left = JITDUMP_MAX_RECORDS;

	*text = '\0';
	rewind(file);
	return jitdump__each_symbol(file, process, &left, print_symbol, text);
}

static int read_back(FILE *file, char *text)
{
	const struct jitdump_process process = { .pid = getpid() };

	return read_back_of(file, &process, text);
}

static int check_marker(void)
{
	static const char *const others[] = {
		"7f0-7f1 r--p 00000000 08:01 12 /tmp/jit-12.dump",
		"7f0-7f1 r-xp 00000000 08:01 12 /tmp/jit-.dump",
		"7f0-7f1 r-xp 00000000 08:01 12 /tmp/jit-1x.dump",
		"7f0-7f1 r-xp 00000000 08:01 12 /tmp/12.dump",
		"7f0-7f1 r-xp 00000000 08:01 12 /tmp/jit-12.dump (moved)",
		"7f0-7f1 r-xp 00000000 08:01 12 /tmp/ajit-12.dump",
		"7f0-7f1 r-xp 00000000 00:00 0",
		"",
	};
	u64 start, end;
	pid_t pid;

	TEST_ASSERT_VAL("a marker", jitdump__is_marker("007f0-0a7f1 r-xp 00000000 08:01 12    /a b/jit-34.dump",
						       &start, &end, &pid));
	TEST_ASSERT_VAL("its place", start == 0x7f0 && end == 0xa7f1 && pid == 34);
	TEST_ASSERT_VAL("deleted", jitdump__is_marker("7f0-7f1 r-xp 00000000 08:01 12 /jit-12.dump (deleted)",
						      &start, &end, &pid));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		TEST_ASSERT_VAL(others[i], !jitdump__is_marker(others[i], &start, &end, &pid));
	return TEST_OK;
}

/* Process 7 has forked 8 at 1000 ns, and both write to its dump. */
static int check_forked(FILE *file)
{
	static const struct jitdump_process parent = { .pid = 7, .parent = 1, .forked = 10 };
	static const struct jitdump_process child = { .pid = 8, .parent = 7, .forked = 1000 };
	static const struct jitdump_process unknown = { .pid = 8, .parent = 7 };
	static const struct jitdump_process grandchild = { .pid = 9, .parent = 8, .forked = 5000 };
	char text[4096];

	for (u64 flags = 0; flags <= JITDUMP_FLAGS_ARCH_TIMESTAMP; flags++) {
		write_header(file, JITHEADER_MAGIC, flags);
		write_load_of(file, 7, 999, 1, 0x1000, "before", sizeof("before"));
		write_load_of(file, 7, 0, 2, 0x2000, "sometime", sizeof("sometime"));
		write_load_of(file, 7, 1000, 3, 0x3000, "after", sizeof("after"));
		write_load_of(file, 8, 2000, 3, 0x4000, "child", sizeof("child"));
		write_move(file, 7, 3, 0x5000);
		write_move(file, 8, 3, 0x6000);

		TEST_ASSERT_EQUAL("of the parent", read_back_of(file, &parent, text), 0);
		TEST_ASSERT_VAL(text, !strcmp(text, "1000 20 before;2000 20 sometime;"
						    "3000 20 after;5000 20 after;"));
		TEST_ASSERT_EQUAL("of the child", read_back_of(file, &child, text), 0);
		TEST_ASSERT_VAL(text, !strcmp(text, flags ? "4000 20 child;6000 20 child;" :
						    "1000 20 before;4000 20 child;6000 20 child;"));
		TEST_ASSERT_EQUAL("forked some time", read_back_of(file, &unknown, text), 0);
		TEST_ASSERT_VAL(text, !strcmp(text, "4000 20 child;6000 20 child;"));
		TEST_ASSERT_EQUAL("of its child", read_back_of(file, &grandchild, text), 0);
		TEST_ASSERT_VAL(text, !strcmp(text, flags ? "" : "4000 20 child;"));
	}
	return TEST_OK;
}

/* Maps a dump with one function, twice, and deletes it. False: it is not possible here */
static bool map_dump(const char *dir, u64 address, const char *function, void **maps)
{
	char path[64];
	FILE *file;

	scnprintf(path, sizeof(path), "%s/jit-%d.dump", dir, getpid());
	file = fopen(path, "w+");
	if (!file)
		return false;
	unlink(path);
	write_header(file, JITHEADER_MAGIC, 0);
	write_load(file, 1, address, function, strlen(function) + 1);
	fflush(file);
	for (size_t i = 0; i < NR_MAPS; i++)
		maps[i] = mmap(NULL, CODE_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			       fileno(file), 0);
	fclose(file);
	return maps[0] != MAP_FAILED && maps[1] != MAP_FAILED;
}

static void unmap_dump(void *const *maps)
{
	for (size_t i = 0; i < NR_MAPS; i++) {
		if (maps[i] && maps[i] != MAP_FAILED)
			munmap(maps[i], CODE_SIZE);
	}
}

/* What is written of the process @pid into a file: the text of a record, which is all */
static int written_symbols(pid_t pid, char *text, size_t size, size_t *left)
{
	char buf[4096] = "";
	struct perf_record_guest_symbols *rec = (void *)buf;
	FILE *file = tmpfile();
	ssize_t len;
	int ret;

	if (!file)
		return -EIO;
	ret = guest_symbols__write_jitdumps(fileno(file), pid, left);
	len = pread(fileno(file), buf, sizeof(buf) - 1, 0);
	fclose(file);
	scnprintf(text, size, "%s", len > (ssize_t)sizeof(*rec) ? rec->data : "");
	return ret;
}

/* Two dumps of this process that have no path any more */
static int check_files(void)
{
	char dir[] = "/tmp/perf-test-XXXXXX", text[256] = "";
	void *first[NR_MAPS] = { }, *second[NR_MAPS] = { };
	size_t left = 1000;
	bool mapped;
	int ret;

	TEST_ASSERT_VAL("directory", mkdtemp(dir));
	mapped = map_dump(dir, 0x1000, "first", first) && map_dump(dir, 0x2000, "second", second);
	rmdir(dir);
	ret = written_symbols(getpid(), text, sizeof(text), &left);
	unmap_dump(first);
	unmap_dump(second);
	/* A file system may be mounted noexec; map_files is for root. */
	if (!mapped || geteuid())
		return TEST_OK;
	TEST_ASSERT_EQUAL("written", ret, 0);
	TEST_ASSERT_VAL(text, strstr(text, "1000 20 first\n") && strstr(text, "2000 20 second\n"));
	TEST_ASSERT_EQUAL("each once", (int)strlen(text),
			  (int)strlen("1000 20 first\n2000 20 second\n"));
	return TEST_OK;
}

static u64 monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* A child that has a dump of this process mapped, and one of its own */
static int check_child(void)
{
	char dir[] = "/tmp/perf-test-XXXXXX", path[64], text[256] = "";
	const u64 second_ago = monotonic_ns() - NSEC_PER_SEC;
	void *own[NR_MAPS] = { };
	size_t left = 1000;
	int ready[2], ret;
	FILE *file;
	void *map;
	char ok;
	pid_t pid;

	TEST_ASSERT_VAL("directory", mkdtemp(dir) && !pipe(ready));
	scnprintf(path, sizeof(path), "%s/jit-%d.dump", dir, getpid());
	file = fopen(path, "w+");
	TEST_ASSERT_VAL("file", file);
	unlink(path);
	write_header(file, JITHEADER_MAGIC, 0);
	write_load_of(file, getpid(), second_ago, 1, 0x1000, "before", sizeof("before"));
	fflush(file);
	map = mmap(NULL, CODE_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0);
	pid = fork();
	if (!pid) {
		ok = map_dump(dir, 0x1000, "own", own);
		if (write(ready[1], &ok, sizeof(ok)) == sizeof(ok))
			pause();
		_exit(0);
	}
	TEST_ASSERT_VAL("child", pid > 0 && read(ready[0], &ok, sizeof(ok)) == sizeof(ok));
	rmdir(dir);
	write_load_of(file, getpid(), monotonic_ns(), 2, 0x2000, "after", sizeof("after"));
	fclose(file);
	ret = written_symbols(pid, text, sizeof(text), &left);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	/* As in check_files() */
	if (map == MAP_FAILED || !ok || geteuid())
		return TEST_OK;
	munmap(map, CODE_SIZE);
	TEST_ASSERT_EQUAL("written", ret, 0);
	/* The later one is that which counts. */
	TEST_ASSERT_VAL(text, !strcmp(text, "1000 20 before\n1000 20 own\n"));
	return TEST_OK;
}

int test__jitdump(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const char two_lines[] = "two\nlines";
	char text[4096], cut[3000];
	FILE *file = tmpfile();

	TEST_ASSERT_VAL("file", file);
	write_header(file, JITHEADER_MAGIC, 0);
	write_load(file, 1, 0x1000, "first", sizeof("first"));
	write_prefix(file, JIT_CODE_DEBUG_INFO, 40);
	write_load(file, 2, 0x2000, two_lines, sizeof(two_lines));
	/* An unknown kind, a function without a name, and one that is not there */
	write_prefix(file, 77, 24);
	write_load(file, 3, 0x3000, "", 1);
	write_move(file, getpid(), 1, 0x4000);
	write_move(file, getpid(), 9, 0x5000);
	write_prefix(file, JIT_CODE_CLOSE, sizeof(struct jr_prefix));
	write_load(file, 4, 0x6000, "anew", sizeof("anew"));
	TEST_ASSERT_EQUAL("read", read_back(file, text), 0);
	TEST_ASSERT_VAL(text, !strcmp(text, "1000 20 first;2000 20 two lines;4000 20 first;"
					    "6000 20 anew;"));

	/* The last record is not there yet: of size 0, or cut */
	write_header(file, JITHEADER_MAGIC, 0);
	write_load(file, 1, 0x1000, "whole", sizeof("whole"));
	write_prefix(file, JIT_CODE_LOAD, 0);
	TEST_ASSERT_EQUAL("size 0", read_back(file, text), 0);
	TEST_ASSERT_VAL(text, !strcmp(text, "1000 20 whole;"));

	/* A name that has no end */
	memset(cut, 'x', sizeof(cut));
	write_header(file, JITHEADER_MAGIC, 0);
	write_load(file, 1, 0x1000, cut, sizeof(cut));
	TEST_ASSERT_EQUAL("long", read_back(file, text), 0);
	TEST_ASSERT_EQUAL("cut", (int)strlen(text), 1023 + (int)strlen("1000 20 ;"));

	write_header(file, JITHEADER_MAGIC, 0);
	write_load(file, 1, 0x1000, "stop", sizeof("stop"));
	TEST_ASSERT_EQUAL("stopped", read_back(file, text), -ECANCELED);
	write_header(file, JITHEADER_MAGIC_SW, 0);
	TEST_ASSERT_EQUAL("of another machine", read_back(file, text), -EINVAL);
	TEST_ASSERT_VAL("emptied", !ftruncate(fileno(file), 0));
	TEST_ASSERT_EQUAL("empty", read_back(file, text), -EINVAL);
	if (check_forked(file))
		return TEST_FAIL;
	fclose(file);
	return check_marker() ?: check_files() ?: check_child();
}
