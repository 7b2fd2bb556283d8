// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of perf kvm unified that need neither a kernel nor a guest, with
 * literal input.
 *
 * Room: tests/, what perf test runs of all others, with literal input.
 * Calls: axis collector export format guests lib measure memory record report
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/zalloc.h>
#include <internal/lib.h>
#include <subcmd/parse-options.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "util/event.h"
#include "util/evsel.h"
#include "util/header.h"
#include "util/hist.h"
#include "util/machine.h"
#include "util/modest-elf.h"
#include "util/sample.h"
#include "util/session.h"
#include "util/vcpu-sample.h"
#include "tests/hists_common.h"
#include "kvm-unified/collector/build-ids.h"
#include "kvm-unified/format/looks.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/format/records.h"
#include "kvm-unified/format/stream.h"
#include "kvm-unified/format/vms.h"
#include "kvm-unified/guests/foreign.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/guests/kernel.h"
#include "kvm-unified/guests/options.h"
#include "kvm-unified/measure/feed.h"
#include "kvm-unified/measure/measurement.h"
#include "kvm-unified/record/looks.h"
#include "kvm-unified/record/scan.h"
#include "kvm-unified/report/exits.h"
#include "kvm-unified/report/nameless.h"
#include "kvm-unified/report/profile.h"
#include "annotate.h"
#include "cgroups.h"
#include "contexts.h"
#include "current.h"
#include "environment.h"
#include "export.h"
#include "file-print.h"
#include "host-memory.h"
#include "jitdump.h"
#include "kernels.h"
#include "memory.h"
#include "modules.h"
#include "names.h"
#include "orc-table.h"
#include "own-code.h"
#include "perf-map.h"
#include "profile-hook.h"
#include "segments.h"
#include "tally.h"
#include "vcpu-rows.h"
#include "vm-limits.h"
#include "window.h"

/* From arch/x86/include/uapi/asm: what KVM reports */
#define SVM_INTR	0x60
#define SVM_NMI		0x61
#define SVM_HLT		0x78
#define SVM_NPF		0x400
#define SVM_ERR		(-1ULL)
#define VMX_NMI		0
#define VMX_INTR	1
#define VMX_HLT		12
#define VMX_ENTRY_FAIL	BIT(31)

/* A stream in a temporary file, from @len bytes at @buf */
static int stream_fd(const void *buf, size_t len)
{
	FILE *file = tmpfile();
	int fd;

	if (!file)
		return -1;
	fd = dup(fileno(file));
	fclose(file);
	if (fd < 0 || write(fd, buf, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET))
		return -1;
	return fd;
}

static int count_record(const union perf_event *event, void *arg)
{
	int *types = arg;

	types[0]++;
	types[1] = event->header.type;
	return event->header.type == PERF_RECORD_EXIT ? -ECANCELED : 0;
}

static int test__stream(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct {
		struct perf_pipe_file_header file;
		struct perf_event_header comm;
		u64 payload;
		struct perf_event_header end;
	} whole = {
		.file = { .magic = 0x32454c4946524550ULL, .size = sizeof(whole.file) },
		.comm = { .type = PERF_RECORD_COMM, .size = 16 },
		.end = { .type = PERF_RECORD_FINISHED_INIT, .size = 8 },
	}, bad;
	char err[256];
	int seen[2], fd;

	memset(seen, 0, sizeof(seen));
	fd = stream_fd(&whole, sizeof(whole));
	TEST_ASSERT_VAL("temporary file", fd >= 0);
	TEST_ASSERT_EQUAL("whole", guest_stream__read(fd, count_record, seen, err, sizeof(err)), 0);
	TEST_ASSERT_EQUAL("records before the last", seen[0], 1);
	TEST_ASSERT_EQUAL("type", seen[1], PERF_RECORD_COMM);
	close(fd);

	/* Cut off anywhere, it is truncated, and says so. */
	for (size_t len = 0; len < sizeof(whole); len++) {
		fd = stream_fd(&whole, len);
		TEST_ASSERT_VAL("temporary file", fd >= 0);
		TEST_ASSERT_EQUAL("truncated",
				  guest_stream__read(fd, count_record, seen, err, sizeof(err)),
				  -EPIPE);
		TEST_ASSERT_VAL("message", strstr(err, "truncated") || strstr(err, "empty"));
		close(fd);
	}

	bad = whole;
	bad.file.magic = 0;
	fd = stream_fd(&bad, sizeof(bad));
	TEST_ASSERT_EQUAL("magic", guest_stream__read(fd, count_record, seen, err, sizeof(err)),
			  -EINVAL);
	close(fd);

	bad = whole;
	bad.comm.size = 7;
	fd = stream_fd(&bad, sizeof(bad));
	TEST_ASSERT_EQUAL("size", guest_stream__read(fd, count_record, seen, err, sizeof(err)),
			  -EINVAL);
	close(fd);

	bad = whole;
	bad.comm.type = PERF_RECORD_EXIT;
	fd = stream_fd(&bad, sizeof(bad));
	TEST_ASSERT_EQUAL("callback", guest_stream__read(fd, count_record, seen, err, sizeof(err)),
			  -ECANCELED);
	close(fd);
	return TEST_OK;
}

static bool has_name(const char *cmdline, size_t len, const char *expected)
{
	char name[KVM_VM_NAME_LEN];

	kvm_vm__name_from_cmdline(cmdline, len, name, sizeof(name));
	if (!strcmp(name, expected))
		return true;
	pr_debug("name '%s', expected '%s'\n", name, expected);
	return false;
}

#define HAS_NAME(cmdline, expected)	has_name(cmdline, sizeof(cmdline), expected)

static int test__vm_names(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const char too_long[] = "qemu\0-name\0much-too-long";
	char name[8];

	TEST_ASSERT_VAL("plain", HAS_NAME("qemu\0-name\0web", "web"));
	TEST_ASSERT_VAL("libvirt",
			HAS_NAME("qemu\0-name\0guest=db1,debug-threads=on\0-S", "db1"));
	TEST_ASSERT_VAL("not first",
			HAS_NAME("qemu\0-name\0debug-threads=on,guest=db2", "db2"));
	TEST_ASSERT_VAL("plain with more",
			HAS_NAME("qemu\0-name\0web,process=x", "web"));
	TEST_ASSERT_VAL("commas",
			HAS_NAME("qemu\0-name\0guest=,,a,,,,b,,,debug-threads=on", ",a,,b,"));
	TEST_ASSERT_VAL("plain with a comma", HAS_NAME("qemu\0-name\0a,,b", "a,b"));
	TEST_ASSERT_VAL("a comma at its end, alone", HAS_NAME("qemu\0-name\0a,", "a"));
	TEST_ASSERT_VAL("no name in -name",
			HAS_NAME("qemu\0-name\0debug-threads=on", ""));
	TEST_ASSERT_VAL("firecracker",
			HAS_NAME("firecracker\0--id\0fc-7\0--api-sock\0x", "fc-7"));
	TEST_ASSERT_VAL("none", HAS_NAME("crosvm\0run", ""));
	TEST_ASSERT_VAL("-name is last", HAS_NAME("qemu\0-name", ""));
	TEST_ASSERT_VAL("empty", has_name("", 0, ""));
	TEST_ASSERT_VAL("escapes",
			HAS_NAME("qemu\0-name\0a\033[2Jb c", "a_[2Jb_c"));
	TEST_ASSERT_VAL("not of ASCII", HAS_NAME("x\0--id\0gr\303\274n\377utf", "gr__n_utf"));

	kvm_vm__name_from_cmdline(too_long, sizeof(too_long), name, sizeof(name));
	TEST_ASSERT_VAL("cut", !strcmp(name, "much-to"));
	/* No zero byte at the end: not read past it */
	kvm_vm__name_from_cmdline("x\0-name\0ab", 9, name, sizeof(name));
	TEST_ASSERT_VAL("unterminated", !strcmp(name, ""));
	return TEST_OK;
}

static int fake_link(const char *dir, const char *name, const char *target)
{
	char path[PATH_MAX];

	scnprintf(path, sizeof(path), "%s/%s", dir, name);
	return symlink(target, path);
}

static int fake_file(const char *dir, const char *name, const void *content, size_t len)
{
	char path[PATH_MAX];
	ssize_t n;
	int fd;

	scnprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	if (fd < 0)
		return -1;
	n = write(fd, content, len);
	close(fd);
	return n == (ssize_t)len ? 0 : -1;
}

static int fake_dir(const char *dir, const char *name)
{
	char path[PATH_MAX];

	scnprintf(path, sizeof(path), "%s/%s", dir, name);
	return mkdir(path, 0700);
}

/* One more vCPU of VM 100, whose thread is at the system call */
static int fake_sleeper(const char *dir, int id, int tid, const char *syscall)
{
	char name[64], target[64], pid[16];
	int len = scnprintf(pid, sizeof(pid), "%d\n", tid);

	scnprintf(name, sizeof(name), "100/fd/%d", 20 + id);
	scnprintf(target, sizeof(target), "anon_inode:kvm-vcpu:%d", id);
	if (fake_link(dir, name, target))
		return -1;
	scnprintf(name, sizeof(name), "kvm/100-9/vcpu%d", id);
	if (fake_dir(dir, name))
		return -1;
	scnprintf(name, sizeof(name), "kvm/100-9/vcpu%d/pid", id);
	if (fake_file(dir, name, pid, len))
		return -1;
	scnprintf(name, sizeof(name), "100/task/%d", tid);
	if (fake_dir(dir, name))
		return -1;
	scnprintf(name, sizeof(name), "100/task/%d/syscall", tid);
	return fake_file(dir, name, syscall, strlen(syscall));
}

