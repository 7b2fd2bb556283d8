// SPDX-License-Identifier: GPL-2.0
/*
 * How names are chosen, and put into messages and commands.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/string.h>
#include <subcmd/parse-options.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "kvm-unified/format/vms.h"
#include "kvm-unified/lib/name-map.h"
#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/patterns.h"
#include "kvm-unified/measure/measurement.h"
#include "kvm-unified/record/guest-cmds.h"
#include "kvm-unified/report/messages.h"
#include "kvm-unified/report/sections.h"
#include "kvm-unified/report/unmatched.h"
#include "names.h"

/* Is @name chosen by the list @list? */
static bool chosen(const char *list, const char *name)
{
	char why[128];
	struct patterns *patterns = patterns__new(list, why, sizeof(why));
	bool found = patterns && patterns__match(patterns, name);

	patterns__delete(patterns);
	return found;
}

static bool refused(const char *list)
{
	char why[128];
	struct patterns *patterns = patterns__new(list, why, sizeof(why));
	bool bad = !patterns;

	patterns__delete(patterns);
	return bad;
}

static int check_chosen(void)
{
	static const struct {
		const char *list;
		const char *name;
		bool chosen;
	} cases[] = {
		{ "web-1,db", "db", true },
		{ "web-1,db", "web-1", true },
		{ "web-1,db", "web", false },
		{ "web-1,db", "web-1,db", false },
		{ "web-*", "web-17", true },
		{ "web-*", "web-", true },
		{ "web-*", "wweb-1", false },
		{ "db,web-?", "web-7", true },
		{ "db,web-?", "web-77", false },
		{ "web-[0-4]", "web-3", true },
		{ "web-[0-4]", "web-5", false },
		{ "*", "anything", true },
		/* What is of no process */
		{ "*", "", false },
		/* Brackets in front are the name's, as in the report. */
		{ "[kernel]", "[kernel]", true },
		{ "[kernel]", "k", false },
		{ "[idle]*", "[idle] (halt_exit)", true },
		{ "[idle]*", "data", false },
		{ "\\[idle]*", "[idle] (halt_exit)", true },
		/* A name is chosen by itself, whatever it means as a pattern. */
		{ "operator[]", "operator[]", true },
		{ "operator*", "operator*", true },
		{ "a[", "a[", true },
		{ "a\\b", "a\\b", true },
		{ "a\\b", "ab", true },
		{ "a\\*", "ab", false },
		/* Commas */
		{ "f<int\\, int>,g", "f<int, int>", true },
		{ "f<int\\, int>,g", "g", true },
		{ "f<int\\, int>,g", "f<int", false },
		{ "\\,x", ",x", true },
		{ "a\\\\,b", "b", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (chosen(cases[i].list, cases[i].name) == cases[i].chosen)
			continue;
		pr_debug("'%s' of '%s'\n", cases[i].name, cases[i].list);
		return TEST_FAIL;
	}
	return TEST_OK;
}

/* What @lines in a file, asked for as @format says, come to: "a b", or what is wrong */
static void names_of_file(const char *format, const char *lines, size_t len, char *text,
			  size_t size)
{
	char path[] = "/tmp/perf-patterns-XXXXXX", list[64];
	int fd = mkstemp(path);
	struct patterns *patterns = NULL;

	text[0] = '\0';
	scnprintf(list, sizeof(list), format, path);
	if (fd >= 0 && write(fd, lines, len) == (ssize_t)len)
		patterns = patterns__new(list, text, size);
	close(fd);
	unlink(path);
	for (size_t i = 0, at = 0; patterns && i < patterns->nr; i++)
		at += scnprintf(text + at, size - at, "%s%s", i ? " " : "",
				patterns->entries[i].text);
	patterns__delete(patterns);
}

static int check_file(void)
{
	static const struct {
		const char *lines;
		const char *list;
		const char *names;
	} cases[] = {
		{ "web-*\na,b\n", "db,file://%s", "web-* a,b db" },
		{ "beta\nalpha", "file://%s", "alpha beta" },
		{ "alpha\r\nbeta\r\n", "file://%s", "alpha beta" },
		{ "\nalpha\n\n \t\nbeta\n\n", "file://%s", "alpha beta" },
		{ "beta\nalpha\nbeta\n*\n*\n", "alpha,file://%s", "* alpha beta" },
		/* Given twice on the command line */
		{ "alpha\n", "alpha,file://%s,alpha", "" },
	};
	char text[256];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		names_of_file(cases[i].list, cases[i].lines, strlen(cases[i].lines), text,
			      sizeof(text));
		TEST_ASSERT_VAL(cases[i].names, !strcmp(text, cases[i].names));
	}
	names_of_file("file://%s", "\n\r\n", 3, text, sizeof(text));
	TEST_ASSERT_VAL("nothing in it",
			strstarts(text, "There is no name in /tmp/perf-patterns-"));
	TEST_ASSERT_VAL("no such file", !patterns__new("file:///nowhere", text, sizeof(text)));
	TEST_ASSERT_VAL("why", !strcmp(text, "Cannot read /nowhere: No such file or directory"));
	TEST_ASSERT_VAL("a directory", !patterns__new("a,file:///tmp", text, sizeof(text)));
	TEST_ASSERT_VAL("why", !strcmp(text, "Cannot read /tmp: Is a directory"));
	return TEST_OK;
}

