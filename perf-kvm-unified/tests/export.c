// SPDX-License-Identifier: GPL-2.0
/*
 * Rows of the report as stacks, and these in the formats of export, with literal input.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/zalloc.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "util/json.h"
#include "util/session.h"
#include "util/strbuf.h"
#include "util/symbol.h"
#include "kvm-unified/export/frames.h"
#include "kvm-unified/export/pprof.h"
#include "kvm-unified/export/rows.h"
#include "kvm-unified/export/speedscope.h"
#include "kvm-unified/export/stacks.h"
#include "kvm-unified/export/trace.h"
#include "kvm-unified/measure/chains.h"
#include "kvm-unified/measure/hits.h"
#include "kvm-unified/measure/measurement.h"
#include "kvm-unified/report/over-time.h"
#include "kvm-unified/report/sections.h"
#include "kvm-unified/report/tables.h"
#include "kvm-unified/report/times.h"
#include "export.h"

static int check_line(const char *outer, const char *inner, const char *expected)
{
	struct strbuf stack = STRBUF_INIT;
	int ret = stack__push(&stack, "%s", outer) ?: stack__push(&stack, "%s", inner);

	TEST_ASSERT_EQUAL("two frames", ret, 0);
	stack__end(&stack);
	TEST_ASSERT_EQUAL(expected, strcmp(stack.buf, expected), 0);
	strbuf_release(&stack);
	return TEST_OK;
}

/* Whatever is in a name, a line has as many frames as were put into it, and one number. */
static int check_lines(void)
{
	static const struct {
		const char *outer;
		const char *inner;
		const char *expected;
	} cases[] = {
		{ "vm1", "main", "vm1;main" },
		{ "vm1", "f<int, int>(char)", "vm1;f<int, int>(char)" },
		{ "a;b", "c;d", "a:b;c:d" },
		{ "a\nvm2", "x 5\n", "a?vm2;x 5?" },
		{ "\033[2J", "\303\244", "?[2J;??" },
		{ "", "", "[unknown];[unknown]" },
		{ "a 1", "b 2", "a 1;b_2" },
		{ "a", "b 2.5", "a;b_2.5" },
		{ "a", "b 2.", "a;b_2." },
		{ "a", "b 2x", "a;b 2x" },
		{ "a", "b .2", "a;b .2" },
		{ "a", "b ", "a;b " },
		{ "a", "12", "a;12" },
		{ "a 1", "2", "a 1;2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (check_line(cases[i].outer, cases[i].inner, cases[i].expected))
			return TEST_FAIL;
	}
	return TEST_OK;
}

/* A stack has one line, and the one with most time comes first. */
static int check_sums(void)
{
	static const char expected[] = "c 9000000000000000000\na;b 7\na 3\nb 3\n";
	struct stacks stacks;
	char *text = NULL;
	size_t size;
	FILE *fp = open_memstream(&text, &size);

	TEST_ASSERT_VAL("a file", fp);
	TEST_ASSERT_EQUAL("init", stacks__init(&stacks), 0);
	TEST_ASSERT_EQUAL("b", stacks__add(&stacks, "b", 3), 0);
	TEST_ASSERT_EQUAL("a;b", stacks__add(&stacks, "a;b", 5), 0);
	TEST_ASSERT_EQUAL("a", stacks__add(&stacks, "a", 3), 0);
	TEST_ASSERT_EQUAL("a;b again", stacks__add(&stacks, "a;b", 2), 0);
	TEST_ASSERT_EQUAL("c", stacks__add(&stacks, "c", 9000000000000000000ULL), 0);
	TEST_ASSERT_EQUAL("print", stacks__print(&stacks, fp), 0);
	stacks__exit(&stacks);
	fclose(fp);
	TEST_ASSERT_EQUAL("lines", strcmp(text, expected), 0);
	free(text);
	return TEST_OK;
}

/* Fields of profile.proto, with their lengths: a string, and a type of values in ns */
#define STRING(_len, _text)	"\x32" _len _text
#define SAMPLE_TYPE(_string)	"\x0a\x04\x08" _string "\x10\x02"

/* A stack of one function, of which 300 ns were stolen from the VM vm1 */
static const char pprof_message[] =
	STRING("\x00", "")
	STRING("\x03", "cpu") STRING("\x0b", "nanoseconds") SAMPLE_TYPE("\x01")
	STRING("\x04", "idle") SAMPLE_TYPE("\x03")
	STRING("\x05", "steal") SAMPLE_TYPE("\x04")
	STRING("\x05", "other") SAMPLE_TYPE("\x05")
	/* What the period is of, the value to be shown, the period, and the duration */
	"\x5a\x04\x08\x01\x10\x02\x70\x01\x60\x07\x50\x05"
	STRING("\x01", "a")
	/* The function, and its location, which has it in a line */
	"\x2a\x04\x08\x01\x10\x06\x22\x06\x08\x01\x22\x02\x08\x01"
	STRING("\x05", "level") STRING("\x02", "vm") STRING("\x03", "vm1")
	/* The sample: its location, the values, */
	"\x12\x17\x08\x01\x10\x00\x10\x00\x10\xac\x02\x10\x00"
	/* and the labels */
	"\x1a\x04\x08\x07\x10\x08\x1a\x04\x08\x08\x10\x09";

static int check_pprof(void)
{
	const struct pprof_about about = { .duration = 5, .period = 7 };
	struct strbuf message = STRBUF_INIT;
	struct stacks stacks;

	TEST_ASSERT_EQUAL("init", stacks__init(&stacks), 0);
	TEST_ASSERT_EQUAL("a stack", stacks__add(&stacks, "=vm;=vm1;-;-;-;-;steal;a", 300), 0);
	TEST_ASSERT_EQUAL("a message", pprof__message(&stacks, &about, &message), 0);
	TEST_ASSERT_VAL("its length", message.len == sizeof(pprof_message) - 1);
	TEST_ASSERT_VAL("its bytes", !memcmp(message.buf, pprof_message, message.len));
	TEST_ASSERT_EQUAL("labels alone", stacks__add(&stacks, "=vm;=vm1;-;-;-;-;steal", 1), 0);
	TEST_ASSERT_EQUAL("no message", pprof__message(&stacks, &about, &message), -EINVAL);
	stacks__exit(&stacks);
	strbuf_release(&message);
	return TEST_OK;
}

int test__stacks(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return check_lines() ?: check_sums() ?: check_pprof();
}

static int check_state(const char *name, const char *expected)
{
	struct strbuf stack = STRBUF_INIT;

	TEST_ASSERT_EQUAL(name, frames__push_state(&stack, name), 0);
	TEST_ASSERT_EQUAL(expected, strcmp(stack.buf, expected), 0);
	strbuf_release(&stack);
	return TEST_OK;
}

static int check_states(void)
{
	static const char *const cases[][2] = {
		{ "[lost]", "[lost]" },
		{ "[steal] (on task rsync)", "[steal];(on task rsync)" },
		{ "[steal] (on task a] (b)", "[steal];(on task a] (b)" },
		{ "[idle] (halt_exit), with the VMM at work for it",
		  "[idle];(halt_exit), with the VMM at work for it" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (check_state(cases[i][0], cases[i][1]))
			return TEST_FAIL;
	}
	return TEST_OK;
}

static int check_row(const struct table_row *row, enum section_level level,
		     const char *expected, const char *labelled)
{
	struct measured_vm vm = { .name = "vm1" };
	const struct measurement m = { .vms = &vm, .nr_vms = 1 };
	const struct section section = { .level = level, .vcpu = 3 };
	struct strbuf stack = STRBUF_INIT;

	TEST_ASSERT_EQUAL("a row", frames__push_row(&stack, &m, &section, row), 0);
	TEST_ASSERT_EQUAL(expected, strcmp(stack.buf, expected), 0);
	strbuf_setlen(&stack, 0);
	TEST_ASSERT_EQUAL("its labels", frames__push_labels(&stack, &m, &section, row), 0);
	TEST_ASSERT_EQUAL("its code", frames__push_code(&stack, row), 0);
	TEST_ASSERT_EQUAL(labelled, strcmp(stack.buf, labelled), 0);
	strbuf_release(&stack);
	return TEST_OK;
}

static int check_hit(const struct hit *hit, enum section_level level, const char *expected,
		     const char *labelled)
{
	const struct table_row row = { .key = &hit->key, .hit = hit };

	return check_row(&row, level, expected, labelled);
}

/* What is no code */
static int check_stolen(void)
{
	const struct profile_key key = {
		PROFILE_STEAL, "[steal] (on task rsync)", "", "", -1, 0, NULL
	};
	const struct table_row row = { .key = &key };

	return check_row(&row, SECTION_VCPU, "vm1;vCPU 3;[steal];(on task rsync)",
			 "=vcpu;=vm1;=3;-;-;-;steal;[steal];(on task rsync)");
}

/* What a guest has executed */
static int check_hits(void)
{
	struct symbol *sym = symbol__new(1, 1, 0, 0, "work");
	/* With one node that nothing is known of */
	struct chain *chain = zalloc(sizeof(*chain) + sizeof(chain->nodes[0]));
	struct hit hit = {
		.key = { PROFILE_USER, "work", "shor", "shor", 12, 0 },
		.sym = sym,
		.cpumode = PERF_RECORD_MISC_GUEST_USER,
	};
	int ret;

	TEST_ASSERT_VAL("a symbol", sym);
	TEST_ASSERT_VAL("a chain", chain);
	chain->nr = 1;
	ret = check_hit(&hit, SECTION_VCPU, "vm1;vCPU 3;shor-12;work",
			"=vcpu;=vm1;=3;=shor;=12;-;cpu;work") ?:
	      check_hit(&hit, SECTION_VM, "vm1;shor-12;work", "=vm;=vm1;-;=shor;=12;-;cpu;work");
	hit.key.cgroup = "/pods/a";
	ret = ret ?: check_hit(&hit, SECTION_VM, "vm1;shor-12;work",
			       "=vm;=vm1;-;=shor;=12;=/pods/a;cpu;work");
	hit.key.cgroup = NULL;
	hit.sym = NULL;
	hit.key.pid = -1;
	ret = ret ?: check_hit(&hit, SECTION_VM, "vm1;shor;[unknown] (shor)",
			       "=vm;=vm1;-;=shor;-;-;cpu;[unknown] (shor)");
	hit.key.module = "[unknown]";
	ret = ret ?: check_hit(&hit, SECTION_VM, "vm1;shor;[unknown]",
			       "=vm;=vm1;-;=shor;-;-;cpu;[unknown]");
	hit.sym = sym;
	hit.cpumode = PERF_RECORD_MISC_GUEST_KERNEL;
	hit.key.comm = "";
	ret = ret ?: check_hit(&hit, SECTION_VM, "vm1;[kernel];work_[k]",
			       "=vm;=vm1;-;-;-;-;cpu;work_[k]");
	hit.chain = chain;
	ret = ret ?: check_hit(&hit, SECTION_VM, "vm1;[kernel];[unknown];work_[k]",
			       "=vm;=vm1;-;-;-;-;cpu;[unknown];work_[k]");
	hit.key.comm = "shor";
	hit.key.pid = 12;
	ret = ret ?: check_hit(&hit, SECTION_VM, "vm1;shor-12;[unknown];work_[k]",
			       "=vm;=vm1;-;=shor;=12;-;cpu;[unknown];work_[k]");
	hit.chain = NULL;
	hit.key.comm = "";
	hit.key.class = PROFILE_VM;
	hit.key.module = "inner";
	ret = ret ?: check_hit(&hit, SECTION_VM, "vm1;[inner];[kernel];work_[k]",
			       "=vm;=vm1;-;-;-;-;cpu;[inner];work_[k]");
	hit.key = (struct profile_key) { PROFILE_OS, "work", "[kernel]", "", -1, 0, NULL };
	hit.cpumode = PERF_RECORD_MISC_KERNEL;
	ret = ret ?: check_hit(&hit, SECTION_HOST, "[host];-;work_[k]",
			       "=host;-;-;=-;-;-;cpu;work_[k]");
	hit.cpumode = PERF_RECORD_MISC_CPUMODE_UNKNOWN;
	hit.key.function = "[exit: HLT]";
	ret = ret ?: check_hit(&hit, SECTION_HOST, "[host];[exit: HLT]",
			       "=host;-;-;-;-;-;cpu;[exit: HLT]");
	symbol__delete(sym);
	free(chain);
	return ret;
}

int test__frames(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return check_states() ?: check_hits() ?: check_stolen();
}

/* A quote in a name, a stack, and what has neither */
static const char rows_text[] =
	"{\"host\": \"h\\\"1\", \"start\": 1500, \"duration\": 900, \"level\": \"vcpu\", \"vm\": \"vm1\", \"vcpu\": 3, \"class\": \"USER\", \"function\": \"work\", \"module\": \"shor\", \"process\": \"sh\\\"r\", \"pid\": 12, \"cgroup\": \"/pods/a\", \"build_id\": \"\", \"ns\": 700, \"samples\": 7, \"stack\": \"af63dc4c8601ec8c\"}\n"
	"{\"host\": \"h\\\"1\", \"start\": 1500, \"duration\": 900, \"level\": \"host\", \"vm\": \"\", \"vcpu\": -1, \"class\": \"lost\", \"function\": \"[lost]\", \"module\": \"\", \"process\": \"\", \"pid\": -1, \"cgroup\": \"\", \"build_id\": \"\", \"ns\": 49, \"samples\": 0, \"stack\": \"\"}"
	"\n";

static int add_rows(const struct measurement *m, struct rows *rows)
{
	static const struct section vcpu = { .level = SECTION_VCPU, .vcpu = 3 };
	static const struct section host = { .level = SECTION_HOST };
	static const struct profile_key lost = { PROFILE_LOST, "[lost]", "", "", -1, 0, NULL };
	static const struct chain chain;
	const struct hit hit = {
		.key = { PROFILE_USER, "work", "shor", "sh\"r", 12, 0, "/pods/a" },
		.chain = &chain,
	};
	const struct table_row code = { .key = &hit.key, .hit = &hit }, none = { .key = &lost };
	const struct chosen_time time = times__chosen(NULL, 0, &m->axis.span);
	struct strbuf stack = STRBUF_INIT;
	/* The hash of "a" is one of those that its authors tell. */
	int ret = strbuf_addstr(&stack, "a") ?:
		  rows__add(rows, m, &time, &vcpu, &code, 700, &stack);

	ret = ret ?: rows__add(rows, m, &time, &host, &none, 49, &stack);
	strbuf_release(&stack);
	return ret;
}

int test__rows(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct perf_session *session = zalloc(sizeof(*session));
	struct measured_vm vm = { .name = "vm1" };
	struct measurement *m = zalloc(sizeof(*m));
	struct rows rows = { };
	char *text = NULL;
	size_t size;
	FILE *fp = open_memstream(&text, &size);

	TEST_ASSERT_VAL("memory", fp && session && m);
	session->header.env.hostname = strdup("h\"1");
	session->header.env.clock.enabled = true;
	session->header.env.clock.tod_ns = 1000;
	session->header.env.clock.clockid_ns = 500;
	m->session = session;
	m->vms = &vm;
	m->nr_vms = 1;
	m->period = 100;
	m->axis.span.start = 1000;
	m->axis.span.end = 1900;
	/* If a profile is read twice, the second time counts. */
	for (int i = 0; i < 2; i++) {
		TEST_ASSERT_EQUAL("begin", rows__begin(&rows), 0);
		TEST_ASSERT_EQUAL("rows", add_rows(m, &rows), 0);
	}
	TEST_ASSERT_EQUAL("print", rows__print(&rows, fp), 0);
	rows__exit(&rows);
	fclose(fp);
	TEST_ASSERT_EQUAL(text, strcmp(text, rows_text), 0);
	free(text);
	free(session->header.env.hostname);
	free(session);
	free(m);
	return TEST_OK;
}

/* VM vm"2 takes CPU 5 from vCPU 3 of vm1, after 2.5 us: a flow leads there. */
static const char trace_text[] =
	"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
	"{\"ph\":\"X\",\"pid\":2,\"tid\":4,\"ts\":1.000,\"dur\":2.500,\"name\":\"running\",\"args\":{\"cpu\":5}},\n"
	"{\"ph\":\"X\",\"pid\":1,\"tid\":6,\"ts\":1.000,\"dur\":2.500,\"name\":\"vm1 vCPU 3\"},\n"
	"{\"ph\":\"X\",\"pid\":1,\"tid\":6,\"ts\":3.500,\"dur\":0.501,\"name\":\"vm\\\"2 vCPU 0\"},\n"
	"{\"ph\":\"X\",\"pid\":2,\"tid\":4,\"ts\":3.500,\"dur\":0.501,\"name\":\"steal\",\"args\":{\"cpu\":5,\"by\": \"VM vm\\\"2\"}},\n"
	"{\"ph\":\"s\",\"id\":0,\"cat\":\"steal\",\"name\":\"steal\",\"pid\":2,\"tid\":4,\"ts\":3.750},\n"
	"{\"ph\":\"f\",\"bp\":\"e\",\"id\":0,\"cat\":\"steal\",\"name\":\"steal\",\"pid\":1,\"tid\":6,\"ts\":3.750},\n"
	"{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"host\"}},\n"
	"{\"ph\":\"M\",\"pid\":1,\"tid\":6,\"name\":\"thread_name\",\"args\":{\"name\": \"CPU 5\"}},\n"
	"{\"ph\":\"M\",\"pid\":2,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\": \"vm1\"}},\n"
	"{\"ph\":\"M\",\"pid\":3,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\": \"vm\\\"2\"}},\n"
	"{\"ph\":\"M\",\"pid\":2,\"tid\":4,\"name\":\"thread_name\",\"args\":{\"name\": \"vCPU 3\"}}\n"
	"]}\n";

static int add_slices(const struct measurement *m, struct trace *trace)
{
	struct vcpu_interval interval = {
		.cpu = 5, .vcpu = 1, .task = TIME_AXIS_NONE, .shared = TIME_AXIS_NONE,
	};
	static const struct time_piece pieces[] = {
		{ .class = PROFILE_USER, .start = 1000, .end = 2000 },
		{ .class = PROFILE_OS, .start = 2000, .end = 3500 },
		{ .class = PROFILE_STEAL, .start = 3500, .end = 4001 },
	};
	struct cpu_interval ran = { .kind = CPU_TIME_GUEST, .cpu = 5 };
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(pieces); i++) {
		interval.kind = pieces[i].class == PROFILE_STEAL ? VCPU_TIME_PREEMPTED :
								   VCPU_TIME_GUEST_USER;
		ret = trace__add_vcpu(trace, m, 0, &interval, &pieces[i]);
	}
	if (!ret)
		ret = trace__add_cpu(trace, m, &ran, 1000, 3500);
	ran.vcpu = 1;
	return ret ?: trace__add_cpu(trace, m, &ran, 3500, 4001);
}

/* The same twice is one, and so is what was left out: 1 ns */
static const char speedscope_text[] =
	"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"perf kvm unified\",\"shared\":{\"frames\":[{\"name\":\"sh\\\"r-12\"},{\"name\":\"[unknown] (shor)\"},{\"name\":\"[steal]\"},{\"name\":\"(on VM vm\\\"2: vcpu0)\"}]},\"profiles\":[\n"
	"{\"type\":\"sampled\",\"name\":\"vm1 vCPU 3\",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":3001,\"samples\":[[0,1],[2,3],[],[0,1]],\"weights\":[2500,300,1,200]}\n"
	"]}\n";

static int add_scope(const struct measurement *m, struct speedscope *scope)
{
	static const struct time_piece pieces[] = {
		{ .class = PROFILE_USER, .start = 1000, .end = 2000 },
		{ .class = PROFILE_USER, .start = 2000, .end = 3500 },
		{ .class = PROFILE_STEAL, .start = 3500, .end = 3800 },
		{ .class = PROFILE_USER, .start = 3801, .end = 4001 },
	};
	struct vcpu_interval interval = {
		.cpu = 5, .vcpu = 1, .task = TIME_AXIS_NONE, .shared = TIME_AXIS_NONE,
	};
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(pieces); i++) {
		interval.kind = pieces[i].class == PROFILE_STEAL ? VCPU_TIME_PREEMPTED :
								   VCPU_TIME_GUEST_USER;
		ret = speedscope__add(scope, m, 0, &interval, &pieces[i]);
	}
	return ret;
}

