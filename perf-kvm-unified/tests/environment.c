// SPDX-License-Identifier: GPL-2.0
/*
 * What is not as it should be where a recorder runs: it is killed, in a container, or not root.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/seccomp.h>
#include <linux/string.h>
#include <uapi/linux/filter.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "util/event.h"
#include "kvm-unified/format/vms.h"
#include "kvm-unified/guests/killed.h"
#include "kvm-unified/record/environment.h"
#include "kvm-unified/record/events.h"
#include "kvm-unified/record/output.h"
#include "kvm-unified/record/pipe.h"
#include "kvm-unified/record/scan.h"
#include "environment.h"

/* The uid of a user without any rights */
#define NOBODY		65534

/* Two records, and one with data after it */
struct some_data {
	struct perf_event_header first;
	char			 of_first[8];
	struct perf_event_header second;
	struct perf_record_auxtrace aux;
	char			 of_aux[24];
	struct perf_event_header last;
};

static const struct some_data whole = {
	.first = { .type = PERF_RECORD_SAMPLE, .size = 16 },
	.second = { .type = PERF_RECORD_FINISHED_ROUND, .size = 8 },
	.aux = {
		.header = { .type = PERF_RECORD_AUXTRACE, .size = sizeof(whole.aux) },
		.size = sizeof(whole.of_aux),
	},
	.last = { .type = PERF_RECORD_LOST, .size = 8 },
};

/* As TEST_ASSERT_EQUAL() has it */
static int whole_bytes(const void *data, size_t size, bool *compressed)
{
	return whole_records(data, size, compressed);
}

/* A file that has zeros from some byte on, as it can be when the host has crashed */
static int check_zeroed(void)
{
	static const u64 records[] = {
		/* Samples with a time and three numbers more, and then zeros */
		PERF_RECORD_SAMPLE | 40ULL << 48, 1000, 1, 2, ~0ULL,
		PERF_RECORD_SAMPLE | 40ULL << 48, 2000, 3, 4, ~0ULL,
		PERF_RECORD_COMPRESSED2 | 40ULL << 48, ~0ULL, ~0ULL, ~0ULL, ~0ULL,
		0, 0,
	};
	char data[sizeof(records)];
	bool compressed;

	for (size_t from = 0; from <= 120; from++) {
		memcpy(data, records, sizeof(data));
		memset(data + from, 0, sizeof(data) - from);
		TEST_ASSERT_EQUAL("zeros", whole_bytes(data, sizeof(data), &compressed),
				  (int)(from / 40 * 40));
		TEST_ASSERT_VAL("compressed", compressed == (from == 120));
	}
	/* The last one is there, and ends in a zero as others do: it cannot be told. */
	memcpy(data, records, sizeof(data));
	memset(data + 79, 0, sizeof(data) - 79);
	TEST_ASSERT_EQUAL("in front of zeros", whole_bytes(data, sizeof(data), &compressed), 40);
	TEST_ASSERT_EQUAL("at the end", whole_bytes(data, 80, &compressed), 80);
	TEST_ASSERT_EQUAL("one zero", whole_bytes(data, 81, &compressed), 40);
	return TEST_OK;
}

int test__whole_records(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	const size_t size = sizeof(whole), aux = offsetof(struct some_data, aux);
	const size_t last = offsetof(struct some_data, last);
	struct some_data data = whole;
	bool compressed;

	TEST_ASSERT_EQUAL("nothing", whole_bytes(&data, 0, &compressed), 0);
	TEST_ASSERT_EQUAL("half a header", whole_bytes(&data, 7, &compressed), 0);
	TEST_ASSERT_EQUAL("a header alone", whole_bytes(&data, 8, &compressed), 0);
	TEST_ASSERT_EQUAL("one", whole_bytes(&data, 16, &compressed), 16);
	TEST_ASSERT_EQUAL("half of the second", whole_bytes(&data, 20, &compressed), 16);
	TEST_ASSERT_EQUAL("without its data", whole_bytes(&data, last - 1, &compressed), (int)aux);
	TEST_ASSERT_EQUAL("with its data", whole_bytes(&data, last, &compressed), (int)last);
	TEST_ASSERT_EQUAL("all", whole_bytes(&data, size, &compressed), (int)size);
	TEST_ASSERT_VAL("not compressed", !compressed);
	data.last.type = PERF_RECORD_COMPRESSED2;
	TEST_ASSERT_EQUAL("compressed", whole_bytes(&data, size, &compressed), (int)size);
	TEST_ASSERT_VAL("compressed", compressed);
	TEST_ASSERT_EQUAL("a compressed one is cut",
			  whole_bytes(&data, size - 1, &compressed), (int)last);
	TEST_ASSERT_VAL("a compressed one is cut", !compressed);
	data = whole;
	data.aux.size = ~0ULL;
	TEST_ASSERT_EQUAL("too much data", whole_bytes(&data, size, &compressed), (int)aux);
	data = whole;
	data.second.size = 4;
	TEST_ASSERT_EQUAL("less than a header", whole_bytes(&data, size, &compressed), 16);
	data = whole;
	data.second.size = 0xffff;
	TEST_ASSERT_EQUAL("more than there is", whole_bytes(&data, size, &compressed), 16);
	data = whole;
	data.second.type = PERF_RECORD_HEADER_MAX;
	TEST_ASSERT_EQUAL("no record", whole_bytes(&data, size, &compressed), 16);
	return check_zeroed();
}