/* Names of C++ have kilobytes. */
static int check_long_line(void)
{
	char line[10000], text[sizeof(line) + 1];

	memset(line, 'x', sizeof(line));
	names_of_file("file://%s", line, sizeof(line), text, sizeof(text));
	TEST_ASSERT_EQUAL("one name", (int)strlen(text), (int)sizeof(line));
	return TEST_OK;
}

/* Which of them nothing is called by is known at the end. */
static int check_matched(void)
{
	char why[128];
	struct patterns *patterns = patterns__new("no-*,b*,none,bash", why, sizeof(why));

	TEST_ASSERT_VAL("patterns", patterns);
	patterns__match(patterns, "bash");
	patterns__match(patterns, "perf");
	for (size_t i = 0; i < patterns->nr; i++) {
		const struct pattern *pattern = &patterns->entries[i];

		TEST_ASSERT_VAL(pattern->text, pattern->matched == (pattern->text[0] == 'b'));
	}
	patterns__delete(patterns);
	return TEST_OK;
}

static int check_short(void)
{
	static const struct named all[] = {
		{ "web-1", 100 }, { "web-2", 200 }, { "db", 300 }, { "db", 301 }, { "200", 400 },
	};
	static const struct {
		const char *text;
		const char *name;
	} cases[] = {
		{ "web-1", "web-1" }, { "web-", NULL }, { "web-2", "web-2" }, { "d", "db" },
		{ "100", "web-1" }, { "301", "db" }, { "200", "200" }, { "20", "200" },
		{ "", NULL }, { "x", NULL }, { "99999999999999999999", NULL },
	};
	char why[128];
	struct patterns *patterns = patterns__new("w*,100,d,db,x", why, sizeof(why));

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct named *found = named__find(all, ARRAY_SIZE(all), cases[i].text);

		TEST_ASSERT_VAL(cases[i].text, !found == !cases[i].name);
		TEST_ASSERT_VAL(cases[i].text, !found || !strcmp(found->name, cases[i].name));
	}
	TEST_ASSERT_VAL("patterns", patterns);
	TEST_ASSERT_VAL("completed", !patterns__complete(patterns, all, ARRAY_SIZE(all)));
	TEST_ASSERT_EQUAL("each once", (int)patterns->nr, 4);
	TEST_ASSERT_EQUAL("patterns stay first", (int)patterns->nr_globs, 1);
	TEST_ASSERT_VAL("by number", patterns__match(patterns, "web-1"));
	TEST_ASSERT_VAL("by a beginning", patterns__match(patterns, "db"));
	TEST_ASSERT_VAL("nothing else", !patterns__match(patterns, "200"));
	patterns__delete(patterns);
	return TEST_OK;
}