int test__speedscope(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct hit hit = {
		.key = { PROFILE_USER, "[unknown]", "shor", "sh\"r", 12, 0, NULL },
		.cpumode = PERF_RECORD_MISC_GUEST_USER,
	}, *hits[] = { &hit };
	struct measured_vm vms[] = { { .name = "vm1" }, { .name = "vm\"2" } };
	struct axis_vcpu vcpus[] = { { .vm = 0, .id = 3 }, { .vm = 1, .id = 0 } };
	const struct measurement m = {
		.vms = vms, .nr_vms = ARRAY_SIZE(vms),
		.axis = { .vcpus = vcpus, .nr_vcpus = ARRAY_SIZE(vcpus) },
		.hits = { .by_idx = hits, .nr = ARRAY_SIZE(hits) },
	};
	struct speedscope scope = { };
	char *text = NULL;
	size_t size;
	FILE *fp = open_memstream(&text, &size);

	TEST_ASSERT_VAL("a file", fp);
	/* If a profile is read twice, the second time counts. */
	for (int i = 0; i < 2; i++) {
		TEST_ASSERT_EQUAL("begin", speedscope__begin(&scope), 0);
		TEST_ASSERT_EQUAL("pieces", add_scope(&m, &scope), 0);
	}
	TEST_ASSERT_EQUAL("print", speedscope__print(&scope, &m, fp), 0);
	speedscope__exit(&scope);
	fclose(fp);
	TEST_ASSERT_EQUAL(text, strcmp(text, speedscope_text), 0);
	free(text);
	return TEST_OK;
}