/* A procfs and a debugfs with two VMs of the same name and a process without */
static int make_fake_host(const char *dir)
{
	static const char cmdline[] = "qemu\0-name\0guest=twin";

	return fake_dir(dir, "100") || fake_dir(dir, "100/fd") ||
	       fake_link(dir, "100/fd/9", "anon_inode:kvm-vm") ||
	       fake_link(dir, "100/fd/10", "anon_inode:kvm-vcpu:1") ||
	       fake_link(dir, "100/fd/11", "anon_inode:kvm-vcpu:0") ||
	       fake_link(dir, "100/fd/12", "anon_inode:kvm-vcpu-stats:0") ||
	       fake_file(dir, "100/cmdline", cmdline, sizeof(cmdline)) ||
	       fake_file(dir, "100/status", "Name:\tq\nTgid:\t100\n", 17) ||
	       fake_dir(dir, "200") || fake_dir(dir, "200/fd") ||
	       fake_link(dir, "200/fd/5", "anon_inode:kvm-vm") ||
	       fake_file(dir, "200/cmdline", cmdline, sizeof(cmdline)) ||
	       fake_dir(dir, "300") || fake_dir(dir, "300/fd") ||
	       fake_link(dir, "300/fd/0", "/dev/null") ||
	       fake_file(dir, "200/status", "Name:\tq\nTgid:\t200\n", 17) ||
	       fake_dir(dir, "kvm") || fake_dir(dir, "kvm/200-5") || fake_dir(dir, "kvm/100-9") ||
	       fake_dir(dir, "kvm/100-9/vcpu0") ||
	       fake_file(dir, "kvm/100-9/vcpu0/pid", "103\n", 4) ||
	       fake_dir(dir, "100/task") || fake_dir(dir, "100/task/103") ||
	       fake_file(dir, "100/task/103/wchan", "kvm_vcpu_block", 14) ||
	       fake_sleeper(dir, 2, 105, "16 0xd 0xae80 0x0 0x0 0x0 0x0 0x7f0 0x7f1\n") ||
	       fake_sleeper(dir, 3, 106, "7 0x7f2 0x1 0xffffffff 0x0 0x0 0x0 0x7f0 0x7f1\n") ||
	       fake_sleeper(dir, 4, 107, "running\n") ||
	       fake_sleeper(dir, 5, 108, "16 0xd 0xae80 0x0 0x0 0x0 0x0 0x7f0 0x7f1\n") ||
	       fake_file(dir, "100/task/108/stat", "108 (a \xff) S b) T 1 108", 22) ||
	       fake_sleeper(dir, 6, 109, "16 0xd 0xae80 0x0 0x0 0x0 0x0 0x7f0 0x7f1\n") ||
	       fake_file(dir, "100/task/109/wchan", "get_signal", 10);
}

static int check_fake_vms(struct kvm_vms *vms)
{
	const struct kvm_vm *vm;

	TEST_ASSERT_EQUAL("VMs", (int)vms->nr, 2);
	vm = kvm_vms__find_pid(vms, 100);
	TEST_ASSERT_VAL("first", vm);
	TEST_ASSERT_EQUAL("vCPUs", (int)vm->nr_vcpus, 7);
	for (u32 i = 0; i < vm->nr_vcpus; i++)
		TEST_ASSERT_VAL("sorted", vm->vcpus[i].id == i);
	TEST_ASSERT_EQUAL("thread", (int)vm->vcpus[0].tid, 103);
	TEST_ASSERT_EQUAL("thread not known", (int)vm->vcpus[1].tid, 0);
	TEST_ASSERT_EQUAL("there at both ends, and halted", (int)vm->vcpus[0].flags,
			  (int)(GUEST_VCPU_AT_START | GUEST_VCPU_AT_END | GUEST_VCPU_HALTED |
				GUEST_VCPU_END_HALTED));
	TEST_ASSERT_EQUAL("not known to be halted", (int)vm->vcpus[1].flags,
			  (int)(GUEST_VCPU_AT_START | GUEST_VCPU_AT_END));
	TEST_ASSERT_EQUAL("sleeps in KVM_RUN", (int)vm->vcpus[2].flags,
			  (int)(GUEST_VCPU_AT_START | GUEST_VCPU_AT_END | GUEST_VCPU_END_BLOCKED));
	TEST_ASSERT_EQUAL("sleeps in the VMM", (int)vm->vcpus[3].flags,
			  (int)(GUEST_VCPU_AT_START | GUEST_VCPU_AT_END | GUEST_VCPU_END_VMM));
	TEST_ASSERT_EQUAL("could run", (int)vm->vcpus[4].flags,
			  (int)(GUEST_VCPU_AT_START | GUEST_VCPU_AT_END));
	TEST_ASSERT_EQUAL("stopped", (int)vm->vcpus[5].flags,
			  (int)(GUEST_VCPU_AT_START | GUEST_VCPU_AT_END | GUEST_VCPU_END_STOPPED));
	TEST_ASSERT_EQUAL("frozen", (int)vm->vcpus[6].flags,
			  (int)(GUEST_VCPU_AT_START | GUEST_VCPU_AT_END | GUEST_VCPU_END_STOPPED));
	TEST_ASSERT_VAL("by thread", kvm_vm__find_tid(vm, 103) == &vm->vcpus[0]);
	TEST_ASSERT_VAL("not by an unknown one", !kvm_vm__find_tid(vm, 0));
	TEST_ASSERT_VAL("second", kvm_vms__find_pid(vms, 200));
	TEST_ASSERT_VAL("not a VM", !kvm_vms__find_pid(vms, 300));
	/* Whichever came first has the plain name */
	TEST_ASSERT_VAL("one name", kvm_vms__find_name(vms, "twin"));
	TEST_ASSERT_VAL("the other",
			kvm_vms__find_name(vms, "twin-100") || kvm_vms__find_name(vms, "twin-200"));
	return TEST_OK;
}

#define KATA_NAME	"sandbox-f696fbe1040067c976aebdb53365d79cb4d5e075b98dc28155f44c6a9320d415"

/* Names that only end in another way, one too long for any; and more VMs than 4,096 */
static int check_long_names(const char *path)
{
	static const char kata[] = KATA_NAME, twin[] = KATA_NAME "-2";
	struct kvm_vms vms = { }, copy = { };
	char too_long[2 * KVM_VM_NAME_LEN] = "", err[256];
	const struct kvm_vm *vm;

	memset(too_long, 'x', sizeof(too_long) - 1);
	for (u32 pid = 1; pid <= 5000; pid++) {
		struct kvm_vm new = { .pid = pid, .nr_vcpus = 1 };

		scnprintf(new.name, sizeof(new.name), "%s", pid == 1 ? kata : pid == 2 ? twin :
			  pid == 3 ? too_long : "");
		new.vcpus = calloc(1, sizeof(*new.vcpus));
		TEST_ASSERT_VAL("added", new.vcpus && !kvm_vms__add(&vms, &new));
	}
	TEST_ASSERT_VAL("written and read", !kvm_vms__write(&vms, path) &&
			!kvm_vms__read(&copy, path, err, sizeof(err)));
	TEST_ASSERT_EQUAL("all", (int)copy.nr, 5000);
	vm = kvm_vms__find_name(&copy, kata);
	TEST_ASSERT_VAL("a whole name", vm && vm->pid == 1 && vm->nr_vcpus == 1);
	vm = kvm_vms__find_name(&copy, twin);
	TEST_ASSERT_VAL("another with the same beginning", vm && vm->pid == 2);
	vm = kvm_vms__find_short(&copy, "xxx");
	TEST_ASSERT_VAL("one that is cut", vm && vm->pid == 3);
	TEST_ASSERT_EQUAL("where", (int)strlen(vm->name), KVM_VM_NAME_LEN - 1);
	TEST_ASSERT_VAL("by pid", kvm_vms__find_short(&copy, "4999")->pid == 4999);
	TEST_ASSERT_VAL("a beginning of two", !kvm_vms__find_short(&copy, "sandbox-f"));
	TEST_ASSERT_VAL("nothing", !kvm_vms__find_short(&copy, ""));
	kvm_vms__exit(&vms);
	kvm_vms__exit(&copy);
	return TEST_OK;
}

