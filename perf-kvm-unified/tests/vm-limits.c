// SPDX-License-Identifier: GPL-2.0
/*
 * The limits on the CPU time of VMs: found in a false procfs and cgroups, written, and read.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "util/event.h"
#include "kvm-unified/format/records.h"
#include "kvm-unified/format/vm-limits.h"
#include "kvm-unified/format/vms.h"
#include "kvm-unified/record/vm-limits.h"
#include "kvm-unified/report/print-limits.h"
#include "environment.h"
#include "vm-limits.h"

/* The VM's pid, and the threads of its vCPUs; not those of a process that there is */
#define VM_PID		4194300
#define FIRST_TID	4194301
#define NR_THREADS	3

/* It loses its quota; the one below it had one meanwhile. */
static const char later[] =
	"echo 'max 100000' >slice/cpu.max && echo 'nr_throttled 12' >slice/cpu.stat && "
	"echo 'nr_throttled 3' >slice/vm/cpu.stat";

/* The first version's files, beside the second's hierarchy */
static const char first_version[] =
	"rm -r slice && mkdir -p v1 && echo 50000 >v1/cpu.cfs_quota_us && "
	"echo 200000 >v1/cpu.cfs_period_us && "
	"for tid in 1 2 3; do printf '4:cpuset:/\\n3:cpu,cpuacct:/v1\\n0::/slice/vm\\n' "
	">4194300/task/419430$tid/cgroup; done";

/* In another cgroup namespace */
static const char out_of_reach[] =
	"for tid in 1 2 3; do echo '0::/../other' "
	">4194300/task/419430$tid/cgroup; done";

static int add_vm(struct kvm_vms *vms)
{
	struct kvm_vm vm = { .pid = VM_PID, .name = "vm", .nr_vcpus = NR_THREADS };

	vm.vcpus = calloc(NR_THREADS, sizeof(*vm.vcpus));
	if (!vm.vcpus)
		return -ENOMEM;
	for (u32 i = 0; i < NR_THREADS; i++)
		vm.vcpus[i] = (struct guest_vcpu) { .id = i, .tid = FIRST_TID + i };
	return kvm_vms__add(vms, &vm);
}

static bool is_limit(const struct kvm_limits *limits, size_t i, const char *cgroup, u64 quota,
		     u64 period, u64 times)
{
	const struct kvm_limit *limit = &limits->entries[i];

	return i < limits->nr && limit->pid == VM_PID && !strcmp(limit->cgroup, cgroup) &&
	       limit->quota == quota && limit->period == period && limit->times == times;
}

/* What is found in the first place, and after a while in which limits were in force */
static int check_looks(struct limits_scan *scan, struct kvm_vms *vms, const char *dir)
{
	const struct kvm_limits *limits = &vms->limits;
	bool ok;

	TEST_ASSERT_EQUAL("look", limits_scan__look(scan, vms), 0);
	TEST_ASSERT_EQUAL("one has a quota", (int)limits->nr, 1);
	TEST_ASSERT_VAL("the quota", is_limit(limits, 0, "/slice", 30000000, 100000000, 0));
	TEST_ASSERT_VAL("not counted as yet", !limits->entries[0].counted);
	ok = run_in_dir(dir, later);
	TEST_ASSERT_VAL("time goes on", ok);
	TEST_ASSERT_EQUAL("look", limits_scan__look(scan, vms), 0);
	TEST_ASSERT_EQUAL("two held it back", (int)limits->nr, 2);
	TEST_ASSERT_VAL("one below", is_limit(limits, 0, "/slice/vm", 0, 0, 3));
	TEST_ASSERT_VAL("one above", is_limit(limits, 1, "/slice", 0, 0, 5));
	TEST_ASSERT_VAL("counted", limits->entries[0].counted && limits->entries[1].counted);
	return TEST_OK;
}

static int check_first_version(struct limits_scan *scan, struct kvm_vms *vms, const char *dir)
{
	const struct kvm_limits *limits = &vms->limits;
	bool ok;

	ok = run_in_dir(dir, first_version);
	TEST_ASSERT_VAL("cgroups", ok);
	TEST_ASSERT_EQUAL("look", limits_scan__look(scan, vms), 0);
	TEST_ASSERT_EQUAL("one", (int)limits->nr, 1);
	TEST_ASSERT_VAL("of the first version",
			is_limit(limits, 0, "/v1", 50000000, 200000000, 0));
	TEST_ASSERT_VAL("the VM ends", run_in_dir(dir, "mv 4194300 ended"));
	TEST_ASSERT_EQUAL("look", limits_scan__look(scan, vms), 0);
	TEST_ASSERT_EQUAL("what was known of it", (int)limits->nr, 1);
	TEST_ASSERT_VAL("it comes back", run_in_dir(dir, "mv ended 4194300"));
	ok = run_in_dir(dir, out_of_reach);
	TEST_ASSERT_VAL("out of reach", ok);
	TEST_ASSERT_EQUAL("look", limits_scan__look(scan, vms), 0);
	TEST_ASSERT_EQUAL("none", (int)limits->nr, 0);
	return TEST_OK;
}