int test__patterns(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const char *const bad[] = { "", ",", "a,", ",a", "a,,b", "a,b,a", "x*,x*" };
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		TEST_ASSERT_VAL(bad[i], refused(bad[i]));
	ret = check_chosen();
	if (ret == TEST_OK)
		ret = check_file();
	if (ret == TEST_OK)
		ret = check_long_line();
	if (ret == TEST_OK)
		ret = check_matched();
	if (ret == TEST_OK)
		ret = check_short();
	return ret;
}

/* Those that are like @wanted of @names, the nearest first */
static const char *near_of(struct near_names *near, const char *wanted, const char *const *names)
{
	*near = (struct near_names) { .wanted = wanted };
	for (; *names; names++)
		near_names__add(near, *names);
	return near_names__list(near);
}

/* However often a name is there, and however long it is */
static int check_looks(void)
{
	struct hashmap *seen = name_map__new();
	struct near_names near = { .wanted = "postgrse" };
	char wanted[NAME_SHOWN_LEN + 1] = "", name[NAME_SHOWN_LEN + 1] = "";

	TEST_ASSERT_VAL("memory", seen);
	TEST_ASSERT_VAL("new", near_names__add_once(&near, seen, "postgres") &&
			near_names__add_once(&near, seen, "bash"));
	TEST_ASSERT_VAL("not new", !near_names__add_once(&near, seen, "postgres") &&
			!near_names__add_once(&near, seen, "bash"));
	hashmap__free(seen);
	TEST_ASSERT_EQUAL("each once", (int)near.all.nr, 2);

	memset(wanted, 'x', sizeof(wanted) - 2);
	memset(name, 'x', sizeof(name) - 2);
	wanted[1] = 'y';
	near = (struct near_names) { .wanted = wanted };
	near_names__add(&near, name);
	TEST_ASSERT_EQUAL("as long as is shown", (int)near.nr, 1);
	wanted[NAME_SHOWN_LEN - 1] = 'x';
	name[NAME_SHOWN_LEN - 1] = 'x';
	near = (struct near_names) { .wanted = wanted };
	near_names__add(&near, name);
	TEST_ASSERT_EQUAL("longer", (int)near.nr, 0);

	near = (struct near_names) { .wanted = "a" };
	near_names__add(&near, "alder");
	near_names__add(&near, "larch");
	near_names__add(&near, "ash");
	TEST_ASSERT_VAL("that begin so", near.begin_so.nr == 2 &&
			!strcmp(name_list__end(&near.begin_so), "alder, ash"));
	return TEST_OK;
}

/* What of @comms is said to be missing in two measurements with a process each */
static void unmatched_of(const char *comms, char *text, size_t size)
{
	static struct hit hits[] = {
		{ .key.comm = "postgres" }, { .key.comm = "bash" },
	};
	struct hit *by_idx[] = { &hits[0], &hits[1] };
	const struct measurement before = { .hits = { .by_idx = &by_idx[0], .nr = 1 } };
	const struct measurement now = { .hits = { .by_idx = &by_idx[1], .nr = 1 } };
	const struct measurement *const ms[] = { &before, &now };
	struct section_opts opts = { .comms = patterns__new(comms, text, size) };
	struct messages messages;

	text[0] = '\0';
	/* As the tables of both do it */
	for (size_t i = 0; opts.comms && i < ARRAY_SIZE(hits); i++)
		patterns__match(opts.comms, hits[i].key.comm);
	messages__keep(&messages);
	section_opts__warn_unmatched(&opts, ms, ARRAY_SIZE(ms));
	messages__peek(&messages, text, size);
	messages__release(&messages, NULL);
	patterns__delete(opts.comms);
}

static int check_unmatched(void)
{
	char text[512];

	unmatched_of("bash,post*", text, sizeof(text));
	TEST_ASSERT_VAL("each is in one of both", !text[0]);
	unmatched_of("bsah,postgers", text, sizeof(text));
	TEST_ASSERT_VAL("in none", strstr(text, "no process 'bsah'. Like it: bash\n") &&
			strstr(text, "no process 'postgers'. Like it: postgres\n"));
	return TEST_OK;
}

