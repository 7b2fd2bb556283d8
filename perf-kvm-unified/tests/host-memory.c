// SPDX-License-Identifier: GPL-2.0
/*
 * How a guest's memory is got at, with this process's own in the place of a guest's; and what the
 * process may not do that reads what is in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <linux/compiler.h>
#include <linux/kernel.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "kvm-unified/memory/confine.h"
#include "kvm-unified/memory/host-mem.h"
#include "host-memory.h"

#define HIGH_GPA	0x100000000ULL

int test__memory_slots(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	const struct kvm_slot slots[] = {
		{ HIGH_GPA, 0x2000, 0x7f0000002000, 0 },
		{ 0, 0x2000, 0x7f0000000000, 0 },
		/* What was read while it changed: in another one, over the end, of odd sizes */
		{ 0x1000, 0x1000, 0x7e0000000000, 0 },
		{ 0x8000, 0, 0x7d0000000000, 0 },
		{ 0x9000, 0x123, 0x7d0000000000, 0 },
		{ ~0xfffULL, 0x2000, 0x7d0000000000, 0 },
		{ 0xa000, 0x1000, ~0xfffULL, 0 },
		{ 0xb000, 0x1000, 0x7c0000000000, 1 },
	};
	struct kvm_memory mem = { };

	TEST_ASSERT_VAL("set", !kvm_memory__set(&mem, slots, ARRAY_SIZE(slots)));
	TEST_ASSERT_EQUAL("what makes sense, by address", (int)mem.nr_slots, 3);
	TEST_ASSERT_VAL("up to where", mem.max_gpa == HIGH_GPA + 0x2000);
	TEST_ASSERT_VAL("of which private", mem.private == 0x1000);
	TEST_ASSERT_VAL("the first page", kvm_memory__find(&mem, 0)->hva == 0x7f0000000000);
	TEST_ASSERT_VAL("the last one of a slot", kvm_memory__find(&mem, 0x1fff)->gpa == 0);
	TEST_ASSERT_VAL("behind it", !kvm_memory__find(&mem, 0x2000));
	TEST_ASSERT_VAL("another slot", kvm_memory__find(&mem, HIGH_GPA + 0x1000)->gpa == HIGH_GPA);
	TEST_ASSERT_VAL("behind all", !kvm_memory__find(&mem, HIGH_GPA + 0x2000));
	TEST_ASSERT_VAL("the highest address", !kvm_memory__find(&mem, ~0ULL));
	kvm_memory__exit(&mem);
	return TEST_OK;
}

enum { NR_PAGES = 4, TOUCHED = 2, UNMAPPED = 3 };

/* A guest of four pages, of which one was touched, and one is not mapped; and a page after it */
static int check_pages(struct host_mem *mem, char *guest)
{
	char *buf = calloc(NR_PAGES + 1, GUEST_PAGE_SIZE);
	s32 status[NR_PAGES + 1];
	int ret = TEST_FAIL;

	if (!buf)
		return TEST_FAIL;
	for (int i = 0; i <= NR_PAGES; i++)
		status[i] = 1;
	memset(guest + TOUCHED * GUEST_PAGE_SIZE, 'g', GUEST_PAGE_SIZE);
	munmap(guest + UNMAPPED * GUEST_PAGE_SIZE, GUEST_PAGE_SIZE);

	/* Twice: a page that is looked at does not come to be there by it. */
	for (int i = 0; i < 2; i++) {
		if (host_mem__read(mem, HIGH_GPA, NR_PAGES + 1, buf, status))
			goto out;
		if (status[0] != -ENODATA || status[1] != -ENODATA || status[TOUCHED] ||
		    status[UNMAPPED] != -ENODATA || status[NR_PAGES] != -EFAULT)
			goto out;
		if (buf[TOUCHED * GUEST_PAGE_SIZE] != 'g' ||
		    buf[UNMAPPED * GUEST_PAGE_SIZE - 1] != 'g' || buf[0])
			goto out;
	}
	if (mem->pages == 2 && mem->absent == 6 && mem->holes == 2)
		ret = TEST_OK;
out:
	free(buf);
	return ret;
}

int test__host_mem(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	char *guest = mmap(NULL, NR_PAGES * GUEST_PAGE_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct kvm_slot slot = { HIGH_GPA, NR_PAGES * GUEST_PAGE_SIZE, (uintptr_t)guest, 0 };
	struct host_mem mem = { .kvm.pid = getpid() };
	int ret;

	TEST_ASSERT_VAL("memory", guest != MAP_FAILED);
	/* Pages of 4 KiB, as the kernel may give more at once */
	madvise(guest, NR_PAGES * GUEST_PAGE_SIZE, MADV_NOHUGEPAGE);
	TEST_ASSERT_VAL("slots", !kvm_memory__set(&mem.kvm, &slot, 1));
	TEST_ASSERT_VAL("open", !host_mem__open(&mem));
	ret = check_pages(&mem, guest);
	host_mem__close(&mem);
	munmap(guest, NR_PAGES * GUEST_PAGE_SIZE);
	return ret;
}

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)

/* What a process says that was not stopped */
#define WAS_DONE	'd'

static void do_nothing(void)
{
}

static void do_allocate(void)
{
	char *buf = malloc(CONFINED_MEMORY / 4);

	if (!buf)
		_exit(1);
	memset(buf, 1, CONFINED_MEMORY / 4);
	free(buf);
}

static void do_allocate_too_much(void)
{
	/* Not known to the compiler, which might leave it out */
	volatile size_t size = 2 * CONFINED_MEMORY;

	if (malloc(size))
		_exit(1);
}

