// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into the emulator of the lab's host: remedies for faults of its own
 * (seen in QEMU 7.2) that make hosts and guests of the lab hang or die.
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
 * A VMRUN that asks for a virtual interrupt sets a bit of the CPU's interrupt_request, by one
 * instruction that is not atomic, without the lock that all others hold. A timer of the host that
 * another thread makes pending just then is lost. The host's CPU stays in its guest, with the
 * interrupt in the APIC's IRR, until another one comes: a guest does not answer for a minute, or
 * the host stands still if its other CPU is idle. So a call that takes the lock is put in the place
 * of the instruction. (Newer emulators have all that atomic.)
 *
 * And with one CPU (EMULATOR_CPUS=1), PAUSE lets no other CPU run, as there is none. Each took
 * some us of the build machine's time for 4 ns of the host's, and a host that measures its APIC's
 * timer executes millions.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
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
/* The emulator's lock, which each change of interrupt_request wants */
static bool (*lock_is_held)(void);
static void (*lock)(const char *file, int line);
static void (*unlock)(void);

/* Offsets in the emulator's X86CPU, which begins with a CPUState */
static int env_offset, exception_index_offset, interrupt_request_offset;

/* helper_vmrun() is so little in front of do_vmexit(). */
#define VMRUN_SIZE		4096
#define CPU_INTERRUPT_VIRQ	0x100
/* orl $imm32, disp32(%rbx): without a prefix */
#define OR_OPCODE		0x81
#define OR_MODRM_RBX		0x8b
#define OR_SIZE			10
#define REX			0x40
#define REX_MASK		0xf0

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