/* @vms, with a limit more, is written and read: the last of a cgroup holds. */
static int check_file(struct kvm_vms *vms, const char *path)
{
	struct kvm_limit more = {
		.pid = VM_PID, .cgroup = (char *)"/a\033b", .quota = 1, .period = 2, .times = 3,
		.counted = true,
	};
	const struct kvm_limit *limit;
	struct kvm_vms copy = { };
	char err[256];

	for (int i = 0; i < 2; i++) {
		more.times += i;
		TEST_ASSERT_EQUAL("set", kvm_limits__set(&vms->limits, &more), 0);
	}
	TEST_ASSERT_EQUAL("write", kvm_vms__write(vms, path), 0);
	TEST_ASSERT_EQUAL("read", kvm_vms__read(&copy, path, err, sizeof(err)), 0);
	limit = kvm_limits__next(&copy.limits, VM_PID, NULL);
	TEST_ASSERT_EQUAL("one", (int)copy.limits.nr, 1);
	TEST_ASSERT_VAL("the last one", limit && limit->times == 4 && limit->quota == 1 &&
			limit->period == 2 && limit->counted);
	TEST_ASSERT_VAL("no deadline", !kvm_limits__deadline(&copy.limits, VM_PID));
	TEST_ASSERT_VAL("fit for a terminal", !strcmp(limit->cgroup, "/a_b"));
	TEST_ASSERT_VAL("none besides", !kvm_limits__next(&copy.limits, VM_PID, limit));
	TEST_ASSERT_VAL("none of another VM", !kvm_limits__next(&copy.limits, 1, NULL));
	kvm_vms__exit(&copy);
	return TEST_OK;
}

/* Records that cannot be */
static int check_bad(void)
{
	struct perf_record_guest_vm_limit rec = {
		.header.type = PERF_RECORD_GUEST_VM_LIMIT,
		.header.size = sizeof(rec) - 1,
	};
	struct kvm_limits limits = { };

	TEST_ASSERT_EQUAL("cut", kvm_limits__process(&limits, (void *)&rec), -EINVAL);
	rec.header.size = sizeof(rec);
	rec.quota = 1;
	TEST_ASSERT_EQUAL("no period", kvm_limits__process(&limits, (void *)&rec), -EINVAL);
	rec.period = 1;
	TEST_ASSERT_EQUAL("without a name", kvm_limits__process(&limits, (void *)&rec), 0);
	kvm_limits__exit(&limits);
	return TEST_OK;
}

static bool is_told_as(const struct kvm_limit *limit, const char *words)
{
	char *text = NULL;
	size_t size;
	FILE *fp = open_memstream(&text, &size);
	bool right;

	if (!fp)
		return false;
	print_limit("vm", limit, fp);
	fclose(fp);
	right = !strcmp(text, words);
	if (!right)
		pr_debug("%s", text);
	free(text);
	return right;
}

/* What the report's first screen says of each */
static int check_words(void)
{
	static const char counted[] =
		"# throttled: vm, by the limit of cgroup /slice: 30 ms in each 100 ms"
		"; it held tasks back in 33 periods of the recording\n";
	static const char gone[] =
		"# throttled: vm, by a limit of cgroup /slice that was taken away meanwhile"
		"; it held tasks back in 1 period of the recording\n";
	static const char deadline[] =
		"# throttled: vm, by SCHED_DEADLINE: 3 ms in each 10 ms"
		"; long waits after halts are [unknown]\n";
	char cgroup[] = "/slice", none[] = "";
	struct kvm_limit limit = {
		.cgroup = cgroup, .quota = 30 * NSEC_PER_MSEC, .period = 100 * NSEC_PER_MSEC,
		.times = 33, .counted = true,
	};

	TEST_ASSERT_VAL("of which its periods are counted", is_told_as(&limit, counted));
	limit.times = 1;
	limit.quota = 0;
	TEST_ASSERT_VAL("that has gone", is_told_as(&limit, gone));
	limit = (struct kvm_limit) {
		.cgroup = none, .quota = 3 * NSEC_PER_MSEC, .period = 10 * NSEC_PER_MSEC,
	};
	TEST_ASSERT_VAL("of which nothing is counted", is_told_as(&limit, deadline));
	return TEST_OK;
}

static int check(const char *dir)
{
	char path[PATH_MAX];
	struct limits_scan scan = { .proc = dir, .mount = dir };
	struct kvm_vms vms = { };
	int ret = TEST_FAIL;

	scnprintf(path, sizeof(path), "%s/vms", dir);
	if (!add_vm(&vms) &&
	    run_in_dir(dir, "mkdir -p slice/vm && for tid in 1 2 3; do "
			"mkdir -p 4194300/task/419430$tid && "
			"echo 0::/slice/vm >4194300/task/419430$tid/cgroup || exit; done && "
			"echo '30000 100000' >slice/cpu.max && "
			"printf 'usage_usec 1\\nnr_throttled 7\\nthrottled_usec 9\\n' >slice/cpu.stat && "
			"echo 'max 100000' >slice/vm/cpu.max"))
		ret = check_looks(&scan, &vms, dir);
	if (ret == TEST_OK)
		ret = check_first_version(&scan, &vms, dir);
	if (ret == TEST_OK)
		ret = check_file(&vms, path);
	if (ret == TEST_OK)
		ret = check_bad();
	if (ret == TEST_OK)
		ret = check_words();
	limits_scan__exit(&scan);
	kvm_vms__exit(&vms);
	return ret;
}

int test__limits(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return check_in_dir(check);
}
