// SPDX-License-Identifier: GPL-2.0
/*
 * Machine code made at run time, and /tmp/perf-PID.map with its names, as JIT
 * compilers write it for perf: "ADDRESS SIZE NAME", in hex, the name may have blanks.
 *
 * Usage: jit     (until SIGTERM)
 *
 * jit_hot has three fifths of the time, jit_warm the rest. Upon SIGUSR2 comes jit_late,
 * which takes jit_warm's place.
 */
#include <err.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/workload.h"

#define SIZE		65536
#define SLOT		256
#define ROUNDS_AT	1

typedef void (*code_fn)(void);

/* mov $ROUNDS, %ecx; 1: dec %ecx; jnz 1b; ret */
static const unsigned char loop[] = { 0xb9, 0, 0, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };

static FILE *map;
static unsigned char *memory;
static volatile sig_atomic_t is_late;

static void on_usr2(int sig)
{
	(void)sig;
	is_late = 1;
}

static code_fn compile(int slot, const char *name, int rounds)
{
	unsigned char *code = memory + slot * SLOT;

	memcpy(code, loop, sizeof(loop));
	memcpy(code + ROUNDS_AT, &rounds, sizeof(rounds));
	fprintf(map, "%lx %zx %s\n", (unsigned long)code, sizeof(loop), name);
	fflush(map);
	return (code_fn)code;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_usr2, .sa_flags = SA_RESTART };
	code_fn hot, other;
	char path[64];

	(void)argc;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (!map)
		err(1, "%s", path);
	memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		err(1, "mmap");
	hot = compile(0, "jit_hot", 60000);
	other = compile(1, "jit_warm: of two words", 40000);

	sigaction(SIGUSR2, &sa, NULL);
	workload_ready(argv[0]);
	while (!is_late) {
		hot();
		other();
	}
	other = compile(2, "jit_late", 40000);
	for (;;) {
		hot();
		other();
	}
}