/* Runs shell commands in a directory. Have they all succeeded? */
bool run_in_dir(const char *dir, const char *commands)
{
	char *line;
	bool ok;

	if (asprintf(&line, "cd %s && %s", dir, commands) < 0)
		return false;
	ok = !system(line);
	free(line);
	return ok;
}

/* What @check finds in a new directory, which is removed then with all that is in it */
int check_in_dir(int (*check)(const char *dir))
{
	char dir[] = "/tmp/perf-test-kvm-unified-XXXXXX";
	int ret;

	TEST_ASSERT_VAL("temporary directory", mkdtemp(dir));
	ret = check(dir);
	if (!run_in_dir(dir, "rm -r ../$(basename $PWD)"))
		pr_debug("%s is left there\n", dir);
	return ret;
}

static int check_pids(const char *dir)
{
	TEST_ASSERT_EQUAL("another namespace", check_pid_namespace(dir), -EXDEV);
	TEST_ASSERT_VAL("no namespaces", run_in_dir(dir, "rm self/ns/pid"));
	TEST_ASSERT_EQUAL("no namespaces", check_pid_namespace(dir), 0);
	TEST_ASSERT_VAL("not this process's", run_in_dir(dir, "rm -r self"));
	TEST_ASSERT_EQUAL("not this process's", check_pid_namespace(dir), -EXDEV);
	return TEST_OK;
}

/* A VMM, a kernel thread, and pid 1, as @uid sees them */
static int scan_as(uid_t uid, const char *dir, struct kvm_vms *vms)
{
	int err;

	if (seteuid(uid))
		return -errno;
	err = kvm_vms__scan(vms, dir, dir, GUEST_VCPU_AT_START);
	return seteuid(0) ? -errno : err;
}

static int check_seen(const char *dir, struct kvm_vms *vms)
{
	char buf[KVM_VMS_UNSEEN_LEN];

	TEST_ASSERT_VAL("scan", !scan_as(NOBODY, dir, vms));
	TEST_ASSERT_EQUAL("no VM", (int)vms->nr, 0);
	TEST_ASSERT_EQUAL("but one that may be", (int)vms->nr_closed, 1);
	TEST_ASSERT_VAL("which is said", kvm_vms__unseen(vms, buf, sizeof(buf)) &&
			strstr(buf, "1 process may not be looked at") &&
			strstr(buf, "CAP_SYS_PTRACE"));
	TEST_ASSERT_VAL("links alone", run_in_dir(dir, "chmod 744 100/fd"));
	TEST_ASSERT_VAL("scan", !scan_as(NOBODY, dir, vms));
	TEST_ASSERT_EQUAL("that cannot be read", (int)vms->nr_closed, 1);
	TEST_ASSERT_VAL("scan", !scan_as(0, dir, vms));
	TEST_ASSERT_EQUAL("seen", (int)vms->nr, 1);
	TEST_ASSERT_VAL("all", !kvm_vms__unseen(vms, buf, sizeof(buf)));
	TEST_ASSERT_VAL("no pid 1", run_in_dir(dir, "rm -r 1") && !scan_as(0, dir, vms));
	TEST_ASSERT_VAL("hidden", kvm_vms__unseen(vms, buf, sizeof(buf)) && strstr(buf, "hidepid"));
	return TEST_OK;
}

/* A name after bytes that are no ASCII, and after more than one piece of what is read */
static int check_name(const char *dir)
{
	struct kvm_vms vms = { };
	int err = kvm_vms__scan(&vms, dir, dir, GUEST_VCPU_AT_START);
	bool found = kvm_vms__find_name(&vms, "real-name");

	kvm_vms__exit(&vms);
	TEST_ASSERT_VAL("scan", !err);
	TEST_ASSERT_VAL("the name behind other bytes", found);
	return TEST_OK;
}

static int count_vms(const char *dir)
{
	struct kvm_vms vms = { };
	int nr = kvm_vms__scan(&vms, dir, dir, GUEST_VCPU_AT_START) ?: (int)vms.nr;

	kvm_vms__exit(&vms);
	return nr;
}

