// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into the emulator of the lab's host: a remedy for a fault of its own
 * (seen in QEMU 7.2) that makes guests of the lab hang or die.
 *
 * When the host's KVM injects an interrupt with VMRUN, TCG delivers it, but also
 * leaves its number in the CPU's exception_index. If the CPU loop is then left
 * before the guest exits or takes an exception, the number is found there and
 * delivered once more, even with interrupts off: in the handler of the first, which
 * may hold a lock, or before it has switched to the kernel's GS. With -icount that
 * happens several times in each boot of a guest, since the loop is left for each
 * timer of the host; with thread=multi it is rare.
 *
 * So the function which delivers is replaced by one that does the same and resets
 * exception_index. The emulator exports its symbols, for its modules. Whatever is
 * not as expected: nothing is changed, and a line says so.
 *
 * And with one CPU (EMULATOR_CPUS=1), PAUSE lets no other CPU run, as there is none. Each took
 * some us of the build machine's time for 4 ns of the host's, and a host that measures its APIC's
 * timer executes millions.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void (*do_interrupt_all_fn)(void *cpu, int intno, int is_int, int error_code,
				    unsigned long next_eip, int is_hw);

static do_interrupt_all_fn do_interrupt_all;
static void (*cpu_loop_exit_noexc)(void *cpu);
/* Offsets in the emulator's X86CPU, which begins with a CPUState */
static int env_offset, exception_index_offset;

static void do_interrupt_x86_hardirq(void *env, int intno, int is_hw)
{
	char *cpu = (char *)env - env_offset;

	do_interrupt_all(cpu, intno, 0, 0, 0, is_hw);
	*(int *)(cpu + exception_index_offset) = -1;
}

/* In the place of one that leaves the CPU loop for the emulator's, too */
static void do_pause(void *env)
{
	cpu_loop_exit_noexc((char *)env - env_offset);
}

/* The operand that follows @opcode at the start of a function, or 0 */
static int find_operand(const uint8_t *function, const char *opcode)
{
	int operand;

	for (int i = 0; function && i < 16; i++) {
		if (!memcmp(&function[i], opcode, strlen(opcode))) {
			memcpy(&operand, &function[i + strlen(opcode)], sizeof(operand));
			return operand;
		}
	}
	return 0;
}

/* movabs $to, %rax; jmp *%rax */
static int jump(uint8_t *from, const void *to)
{
	uint8_t code[12] = { 0x48, 0xb8, [10] = 0xff, [11] = 0xe0 };
	uintptr_t page_size = sysconf(_SC_PAGESIZE);
	uint8_t *page = from - (uintptr_t)from % page_size;
	size_t size = from + sizeof(code) - page;

	memcpy(&code[2], &to, sizeof(to));
	if (mprotect(page, size, PROT_READ | PROT_WRITE))
		return 0;
	memcpy(from, code, sizeof(code));
	return !mprotect(page, size, PROT_READ | PROT_EXEC);
}

__attribute__((constructor)) static void emulator_fix(void)
{
	uint8_t *hardirq = dlsym(RTLD_DEFAULT, "do_interrupt_x86_hardirq");
	uint8_t *pause = dlsym(RTLD_DEFAULT, "do_pause");
	const char *cpus = getenv("EMULATOR_CPUS");

	do_interrupt_all = dlsym(RTLD_DEFAULT, "do_interrupt_all");
	/* env_archcpu(env): sub $offset, %rdi */
	env_offset = find_operand(hardirq, "\x48\x81\xef");
	/* cpu->exception_index = -1: movl $-1, offset(%rdi) */
	exception_index_offset =
		find_operand(dlsym(RTLD_DEFAULT, "cpu_loop_exit_noexc"), "\xc7\x87");
	cpu_loop_exit_noexc = dlsym(RTLD_DEFAULT, "cpu_loop_exit_noexc");

	if (!do_interrupt_all || !env_offset || !exception_index_offset ||
	    !jump(hardirq, do_interrupt_x86_hardirq))
		fprintf(stderr, "emulator-fix: not for this emulator; guests may hang\n");
	else if (cpus && !strcmp(cpus, "1") && (!pause || !jump(pause, do_pause)))
		fprintf(stderr, "emulator-fix: PAUSE takes long in this emulator\n");
}