/* JSON is UTF-8, whatever bytes a name has. */
static int check_json_strings(void)
{
	static const struct {
		const char *name;
		const char *expected;
	} cases[] = {
		{ "a\"b\\", "\"a\\\"b\\\\\"" },
		{ "\033[2J\n", "\"\\u001b[2J\\n\"" },
		{ "\303\251\342\202\254", "\"\303\251\342\202\254\"" },
		{ "\360\237\230\200", "\"\360\237\230\200\"" },
		/* Alone, cut, and a character that follows */
		{ "\200", "\"\\ufffd\"" },
		{ "a\303", "\"a\\ufffd\"" },
		{ "\342\202", "\"\\ufffd\\ufffd\"" },
		{ "\342\"", "\"\\ufffd\\\"\"" },
		/* Longer than need be, half of a pair, too high */
		{ "\300\200", "\"\\ufffd\\ufffd\"" },
		{ "\340\237\277", "\"\\ufffd\\ufffd\\ufffd\"" },
		{ "\355\240\200", "\"\\ufffd\\ufffd\\ufffd\"" },
		{ "\360\217\277\277", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
		{ "\364\220\200\200", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[64] = "";
		FILE *fp = fmemopen(text, sizeof(text), "w");

		TEST_ASSERT_VAL("a file", fp);
		json__fputs(cases[i].name, fp);
		fclose(fp);
		TEST_ASSERT_EQUAL(cases[i].expected, strcmp(text, cases[i].expected), 0);
	}
	return TEST_OK;
}

/* What is the same goes on in one slice, and names are quoted. */
int test__trace(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct measured_vm vms[] = { { .name = "vm1" }, { .name = "vm\"2" } };
	struct axis_vcpu vcpus[] = { { .vm = 0, .id = 3 }, { .vm = 1, .id = 0 } };
	const struct measurement m = {
		.vms = vms, .nr_vms = ARRAY_SIZE(vms),
		.axis = { .vcpus = vcpus, .nr_vcpus = ARRAY_SIZE(vcpus) },
	};
	struct trace trace = { };
	char *text = NULL;
	size_t size;
	FILE *fp = open_memstream(&text, &size);

	TEST_ASSERT_VAL("a file", fp);
	/* If a profile is read twice, the second time counts. */
	for (int i = 0; i < 2; i++) {
		TEST_ASSERT_EQUAL("begin", trace__begin(&trace), 0);
		TEST_ASSERT_EQUAL("slices", add_slices(&m, &trace), 0);
	}
	TEST_ASSERT_EQUAL("print", trace__print(&trace, &m, fp), 0);
	trace__exit(&trace);
	fclose(fp);
	TEST_ASSERT_EQUAL(text, strcmp(text, trace_text), 0);
	free(text);
	return check_json_strings();
}