int test__near_names(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const char *const comms[] = {
		"bash", "postgres", "postgres: writer", "sshd", "", "postgres", "posters", NULL
	};
	static const char *const functions[] = {
		"clear_page_erms", "quantum_toffoli._omp_fn.0", "main", NULL
	};
	static const char *const guests[] = { "web-1", "web-2", "web-3", "web-4", "web-5", NULL };
	struct name_list list = { };
	struct near_names near;
	const char *names;

	for (char name[] = "a"; name[0] < 'h'; name[0]++)
		name_list__add(&list, name);
	TEST_ASSERT_VAL("some of many", !strcmp(name_list__end(&list), "a, b, c, d, ... 3 more"));
	list = (struct name_list) { };
	name_list__add(&list, "a\033[31m");
	TEST_ASSERT_VAL("no escapes", !strcmp(name_list__end(&list), "a?[31m"));

	TEST_ASSERT_VAL("the nearest first", !strcmp(near_of(&near, "postgrse", comms),
						     "postgres, postgres: writer, posters"));
	TEST_ASSERT_VAL("a part", !strcmp(near_of(&near, "Postgres", comms),
					  "postgres, postgres: writer, posters"));
	TEST_ASSERT_VAL("none", !near_of(&near, "nosuch", comms)[0]);
	TEST_ASSERT_VAL("too short to be like anything", !near_of(&near, "sh", comms)[0]);
	TEST_ASSERT_VAL("what is behind a function's name",
			!strcmp(near_of(&near, "quantum_tofoli", functions),
				"quantum_toffoli._omp_fn.0"));

	near_of(&near, "web-", guests);
	TEST_ASSERT_VAL("of many", !strcmp(near_names__sentence(&near, &names), " Like it: ") &&
			!strcmp(names, "web-1, web-2, web-3, web-4"));
	near_of(&near, "database", guests);
	TEST_ASSERT_VAL("like none", !strcmp(near_names__sentence(&near, &names), " There is: ") &&
			!strcmp(names, "web-1, web-2, web-3, web-4, ... 1 more"));
	return check_looks() ?: check_unmatched();
}

static int check_expand(void)
{
	static const struct {
		const char *text;
		const char *name;
		int ret;
		const char *expanded;
	} cases[] = {
		{ "ssh root@%n map", "web-1.example_x", 0, "ssh root@web-1.example_x map" },
		{ "map %p %n%n", "a", 0, "map 42 aa" },
		{ "date +%%s; %%n", "a", 0, "date +%s; %n" },
		{ "map %p", "$(reboot)", 0, "map 42" },
		{ "map %x", "a", -EINVAL, NULL },
		{ "map %", "a", -EINVAL, NULL },
		/* What anybody may call a VM */
		{ "map '%n'", "a;reboot", -EPERM, NULL },
		{ "map %n", "$(reboot)", -EPERM, NULL },
		{ "map %n", "`reboot`", -EPERM, NULL },
		{ "map %n", "a'b", -EPERM, NULL },
		{ "map %n", "a|b", -EPERM, NULL },
		{ "map %n", "a&b", -EPERM, NULL },
		{ "map %n", "*", -EPERM, NULL },
		{ "map %n", "a@b", -EPERM, NULL },
		{ "map %n", "a,b", -EPERM, NULL },
		{ "map %n", "a:b", -EPERM, NULL },
		{ "map %n", "a\nb", -EPERM, NULL },
		{ "ssh %n", "-oProxyCommand", -EPERM, NULL },
		{ "cat %n/map", "..", -EPERM, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *expanded = NULL;
		int ret = guest_cmd__expand(cases[i].text, cases[i].name, 42, &expanded);
		bool same = !expanded == !cases[i].expanded;

		if (same && expanded)
			same = !strcmp(expanded, cases[i].expanded);

		free(expanded);
		if (ret == cases[i].ret && same)
			continue;
		pr_debug("'%s' for '%s': %d\n", cases[i].text, cases[i].name, ret);
		return TEST_FAIL;
	}
	return TEST_OK;
}

/* The commands of the arguments, which begin with '>' if they are --guest-follow. 0 or -errno */
static int parse_cmds(struct list_head *cmds, const char *const *args)
{
	const struct option opt = { .value = cmds };
	int ret = 0;

	INIT_LIST_HEAD(cmds);
	for (; !ret && *args; args++)
		ret = **args == '>' ? guest_cmds__parse_follow(&opt, *args + 1, 0) :
				      guest_cmds__parse(&opt, *args, 0);
	return ret;
}

static int check_rules(const char *const *args)
{
	struct kvm_vms vms = { };
	struct kvm_vm vm = { .pid = 1, .name = "own" };
	struct list_head cmds;
	int ret;

	if (kvm_vms__add(&vms, &vm))
		return -ENOMEM;
	ret = parse_cmds(&cmds, args);
	if (!ret)
		ret = guest_cmds__check(&cmds, &vms);
	guest_cmds__free(&cmds);
	kvm_vms__exit(&vms);
	return ret;
}

/* Two VMs of one name, and a third that is called as one of them would be then */
static int check_unique(void)
{
	static const struct {
		pid_t pid;
		const char *name, *unique;
	} cases[] = {
		{ 1, "x-3", "x-3" }, { 2, "x", "x" }, { 3, "x", "x-3-1" }, { 4, "", "vm-4" },
		{ 5, "vm-6", "vm-6" }, { 6, "", "vm-6-6" },
	};
	struct kvm_vms vms = { };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kvm_vm vm = { .pid = cases[i].pid };

		strlcpy(vm.name, cases[i].name, sizeof(vm.name));
		TEST_ASSERT_EQUAL("add", kvm_vms__add(&vms, &vm), 0);
		TEST_ASSERT_VAL("unique", !strcmp(vms.entries[i].name, cases[i].unique));
	}
	kvm_vms__exit(&vms);
	return TEST_OK;
}

