// SPDX-License-Identifier: GPL-2.0
/*
 * A known tree of calls, for callchains of guests: scripts/tests/call-tree.py has its edges. It is
 * built twice, with frame pointers, and as calls-nofp without. As calls-jit, it has a function
 * besides that it has made at run time, in /tmp/perf-PID.map. No call is the last thing that a
 * function does, as the compiler would make a jump of it.
 *
 * Usage: calls     (until SIGTERM)
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/workload.h"

#define CALLED	__attribute__((noipa))
#define LOOPS	20000UL

typedef unsigned long (*burn_fn)(unsigned long loops);

/*
 * With a frame, calls its first argument with the second, after so many loops of its own. Intel
 * SDM, volume 2:
 *	push %rbp; mov %rsp,%rbp; push %rbx; push %rdi; mov %rsi,%rbx
 *	1: dec %rsi; jnz 1b
 *	mov %rbx,%rdi; mov (%rsp),%rax; call *%rax; inc %rax; pop %rdi; pop %rbx; pop %rbp; ret
 */
static const unsigned char jitted_code[] = {
	0x55, 0x48, 0x89, 0xe5, 0x53, 0x57, 0x48, 0x89, 0xf3,
	0x48, 0xff, 0xce, 0x75, 0xfb,
	0x48, 0x89, 0xdf, 0x48, 0x8b, 0x04, 0x24, 0xff, 0xd0,
	0x48, 0xff, 0xc0, 0x5f, 0x5b, 0x5d, 0xc3,
};

static unsigned long (*jitted)(burn_fn call, unsigned long loops);
static volatile unsigned long sink;
static char filled[65536];

/* Without a frame: all that it needs is in registers. */
CALLED unsigned long leaf(unsigned long loops)
{
	unsigned long x = loops;

	for (unsigned long i = 0; i < loops; i++)
		x = x * 2862933555777941757UL + i;
	return x;
}

/* With one, as it has a variable in memory */
CALLED unsigned long framed(unsigned long loops)
{
	volatile unsigned long x = loops;

	for (unsigned long i = 0; i < loops / 8; i++)
		x += i;
	return x;
}

CALLED unsigned long third(unsigned long loops)
{
	return leaf(loops) + 1;
}

CALLED unsigned long second(unsigned long loops)
{
	return third(loops) + framed(loops) + leaf(loops / 2) + 2;
}

CALLED unsigned long first(unsigned long loops)
{
	return second(loops) + 3;
}

CALLED unsigned long recurse(int depth, unsigned long loops)
{
	unsigned long x = depth ? recurse(depth - 1, loops) : framed(loops);

	/* Or the compiler makes a loop of it */
	__asm__ volatile("" : "+r"(x));
	return x + 4;
}

/* So short that a sample is often before its frame is made, or after that */
CALLED unsigned long tiny(unsigned long x)
{
	volatile unsigned long y = x;

	return y * 3 + 1;
}

CALLED unsigned long many(unsigned long loops)
{
	unsigned long x = 0;

	for (unsigned long i = 0; i < loops / 8; i++)
		x = tiny(x);
	return x;
}

/* A function of libc's, in assembly */
CALLED unsigned long fill(unsigned long loops)
{
	for (unsigned long i = 0; i < loops / 5000; i++) {
		memset(filled, (int)i, sizeof(filled));
		__asm__ volatile("" ::: "memory");
	}
	return loops;
}

CALLED unsigned long through_pointer(burn_fn call, unsigned long loops)
{
	return call(loops) + 5;
}

/* The kernel, with nothing of libc's in between */
CALLED unsigned long in_kernel(unsigned long loops)
{
	long result = 0;

	for (unsigned long i = 0; i < loops / 500; i++)
		__asm__ volatile("syscall" : "=a"(result) : "0"(SYS_getppid)
				 : "rcx", "r11", "memory");
	return (unsigned long)result;
}

CALLED unsigned long work(unsigned long loops)
{
	return first(loops) + recurse(20, loops) + recurse(100, loops) + many(loops) + fill(loops) +
	       through_pointer(leaf, loops) + in_kernel(loops) +
	       (jitted ? jitted(leaf, loops) + jitted(framed, loops) : 0);
}

/* Makes the function, and says so as perf wants it. */
static int make_jitted(void)
{
	void *code = mmap(NULL, sizeof(jitted_code), PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *file;

	if (code == MAP_FAILED)
		return -1;
	jitted = memcpy(code, jitted_code, sizeof(jitted_code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	file = fopen(path, "w");
	if (!file)
		return -1;
	fprintf(file, "%lx %zx jitted\n", (unsigned long)code, sizeof(jitted_code));
	return fclose(file);
}

static CALLED void on_signal(int sig)
{
	sink = leaf(LOOPS) + (unsigned long)sig;
}

static CALLED void *in_thread(void *arg)
{
	for (;;)
		sink = work(LOOPS);
	return arg;
}

int main(int argc, char **argv)
{
	struct itimerval often = { .it_interval.tv_usec = 20000, .it_value.tv_usec = 20000 };
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	pthread_t thread;

	(void)argc;
	if (!strcmp(base_name(argv[0]), "calls-jit") && make_jitted())
		return 1;
	if (sigaction(SIGALRM, &act, NULL) || setitimer(ITIMER_REAL, &often, NULL) ||
	    pthread_create(&thread, NULL, in_thread, NULL))
		return 1;
	workload_ready(argv[0]);
	for (;;)
		sink = work(LOOPS);
}