/* The operand that follows @opcode in the first @within bytes of a function, or 0 */
static int find_operand(const uint8_t *function, int within, const char *opcode)
{
	int operand;

	for (int i = 0; function && i < within; i++) {
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

/* Executable memory that a call from @text reaches, or NULL */
static uint8_t *new_code_near(const uint8_t *text)
{
	size_t size = sysconf(_SC_PAGESIZE);
	uintptr_t page = (uintptr_t)text - (uintptr_t)text % size;

	/* Below the emulator, where there is nothing */
	for (uintptr_t below = 1 << 20; below < 1 << 30; below <<= 1) {
		uint8_t *code = mmap((void *)(page - below), size, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		intptr_t distance = code - text;

		if (code == MAP_FAILED)
			return NULL;
		if (distance > INT32_MIN / 2 && distance < INT32_MAX / 2)
			return code;
		munmap(code, size);
	}
	return NULL;
}

/* VMRUN's instruction, see above, if there is one and no other like it; or NULL */
static uint8_t *find_or(uint8_t *do_vmexit)
{
	int operands[2] = { interrupt_request_offset - env_offset, CPU_INTERRUPT_VIRQ };
	uint8_t *found = NULL;

	for (int i = OR_SIZE; do_vmexit && i < VMRUN_SIZE; i++) {
		uint8_t *code = do_vmexit - i;

		if (code[0] != OR_OPCODE || code[1] != OR_MODRM_RBX ||
		    (code[-1] & REX_MASK) == REX || memcmp(&code[2], operands, sizeof(operands)))
			continue;
		if (found)
			return NULL;
		found = code;
	}
	return found;
}

/* What the instruction does, with the lock. @env: what is in RBX */
static void __attribute__((used)) set_virq(char *env)
{
	bool held = lock_is_held();

	if (!held)
		lock(__FILE__, __LINE__);
	*(int *)(env + interrupt_request_offset - env_offset) |= CPU_INTERRUPT_VIRQ;
	if (!held)
		unlock();
}

/* Called in its place, in the middle of a function: no register may change but the flags. */
void set_virq_in_vmrun(void);
__asm__(".globl set_virq_in_vmrun\n"
	".hidden set_virq_in_vmrun\n"
	"set_virq_in_vmrun:\n"
	"push %rbp\n"
	"mov %rsp, %rbp\n"
	"push %rax; push %rcx; push %rdx; push %rsi; push %rdi\n"
	"push %r8; push %r9; push %r10; push %r11\n"
	"sub $1024, %rsp\n"
	"and $-64, %rsp\n"
	"fxsave64 (%rsp)\n"
	"mov %rbx, %rdi\n"
	"call set_virq\n"
	"fxrstor64 (%rsp)\n"
	"lea -72(%rbp), %rsp\n"
	"pop %r11; pop %r10; pop %r9; pop %r8\n"
	"pop %rdi; pop %rsi; pop %rdx; pop %rcx; pop %rax\n"
	"pop %rbp\n"
	"ret\n");

/* Has a call in the instruction's place */
static int call_instead(uint8_t *from)
{
	/* call; nopl 0(%rax, %rax) */
	uint8_t call[OR_SIZE] = { 0xe8, [5] = 0x0f, 0x1f, 0x44 };
	/* jmp *0(%rip): to the address after it */
	uint8_t jump[] = { 0xff, 0x25, 0, 0, 0, 0 };
	void (*target)(void) = set_virq_in_vmrun;
	size_t page_size = sysconf(_SC_PAGESIZE);
	uint8_t *page = from - (uintptr_t)from % page_size;
	size_t size = from + OR_SIZE - page;
	uint8_t *to = new_code_near(from);
	int distance;

	if (!to)
		return 0;
	memcpy(to, jump, sizeof(jump));
	memcpy(to + sizeof(jump), &target, sizeof(target));
	distance = to - (from + 5);
	memcpy(&call[1], &distance, sizeof(distance));
	if (mprotect(to, page_size, PROT_READ | PROT_EXEC) ||
	    mprotect(page, size, PROT_READ | PROT_WRITE))
		return 0;
	memcpy(from, call, sizeof(call));
	return !mprotect(page, size, PROT_READ | PROT_EXEC);
}

__attribute__((constructor)) static void emulator_fix(void)
{
	uint8_t *vmrun_or;
	uint8_t *hardirq = dlsym(RTLD_DEFAULT, "do_interrupt_x86_hardirq");
	uint8_t *pause = dlsym(RTLD_DEFAULT, "do_pause");
	const char *cpus = getenv("EMULATOR_CPUS");

	do_interrupt_all = dlsym(RTLD_DEFAULT, "do_interrupt_all");
	/* env_archcpu(env): sub $offset, %rdi */
	env_offset = find_operand(hardirq, 16, "\x48\x81\xef");
	/* cpu->exception_index = -1: movl $-1, offset(%rdi) */
	exception_index_offset =
		find_operand(dlsym(RTLD_DEFAULT, "cpu_loop_exit_noexc"), 16, "\xc7\x87");
	cpu_loop_exit_noexc = dlsym(RTLD_DEFAULT, "cpu_loop_exit_noexc");
	/* cpu->interrupt_request |= mask: or %esi, offset(%rdi) */
	interrupt_request_offset =
		find_operand(dlsym(RTLD_DEFAULT, "cpu_interrupt"), 48, "\x09\xb7");
	lock_is_held = dlsym(RTLD_DEFAULT, "qemu_mutex_iothread_locked");
	lock = dlsym(RTLD_DEFAULT, "qemu_mutex_lock_iothread_impl");
	unlock = dlsym(RTLD_DEFAULT, "qemu_mutex_unlock_iothread");
	vmrun_or = find_or(dlsym(RTLD_DEFAULT, "do_vmexit"));

	if (!do_interrupt_all || !env_offset || !exception_index_offset ||
	    !jump(hardirq, do_interrupt_x86_hardirq))
		fprintf(stderr, "emulator-fix: not for this emulator; guests may hang\n");
	if (!lock_is_held || !lock || !unlock || !interrupt_request_offset || !vmrun_or ||
	    !call_instead(vmrun_or))
		fprintf(stderr, "emulator-fix: this emulator may lose interrupts, or need not be helped\n");
	if (cpus && !strcmp(cpus, "1") && (!pause || !jump(pause, do_pause)))
		fprintf(stderr, "emulator-fix: PAUSE takes long in this emulator\n");
}