/* A process, whoever its parent is, with the descriptor of 100 */
static int check_fork(const char *dir)
{
	TEST_ASSERT_VAL("a child", run_in_dir(dir, "mkdir -p 101/fd 102 103 kvm && "
					  "ln -s anon_inode:kvm-vm 101/fd/9 && "
					  "printf 'Name:\\tv\\366\\nTgid:\\t100\\n' >100/status && "
					  "cp 100/status 102/status && "
					  "printf 'Name:\\tx\\nTgid:\\t101\\n' | "
					  "tee 101/status >103/status"));
	TEST_ASSERT_EQUAL("nothing is known", count_vms(dir), 2);
	TEST_ASSERT_VAL("made by 100", run_in_dir(dir, "mkdir kvm/100-9"));
	TEST_ASSERT_EQUAL("which has the VM", count_vms(dir), 1);
	TEST_ASSERT_VAL("made by a thread", run_in_dir(dir, "rm -r kvm/100-9 && "
					  "mkdir kvm/102-9"));
	TEST_ASSERT_EQUAL("of 100's", count_vms(dir), 1);
	TEST_ASSERT_VAL("of its own", run_in_dir(dir, "mkdir kvm/103-9"));
	TEST_ASSERT_EQUAL("two VMs", count_vms(dir), 2);
	TEST_ASSERT_VAL("made by neither", run_in_dir(dir, "rm -r kvm/102-9 kvm/103-9 && "
					  "mkdir kvm/104-9"));
	TEST_ASSERT_EQUAL("not known again", count_vms(dir), 2);
	TEST_ASSERT_VAL("run by a thread of 100's", run_in_dir(dir, "mkdir kvm/104-9/vcpu0 && "
					  "echo 102 >kvm/104-9/vcpu0/pid"));
	TEST_ASSERT_EQUAL("which has the VM again", count_vms(dir), 1);
	TEST_ASSERT_VAL("no child", run_in_dir(dir, "rm -r 101 102 103 100/status kvm"));
	return TEST_OK;
}

static bool hints_at(struct perf_rights rights, const char *what)
{
	return strstr(perf_rights__hint(&rights), what);
}

static int check_rights(void)
{
	TEST_ASSERT_VAL("none", hints_at((struct perf_rights) { .paranoid = 2 },
					 "with CAP_PERFMON, or with sysctl"));
	TEST_ASSERT_VAL("paranoid", hints_at((struct perf_rights) { .paranoid = 3 },
					     "to 2, where CAP_PERFMON is enough"));
	TEST_ASSERT_VAL("CAP_PERFMON is not enough",
			hints_at((struct perf_rights) { .paranoid = 3, .perfmon = true },
				 "want CAP_SYS_ADMIN"));
	TEST_ASSERT_VAL("nor is root",
			hints_at((struct perf_rights) { .paranoid = 2, .root = true },
				 "root, as of a container, is without CAP_PERFMON"));
	TEST_ASSERT_VAL("nor is root where that is",
			hints_at((struct perf_rights) { .paranoid = 3, .root = true },
				 "is without CAP_SYS_ADMIN"));
	TEST_ASSERT_VAL("something else",
			hints_at((struct perf_rights) { .paranoid = 2, .perfmon = true },
				 "seccomp profile"));
	return TEST_OK;
}

/* perf_event_open() fails with @err from now on. 0 or -errno */
static int refuse_events(int err)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = ARRAY_SIZE(filter), .filter = filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return -errno;
	return 0;
}

