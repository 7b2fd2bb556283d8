/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_X86_H
#define __PERF_KVM_UNIFIED_LIB_X86_H

#include <linux/bits.h>

/*
 * What x86-64 and its Linux have fixed, and another architecture has elsewhere. What else is of
 * x86-64 is in Documentation/architecture.md, "another CPU architecture".
 */

/*
 * CR3 with 4- or 5-level paging: Intel SDM volume 3, "Use of CR3 with 4-Level Paging and 5-level
 * Paging", AMD APM volume 2, "CR3 Register". Bits 51:12 are the address of the top page table, as
 * in the entries of page tables; below it are the PCID or PWT and PCD, above it LAM's two bits and,
 * when written, "keep the TLB".
 */
#define X86_CR3_ADDR		GENMASK_ULL(51, 12)

/*
 * With page table isolation, the kernel lets the table for user mode follow the one for kernel
 * mode, both aligned to their common size: PTI_USER_PGTABLE_BIT in
 * arch/x86/include/asm/processor-flags.h
 */
#define X86_CR3_USER_TABLE	BIT_ULL(12)

/*
 * Where the kernel's image is, with or without a random offset (its end: KERNEL_IMAGE_SIZE with
 * KASLR), and where the linear map and the array of page structs are with 4 and 5 levels if the
 * kernel has not chosen it at boot: Documentation/arch/x86/x86_64/mm.rst. Modules and BPF programs
 * are above the image.
 */
#define X86_KERNEL_IMAGE_START	0xffffffff80000000ULL
#define X86_KERNEL_IMAGE_END	0xffffffffc0000000ULL
#define X86_PAGE_OFFSET_4	0xffff888000000000ULL
#define X86_PAGE_OFFSET_5	0xff11000000000000ULL
#define X86_VMEMMAP_4		0xffffea0000000000ULL
#define X86_VMEMMAP_5		0xffd4000000000000ULL

/* User addresses end there, with 5 levels. */
#define X86_USER_END		BIT_ULL(56)

/* Above what 32-bit processes can reach: their vDSO is another one. */
#define X86_VDSO64_MIN		BIT_ULL(32)

#endif /* __PERF_KVM_UNIFIED_LIB_X86_H */
