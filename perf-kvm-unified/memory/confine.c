// SPDX-License-Identifier: GPL-2.0
/*
 * A process that reads what a guest has written can be led astray by it. So it has nothing to lose:
 * no files, no privileges, no way to get either, and little memory and time.
 */
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <uapi/linux/filter.h>
#include <uapi/linux/seccomp.h>
#include <linux/audit.h>
#include <linux/capability.h>

#include "confine.h"

/* The user that has nothing: the kernel's overflow ids */
#define NOBODY	65534

#ifdef __x86_64__

/* arch/x86/entry/syscalls/syscall_64.tbl: perf's own headers have next to none of them. */
enum {
	NR_read			= 0,
	NR_write		= 1,
	NR_mmap			= 9,
	NR_mprotect		= 10,
	NR_munmap		= 11,
	NR_brk			= 12,
	NR_rt_sigreturn		= 15,
	NR_mremap		= 25,
	NR_madvise		= 28,
	NR_exit			= 60,
	NR_capset		= 126,
	NR_sysinfo		= 99,
	NR_futex		= 202,
	NR_restart_syscall	= 219,
	NR_clock_gettime	= 228,
	NR_exit_group		= 231,
	NR_close_range		= 436,
};

/* Above it, the numbers of another ABI */
#define X32_SYSCALL_BIT	0x40000000

#define LOAD(field)	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* The lower half of an argument: what is looked at is in there. */
#define LOAD_ARG(n)	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[n]))
#define RETURN(what)	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_##what)
#define ALLOW(name)							\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NR_##name, 0, 1),		\
	RETURN(ALLOW)

/*
 * No system call that opens, makes or finds anything. Memory comes from nowhere but the kernel, and
 * is never code. What is not in the list ends the process: it would not be the parser that asks.
 */
static struct sock_filter filter[] = {
	LOAD(arch),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
	RETURN(KILL_PROCESS),
	LOAD(nr),
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_SYSCALL_BIT, 0, 1),
	RETURN(KILL_PROCESS),

	ALLOW(read),
	ALLOW(write),
	ALLOW(exit),
	ALLOW(exit_group),
	ALLOW(brk),
	ALLOW(munmap),
	ALLOW(mremap),
	ALLOW(madvise),
	ALLOW(futex),
	ALLOW(clock_gettime),
	/* How much memory there is: qsort() of glibc before 2.37 asks. */
	ALLOW(sysinfo),
	ALLOW(rt_sigreturn),
	ALLOW(restart_syscall),

	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NR_mprotect, 0, 4),
	LOAD_ARG(2),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
	RETURN(KILL_PROCESS),
	RETURN(ALLOW),

	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NR_mmap, 0, 5),
	LOAD_ARG(2),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 3, 0),
	LOAD_ARG(3),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 0, 1),
	RETURN(ALLOW),
	RETURN(KILL_PROCESS),
};

static int filter_calls(void)
{
	struct sock_fprog prog = { .len = ARRAY_SIZE(filter), .filter = filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0))
		return -errno;
	return 0;
}

/* Descriptors: these two, by these numbers. 0 or -errno */
static int close_files(int control, int out)
{
	/* First out of the way of each other */
	int high_control = dup(control), high_out = dup(out);

	if (high_control < 0 || high_out < 0 || dup2(high_control, CONFINED_CONTROL) < 0 ||
	    dup2(high_out, CONFINED_OUT) < 0)
		return -errno;
	return syscall(NR_close_range, CONFINED_OUT + 1, ~0U, 0) ? -errno : 0;
}

/* Bytes of address space in use: those of perf's libraries count. 0: not known */
static size_t memory_now(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file)
		return 0;
	if (fscanf(file, "%lu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * sysconf(_SC_PAGESIZE);
}

/* @most: that it can be set to again, which it cannot do itself */
static int limit(int what, rlim_t to, rlim_t most)
{
	const struct rlimit rlimit = { to, most };

	return setrlimit(what, &rlimit) ? -errno : 0;
}

/* 0 or -errno. @memory: what is had already */
static int set_limits(size_t memory, unsigned int cpu_seconds)
{
	const rlim_t most = memory + CONFINED_MEMORY;
	int ret = memory ? limit(RLIMIT_AS, most, most) : -EIO;

	if (!ret)
		ret = limit(RLIMIT_CPU, cpu_seconds, RLIM_INFINITY);
	if (!ret)
		ret = limit(RLIMIT_CORE, 0, 0);
	if (!ret)
		ret = limit(RLIMIT_NOFILE, 0, 0);
	return ret ?: limit(RLIMIT_FSIZE, 0, 0);
}

/* 0 or -errno */
static int drop_privileges(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { };

	if (!geteuid() && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			   setresuid(NOBODY, NOBODY, NOBODY)))
		return -errno;
	/* perf may have capabilities without being root's. */
	if (syscall(NR_capset, &header, none) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return -errno;
	return 0;
}

/* As a new process has them; Ctrl-C is for perf, which then ends this. */
static void reset_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/**
 * confine - give up all that this process could do harm with
 * @control: @out: the only files that it keeps, as CONFINED_CONTROL and CONFINED_OUT
 * @cpu_seconds: after which it is killed, if perf does not allow for more
 *
 * 0, or -errno: then it must not go on.
 */
int confine(int control, int out, unsigned int cpu_seconds)
{
	size_t memory = memory_now();
	int ret = close_files(control, out);

	reset_signals();
	if (!ret)
		ret = set_limits(memory, cpu_seconds);
	if (!ret)
		ret = drop_privileges();
	return ret ?: filter_calls();
}

#else /* __x86_64__ */

int confine(int control __maybe_unused, int out __maybe_unused,
	    unsigned int cpu_seconds __maybe_unused)
{
	return -EOPNOTSUPP;
}

#endif /* __x86_64__ */
