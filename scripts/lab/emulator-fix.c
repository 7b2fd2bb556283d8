// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into the emulator of the lab's host: a remedy for a fault of its own
 * (seen in QEMU 7.2) that makes guests of the lab hang or die.
 *
 * When the host's KVM injects an interrupt with VMRUN, TCG delivers it, but also
 * leaves its number in the CPU's exception_index. If the CPU loop is then left
 * before the guest exits or takes an exception, the number is found there and
 * delivered once more, now with interrupts off: in the handler of the first, which
 * may hold a lock, or before it has switched to the kernel's GS. With -icount that
 * happens within seconds, since the loop is left for each timer of the host; with
 * thread=multi, in one of several runs.
 *
 * So that function which delivers is replaced by one that does the same and resets
 * exception_index. The emulator exports its symbols, for its modules. Whatever is
 * not as expected: nothing is changed, and a line says so.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void (*do_interrupt_all_fn)(void *cpu, int intno, int is_int, int error_code,
				    unsigned long next_eip, int is_hw);

/* The emulator's: an X86CPU, which begins with the CPUState */
extern __thread char *current_cpu;

static do_interrupt_all_fn do_interrupt_all;
static uint32_t exception_index;	/* its offset in a CPUState */

static void do_interrupt_x86_hardirq(void *env, int intno, int is_hw)
{
	(void)env;
	do_interrupt_all(current_cpu, intno, 0, 0, 0, is_hw);
	*(int *)(current_cpu + exception_index) = -1;
}

/* From "cpu->exception_index = -1" in cpu_loop_exit_noexc(): movl $-1, offset(%rdi) */
static int find_exception_index(const uint8_t *code)
{
	for (int i = 0; code && i < 16; i++) {
		if (code[i] == 0xc7 && code[i + 1] == 0x87 &&
		    !memcmp(&code[i + 6], "\xff\xff\xff\xff", 4)) {
			memcpy(&exception_index, &code[i + 2], sizeof(exception_index));
			return 1;
		}
	}
	return 0;
}

/* movabs $to, %rax; jmp *%rax */
static int jump(uint8_t *from, void (*to)(void *, int, int))
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

	do_interrupt_all = dlsym(RTLD_DEFAULT, "do_interrupt_all");
	if (!hardirq || !do_interrupt_all ||
	    !find_exception_index(dlsym(RTLD_DEFAULT, "cpu_loop_exit_noexc")) ||
	    !jump(hardirq, do_interrupt_x86_hardirq))
		fprintf(stderr, "emulator-fix: not for this emulator; guests may hang\n");
}
