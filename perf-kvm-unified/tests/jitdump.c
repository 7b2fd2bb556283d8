// SPDX-License-Identifier: GPL-2.0
/*
 * What is read of a JIT compiler's dump file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/compiler.h>
#include <linux/kernel.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "util/jitdump.h"
#include "kvm-unified/collector/jitdump.h"
#include "jitdump.h"

#define CODE_SIZE	32

/* A file that has nothing but the header */
static void write_header(FILE *file, u32 magic)
{
	const struct jitheader header = {
		.magic = magic,
		.version = JITHEADER_VERSION,
		.total_size = sizeof(header),
	};

	rewind(file);
	if (ftruncate(fileno(file), 0))
		pr_debug("cannot be emptied\n");
	fwrite(&header, sizeof(header), 1, file);
}

/* @len bytes of @name, and the code */
static void write_load(FILE *file, u64 index, u64 address, const char *name, size_t len)
{
	const char code[CODE_SIZE] = "\xc3";
	const struct jr_code_load load = {
		.p.id = JIT_CODE_LOAD,
		.p.total_size = sizeof(load) + len + CODE_SIZE,
		.code_addr = address,
		.code_size = CODE_SIZE,
		.code_index = index,
	};

	fwrite(&load, sizeof(load), 1, file);
	fwrite(name, 1, len, file);
	fwrite(code, sizeof(code), 1, file);
}

static void write_move(FILE *file, u64 index, u64 address)
{
	const struct jr_code_move move = {
		.p.id = JIT_CODE_MOVE,
		.p.total_size = sizeof(move),
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

static int read_back(FILE *file, char *text)
{
	*text = '\0';
	rewind(file);
	return jitdump__each_symbol(file, print_symbol, text);
}

static int check_marker(void)
{
	static const char *const others[] = {
		"7f0-7f1 r--p 00000000 08:01 12 /tmp/jit-12.dump",
		"7f0-7f1 r-xp 00000000 08:01 12 /tmp/jit-.dump",
		"7f0-7f1 r-xp 00000000 08:01 12 /tmp/jit-1x.dump",
		"7f0-7f1 r-xp 00000000 08:01 12 /tmp/12.dump",
		"7f0-7f1 r-xp 00000000 08:01 12 /tmp/jit-12.dump (deleted)",
		"7f0-7f1 r-xp 00000000 08:01 12 /tmp/ajit-12.dump",
		"7f0-7f1 r-xp 00000000 00:00 0",
		"",
	};
	const char *path;

	TEST_ASSERT_VAL("a marker", jitdump__is_marker("7f0-7f1 r-xp 00000000 08:01 12    /a b/jit-12.dump",
						       &path));
	TEST_ASSERT_VAL("its path", !strcmp(path, "/a b/jit-12.dump"));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		TEST_ASSERT_VAL(others[i], !jitdump__is_marker(others[i], &path));
	return TEST_OK;
}

int test__jitdump(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const char two_lines[] = "two\nlines";
	char text[4096], cut[3000];
	FILE *file = tmpfile();

	TEST_ASSERT_VAL("file", file);
	write_header(file, JITHEADER_MAGIC);
	write_load(file, 1, 0x1000, "first", sizeof("first"));
	write_prefix(file, JIT_CODE_DEBUG_INFO, 40);
	write_load(file, 2, 0x2000, two_lines, sizeof(two_lines));
	/* Of another kind than there is, without a name, and one that is not there */
	write_prefix(file, 77, 24);
	write_load(file, 3, 0x3000, "", 1);
	write_move(file, 1, 0x4000);
	write_move(file, 9, 0x5000);
	write_prefix(file, JIT_CODE_CLOSE, sizeof(struct jr_prefix));
	write_load(file, 4, 0x6000, "after the end", sizeof("after the end"));
	TEST_ASSERT_EQUAL("read", read_back(file, text), 0);
	TEST_ASSERT_VAL(text, !strcmp(text, "1000 20 first;2000 20 two lines;4000 20 first;"));

	/* The last record is not there yet: of size 0, or cut */
	write_header(file, JITHEADER_MAGIC);
	write_load(file, 1, 0x1000, "whole", sizeof("whole"));
	write_prefix(file, JIT_CODE_LOAD, 0);
	TEST_ASSERT_EQUAL("size 0", read_back(file, text), 0);
	TEST_ASSERT_VAL(text, !strcmp(text, "1000 20 whole;"));

	/* A name that has no end */
	memset(cut, 'x', sizeof(cut));
	write_header(file, JITHEADER_MAGIC);
	write_load(file, 1, 0x1000, cut, sizeof(cut));
	TEST_ASSERT_EQUAL("long", read_back(file, text), 0);
	TEST_ASSERT_EQUAL("cut", (int)strlen(text), 1023 + (int)strlen("1000 20 ;"));

	write_header(file, JITHEADER_MAGIC);
	write_load(file, 1, 0x1000, "stop", sizeof("stop"));
	TEST_ASSERT_EQUAL("stopped", read_back(file, text), -ECANCELED);
	write_header(file, JITHEADER_MAGIC_SW);
	TEST_ASSERT_EQUAL("of another machine", read_back(file, text), -EINVAL);
	TEST_ASSERT_VAL("emptied", !ftruncate(fileno(file), 0));
	TEST_ASSERT_EQUAL("empty", read_back(file, text), -EINVAL);
	fclose(file);
	return check_marker();
}