/* Why VMs have no maps: what a guest may have sent, more than there is room for, nothing */
static int check_no_map(const char *path)
{
	static const char *const whys[] = { "'ssh \033[31m' failed with 255", NULL, "", NULL };
	struct kvm_vms vms = { }, copy = { };
	char too_long[2000] = "", err[256];

	memset(too_long, 'x', sizeof(too_long) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(whys); i++) {
		struct kvm_vm new = { .pid = i + 1 };

		TEST_ASSERT_VAL("added", !kvm_vms__add(&vms, &new));
		if (whys[i])
			kvm_vms__set_no_map(&vms, i + 1, whys[i]);
	}
	kvm_vms__set_no_map(&vms, ARRAY_SIZE(whys), too_long);
	kvm_vms__set_no_map(&vms, ARRAY_SIZE(whys) + 1, "of no VM");
	TEST_ASSERT_VAL("written and read", !kvm_vms__write(&vms, path) &&
			!kvm_vms__read(&copy, path, err, sizeof(err)));
	TEST_ASSERT_VAL("fit for a terminal",
			!strcmp(kvm_vms__no_map(&copy, 1), "'ssh ?[31m' failed with 255"));
	TEST_ASSERT_VAL("not tried", !kvm_vms__no_map(&copy, 2));
	TEST_ASSERT_VAL("for nothing", !strcmp(kvm_vms__no_map(&copy, 3), ""));
	TEST_ASSERT_EQUAL("cut", (int)strlen(kvm_vms__no_map(&copy, 4)), 511);
	TEST_ASSERT_VAL("no VM", !kvm_vms__no_map(&copy, 5));
	kvm_vms__exit(&vms);
	kvm_vms__exit(&copy);
	return TEST_OK;
}

/* Records of why there is no map that cannot be */
static int check_bad_no_map(void)
{
	struct {
		struct perf_record_guest_vm_no_map rec;
		char why[8];
	} bad = {
		.rec.header.type = PERF_RECORD_GUEST_VM_NO_MAP,
		.rec.header.size = sizeof(bad.rec) - 1,
		.rec.pid = 1,
		.why = "01234567",
	};
	struct kvm_vms vms = { };
	struct kvm_vm vm = { .pid = 1 };

	TEST_ASSERT_VAL("a VM", !kvm_vms__add(&vms, &vm));
	TEST_ASSERT_EQUAL("cut", kvm_vms__process(&vms, (void *)&bad), -EINVAL);
	bad.rec.header.size = sizeof(bad);
	TEST_ASSERT_EQUAL("whole", kvm_vms__process(&vms, (void *)&bad), 0);
	TEST_ASSERT_VAL("without an end", !strcmp(kvm_vms__no_map(&vms, 1), "01234567"));
	bad.rec.pid = 2;
	TEST_ASSERT_EQUAL("of no VM", kvm_vms__process(&vms, (void *)&bad), -EINVAL);
	kvm_vms__exit(&vms);
	return TEST_OK;
}

/*
 * A process that runs two VMs, each with a vCPU 0; another descriptor is a duplicate. One
 * was made by a thread that is there, the other one by one that has ended.
 */
static int make_library_vmm(const char *dir)
{
	static const char cmdline[] = "library\0--id\0lib";
	static const char status[] = "Name:\tx\nTgid:\t400\n";

	return fake_dir(dir, "400") || fake_dir(dir, "400/fd") ||
	       fake_link(dir, "400/fd/8", "anon_inode:kvm-vm") ||
	       fake_link(dir, "400/fd/9", "anon_inode:kvm-vm") ||
	       fake_link(dir, "400/fd/10", "anon_inode:kvm-vm") ||
	       fake_link(dir, "400/fd/11", "anon_inode:kvm-vcpu:0") ||
	       fake_link(dir, "400/fd/12", "anon_inode:kvm-vcpu:0") ||
	       fake_file(dir, "400/cmdline", cmdline, sizeof(cmdline)) ||
	       fake_dir(dir, "402") || fake_file(dir, "402/status", status, strlen(status)) ||
	       fake_dir(dir, "kvm") ||
	       fake_dir(dir, "kvm/402-8") || fake_dir(dir, "kvm/402-8/vcpu0") ||
	       fake_file(dir, "kvm/402-8/vcpu0/pid", "401\n", 4) ||
	       fake_dir(dir, "kvm/403-9") || fake_dir(dir, "kvm/403-9/vcpu0") ||
	       fake_file(dir, "kvm/403-9/vcpu0/pid", "402\n", 4);
}

static int check_library_vms(struct kvm_vms *vms)
{
	const struct kvm_vm *eight = kvm_vms__find_name(vms, "lib-8");
	const struct kvm_vm *nine = kvm_vms__find_name(vms, "lib-9");

	TEST_ASSERT_EQUAL("two VMs", (int)vms->nr, 2);
	TEST_ASSERT_VAL("by their descriptors", eight && nine && eight->pid != nine->pid);
	TEST_ASSERT_VAL("of one process", kvm_vm__vmm(eight) == 400 && kvm_vm__vmm(nine) == 400);
	TEST_ASSERT_VAL("that they share", kvm_vm__shares_process(eight));
	TEST_ASSERT_VAL("one vCPU each", eight->nr_vcpus == 1 && nine->nr_vcpus == 1);
	TEST_ASSERT_VAL("threads", eight->vcpus[0].tid == 401 && nine->vcpus[0].tid == 402);
	TEST_ASSERT_EQUAL("the first one's", kvm_vms__key_of_thread(vms, 400, 401), eight->pid);
	TEST_ASSERT_EQUAL("the other's", kvm_vms__key_of_thread(vms, 400, 402), nine->pid);
	TEST_ASSERT_EQUAL("nobody's", kvm_vms__key_of_thread(vms, 400, 403), 400);
	TEST_ASSERT_EQUAL("of another process", kvm_vms__key_of_thread(vms, 500, 401), 500);
	return TEST_OK;
}

/* A VM keeps what stands for it, whatever others come; a thread may be of two */
static int check_keys(void)
{
	struct kvm_vms vms = { };
	struct kvm_vm first = { .pid = 7, .fd = 3, .name = "a" }, second = { .fd = 4 };
	struct kvm_vm third = { .fd = 5 };
	pid_t key;

	TEST_ASSERT_EQUAL("alone", kvm_vms__choose_key(&vms, 7, 3, true), 7);
	TEST_ASSERT_VAL("added", !kvm_vms__add(&vms, &first));
	TEST_ASSERT_EQUAL("the same", kvm_vms__choose_key(&vms, 7, 3, false), 7);
	key = kvm_vms__choose_key(&vms, 7, 4, false);
	TEST_ASSERT_EQUAL("another", key, kvm_vm__key(7, 4));
	TEST_ASSERT_VAL("that is no other pid", key > 7 && key < 0x40000000);
	TEST_ASSERT_EQUAL("too many", kvm_vm__key(7, GUEST_VM_FD_MAX + 1), 7);

	second.pid = key;
	third.pid = kvm_vm__key(7, 5);
	second.vcpus = calloc(1, sizeof(*second.vcpus));
	third.vcpus = calloc(1, sizeof(*third.vcpus));
	TEST_ASSERT_VAL("memory", second.vcpus && third.vcpus);
	second.nr_vcpus = 1;
	third.nr_vcpus = 1;
	second.vcpus[0].tid = 8;
	third.vcpus[0].tid = 8;
	TEST_ASSERT_VAL("two", !kvm_vms__add(&vms, &second));
	TEST_ASSERT_EQUAL("its thread", kvm_vms__key_of_thread(&vms, 7, 8), key);
	TEST_ASSERT_EQUAL("alone now", kvm_vms__choose_key(&vms, 7, 4, true), key);
	TEST_ASSERT_VAL("three", !kvm_vms__add(&vms, &third));
	TEST_ASSERT_EQUAL("a thread of both", kvm_vms__key_of_thread(&vms, 7, 8), 7);
	kvm_vms__exit(&vms);
	return TEST_OK;
}

static int check_several_vms(const char *dir)
{
	char path[PATH_MAX], err[256];
	struct kvm_vms vms = { }, copy = { }, known = { };
	int ret = TEST_FAIL;

	scnprintf(path, sizeof(path), "%s/vms", dir);

	if (!make_library_vmm(dir) && !kvm_vms__scan(&vms, dir, dir, GUEST_VCPU_AT_START) &&
	    !kvm_vms__scan(&vms, dir, dir, GUEST_VCPU_AT_END) &&
	    !kvm_vms__scan_debugfs(&known, dir, dir) &&
	    check_library_vms(&vms) == TEST_OK && check_library_vms(&known) == TEST_OK &&
	    !kvm_vms__write(&vms, path) && !kvm_vms__read(&copy, path, err, sizeof(err)))
		ret = check_library_vms(&copy);
	if (ret == TEST_OK)
		ret = check_keys();

	kvm_vms__exit(&vms);
	kvm_vms__exit(&copy);
	kvm_vms__exit(&known);
	return ret;
}

static int test__several_vms(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return check_in_dir(check_several_vms);
}

static int check_vms(const char *dir)
{
	char path[PATH_MAX], err[256];
	struct kvm_vms vms = { }, copy = { };
	int ret = TEST_FAIL;

	scnprintf(path, sizeof(path), "%s/vms", dir);

	if (!make_fake_host(dir) && !kvm_vms__scan(&vms, dir, dir, GUEST_VCPU_AT_START) &&
	    /* Nothing new in a second look */
	    !kvm_vms__scan(&vms, dir, dir, GUEST_VCPU_AT_END) &&
	    check_fake_vms(&vms) == TEST_OK &&
	    !kvm_vms__write(&vms, path) &&
	    !kvm_vms__read(&copy, path, err, sizeof(err)) &&
	    /* A stream has it twice. */
	    !kvm_vms__read(&copy, path, err, sizeof(err)))
		ret = check_fake_vms(&copy);
	if (ret == TEST_OK)
		ret = check_long_names(path);
	if (ret == TEST_OK)
		ret = check_no_map(path);
	if (ret == TEST_OK)
		ret = check_bad_no_map();

	kvm_vms__exit(&vms);
	kvm_vms__exit(&copy);
	return ret;
}