/* In a child with such a filter: all that is said begins with @what */
static bool container_says(const char *dir, int err, const char *what)
{
	struct record_events events = { };
	char text[256] = "", path[PATH_MAX];
	int status, fd;
	pid_t pid;

	scnprintf(path, sizeof(path), "%s/said", dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		return false;
	pid = fork();
	if (!pid) {
		dup2(fd, STDERR_FILENO);
		_exit(refuse_events(err) || record_events__check_kernel(&events) != -err);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status ||
	    pread(fd, text, sizeof(text) - 1, 0) < 0)
		text[0] = '\0';
	close(fd);
	pr_debug("%s\n", text);
	return strstarts(text, what);
}

static int check_container(const char *dir)
{
	TEST_ASSERT_VAL("refused", container_says(dir, EPERM, "No permission to profile"));
	TEST_ASSERT_VAL("hidden", container_says(dir, EIO, "The cpu-clock event cannot be opened"));
	return TEST_OK;
}

/* record_pipe__open() with standard output to @path */
static int open_pipe_to(const char *path)
{
	int saved = dup(STDOUT_FILENO), fd = open(path, O_WRONLY | O_CREAT, 0600), err;
	struct record_pipe pipe = { };
	struct kvm_vms vms = { };

	if (saved < 0 || fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		return -errno;
	close(fd);
	err = record_pipe__open(&pipe, &vms);
	if (!err)
		record_pipe__close(&pipe);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	return err;
}

static int check_stdout(const char *dir)
{
	char path[PATH_MAX];
	struct stat st;

	scnprintf(path, sizeof(path), "%s/stream", dir);
	fflush(stdout);
	TEST_ASSERT_EQUAL("a full disk", open_pipe_to("/dev/full"), -ENOSPC);
	TEST_ASSERT_EQUAL("a device", open_pipe_to("/dev/null"), 0);
	TEST_ASSERT_EQUAL("a file", open_pipe_to(path), 0);
	TEST_ASSERT_VAL("nothing in it", !stat(path, &st) && !st.st_size);
	return TEST_OK;
}

/* In a child that has none of the three: what is opened next is none of them */
static bool holds_std_fds(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
			close(fd);
		if (hold_std_fds() || write(STDERR_FILENO, "", 1) >= 0)
			_exit(1);
		_exit(open("/", O_RDONLY) <= STDERR_FILENO);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

static void nothing_to_cancel(struct record_output *output __maybe_unused)
{
}

/* The directory of a profile is renamed, and another one takes its place */
static int check_output(const char *dir)
{
	struct record_output output = { .cancel = nothing_to_cancel };
	char path[PATH_MAX];

	scnprintf(path, sizeof(path), "%s/out", dir);
	output.path = path;
	TEST_ASSERT_VAL("made", !record_output__make(&output));
	TEST_ASSERT_EQUAL("it is there", record_output__check(&output), 0);
	TEST_ASSERT_VAL("renamed", run_in_dir(dir, "mv out away"));
	TEST_ASSERT_EQUAL("gone", record_output__check(&output), -ESTALE);
	TEST_ASSERT_VAL("another", run_in_dir(dir, "mkdir out"));
	TEST_ASSERT_EQUAL("replaced", record_output__check(&output), -ESTALE);
	record_output__undo(&output);
	close(output.dir_fd);
	free((char *)output.path);
	TEST_ASSERT_VAL("not touched", run_in_dir(dir, "rmdir out && rm -r away"));
	return TEST_OK;
}

/* Names with commas that a list has taken apart */
static int check_commas(void)
{
	static const char *const names[] = { "web", "a,bc,d" };
	struct kvm_vms vms = { };
	bool first, middle, last, other;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct kvm_vm vm = { .pid = i + 1 };

		scnprintf(vm.name, sizeof(vm.name), "%s", names[i]);
		TEST_ASSERT_VAL("added", !kvm_vms__add(&vms, &vm));
	}
	first = kvm_vms__find_part(&vms, "a");
	middle = kvm_vms__find_part(&vms, "bc");
	last = kvm_vms__find_part(&vms, "d");
	other = kvm_vms__find_part(&vms, "b") || kvm_vms__find_part(&vms, "c") ||
		kvm_vms__find_part(&vms, "web");
	kvm_vms__exit(&vms);
	TEST_ASSERT_VAL("each part", first && middle && last);
	TEST_ASSERT_VAL("nothing else", !other);
	return TEST_OK;
}

static int check_environment(const char *dir)
{
	struct kvm_vms vms = { };
	int ret = TEST_FAIL;

	if (run_in_dir(dir, "chmod 755 . && mkdir -p 1/fd 100/fd 200/fd self/ns && "
			"chmod 700 100/fd 200/fd && : >self/ns/pid && "
			"printf 'vmm\\0gr\\303\\366\\377%5000s\\0--id\\0real-name\\0' >100/cmdline && "
			": >200/cmdline && ln -s anon_inode:kvm-vm 100/fd/9"))
		ret = check_pids(dir);
	if (ret == TEST_OK)
		ret = check_name(dir);
	if (ret == TEST_OK)
		ret = check_fork(dir);
	if (ret == TEST_OK)
		ret = check_rights();
	if (ret == TEST_OK)
		ret = check_container(dir);
	if (ret == TEST_OK)
		ret = check_commas();
	if (ret == TEST_OK)
		ret = check_stdout(dir);
	if (ret == TEST_OK)
		ret = check_output(dir);
	if (ret == TEST_OK && !holds_std_fds())
		ret = TEST_FAIL;
	/* Who is not root cannot become another user. */
	if (ret == TEST_OK && !geteuid())
		ret = check_seen(dir, &vms);
	kvm_vms__exit(&vms);
	return ret;
}

int test__environment(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return check_in_dir(check_environment);
}
