// SPDX-License-Identifier: GPL-2.0
/*
 * The cgroups of a guest's processes: out of its memory, and by its own /proc.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "kvm-unified/collector/cgroups.h"
#include "kvm-unified/memory/cgroups.h"
#include "kvm-unified/memory/kernel.h"
#include "cgroups.h"
#include "made-up.h"

/* Where these are in the guest's memory */
enum {
	TASK	= 0x4000,
	SET	= 0x4100,
	CGROUP	= 0x4200,
	ROOT	= 0x4300,
	PODS	= 0x4400,
	POD	= 0x4500,
	NAMES	= 0x5000,
};

#define NAME_SIZE	0x20

/* A guest, and what was read of a task's cgroup */
struct found {
	struct made_up mem;
	struct guest_ram ram;
	struct guest_kernel kernel;
	struct guest_cgroups cgroups;
	struct guest_cgroup cgroup;
};

static void put_ptr(struct found *m, u64 at, u64 gpa)
{
	made_up__put(&m->mem, at, gpa ? DIRECT_MAP + gpa : 0);
}

static void put_dir(struct found *m, u64 at, u64 id, const char *name, u64 parent)
{
	const struct guest_offsets *o = &m->kernel.offsets;
	u64 name_at = NAMES + id * NAME_SIZE;

	strlcpy((char *)m->mem.pages + name_at, name, NAME_SIZE);
	made_up__put(&m->mem, at + o->dir_id, id);
	put_ptr(m, at + o->dir_name, name_at);
	put_ptr(m, at + o->dir_parent, parent);
}

/* A task in /pods/box */
static void found__init(struct found *m)
{
	struct guest_offsets *o = &m->kernel.offsets;

	made_up__init_kernel(&m->mem, &m->ram, &m->kernel);
	m->cgroups = (struct guest_cgroups) { };
	o->task_cgroups = 0x10;
	o->css_set_cgroup = 0x18;
	o->cgroup_dir = 0x20;
	o->dir_id = 0x28;
	o->dir_name = 0x30;
	o->dir_parent = 0x38;
	put_ptr(m, TASK + o->task_cgroups, SET);
	put_ptr(m, SET + o->css_set_cgroup, CGROUP);
	put_ptr(m, CGROUP + o->cgroup_dir, POD);
	put_dir(m, ROOT, 1, "", 0);
	put_dir(m, PODS, 2, "pods", ROOT);
	put_dir(m, POD, 3, "box", PODS);
}

static u32 find(struct found *m)
{
	guest_cgroup__read(&m->cgroup, &m->cgroups, &m->kernel, DIRECT_MAP + TASK);
	return guest_cgroups__findnew(&m->cgroups, &m->cgroup);
}

/* What is found is @path; NULL: nothing */
static bool finds(struct found *m, const char *path)
{
	u32 nr = find(m);
	bool same = path ? nr && !strcmp(guest_cgroups__path(&m->cgroups, nr), path) : !nr;

	guest_cgroups__exit(&m->cgroups);
	return same;
}

static int check_found(struct found *m)
{
	const struct guest_offsets *o = &m->kernel.offsets;
	u32 nr;

	found__init(m);
	TEST_ASSERT_VAL("its path", finds(m, "/pods/box"));
	nr = find(m);
	/* What the directory of this id is called is known. */
	put_ptr(m, POD + o->dir_name, 0);
	TEST_ASSERT_EQUAL("once", find(m), nr);
	put_dir(m, POD, 4, "other", PODS);
	nr = find(m);
	TEST_ASSERT_VAL("another one", nr == 2 &&
			!strcmp(guest_cgroups__path(&m->cgroups, nr), "/pods/other"));
	guest_cgroups__exit(&m->cgroups);
	put_ptr(m, CGROUP + o->cgroup_dir, ROOT);
	TEST_ASSERT_VAL("the root", finds(m, "/"));
	return TEST_OK;
}

static int check_moved(struct found *m)
{
	const u64 task = DIRECT_MAP + TASK;

	found__init(m);
	guest_cgroup__read(&m->cgroup, &m->cgroups, &m->kernel, task);
	TEST_ASSERT_VAL("it is there still", guest_cgroup__has(&m->cgroup, &m->kernel, task));
	put_ptr(m, TASK + m->kernel.offsets.task_cgroups, ROOT);
	TEST_ASSERT_VAL("it has moved", !guest_cgroup__has(&m->cgroup, &m->kernel, task));
	put_ptr(m, TASK + m->kernel.offsets.task_cgroups, 0);
	guest_cgroup__read(&m->cgroup, &m->cgroups, &m->kernel, task);
	TEST_ASSERT_VAL("nothing was known", guest_cgroup__has(&m->cgroup, &m->kernel, task));
	return TEST_OK;
}

static int check_refused(struct found *m)
{
	const struct guest_offsets *o = &m->kernel.offsets;

	found__init(m);
	put_ptr(m, PODS + o->dir_parent, POD);
	TEST_ASSERT_VAL("a circle", finds(m, NULL));
	found__init(m);
	put_dir(m, PODS, 2, "a/b", ROOT);
	TEST_ASSERT_VAL("no name of a directory", finds(m, NULL));
	found__init(m);
	put_dir(m, PODS, 2, "", ROOT);
	TEST_ASSERT_VAL("no name", finds(m, NULL));
	found__init(m);
	made_up__put(&m->mem, PODS + o->dir_parent, 0x1000);
	TEST_ASSERT_VAL("an address that is none of the kernel's", finds(m, NULL));
	found__init(m);
	put_ptr(m, SET + o->css_set_cgroup, sizeof(m->mem.pages));
	TEST_ASSERT_VAL("no memory there", finds(m, NULL));
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
	struct found *m = malloc(sizeof(*m));
	int ret;

	TEST_ASSERT_VAL("memory", m);
	ret = check_found(m) ?: check_moved(m) ?: check_refused(m) ?: check_proc();
	free(m);
	return ret;
}