static int test__vms(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return check_in_dir(check_vms);
}

/* What a look at a thread has to say: id and flags */
struct expected_look {
	u64	tsc;
	u32	id;
	u32	flags;
};

struct seen_looks {
	struct expected_look looks[8];
	size_t	nr;
};

static int note_look(const struct perf_record_guest_vcpu_look *look, void *arg)
{
	struct seen_looks *seen = arg;

	if (seen->nr == ARRAY_SIZE(seen->looks) || look->pid != 100)
		return -EINVAL;
	seen->looks[seen->nr++] = (struct expected_look) { look->tsc, look->id, look->flags };
	return 0;
}

/* Thread @tid of VM 100 has had the CPU for that long. */
static int fake_cpu_time(const char *dir, int tid, const char *ns)
{
	char name[64], line[64];
	int len = scnprintf(line, sizeof(line), "%s 12345 67\n", ns);

	scnprintf(name, sizeof(name), "100/task/%d/schedstat", tid);
	return fake_file(dir, name, line, len);
}

static int look_at_fake_host(const char *dir, const char *path)
{
	struct vcpu_looks looks;
	int err;

	err = vcpu_looks__open(&looks, path, dir, dir);
	if (err)
		return err;
	/* The first knows nothing of before; who may run gets two more; once for each state */
	for (u64 tsc = 1; !err && tsc <= 4; tsc++)
		err = vcpu_looks__look(&looks, tsc);
	/* vCPU 2 runs, and then sleeps again. */
	err = err ?: fake_cpu_time(dir, 105, "2000");
	for (u64 tsc = 5; !err && tsc <= 7; tsc++)
		err = vcpu_looks__look(&looks, tsc);
	err = err ?: vcpu_looks__look_before_pause(&looks, 8);
	return vcpu_looks__close(&looks) ?: err;
}

static int check_looks(const char *dir)
{
	static const struct expected_look expected[] = {
		{ 2, 0, GUEST_VCPU_END_HALTED },
		{ 2, 2, GUEST_VCPU_END_BLOCKED },
		{ 3, 4, 0 },
		{ 6, 2, GUEST_VCPU_END_BLOCKED },
		/* When the events are about to be disabled, each that sleeps */
		{ 8, 0, GUEST_VCPU_END_HALTED | GUEST_VCPU_AT_PAUSE },
		{ 8, 2, GUEST_VCPU_END_BLOCKED | GUEST_VCPU_AT_PAUSE },
	};
	char path[PATH_MAX], err[256];
	struct seen_looks seen = { };
	int ret = TEST_FAIL;

	scnprintf(path, sizeof(path), "%s/" VCPU_LOOKS_FILE, dir);
	/* vCPU 1 has no thread that is known, vCPU 3's has no file. */
	if (!make_fake_host(dir) && !fake_cpu_time(dir, 103, "1000") &&
	    !fake_cpu_time(dir, 105, "1000") && !fake_cpu_time(dir, 107, "1000") &&
	    !look_at_fake_host(dir, path) &&
	    !vcpu_looks__read(path, note_look, &seen, err, sizeof(err)) &&
	    seen.nr == ARRAY_SIZE(expected) && !memcmp(seen.looks, expected, sizeof(expected)))
		ret = TEST_OK;
	for (size_t i = 0; i < seen.nr; i++)
		pr_debug("look %" PRIu64 ": vCPU %u flags %x\n", seen.looks[i].tsc,
			 seen.looks[i].id, seen.looks[i].flags);

	/* One that was not ended: what was written is there, and an error. */
	seen.nr = 0;
	if (truncate(path, sizeof(struct perf_pipe_file_header) +
			   2 * sizeof(struct perf_record_guest_vcpu_look)) ||
	    vcpu_looks__read(path, note_look, &seen, err, sizeof(err)) != -EPIPE || seen.nr != 2)
		ret = TEST_FAIL;

	return ret;
}

static int test__looks(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return check_in_dir(check_looks);
}

static bool interrupted(u64 flags, unsigned int isa, u64 exit_reason)
{
	struct vcpu_sample vcpu = {
		.flags = flags | (u64)isa << PERF_VCPU_ISA_SHIFT,
		.exit_reason = exit_reason,
	};

	return vcpu_sample__interrupted_guest(&vcpu);
}

static int test__vcpu_sample(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	const u64 words = 3ULL << PERF_VCPU_WORDS_SHIFT;
	/* Kernels from before there were words have labels that are not to be believed. */
	const u64 old = PERF_VCPU_LOADED | PERF_VCPU_IN_GUEST | PERF_VCPU_EXIT_REASON_VALID;
	char buf[32];

	TEST_ASSERT_VAL("guest", interrupted(old | words, PERF_VCPU_ISA_SVM, SVM_INTR));
	TEST_ASSERT_VAL("guest, whatever it was",
			interrupted(old | words, PERF_VCPU_ISA_SVM, SVM_HLT) &&
			interrupted(old | words, PERF_VCPU_ISA_VMX, VMX_HLT));
	TEST_ASSERT_VAL("host, whatever it was",
			!interrupted(PERF_VCPU_LOADED | words, 0, 0) &&
			!interrupted(PERF_VCPU_LOADED | PERF_VCPU_EXIT_REASON_VALID | words,
				     PERF_VCPU_ISA_SVM, SVM_INTR));

	TEST_ASSERT_VAL("host", !interrupted(PERF_VCPU_LOADED | PERF_VCPU_EXIT_REASON_VALID,
					     PERF_VCPU_ISA_SVM, SVM_INTR));
	TEST_ASSERT_VAL("SVM interrupt", interrupted(old, PERF_VCPU_ISA_SVM, SVM_INTR));
	TEST_ASSERT_VAL("SVM NMI", interrupted(old, PERF_VCPU_ISA_SVM, SVM_NMI));
	TEST_ASSERT_VAL("SVM fault", !interrupted(old, PERF_VCPU_ISA_SVM, SVM_NPF));
	TEST_ASSERT_VAL("SVM halt", !interrupted(old, PERF_VCPU_ISA_SVM, SVM_HLT));
	TEST_ASSERT_VAL("VMX interrupt", interrupted(old, PERF_VCPU_ISA_VMX, VMX_INTR));
	TEST_ASSERT_VAL("VMX NMI", interrupted(old, PERF_VCPU_ISA_VMX, VMX_NMI));
	TEST_ASSERT_VAL("VMX flags above the reason",
			interrupted(old, PERF_VCPU_ISA_VMX, VMX_INTR | VMX_ENTRY_FAIL));
	TEST_ASSERT_VAL("VMX halt", !interrupted(old, PERF_VCPU_ISA_VMX, VMX_HLT));
	TEST_ASSERT_VAL("no exit reason: the label holds",
			interrupted(PERF_VCPU_LOADED | PERF_VCPU_IN_GUEST, PERF_VCPU_ISA_SVM, 0));
	TEST_ASSERT_VAL("VMX, host, no exit reason",
			!interrupted(PERF_VCPU_LOADED, PERF_VCPU_ISA_VMX, 0));
	TEST_ASSERT_VAL("an architecture that says no more: the label holds",
			interrupted(PERF_VCPU_LOADED, 0, 0));

	TEST_ASSERT_VAL("SVM name", !strcmp(vcpu_exit_reason__name(PERF_VCPU_ISA_SVM, SVM_HLT,
								   buf, sizeof(buf)), "hlt"));
	TEST_ASSERT_VAL("SVM name, 64 bits",
			!strcmp(vcpu_exit_reason__name(PERF_VCPU_ISA_SVM, SVM_ERR,
						       buf, sizeof(buf)), "invalid_guest_state"));
	TEST_ASSERT_VAL("VMX name", !strcmp(vcpu_exit_reason__name(PERF_VCPU_ISA_VMX, VMX_HLT,
								   buf, sizeof(buf)), "HLT"));
	TEST_ASSERT_VAL("unknown", !strcmp(vcpu_exit_reason__name(PERF_VCPU_ISA_VMX, 0xbad,
								  buf, sizeof(buf)), "exit 0xbad"));
	TEST_ASSERT_VAL("unknown, 64 bits",
			!strcmp(vcpu_exit_reason__name(PERF_VCPU_ISA_SVM, SVM_HLT | 1ULL << 32,
						       buf, sizeof(buf)), "exit 0x100000078"));
	return TEST_OK;
}

static bool foreign(u64 nr_kernel, u64 nr_kernel_named, u64 nr_user, u64 nr_user_named)
{
	const struct kvm_guest guest = {
		.has_map = true,
		.nr_kernel = nr_kernel, .nr_kernel_named = nr_kernel_named,
		.nr_user = nr_user, .nr_user_named = nr_user_named,
	};

	return kvm_guest__map_is_foreign(&guest);
}

