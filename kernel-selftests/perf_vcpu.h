/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples with PERF_SAMPLE_VCPU, and guests whose CR3 and instruction pointer prove
 * each other.
 */
#ifndef SELFTEST_KVM_PERF_VCPU_H
#define SELFTEST_KVM_PERF_VCPU_H

#include <linux/perf_event.h>
#include <linux/stringify.h>

#include "apic.h"
#include "kvm_util.h"
#include "perf_util.h"
#include "processor.h"

#define SYSCALL_VECTOR	0x80
/* Behind what the library has in the GDT; flat segments of ring 3 */
#define USER_SS		0x2b
#define USER_CS		0x33
#define GDT_USER_DATA	0x00cff2000000ffffULL
#define GDT_USER_CODE	0x00affa000000ffffULL
/* SDM vol. 3A, "Task Management in 64-bit Mode" */
#define TSS_RSP0	4
#define RING_3		3
/* SDM vol. 3A, "4-Level Paging and 5-Level Paging" */
#define PTE_USER	BIT_ULL(2)
#define PTES_PER_TABLE	512

/*
 * enter_user() returns when the loop in ring 3, on a page of its own, is done: the gate
 * of SYSCALL_VECTOR leads back into it. To be used once.
 */
#define GUEST_RING_3()							\
	asm(".pushsection .text, \"ax\", @progbits\n"			\
	    ".balign 4096\n"						\
	    "guest_user:\n"						\
	    "1:	decq %rdi\n"						\
	    "	jnz 1b\n"						\
	    "	int $" __stringify(SYSCALL_VECTOR) "\n"			\
	    "guest_user_end:\n"						\
	    ".balign 4096\n"						\
	    "enter_user:\n"						\
	    "	push %rbx\n"						\
	    "	push %rbp\n"						\
	    "	push %r12\n"						\
	    "	push %r13\n"						\
	    "	push %r14\n"						\
	    "	push %r15\n"						\
	    "	mov %rsp, kernel_rsp\n"					\
	    "	pushq $" __stringify(USER_SS) "\n"			\
	    "	pushq $0\n"						\
	    "	pushfq\n"						\
	    "	pushq $" __stringify(USER_CS) "\n"			\
	    "	pushq $guest_user\n"					\
	    "	iretq\n"						\
	    "back_from_user:\n"						\
	    "	mov kernel_rsp, %rsp\n"					\
	    "	sti\n"							\
	    "	pop %r15\n"						\
	    "	pop %r14\n"						\
	    "	pop %r13\n"						\
	    "	pop %r12\n"						\
	    "	pop %rbp\n"						\
	    "	pop %rbx\n"						\
	    "	ret\n"							\
	    ".popsection\n");						\
	u64 kernel_rsp

extern const char guest_user[], guest_user_end[], back_from_user[];
extern u64 kernel_rsp;
void enter_user(u64 loops);

/* To be called before roots are cloned. */
static inline void vm_allow_ring_3(struct kvm_vm *vm)
{
	u8 *gdt = addr_gva2hva(vm, vm->arch.gdt), *tss = addr_gva2hva(vm, vm->arch.tss);
	struct idt_entry *idt = addr_gva2hva(vm, vm->arch.idt);
	u64 rsp0 = vm_alloc_page(vm) + getpagesize();
	u64 user_data = GDT_USER_DATA, user_code = GDT_USER_CODE;
	u64 back = (u64)back_from_user, gva = (u64)guest_user;
	u64 table = guest_mmu(vm)->pgd, *pte;

	for (int level = guest_mmu(vm)->pgtable_levels; level >= PG_LEVEL_4K; level--) {
		pte = addr_gpa2hva(vm, PTE_GET_PA(table));
		pte += (gva >> PG_LEVEL_SHIFT(level)) % PTES_PER_TABLE;
		*pte |= PTE_USER;
		table = *pte;
	}
	memcpy(gdt + (USER_SS & ~RING_3), &user_data, sizeof(user_data));
	memcpy(gdt + (USER_CS & ~RING_3), &user_code, sizeof(user_code));
	memcpy(tss + TSS_RSP0, &rsp0, sizeof(rsp0));
	idt[SYSCALL_VECTOR].offset0 = back;
	idt[SYSCALL_VECTOR].offset1 = back >> 16;
	idt[SYSCALL_VECTOR].offset2 = back >> 32;
	idt[SYSCALL_VECTOR].dpl = RING_3;
}

static inline void write_cr3(u64 root)
{
	asm volatile("mov %0, %%cr3" : : "r"(root) : "memory");
}

/*
 * A second root for the guest's page tables: the same address space by another CR3.
 * To be called when all that the guest needs is mapped.
 */
static inline u64 clone_page_table_root(struct kvm_vm *vm)
{
	gpa_t root = vm_alloc_page_table(vm);

	memcpy(addr_gpa2hva(vm, root), addr_gpa2hva(vm, guest_mmu(vm)->pgd), getpagesize());
	return root;
}

#define TIMER_VECTOR	0xec
/* SDM vol. 3A, "APIC Timer": the divide configuration register */
#define APIC_TDR_DIV_1	0xb

/* The handler of the guest's timer, for vm_install_exception_handler() */
static inline void guest_timer(struct ex_regs *regs)
{
	x2apic_write_reg(APIC_EOI, 0);
}

/* In the guest: a periodic timer wakes up even what has halted right after the interrupt. */
static inline void guest_start_timer(u64 period_ns)
{
	x2apic_enable();
	x2apic_write_reg(APIC_TDCR, APIC_TDR_DIV_1);
	x2apic_write_reg(APIC_LVTT, APIC_LVT_TIMER_PERIODIC | TIMER_VECTOR);
	x2apic_write_reg(APIC_TMICT, period_ns);
}

#define PERF_SAMPLE_DEFAULT	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CPU | \
				 PERF_SAMPLE_VCPU)

/* Of a sample with PERF_SAMPLE_VCPU, which has nothing else there: 0 where it is short */
static inline const struct perf_sample_vcpu *sample_vcpu(const struct perf_sample *sample)
{
	return (const struct perf_sample_vcpu *)sample->rest;
}

/* How many words follow the flags */
static inline unsigned int sample_vcpu_words(const struct perf_sample *sample)
{
	return (sample_vcpu(sample)->flags & PERF_VCPU_WORDS_MASK) >> PERF_VCPU_WORDS_SHIFT;
}

/* The words are those that the flags tell of, and nothing is behind them. */
static inline bool sample_vcpu_is_whole(const struct perf_sample *sample)
{
	return sample->rest_size == (1 + sample_vcpu_words(sample)) * sizeof(u64);
}

static inline bool sample_is_in_guest(const struct perf_sample *sample)
{
	return sample_vcpu(sample)->flags & PERF_VCPU_IN_GUEST;
}

#endif /* SELFTEST_KVM_PERF_VCPU_H */
