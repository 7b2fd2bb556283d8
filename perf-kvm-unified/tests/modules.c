// SPDX-License-Identifier: GPL-2.0
/*
 * Modules of a guest's kernel, and BPF programs, that come or go.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "util/event.h"
#include "kvm-unified/collector/bpf-programs.h"
#include "kvm-unified/collector/modules.h"
#include "kvm-unified/format/records.h"
#include "modules.h"

/* A module that stays, one that goes, and one that is placed where that was */
#define STAYS	"stays 16384 0 - Live 0xffffffffc0000000\n"
#define GOES	"goes 8192 0 - Live 0xffffffffc0002000\n"
#define COMES	"comes 4096 0 - Live 0xffffffffc0002000 (E)\n"

#define KERNEL		"ffffffff81000000 T _stext\nffffffff81000010 t goes_f\n"
#define OF_STAYS	"ffffffffc0000000 t stays_f\t[stays]\n"
#define OF_GOES		"ffffffffc0002100 t goes_g\t[goes]\n"			\
			"ffffffffc0002000 T goes_f\t[goes]\n"			\
			"ffffffffc0002040 d goes_data\t[goes]\n"		\
			"ffffffffc0009000 t goes_elsewhere\t[goes]\n"
#define OF_COMES	"ffffffffc0002010 t comes_f\t[comes]\n"			\
			"ffffffffc0001000 t goes_not\t[goesnot]\n"

static int read_modules(struct module_look *modules, const char *lines, const char *kallsyms)
{
	char modules_path[] = "/tmp/perf-test-XXXXXX", kallsyms_path[] = "/tmp/perf-test-XXXXXX";
	int modules_fd = mkstemp(modules_path), kallsyms_fd = mkstemp(kallsyms_path);
	int ret = -EIO;

	if (modules_fd >= 0 && kallsyms_fd >= 0 &&
	    write(modules_fd, lines, strlen(lines)) == (ssize_t)strlen(lines) &&
	    write(kallsyms_fd, kallsyms, strlen(kallsyms)) == (ssize_t)strlen(kallsyms))
		ret = module_look__read(modules, modules_path, kallsyms_path);
	close(modules_fd);
	close(kallsyms_fd);
	unlink(modules_path);
	unlink(kallsyms_path);
	return ret;
}

/* What was written to @file, as text; all records with @pid */
static void print_records(FILE *file, u32 pid, char *buf, size_t size)
{
	union perf_event *event = malloc(UINT16_MAX);
	size_t len = 0;

	buf[0] = '\0';
	rewind(file);
	while (event && fread(event, sizeof(event->header), 1, file) == 1) {
		const struct perf_record_guest_symbols *rec = (const void *)event;
		const struct guest_symbols_module *module = (const void *)rec->data;
		size_t rest = event->header.size - sizeof(event->header);

		if (fread(&event->header + 1, 1, rest, file) != rest ||
		    rec->pid != pid || rec->len < sizeof(*module))
			break;
		len += scnprintf(buf + len, size - len, "%s %" PRIx64 "+%" PRIx64 " %d-%d:\n%.*s",
				 module->name, (u64)module->start, (u64)module->len,
				 (int)module->from, (int)module->until,
				 (int)(rec->len - sizeof(*module)), rec->data + sizeof(*module));
	}
	free(event);
}

struct look {
	const char *modules;
	const char *kallsyms;
};

static bool changes_are(const struct look *first, const struct look *last,
			struct guest_module_events *events, const char *expected)
{
	struct module_look before = { }, after = { };
	FILE *file = tmpfile();
	char text[1024] = "";
	bool ok;

	ok = file && !read_modules(&before, first->modules, first->kallsyms) &&
	     !read_modules(&after, last->modules, last->kallsyms) &&
	     !module_looks__write_changes(&before, &after, events, fileno(file));
	if (ok)
		print_records(file, GUEST_SYMBOLS_OF_MODULE, text, sizeof(text));
	if (file)
		fclose(file);
	module_look__exit(&before);
	module_look__exit(&after);
	if (strcmp(text, expected))
		pr_debug("%s instead of\n%s", text, expected);
	return ok && !strcmp(text, expected);
}