static int test__foreign_map(struct test_suite *test __maybe_unused,
			     int subtest __maybe_unused)
{
	TEST_ASSERT_VAL("its own", !foreign(1000, 1000, 1000, 990));
	TEST_ASSERT_VAL("its own, while it booted", !foreign(1000, 600, 1000, 400));
	TEST_ASSERT_VAL("its own, and all have ended", !foreign(1000, 1000, 1000, 0));
	TEST_ASSERT_VAL("another's", foreign(1000, 0, 1000, 0));
	TEST_ASSERT_VAL("another's with the same CR3s", foreign(1000, 499, 1000, 700));
	TEST_ASSERT_VAL("another's, close by", foreign(1000, 620, 1000, 0));
	TEST_ASSERT_VAL("too little to tell", !foreign(19, 0, 1000, 0));
	TEST_ASSERT_VAL("too few of processes to tell", !foreign(1000, 620, 99, 0));
	TEST_ASSERT_VAL("nothing at all", !foreign(0, 0, 0, 0));
	return TEST_OK;
}

/* What is said of a map that is not used, and of which guests it is */
static int test__foreign_map_words(struct test_suite *test __maybe_unused,
				   int subtest __maybe_unused)
{
	struct foreign_map entries[] = {
		{ .pid = 100, .nr_kernel = 974, .nr_kernel_named = 3 },
		{ .pid = 300, .nr_kernel = 20 },
	};
	const struct foreign_maps maps = { .entries = entries, .nr = ARRAY_SIZE(entries) };
	const struct kvm_guest guest = { .name = "vm1", .nr_samples = 250 };
	char buf[1024];

	TEST_ASSERT_VAL("first", foreign_maps__has(&maps, 100));
	TEST_ASSERT_VAL("last", foreign_maps__has(&maps, 300));
	TEST_ASSERT_VAL("another", !foreign_maps__has(&maps, 200));
	TEST_ASSERT_VAL("none are known", !foreign_maps__has(NULL, 100));
	foreign_map__describe(&entries[0], &guest, 1000, buf, sizeof(buf));
	TEST_ASSERT_VAL("why", strstr(buf, "only 3 of 974 samples of its kernel"));
	TEST_ASSERT_VAL("what it costs", strstr(buf, "So 25.0 % of the samples of\nguests"));
	TEST_ASSERT_VAL("what to do", strstr(buf, "--guest-map vm1=FILE.\n"));
	foreign_map__describe(&entries[0], &(struct kvm_guest) { }, 0, buf, sizeof(buf));
	TEST_ASSERT_VAL("no sample at all", strstr(buf, "So 0.0 %"));
	return TEST_OK;
}

static int test__left_out_maps(struct test_suite *test __maybe_unused,
			       int subtest __maybe_unused)
{
	struct kvm_guests_options options;
	const struct option opt = { .long_name = "no-guest-maps", .value = &options };

	kvm_guests_options__init(&options);
	TEST_ASSERT_VAL("no option", !kvm_guests_options__skips_map(&options, "web-1"));
	TEST_ASSERT_VAL("a command without options", !kvm_guests_options__skips_map(NULL, "web-1"));
	TEST_ASSERT_EQUAL("none", kvm_guests_options__parse_no_maps(&opt, NULL, 0), 0);
	TEST_ASSERT_VAL("none", kvm_guests_options__skips_map(&options, "web-1"));
	TEST_ASSERT_EQUAL("some", kvm_guests_options__parse_no_maps(&opt, "db,web-*", 0), 0);
	TEST_ASSERT_VAL("by a pattern", kvm_guests_options__skips_map(&options, "web-1"));
	TEST_ASSERT_VAL("by its name", kvm_guests_options__skips_map(&options, "db"));
	TEST_ASSERT_VAL("another", !kvm_guests_options__skips_map(&options, "db2"));
	TEST_ASSERT_EQUAL("taken back", kvm_guests_options__parse_no_maps(&opt, NULL, 1), 0);
	TEST_ASSERT_VAL("taken back", !kvm_guests_options__skips_map(&options, "db"));
	TEST_ASSERT_EQUAL("an empty name",
			  kvm_guests_options__parse_no_maps(&opt, "a,,b", 0), -EINVAL);
	kvm_guests_options__exit(&options);
	return TEST_OK;
}

static int test__profile(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct profile_row rows[] = {
		{ .key = { PROFILE_USER, "work", "lib.so", "shor", 101, 0 }, .sums = { 10 } },
		{ .key = { PROFILE_USER, "work", "lib.so", "shor", 102, 1 }, .sums = { 15 } },
		{ .key = { PROFILE_OS, "work", "[kernel]", "", -1, 0 }, .sums = { 10 } },
		{ .key = { PROFILE_STEAL, "[steal] (on vcpu1)", "", "", -1, 0 }, .sums = { 65 } },
	};
	const struct profile_key process = rows[1].key, stolen = rows[3].key;
	struct profile_key key;
	struct profile p = { };
	u64 samples = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		profile__add(&p, rows[i].key.class, PROFILE_TIME, rows[i].sums[PROFILE_TIME]);
	profile__add(&p, PROFILE_USER, PROFILE_TIME + 1, 1000);
	TEST_ASSERT_EQUAL("total", (int)p.totals[PROFILE_TIME], 100);
	TEST_ASSERT_EQUAL("another column's", (int)p.totals[PROFILE_TIME + 1], 1000);
	TEST_ASSERT_EQUAL("user", (int)p.classes[PROFILE_USER], 25);
	TEST_ASSERT_EQUAL("os", (int)p.classes[PROFILE_OS], 10);
	TEST_ASSERT_EQUAL("steal", (int)p.classes[PROFILE_STEAL], 65);

	TEST_ASSERT_VAL("sorted", !profile_rows__sort(rows, ARRAY_SIZE(rows), 1));
	TEST_ASSERT_VAL("most first", rows[0].samples == 65);
	TEST_ASSERT_VAL("then the next", rows[1].samples == 15 && rows[1].key.pid == 102);
	/* The same number: by module, so that it is the same every time */
	TEST_ASSERT_VAL("tie", rows[2].key.class == PROFILE_OS && rows[3].key.pid == 101);
	TEST_ASSERT_VAL("percent", profile__percent(&p, rows[1].sums[PROFILE_TIME]) == 15.0);

	/* 65, 15, 10 and 10 ns in periods of 7: each rounded alone, it would be 9+2+1+1 */
	TEST_ASSERT_VAL("sorted", !profile_rows__sort(rows, ARRAY_SIZE(rows), 7));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		samples += rows[i].samples;
		TEST_ASSERT_VAL("more time, more samples",
				!i || rows[i].samples <= rows[i - 1].samples);
	}
	TEST_ASSERT_VAL("samples add up", samples == profile__samples(p.totals[PROFILE_TIME], 7));
	TEST_ASSERT_VAL("14", samples == 14 && rows[0].samples == 9 && rows[2].samples == 2);
	TEST_ASSERT_VAL("no rows", !profile_rows__sort(rows, 0, 7));

	key = profile_key__reduce(&process, PROFILE_SORT_COMM | PROFILE_SORT_DSO);
	TEST_ASSERT_VAL("a process's name and module", !strcmp(key.comm, "shor") &&
			!strcmp(key.module, "lib.so") && key.pid == -1 && !key.ns_pid);
	TEST_ASSERT_VAL("... and no function", !key.function[0]);
	key = profile_key__reduce(&stolen, PROFILE_SORT_COMM);
	TEST_ASSERT_VAL("what is no code is called what it is", !strcmp(key.module, "[steal]"));

	TEST_ASSERT_VAL("whole", profile__samples(5000000000, 1000000) == 5000);
	TEST_ASSERT_VAL("rounded up", profile__samples(4999500000, 1000000) == 5000);
	TEST_ASSERT_VAL("rounded down", profile__samples(4999499999, 1000000) == 4999);
	TEST_ASSERT_VAL("no period", profile__samples(1000, 0) == 0);
	TEST_ASSERT_VAL("no overflow", profile__samples(~0ULL, 1) == ~0ULL);
	return TEST_OK;
}

static int test__kvm_exits(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	char buf[32];

	/* KVM_EXIT_IO, KVM_EXIT_MEMORY_FAULT */
	TEST_ASSERT_VAL("IO", !strcmp(kvm_exit__name(2, buf, sizeof(buf)), "IO"));
	TEST_ASSERT_VAL("last", !strcmp(kvm_exit__name(39, buf, sizeof(buf)), "MEMORY_FAULT"));
	TEST_ASSERT_VAL("signal", !strcmp(kvm_exit__name(-EINTR, buf, sizeof(buf)), "signal"));
	TEST_ASSERT_VAL("error", !strcmp(kvm_exit__name(-14, buf, sizeof(buf)), "error 14"));
	TEST_ASSERT_VAL("new", !strcmp(kvm_exit__name(4711, buf, sizeof(buf)), "KVM exit 4711"));
	return TEST_OK;
}

/* The least that has a build-id */
struct elf_file {
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr;
	Elf64_Nhdr nhdr;
	char	name[4];
	u8	build_id[20];
	char	names[32] __aligned(8);
	Elf64_Shdr shdrs[3];
};

