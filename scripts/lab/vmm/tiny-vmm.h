/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tiny-vmm.c lays out and the guest's code in tiny-guest.S relies on.
 */
#ifndef TINY_VMM_H
#define TINY_VMM_H

/* The kernel half of every address space: all memory, where Linux has its image. */
#define KERNEL_BASE	0xffffffff81000000
/* Its program, at the same address in every process */
#define USER_TEXT	0x400000

/* Selectors in the GDT */
#define KERNEL_CS	0x08
#define KERNEL_SS	0x10
#define USER_CS		0x1b
#define USER_SS		0x23
#define TSS_SELECTOR	0x28

#define TIMER_VECTOR	0x20
#define SYSCALL_VECTOR	0x80
#define SPURIOUS_VECTOR	0xff

#define RFLAGS_IF	0x202

/* Of the page with what the VMM was told, which is in %r14 */
#define PARAM_KERNEL	0	/* loops of work in the kernel for each process */
#define PARAM_USER	8	/* and in the process, neither of them 0 */
#define PARAM_IDLE	16	/* ns of halt behind the last process, 0: none */
#define PARAM_NR_CR3	24
#define PARAM_CR3	32

/* Of each vCPU's page, which is in %r15: its TSS, and its stack from the end on */
#define CPU_TSS		0
#define CPU_RSP0	4	/* in the TSS */
#define CPU_TICKS	128	/* timer interrupts that there were */
#define CPU_SIZE	4096

#endif /* TINY_VMM_H */