int test__modules(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const struct look two = { STAYS GOES, KERNEL OF_STAYS OF_GOES };
	static const struct look one = { STAYS, KERNEL OF_STAYS };
	static const struct look other = { COMES STAYS, KERNEL OF_STAYS OF_COMES };
	struct guest_module_event goes[] = {
		{ .time = 100, .gone = true, .name = "goes" },
		{ .time = 200, .name = "comes" },
	};
	struct guest_module_event twice[] = {
		{ .time = 100, .gone = true, .name = "goes" }, { .time = 200, .name = "goes" },
		{ .time = 300, .gone = true, .name = "goes" }, { .time = 400, .name = "goes" },
	};
	struct guest_module_event late[] = {
		{ .time = 100, .name = "goes" }, { .time = 200, .gone = true, .name = "goes" },
	};
	struct guest_module_events none = { .known = true }, unknown = { };
	struct guest_module_events events = { .entries = goes, .nr = 2, .known = true };

	TEST_ASSERT_VAL("nothing has happened", changes_are(&two, &two, &none, ""));
	TEST_ASSERT_VAL("one goes, and another is where it was",
			changes_are(&two, &other, &events,
				    "goes ffffffffc0002000+2000 0-100:\n"
				    "0 100 goes_f\n100 f00 goes_g\n"
				    "comes ffffffffc0002000+1000 200--1:\n10 ff0 comes_f\n"));
	events.nr = 1;
	TEST_ASSERT_VAL("one goes",
			changes_are(&two, &one, &events,
				    "goes ffffffffc0002000+2000 0-100:\n"
				    "0 100 goes_f\n100 f00 goes_g\n"));
	/* Between 200 and 300, it may have been elsewhere. */
	events = (struct guest_module_events) { .entries = twice, .nr = 4, .known = true };
	TEST_ASSERT_VAL("one goes, comes, goes and comes",
			changes_are(&two, &two, &events,
				    "goes ffffffffc0002000+2000 0-100:\n"
				    "0 100 goes_f\n100 f00 goes_g\n"
				    "goes ffffffffc0002000+2000 400--1:\n"
				    "0 100 goes_f\n100 f00 goes_g\n"));
	events = (struct guest_module_events) { .entries = late, .nr = 1, .known = true };
	TEST_ASSERT_VAL("one comes before the first look",
			changes_are(&two, &two, &events,
				    "goes ffffffffc0002000+2000 100--1:\n"
				    "0 100 goes_f\n100 f00 goes_g\n"));
	events.nr = 2;
	TEST_ASSERT_VAL("one comes before the first look, and goes",
			changes_are(&two, &one, &events,
				    "goes ffffffffc0002000+2000 100-200:\n"
				    "0 100 goes_f\n100 f00 goes_g\n"));
	TEST_ASSERT_VAL("nobody knows when",
			changes_are(&two, &other, &unknown, "goes ffffffffc0002000+2000 0-0:\n"));
	return TEST_OK;
}

/* The kernel's word of code at @start that came, or is gone */
static int add_ksymbol(struct guest_bpf_events *events, u64 time, u16 type, u64 start, bool gone,
		       const char *name)
{
	union perf_event event = {
		.ksymbol = {
			.header.type = PERF_RECORD_KSYMBOL,
			.header.size = offsetof(struct perf_record_ksymbol, name) +
				       PERF_ALIGN(strlen(name) + 1, sizeof(u64)),
			.addr = start,
			.len = 0x80,
			.ksym_type = type,
			.flags = gone ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0,
		},
	};

	strlcpy(event.ksymbol.name, name, sizeof(event.ksymbol.name));
	return guest_bpf_events__add(events, &event, time);
}

static bool programs_are(struct guest_bpf_events *events, const char *expected)
{
	FILE *file = tmpfile();
	char text[1024] = "";
	bool ok = file && !guest_bpf_events__write(events, fileno(file));

	if (ok)
		print_records(file, GUEST_SYMBOLS_OF_BPF, text, sizeof(text));
	if (file)
		fclose(file);
	if (strcmp(text, expected))
		pr_debug("%s instead of\n%s", text, expected);
	return ok && !strcmp(text, expected);
}

int test__bpf_programs(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct guest_bpf_events events = { .known = true };
	const u16 bpf = PERF_RECORD_KSYMBOL_TYPE_BPF;
	int err = 0;

	TEST_ASSERT_VAL("nothing has happened", programs_are(&events, ""));
	/* Records of several CPUs do not come in order. */
	err |= add_ksymbol(&events, 400, bpf, 0xffffffffc0009000, true, "bpf_prog_was_there");
	err |= add_ksymbol(&events, 300, bpf, 0xffffffffc0008000, false, "bpf_prog_next");
	err |= add_ksymbol(&events, 100, bpf, 0xffffffffc0008000, false, "bpf_prog_first");
	err |= add_ksymbol(&events, 200, bpf, 0xffffffffc0008000, true, "bpf_prog_first");
	err |= add_ksymbol(&events, 250, PERF_RECORD_KSYMBOL_TYPE_OOL, 0xffffffffc0008000, false,
			   "kprobe_insn_page");
	TEST_ASSERT_VAL("add", !err);
	TEST_ASSERT_VAL("come and gone",
			programs_are(&events,
				     "bpf_prog_first ffffffffc0008000+80 100-200:\n"
				     "0 80 bpf_prog_first\n"
				     "bpf_prog_next ffffffffc0008000+80 300--1:\n"
				     "0 80 bpf_prog_next\n"
				     "bpf_prog_was_there ffffffffc0009000+80 0-400:\n"
				     "0 80 bpf_prog_was_there\n"));
	events.known = false;
	TEST_ASSERT_VAL("nobody knows when",
			programs_are(&events,
				     "bpf_prog_first ffffffffc0008000+80 0-0:\n"
				     "0 80 bpf_prog_first\n"
				     "bpf_prog_was_there ffffffffc0009000+80 0-0:\n"
				     "0 80 bpf_prog_was_there\n"));
	guest_bpf_events__exit(&events);
	return TEST_OK;
}