static bool is_text(const struct guest_cmd *cmd, const char *text)
{
	return cmd ? text && !strcmp(cmd->text, text) : !text;
}

int test__guest_cmds(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const char *const args[] = { "own=a", ">win-*=b", "win-*=c", "*=d", NULL };
	struct list_head cmds;
	int ret = check_expand();

	if (ret == TEST_OK)
		ret = check_unique();
	if (ret != TEST_OK)
		return ret;
	TEST_ASSERT_EQUAL("commands", parse_cmds(&cmds, args), 0);
	TEST_ASSERT_VAL("a guest's own", is_text(guest_cmds__find_own(&cmds, "own"), "a"));
	TEST_ASSERT_VAL("no own", is_text(guest_cmds__find_own(&cmds, "win-1"), NULL));
	TEST_ASSERT_VAL("the first pattern", is_text(guest_cmds__find(&cmds, "win-1", false), "b"));
	TEST_ASSERT_VAL("too late to follow", is_text(guest_cmds__find(&cmds, "win-1", true), "c"));
	TEST_ASSERT_VAL("any guest", is_text(guest_cmds__find(&cmds, "x", false), "d"));
	guest_cmds__free(&cmds);

	TEST_ASSERT_EQUAL("rules", check_rules(args), 0);
	TEST_ASSERT_EQUAL("no such guest",
			  check_rules((const char *const[]) { "other=a", NULL }), -ENOENT);
	TEST_ASSERT_EQUAL("two of one guest",
			  check_rules((const char *const[]) { "own=a", ">own=b", NULL }), -EINVAL);
	TEST_ASSERT_EQUAL("two of a pattern",
			  check_rules((const char *const[]) { "*=a", "*=b", NULL }), -EINVAL);
	TEST_ASSERT_EQUAL("one that comes too late",
			  check_rules((const char *const[]) { "*=a", ">*=b", NULL }), -EINVAL);
	TEST_ASSERT_EQUAL("an unknown %",
			  check_rules((const char *const[]) { "*=date +%s", NULL }), -EINVAL);
	TEST_ASSERT_EQUAL("of one guest, it is its own",
			  check_rules((const char *const[]) { "own=date +%s", NULL }), 0);
	return TEST_OK;
}