static void do_read(void)
{
	open("/proc/self/maps", O_RDONLY);
}

static void do_write(void)
{
	open("/tmp/confined", O_WRONLY | O_CREAT, 0600);
}

static void do_socket(void)
{
	socket(AF_INET, SOCK_STREAM, 0);
}

static void do_unix(void)
{
	socket(AF_UNIX, SOCK_DGRAM, 0);
}

static void do_pipe(void)
{
	int fds[2];

	if (pipe(fds))
		_exit(1);
}

static void do_dup(void)
{
	if (dup(CONFINED_CONTROL) < 0)
		_exit(1);
}

static void do_exec(void)
{
	execl("/bin/true", "true", NULL);
}

static void do_fork(void)
{
	if (!fork())
		_exit(0);
}

static void do_kill(void)
{
	kill(getppid(), 0);
}

static void do_trace(void)
{
	ptrace(PTRACE_ATTACH, 1, NULL, NULL);
}

static void do_setuid(void)
{
	if (setuid(0))
		_exit(1);
}

static void do_prctl(void)
{
	prctl(PR_GET_DUMPABLE);
}

static void do_unlink(void)
{
	unlink("/tmp/confined");
}

static void do_code(void)
{
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void do_protect(void)
{
	mprotect((void *)((uintptr_t)do_protect & ~4095UL), 4096, PROT_READ | PROT_EXEC);
}

static void do_map_file(void)
{
	mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, CONFINED_CONTROL, 0);
}

static void do_read_others(void)
{
	char buf[8];
	struct iovec local = { buf, sizeof(buf) }, remote = { (void *)4096, sizeof(buf) };

	process_vm_readv(1, &local, 1, &remote, 1, 0);
}

static void do_not_end(void)
{
	for (volatile int i = 0; ; i++)
		;
}

/* As which signal it has ended, 0: by itself. -1: it was not confined, or was not done */
static int run_confined(void (*fn)(void))
{
	int control[2], out[2], status = 0;
	char done = 0;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, control) || pipe(out))
		return -1;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		if (confine(control[1], out[1], 1))
			_exit(1);
		fn();
		done = WAS_DONE;
		_exit(write(CONFINED_OUT, &done, 1) != 1);
	}
	close(control[1]);
	close(out[1]);
	if (read(out[0], &done, 1) < 0)
		done = 0;
	waitpid(pid, &status, 0);
	close(control[0]);
	close(out[0]);
	if (WIFSIGNALED(status))
		return done ? -1 : WTERMSIG(status);
	return !WEXITSTATUS(status) && done == WAS_DONE ? 0 : -1;
}

/* What it has, seen from outside, while it waits for an order */
static int check_what_it_has(void)
{
	static const char *const wanted[] = {
		"NoNewPrivs:\t1\n", "Seccomp:\t2\n", "CapEff:\t0000000000000000\n",
	};
	int control[2], out[2], nr = 0, found = 0;
	char path[64], line[128], byte;
	FILE *file;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, control) || pipe(out))
		return -1;
	pid = fork();
	if (!pid) {
		if (confine(control[1], out[1], 1) || write(CONFINED_OUT, "c", 1) != 1)
			_exit(1);
		_exit(read(CONFINED_CONTROL, &byte, 1) != 0);
	}
	close(control[1]);
	close(out[1]);
	if (read(out[0], &byte, 1) != 1)
		return -1;
	scnprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
			found += !strcmp(line, wanted[i]);
		if (!geteuid() && !strncmp(line, "Uid:", 4) && strstr(line, "\t0"))
			nr++;
	}
	if (file)
		fclose(file);
	for (int fd = 0; fd < 64; fd++) {
		scnprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
		/* Only root may look there. */
		nr += !geteuid() && readlink(path, line, sizeof(line)) > 0 && fd > CONFINED_OUT;
	}
	close(control[0]);
	close(out[0]);
	waitpid(pid, NULL, 0);
	return nr || found != ARRAY_SIZE(wanted) ? -1 : 0;
}

int test__confined(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const struct {
		const char *what;
		void (*fn)(void);
	} refused[] = {
		{ "to open a file", do_read },
		{ "to make a file", do_write },
		{ "a socket", do_socket },
		{ "a socket of this host", do_unix },
		{ "a pipe", do_pipe },
		{ "a copy of a descriptor", do_dup },
		{ "another program", do_exec },
		{ "another process", do_fork },
		{ "a signal", do_kill },
		{ "to trace", do_trace },
		{ "another user", do_setuid },
		{ "to change itself", do_prctl },
		{ "to remove a file", do_unlink },
		{ "new code", do_code },
		{ "memory as code", do_protect },
		{ "to map a file", do_map_file },
		{ "others' memory", do_read_others },
	};
	int sig;

	TEST_ASSERT_EQUAL("it can say something", run_confined(do_nothing), 0);
	TEST_ASSERT_EQUAL("it can have memory", run_confined(do_allocate), 0);
	TEST_ASSERT_EQUAL("but not much", run_confined(do_allocate_too_much), 0);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		sig = run_confined(refused[i].fn);
		if (sig != SIGSYS) {
			pr_debug("not refused: %s (%d)\n", refused[i].what, sig);
			return TEST_FAIL;
		}
	}
	sig = run_confined(do_not_end);
	TEST_ASSERT_VAL("it has an end", sig == SIGXCPU || sig == SIGKILL);
	TEST_ASSERT_EQUAL("it has nothing else", check_what_it_has(), 0);
	return TEST_OK;
}

#else

int test__confined(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return TEST_OK;
}

#endif