/* Into @fd, which is closed; @first: of the build-id */
static bool write_elf(int fd, u8 first)
{
	struct elf_file elf = {
		.ehdr = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phoff = offsetof(struct elf_file, phdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
			.e_shoff = offsetof(struct elf_file, shdrs),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 3,
			.e_shstrndx = 2,
		},
		.phdr = {
			.p_type = PT_NOTE,
			.p_offset = offsetof(struct elf_file, nhdr),
			.p_filesz = sizeof(elf.nhdr) + sizeof(elf.name) + sizeof(elf.build_id),
			.p_align = 4,
		},
		.nhdr = {
			.n_namesz = sizeof(elf.name),
			.n_descsz = sizeof(elf.build_id),
			.n_type = NT_GNU_BUILD_ID,
		},
		.name = "GNU",
		.build_id = { first, 2, 3, 4 },
		.names = "\0.note.gnu.build-id\0.names",
		.shdrs = {
			[1] = {
				.sh_name = 1,
				.sh_type = SHT_NOTE,
				.sh_offset = offsetof(struct elf_file, nhdr),
				.sh_size = sizeof(elf.nhdr) + sizeof(elf.name) +
					   sizeof(elf.build_id),
				.sh_addralign = 4,
			},
			[2] = {
				.sh_name = 20,
				.sh_type = SHT_STRTAB,
				.sh_offset = offsetof(struct elf_file, names),
				.sh_size = sizeof(elf.names),
				.sh_addralign = 1,
			},
		},
	};
	bool ok = fd >= 0 && write(fd, &elf, sizeof(elf)) == (ssize_t)sizeof(elf);

	close(fd);
	return ok;
}

/* How the kernel tells of a map of @path: without a build-id */
static struct perf_record_mmap2 map_of(const char *path, const struct stat *st, pid_t pid)
{
	struct perf_record_mmap2 mmap2 = {
		.header.type = PERF_RECORD_MMAP2,
		.pid = pid,
		.tid = pid,
		.start = 0x400000,
		.len = 0x1000,
		.maj = major(st->st_dev),
		.min = minor(st->st_dev),
		.ino = st->st_ino,
	};

	scnprintf(mmap2.filename, sizeof(mmap2.filename), "%s", path);
	return mmap2;
}

static bool has_build_id(const struct perf_record_mmap2 *mmap2, u8 first)
{
	return (mmap2->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) &&
	       mmap2->build_id_size == 20 && mmap2->build_id[0] == first &&
	       mmap2->build_id[1] == 2;
}

static bool has_none(const struct perf_record_mmap2 *mmap2)
{
	return !(mmap2->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID);
}

/* CLOCK_BOOTTIME, ns, @seconds after the file was written */
static u64 after(const struct stat *st, int seconds)
{
	struct timespec real, boot;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (st->st_ctim.tv_sec - real.tv_sec + boot.tv_sec + seconds) * NSEC_PER_SEC +
	       st->st_ctim.tv_nsec - real.tv_nsec + boot.tv_nsec;
}

/* Above what pid_max can be: no process has it. */
#define GONE	0x800000

/* Maps that a process had which is gone: of a file as it was at the time, or of none */
static int check_past_maps(struct guest_build_ids *ids, const char *path)
{
	struct perf_record_mmap2 mmap2;
	struct stat st;

	TEST_ASSERT_VAL("stat", !stat(path, &st));
	mmap2 = map_of(path, &st, GONE);
	TEST_ASSERT_VAL("find", !guest_build_ids__find_past(ids, &mmap2, after(&st, 9)));
	TEST_ASSERT_VAL("an older file", has_build_id(&mmap2, 1));
	mmap2 = map_of(path, &st, GONE);
	TEST_ASSERT_VAL("find", !guest_build_ids__find_past(ids, &mmap2, after(&st, 0)));
	TEST_ASSERT_VAL("written at the time", has_none(&mmap2));
	mmap2 = map_of(path, &st, GONE);
	TEST_ASSERT_VAL("find", !guest_build_ids__find_past(ids, &mmap2, after(&st, -9)));
	TEST_ASSERT_VAL("written since", has_none(&mmap2));
	mmap2 = map_of(path, &st, GONE);
	mmap2.ino++;
	TEST_ASSERT_VAL("find", !guest_build_ids__find_past(ids, &mmap2, after(&st, 9)));
	TEST_ASSERT_VAL("another file of its name", has_none(&mmap2));
	mmap2 = map_of(path, &st, GONE);
	mmap2.min++;
	TEST_ASSERT_VAL("find", !guest_build_ids__find_past(ids, &mmap2, after(&st, 9)));
	TEST_ASSERT_VAL("on another device", has_none(&mmap2));
	return TEST_OK;
}

/* What the test itself has at @map, by another name */
static struct perf_record_mmap2 own_map_of(const struct stat *st, const void *map)
{
	struct perf_record_mmap2 mmap2 = map_of("/no/such/file", st, getpid());

	mmap2.start = (unsigned long)map;
	mmap2.len = page_size;
	return mmap2;
}

/* What is mapped can be opened: by root only */
static int check_own_map(struct guest_build_ids *ids, const char *path, const void *map)
{
	struct perf_record_mmap2 mmap2;
	struct stat st;

	TEST_ASSERT_VAL("stat", !stat(path, &st));
	mmap2 = own_map_of(&st, map);
	TEST_ASSERT_VAL("find", !guest_build_ids__find_past(ids, &mmap2, after(&st, 9)));
	TEST_ASSERT_VAL("what is mapped", geteuid() ? has_none(&mmap2) : has_build_id(&mmap2, 1));
	mmap2 = own_map_of(&st, map);
	TEST_ASSERT_VAL("find", !guest_build_ids__find_past(ids, &mmap2, after(&st, 0)));
	TEST_ASSERT_VAL("but written since", has_none(&mmap2));
	mmap2 = own_map_of(&st, map);
	mmap2.ino++;
	TEST_ASSERT_VAL("find", !guest_build_ids__find_past(ids, &mmap2, after(&st, 9)));
	TEST_ASSERT_VAL("another file is mapped", has_none(&mmap2));
	return TEST_OK;
}

static int check_rewritten(struct guest_build_ids *ids, const char *path)
{
	struct perf_record_mmap2 mmap2;
	struct stat st, old;

	TEST_ASSERT_VAL("stat", !stat(path, &old));
	/* Until the clock of files has gone on */
	do {
		TEST_ASSERT_VAL("write", write_elf(open(path, O_WRONLY | O_TRUNC), 9));
		TEST_ASSERT_VAL("stat", !stat(path, &st));
	} while (!memcmp(&st.st_ctim, &old.st_ctim, sizeof(st.st_ctim)));

	mmap2 = map_of(path, &st, GONE);
	TEST_ASSERT_VAL("find", !guest_build_ids__find_past(ids, &mmap2, after(&st, 9)));
	TEST_ASSERT_VAL("what is in it now", has_build_id(&mmap2, 9));
	return TEST_OK;
}

static int check_build_ids(struct guest_build_ids *ids, const char *path)
{
	int fd = open(path, O_RDONLY), ret;
	void *map = mmap(NULL, page_size, PROT_READ, MAP_PRIVATE, fd, 0);

	close(fd);
	TEST_ASSERT_VAL("mmap", map != MAP_FAILED);
	ret = check_past_maps(ids, path);
	if (ret == TEST_OK)
		ret = check_own_map(ids, path, map);
	munmap(map, page_size);
	return ret ?: check_rewritten(ids, path);
}

static int test__build_ids(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct guest_build_ids *ids = guest_build_ids__new();
	char path[] = "/tmp/perf-test-build-id-XXXXXX";
	bool written = write_elf(mkstemp(path), 1);
	int ret = TEST_FAIL;

	if (ids && written)
		ret = check_build_ids(ids, path);
	unlink(path);
	guest_build_ids__delete(ids);
	return ret;
}

/* The limit that a file with that section is over, NULL: none; "": it is no ELF file */
static const char *over_limit(const Elf64_Ehdr *ehdr, const Elf64_Shdr *shdr, off_t size)
{
	char path[] = "/tmp/perf-test-large-XXXXXX";
	int fd = mkstemp(path);
	const char *limit = NULL;
	bool modest = fd >= 0 && write(fd, ehdr, sizeof(*ehdr)) == sizeof(*ehdr) &&
		      write(fd, shdr, sizeof(*shdr)) == sizeof(*shdr) && !ftruncate(fd, size) &&
		      elf_file__is_modest(path, &limit);

	if (fd >= 0)
		close(fd);
	unlink(path);
	return modest ? NULL : limit ?: "";
}

