// SPDX-License-Identifier: GPL-2.0
/*
 * The cgroups of a guest's processes: out of its memory, and by its own /proc.
 */
#include <errno.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "kvm-unified/collector/cgroups.h"
#include "kvm-unified/collector/guest-mem.h"
#include "kvm-unified/memory/cgroups.h"
#include "kvm-unified/memory/offsets.h"
#include "cgroups.h"

#define BASE	0xffff888000000000ULL

/* Where these are from BASE on */
enum {
	TASK	= 0x000,
	SET	= 0x100,
	CGROUP	= 0x200,
	ROOT	= 0x300,
	PODS	= 0x400,
	POD	= 0x500,
	NAMES	= 0x600,
};

#define NAME_SIZE	0x20

static const struct guest_offsets offsets = {
	.task_cgroups = 0x10, .css_set_cgroup = 0x18, .cgroup_dir = 0x20, .dir_id = 0x28,
	.dir_name = 0x30, .dir_parent = 0x38,
};

/* @moves: the task is in another cgroup as soon as it is to be read anew. */
struct memory {
	struct guest_mem mem;
	char	bytes[0x800];
	bool	moves;
};

static void put(struct memory *m, u32 at, u64 value)
{
	memcpy(m->bytes + at, &value, sizeof(value));
}

static int memory__read(struct guest_mem *mem, u64 va, void *buf, size_t len)
{
	struct memory *m = container_of(mem, struct memory, mem);

	if (va < BASE || va - BASE >= sizeof(m->bytes) || len > sizeof(m->bytes) - (va - BASE))
		return -EFAULT;
	memcpy(buf, m->bytes + (va - BASE), len);
	return 0;
}

static void memory__forget(struct guest_mem *mem)
{
	struct memory *m = container_of(mem, struct memory, mem);

	if (m->moves)
		put(m, TASK + offsets.task_cgroups, BASE + ROOT);
}

static void put_dir(struct memory *m, u32 at, u64 id, const char *name, u64 parent)
{
	u32 name_at = NAMES + id * NAME_SIZE;

	strlcpy(m->bytes + name_at, name, NAME_SIZE);
	put(m, at + offsets.dir_id, id);
	put(m, at + offsets.dir_name, BASE + name_at);
	put(m, at + offsets.dir_parent, parent);
}

/* A task in /pods/box */
static void memory__init(struct memory *m)
{
	*m = (struct memory) { .mem = { memory__read, memory__forget } };
	put(m, TASK + offsets.task_cgroups, BASE + SET);
	put(m, SET + offsets.css_set_cgroup, BASE + CGROUP);
	put(m, CGROUP + offsets.cgroup_dir, BASE + POD);
	put_dir(m, ROOT, 1, "", 0);
	put_dir(m, PODS, 2, "pods", BASE + ROOT);
	put_dir(m, POD, 3, "box", BASE + PODS);
}

/* What is found in @m is @path; NULL: nothing */
static bool finds(struct memory *m, const char *path)
{
	struct guest_cgroups cgroups = { };
	u32 nr = guest_cgroups__find(&cgroups, &offsets, &m->mem, BASE + TASK);
	bool same = path ? nr && !strcmp(guest_cgroups__path(&cgroups, nr), path) : !nr;

	guest_cgroups__exit(&cgroups);
	return same;
}

static int check_found(void)
{
	struct guest_cgroups cgroups = { };
	struct memory m;
	u32 nr;

	memory__init(&m);
	TEST_ASSERT_VAL("its path", finds(&m, "/pods/box"));
	nr = guest_cgroups__find(&cgroups, &offsets, &m.mem, BASE + TASK);
	/* What the directory of this id is called is known. */
	put(&m, POD + offsets.dir_name, 0);
	TEST_ASSERT_EQUAL("once", guest_cgroups__find(&cgroups, &offsets, &m.mem, BASE + TASK), nr);
	put_dir(&m, POD, 4, "other", BASE + PODS);
	nr = guest_cgroups__find(&cgroups, &offsets, &m.mem, BASE + TASK);
	TEST_ASSERT_VAL("another one", nr == 2 &&
			!strcmp(guest_cgroups__path(&cgroups, nr), "/pods/other"));
	guest_cgroups__exit(&cgroups);
	put(&m, CGROUP + offsets.cgroup_dir, BASE + ROOT);
	TEST_ASSERT_VAL("the root", finds(&m, "/"));
	return TEST_OK;
}

static int check_refused(void)
{
	struct memory m;

	memory__init(&m);
	m.moves = true;
	TEST_ASSERT_VAL("it has moved meanwhile", finds(&m, NULL));
	memory__init(&m);
	put(&m, PODS + offsets.dir_parent, BASE + POD);
	TEST_ASSERT_VAL("a circle", finds(&m, NULL));
	memory__init(&m);
	put_dir(&m, PODS, 2, "a/b", BASE + ROOT);
	TEST_ASSERT_VAL("no name of a directory", finds(&m, NULL));
	memory__init(&m);
	put_dir(&m, PODS, 2, "", BASE + ROOT);
	TEST_ASSERT_VAL("no name", finds(&m, NULL));
	memory__init(&m);
	put(&m, PODS + offsets.dir_parent, 0x1000);
	TEST_ASSERT_VAL("an address that is none of the kernel's", finds(&m, NULL));
	memory__init(&m);
	put(&m, SET + offsets.css_set_cgroup, BASE + 0x10000);
	TEST_ASSERT_VAL("no memory there", finds(&m, NULL));
	return TEST_OK;
}

static int check_proc(void)
{
	static const struct {
		const char *text;
		const char *path;
	} cases[] = {
		{ "0::/\n", "/" },
		{ "0::/system.slice/cron.service\n", "/system.slice/cron.service" },
		{ "12:cpu:/a\n1:name=systemd:/b\n0::/c\n", "/c" },
		{ "12:cpu:/a\n", NULL },
		{ "0::/gone (deleted)\n", NULL },
		{ "", NULL },
	};
	char path[64];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int ret = guest_cgroup__parse(cases[i].text, path, sizeof(path));

		if (cases[i].path)
			TEST_ASSERT_VAL(cases[i].text, !ret && !strcmp(path, cases[i].path));
		else
			TEST_ASSERT_EQUAL(cases[i].text, ret, -ENOENT);
	}
	return TEST_OK;
}

int test__guest_cgroups(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return check_found() ?: check_refused() ?: check_proc();
}
