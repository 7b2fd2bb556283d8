/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guest of tiny-vmm: in turn, each process has some work done in the kernel and
 * does some in ring 3, then the vCPU halts until its timer's interrupt. It is copied to
 * where it runs, so all of it is position independent.
 *
 * Interrupts are on all the time, except for a few instructions before a halt.
 */
#include "tiny-vmm.h"

/* x2APIC registers */
#define X2APIC_EOI	0x80b
#define X2APIC_SVR	0x80f
#define X2APIC_LVT_TIMER 0x832
#define X2APIC_TMICT	0x838
#define X2APIC_TDCR	0x83e
#define TDCR_DIV_1	0xb

/* Of guest_timer's stack: above the three registers that it saves */
#define INTERRUPTED_RIP	(3 * 8)

.macro write_msr msr value=0
	movl	$\msr, %ecx
	movl	$\value, %eax
	xorl	%edx, %edx
	wrmsr
.endm

/* So much work, whatever happens to the vCPU meanwhile; the VMM knows how long it takes. */
.macro work loops
1:	decq	\loops
	jnz	1b
.endm

.macro symbol name
	.globl	\name
\name:
.endm

	.section .rodata

	.balign	64
symbol guest_kernel
symbol guest_start
	write_msr X2APIC_SVR, 0x100 | SPURIOUS_VECTOR
	write_msr X2APIC_TDCR, TDCR_DIV_1
	write_msr X2APIC_LVT_TIMER, TIMER_VECTOR
symbol guest_schedule
	xorl	%ebx, %ebx
next_process:
	movq	PARAM_CR3(%r14, %rbx, 8), %rax
	movq	%rax, %cr3
	call	guest_kernel_work
	pushq	$USER_SS
	pushq	$0
	pushq	$RFLAGS_IF
	pushq	$USER_CS
	pushq	$USER_TEXT
	movq	PARAM_USER(%r14), %rdi
	iretq

/* A process ends its turn. */
symbol guest_syscall
	leaq	CPU_SIZE(%r15), %rsp
	incl	%ebx
	cmpl	PARAM_NR_CR3(%r14), %ebx
	jb	next_process
	cmpq	$0, PARAM_IDLE(%r14)
	je	guest_schedule
	call	guest_idle
	jmp	guest_schedule

symbol guest_idle
	movq	CPU_TICKS(%r15), %rdi
	movl	$X2APIC_TMICT, %ecx
	movl	PARAM_IDLE(%r14), %eax
	xorl	%edx, %edx
	wrmsr
	/*
	 * The interrupt may come at any time, but not between test and halt. The emulator does not
	 * keep the shadow of sti over an exit, so guest_timer does not return to a halt, either.
	 */
2:	cli
	cmpq	CPU_TICKS(%r15), %rdi
	jne	3f
	sti
guest_halt:
	hlt
guest_halt_end:
	jmp	2b
3:	sti
	ret

	.balign	64
symbol guest_kernel_work
	movq	PARAM_KERNEL(%r14), %rdi
	work	%rdi
	ret

	.balign	64
symbol guest_timer
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	incq	CPU_TICKS(%r15)
	leaq	guest_halt(%rip), %rax
	cmpq	%rax, INTERRUPTED_RIP(%rsp)
	jne	4f
	addq	$(guest_halt_end - guest_halt), INTERRUPTED_RIP(%rsp)
4:	write_msr X2APIC_EOI
	popq	%rdx
	popq	%rcx
	popq	%rax
symbol guest_spurious
	iretq
symbol guest_kernel_end

	.balign	64
symbol guest_user
	work	%rdi
	int	$SYSCALL_VECTOR
symbol guest_user_end

	.section .note.GNU-stack, "", @progbits