static int test__large_files(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const struct {
		const char *what, *limit;
		u32 type;
		u64 flags, size;
	} cases[] = {
		{ "symbols", NULL, SHT_SYMTAB, 0, 64ULL << 20 },
		{ "more symbols", "64 MiB in a table", SHT_SYMTAB, 0, (64ULL << 20) + 1 },
		{ "a packed table", "", SHT_SYMTAB, SHF_COMPRESSED, 1 },
		{ "code", NULL, SHT_PROGBITS, SHF_EXECINSTR, 256ULL << 20 },
		{ "more code", "256 MiB of code", SHT_PROGBITS, SHF_EXECINSTR, (256ULL << 20) + 1 },
		{ "data", NULL, SHT_PROGBITS, 0, 5ULL << 30 },
		{ "names", NULL, SHT_STRTAB, 0, 1ULL << 30 },
		{ "more names", "1 GiB of names", SHT_STRTAB, 0, (1ULL << 30) + 1 },
		{ "zeros that are not in the file", NULL, SHT_NOBITS, 0, ~0ULL },
	};
	Elf64_Ehdr ehdr = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB },
		.e_shoff = sizeof(ehdr), .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 1,
	};
	Elf64_Shdr shdr = { .sh_type = SHT_NULL };
	const off_t whole = sizeof(ehdr) + sizeof(shdr);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *limit;

		shdr.sh_type = cases[i].type;
		shdr.sh_flags = cases[i].flags;
		shdr.sh_size = cases[i].size;
		limit = over_limit(&ehdr, &shdr, whole);
		TEST_ASSERT_VAL(cases[i].what,
				!strcmp(limit ?: "none", cases[i].limit ?: "none"));
	}
	shdr.sh_type = SHT_NULL;
	TEST_ASSERT_VAL("a hole at the end", !over_limit(&ehdr, &shdr, 3LL << 30));
	ehdr.e_phnum = 1025;
	TEST_ASSERT_VAL("headers", !strcmp(over_limit(&ehdr, &shdr, whole) ?: "none",
					   "1024 sections or segments"));
	ehdr.e_phnum = 0;
	TEST_ASSERT_VAL("a header is cut off",
			!strcmp(over_limit(&ehdr, &shdr, whole - 1) ?: "none", ""));
	ehdr.e_ident[EI_DATA] = ELFDATA2MSB;
	TEST_ASSERT_VAL("big endian", !strcmp(over_limit(&ehdr, &shdr, whole) ?: "none", ""));
	return TEST_OK;
}

/* What is wrong with a file of these symbols, NULL: nothing */
static const char *find_text(const char *symbols, struct kernel_text *text)
{
	char path[] = "/tmp/perf-test-kallsyms-XXXXXX";
	ssize_t len = strlen(symbols);
	int fd = mkstemp(path);
	bool written = fd >= 0 && write(fd, symbols, len) == len;
	const char *problem = written ? kallsyms__find_text(path, text) : "not written";

	if (fd >= 0)
		close(fd);
	unlink(path);
	return problem;
}

static int test__kernel_text(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const struct {
		const char *what, *symbols, *symbol, *problem;
		u64 start, end;
	} cases[] = {
		{ "Linux", "ffffffff81000000 T _text\nffffffff81000010 T _stext\n"
		  "ffffffff81003000 T f\nffffffff81004000 T _etext\nffffffff82000000 T in_init\n"
		  "ffffffffc0000000 t g\t[mod]\n",
		  "_stext", NULL, 0xffffffff81000010ULL, 0xffffffff81004000ULL },
		{ "without _etext", "ffffffff81000000 T _stext\nffffffff81003008 t f\n"
		  "ffffffff81009000 D data\nffffffffc0000000 t g\t[mod]\n",
		  "_stext", NULL, 0xffffffff81000000ULL, 0xffffffff81005000ULL },
		{ "OSv", "201000 T _text\n201000 T _stext\n202000 T osv_main\n",
		  "_stext", NULL, 0x201000, 0x203000 },
		{ "_text alone", "1000 T _text\n1010 T main\n", "_text", NULL, 0x1000, 0x3000 },
		{ "as who is not root reads it",
		  "0 T _text\n0 T _stext\n0 T _etext\n",
		  "_stext", "no kernel's symbols with addresses", 0, 0 },
		{ "no kernel", "401000 T main\n", NULL, "neither _stext nor _text", 0, 0 },
		{ "nothing", "", NULL, "neither _stext nor _text", 0, 0 },
		{ "backwards",
		  "2000 T _stext\n1000 T _etext\n", "_stext",
		  "ends before it begins", 0, 0 },
		{ "two kernels", "1000 T _stext\nffffffff81000000 T f\n", "_stext",
		  "too far", 0, 0 },
		{ "at the end of all",
		  "fffffffffffff000 T _stext\nfffffffffffff800 T f\n", "_stext",
		  "ends before it begins", 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kernel_text text = { };
		const char *problem = find_text(cases[i].symbols, &text);

		TEST_ASSERT_VAL(cases[i].what, !problem == !cases[i].problem);
		TEST_ASSERT_VAL(cases[i].what, !problem || strstr(problem, cases[i].problem));
		TEST_ASSERT_VAL(cases[i].what,
				!strcmp(text.symbol ?: "none", cases[i].symbol ?: "none"));
		if (problem)
			continue;
		TEST_ASSERT_VAL(cases[i].what, text.start == cases[i].start);
		TEST_ASSERT_VAL(cases[i].what, text.end == cases[i].end);
	}
	return TEST_OK;
}

static int test__without_build_id(struct test_suite *test __maybe_unused,
				  int subtest __maybe_unused)
{
	static const struct nameless_file given[] = {
		{ "/usr/bin/a", 100 }, { "/usr/bin/kubelet", 200 }, { "/usr/bin/a", 150 },
		{ "/opt/c", 1 }, { "/opt/d", 2 }, { "/opt/e", 3 },
	};
	struct nameless_files files = { }, one = { };
	char buf[1024];

	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		TEST_ASSERT_EQUAL("add",
				  nameless_files__add(&files, given[i].name, given[i].ns), 0);
	nameless_files__describe(&files, "vm1", 4560, 0, /*advise=*/true, buf, sizeof(buf));
	TEST_ASSERT_VAL("of each file once, the largest first",
			strstr(buf, ": /usr/bin/a, /usr/bin/kubelet, /opt/e, /opt/d, ... 1 more;"));
	TEST_ASSERT_VAL("their part of all",
			strstarts(buf, "10.0 % of vm1's user time is in 5 files without a "));
	TEST_ASSERT_VAL("what to do",
			strstr(buf, "\nor have the same files below --guest-root.\n"));
	nameless_files__exit(&files);

	TEST_ASSERT_EQUAL("add", nameless_files__add(&one, "/usr/bin/a", 7), 0);
	nameless_files__describe(&one, "vm1", 7, 1, /*advise=*/false, buf, sizeof(buf));
	TEST_ASSERT_VAL("one", strstarts(buf, "100.0 % of vm1's user time is in 1 file without "));
	TEST_ASSERT_VAL("one", strstr(buf, " a build-id: /usr/bin/a;\nits functions"));
	TEST_ASSERT_VAL("not what to do again", !strstr(buf, "Link with"));
	TEST_ASSERT_VAL("another", strstr(buf, "; 1 of such names is below --guest-root, "));
	nameless_files__exit(&one);
	return TEST_OK;
}

static int ignore_vcpu(u32 vcpu __maybe_unused, const struct vcpu_interval *interval __maybe_unused,
		       void *arg __maybe_unused)
{
	return 0;
}

static int ignore_cpu(const struct cpu_interval *interval __maybe_unused,
		      void *arg __maybe_unused)
{
	return 0;
}

/* @m of @session, and of @evsel, a clock that is said to have @period */
static int measurement__new(struct measurement *m, struct perf_session *session,
			    struct evsel *evsel, u64 period)
{
	memset(m, 0, sizeof(*m));
	evsel->core.attr.type = PERF_TYPE_SOFTWARE;
	evsel->core.attr.config = PERF_COUNT_SW_CPU_CLOCK;
	evsel->core.attr.sample_period = period;
	m->session = session;
	m->evsel = evsel;
	measurement__set_tool(m);
	if (measurement__init(m))
		return -ENOMEM;
	m->axis.sink = (struct axis_sink) { .vcpu = ignore_vcpu, .cpu = ignore_cpu };
	return 0;
}

static int check_times(struct perf_session *session, struct evsel *evsel)
{
	static const u64 bad_times[] = { LLONG_MAX + 1ULL, ULLONG_MAX - 1, ULLONG_MAX };
	union perf_event lost = { .lost.lost = 1 };
	struct perf_sample none = { .time = ULLONG_MAX };
	const u64 limit = ULLONG_MAX / 4;
	struct measurement m;
	int err = 0;

	TEST_ASSERT_VAL("init", !measurement__new(&m, session, evsel, LLONG_MAX));
	for (size_t i = 0; i < ARRAY_SIZE(bad_times); i++) {
		struct perf_sample sample = { .time = bad_times[i], .evsel = evsel };

		err |= m.tool.sample(&m.tool, NULL, &sample, NULL);
	}
	TEST_ASSERT_VAL("times that cannot be", !err && m.nr_samples == 3 && m.nr_unplaced == 3 &&
			!m.axis.tracks.nr_cpus);
	err = m.tool.lost(&m.tool, &lost, &none, NULL);
	lost.lost.lost = ULLONG_MAX;
	err |= m.tool.lost(&m.tool, &lost, &none, NULL);
	TEST_ASSERT_VAL("many are lost, and not none", !err && m.nr_lost == LLONG_MAX);

	/* Four vCPUs have four times the time of the axis. */
	m.first = 0;
	m.last = LLONG_MAX;
	for (u32 i = 0; i < 4; i++)
		TEST_ASSERT_VAL("vCPU", time_axis__findnew_vcpu(&m.axis, 0, i) == (int)i);
	for (u64 time = limit; time <= limit + 1; time++)
		err |= time_axis__add_sample(&m.axis, &(struct axis_sample) { .time = time });
	err |= time_axis__add_event(&m.axis, &(struct axis_event) { .time = LLONG_MAX });
	TEST_ASSERT_VAL("finish", !err && !measurement__finish(&m));
	TEST_ASSERT_VAL("the sum fits", measurement__duration(&m) == limit);
	TEST_ASSERT_VAL("what is beyond is counted", m.nr_unplaced == 4 && m.nr_bad_events == 1);
	TEST_ASSERT_VAL("as asked for", m.period == LLONG_MAX && m.period_exact);
	measurement__exit(&m);
	return TEST_OK;
}

/* What is said to have been asked for is not possible: the samples say it. */
static int check_periods(struct perf_session *session, struct evsel *evsel)
{
	static const u64 periods[] = { 0, LLONG_MAX + 1ULL, ULLONG_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		struct measurement m;

		TEST_ASSERT_VAL("init", !measurement__new(&m, session, evsel, periods[i]));
		m.distances = zalloc(sizeof(*m.distances));
		TEST_ASSERT_VAL("memory", m.distances);
		m.distances[m.nr_distances++] = 7;
		m.nr_samples = 2;
		TEST_ASSERT_VAL("finish", !measurement__finish(&m));
		TEST_ASSERT_VAL("as the samples", m.period == 7 && !m.period_exact);
		measurement__exit(&m);
	}
	return TEST_OK;
}

/* The row that a sample of perf's main() is of, in the fake machine's first process, or NULL */
static const struct profile_key *hit_of_main(struct measurement *m, struct machine *machine)
{
	struct perf_sample sample = {
		.ip = FAKE_IP_PERF_MAIN,
		.pid = FAKE_PID_PERF1,
		.tid = FAKE_PID_PERF1,
		.time = m->nr_samples,
		.cpumode = PERF_RECORD_MISC_USER,
		.evsel = m->evsel,
	};
	const struct memo_key key = {
		.machine = machine,
		.ip = sample.ip,
		.changes = m->nr_changes,
		.pid = sample.pid,
		.tid = sample.tid,
		.cpumode = sample.cpumode,
	};
	const struct memo_entry *entry;

	if (m->tool.sample(&m->tool, NULL, &sample, machine))
		return NULL;
	entry = memo__find(&m->memo, &key);
	return entry ? &m->hits.by_idx[entry->hit]->key : NULL;
}

static int check_memo(struct measurement *m, struct machine *machine)
{
	union perf_event mmap = { .mmap = {
		.header = { .type = PERF_RECORD_MMAP, .misc = PERF_RECORD_MISC_USER },
		.pid = FAKE_PID_PERF1,
		.tid = FAKE_PID_PERF1,
		.start = FAKE_MAP_BASH,
		.len = FAKE_MAP_LENGTH,
		.filename = "bash",
	} };
	union perf_event end = { .fork = {
		.header.type = PERF_RECORD_EXIT,
		.pid = FAKE_PID_PERF1,
		.tid = FAKE_PID_PERF1,
	} };
	struct perf_sample none = { };
	const struct profile_key *first = hit_of_main(m, machine), *key;

	TEST_ASSERT_VAL("perf's", first && !strcmp(first->module, "perf") &&
			!strcmp(first->function, "main"));
	TEST_ASSERT_VAL("the same row", hit_of_main(m, machine) == first);
	TEST_ASSERT_VAL("mmap", !m->tool.mmap(&m->tool, &mmap, &none, machine));
	key = hit_of_main(m, machine);
	TEST_ASSERT_VAL("of what is there now", key && !strcmp(key->module, "bash"));
	TEST_ASSERT_VAL("exit", !m->tool.exit(&m->tool, &end, &none, machine));
	key = hit_of_main(m, machine);
	TEST_ASSERT_VAL("of nothing that is known", key && !strcmp(key->module, "[unknown]"));
	return TEST_OK;
}

/* What was found is remembered, and forgotten when maps change. */
static int test__memo(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct perf_session *session = zalloc(sizeof(*session));
	struct evsel *evsel = zalloc(sizeof(*evsel));
	struct machines machines;
	struct machine *machine;
	struct measurement m;
	int ret = TEST_FAIL;

	machines__init(&machines);
	machine = setup_fake_machine(&machines);
	if (session && evsel && machine && !measurement__new(&m, session, evsel, 1)) {
		m.distances = calloc(16, sizeof(*m.distances));
		if (m.distances)
			ret = check_memo(&m, machine);
		measurement__exit(&m);
	}
	machines__exit(&machines);
	if (evsel)
		zfree(&evsel->name);
	free(evsel);
	free(session);
	return ret;
}

static int test__bad_numbers(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct perf_session *session = zalloc(sizeof(*session));
	struct evsel *evsel = zalloc(sizeof(*evsel));
	int ret = TEST_FAIL;

	if (session && evsel)
		ret = check_times(session, evsel);
	if (ret == TEST_OK)
		ret = check_periods(session, evsel);
	if (evsel)
		zfree(&evsel->name);
	free(evsel);
	free(session);
	return ret;
}

static struct test_case kvm_unified_tests[] = {
	TEST_CASE("kvm unified: record streams", stream),
	TEST_CASE("kvm unified: names of VMs", vm_names),
	TEST_CASE("kvm unified: VMs of a host", vms),
	TEST_CASE("kvm unified: several VMs in one process", several_vms),
	TEST_CASE("kvm unified: looks at vCPU threads", looks),
	TEST_CASE("kvm unified: vCPU context of samples", vcpu_sample),
	TEST_CASE("kvm unified: vCPUs that a BPF program tells", vcpu_contexts),
	TEST_CASE("kvm unified: maps of another guest", foreign_map),
	TEST_CASE("kvm unified: what is said of these", foreign_map_words),
	TEST_CASE("kvm unified: maps that are left out", left_out_maps),
	TEST_CASE("kvm unified: large files of guests", large_files),
	TEST_CASE("kvm unified: a kernel's place, by its symbols", kernel_text),
	TEST_CASE("kvm unified: files without a build-id", without_build_id),
	TEST_CASE("kvm unified: code that is not here", missing_code),
	TEST_CASE("kvm unified: profile", profile),
	TEST_CASE("kvm unified: sums of time", tally),
	TEST_CASE("kvm unified: profiles of a recording without an end", segments),
	TEST_CASE("kvm unified: symbols of kernels, kept once", kernels),
	TEST_CASE("kvm unified: a command for each profile", profile_hook),
	TEST_CASE("kvm unified: the part of a profile that is its own", window),
	TEST_CASE("kvm unified: what the time of a vCPU is called", vcpu_rows),
	TEST_CASE("kvm unified: exits to the VMM", kvm_exits),
	TEST_CASE("kvm unified: build-ids of files", build_ids),
	TEST_CASE("kvm unified: times and periods that cannot be", bad_numbers),
	TEST_CASE("kvm unified: what samples hit, remembered", memo),
	TEST_CASE("kvm unified: what is whole of a file that is cut off", whole_records),
	TEST_CASE("kvm unified: containers, and users who are not root", environment),
	TEST_CASE("kvm unified: patterns of names", patterns),
	TEST_CASE("kvm unified: names that are like another", near_names),
	TEST_CASE("kvm unified: commands for guests", guest_cmds),
	TEST_CASE("kvm unified: stacks of other tools", stacks),
	TEST_CASE("kvm unified: frames of a row", frames),
	TEST_CASE("kvm unified: rows for a database", rows),
	TEST_CASE("kvm unified: what speedscope reads", speedscope),
	TEST_CASE("kvm unified: a time line", trace),
	TEST_CASE("kvm unified: dumps of JIT compilers", jitdump),
	TEST_CASE("kvm unified: symbols that processes write", perf_maps),
	TEST_CASE("kvm unified: limits of VMs", limits),
	TEST_CASE("kvm unified: what files without a build-id are known by", file_print),
	TEST_CASE("kvm unified: code that a process makes for itself", own_code),
	TEST_CASE("kvm unified: modules that come and go", modules),
	TEST_CASE("kvm unified: BPF programs that come and go", bpf_programs),
	TEST_CASE("kvm unified: memory slots", memory_slots),
	TEST_CASE("kvm unified: where a guest has its current tasks", guest_current),
	TEST_CASE("kvm unified: current tasks for a BPF program", current_tasks),
	TEST_CASE("kvm unified: page tables of a guest", guest_paging),
	TEST_CASE("kvm unified: kallsyms in memory", guest_kallsyms),
	TEST_CASE("kvm unified: the time of a look", guest_instant),
	TEST_CASE("kvm unified: who was there at several looks", guest_lives),
	TEST_CASE("kvm unified: memory that changes while it is read", guest_torn),
	TEST_CASE("kvm unified: cgroups of a guest's processes", guest_cgroups),
	TEST_CASE("kvm unified: tables for unwinding out of a kernel's memory", orc_table),
	TEST_CASE("kvm unified: memory of another process", host_mem),
	TEST_CASE("kvm unified: what a confined process may not do", confined),
	{ .name = NULL, }
};

struct test_suite suite__kvm_unified = {
	.desc = "kvm unified",
	.test_cases = kvm_unified_tests,
};
