/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples with PERF_SAMPLE_VCPU, guests whose CR3 and instruction pointer prove each
 * other, and what tests that consist of several cases have in common.
 */
#ifndef SELFTEST_KVM_PERF_VCPU_H
#define SELFTEST_KVM_PERF_VCPU_H

#include <linux/perf_event.h>
#include <linux/stringify.h>
#include <time.h>

#include "apic.h"
#include "kselftest.h"
#include "kvm_util.h"
#include "perf_util.h"
#include "processor.h"
#include "test_util.h"

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

/* To be called before roots are cloned, and before the vCPU has run. */
static inline void vm_allow_ring_3(struct kvm_vcpu *vcpu)
{
	struct kvm_vm *vm = vcpu->vm;
	u8 *gdt = addr_gva2hva(vm, vm->arch.gdt), *tss = addr_gva2hva(vm, vm->arch.tss);
	struct idt_entry *idt = addr_gva2hva(vm, vm->arch.idt);
	u64 rsp0 = vm_alloc_page(vm) + getpagesize();
	u64 user_data = GDT_USER_DATA, user_code = GDT_USER_CODE;
	u64 back = (u64)back_from_user, gva = (u64)guest_user;
	struct kvm_sregs sregs;
	u64 table, *pte;
	int level;

	vcpu_sregs_get(vcpu, &sregs);
	table = sregs.cr3;
	for (level = sregs.cr4 & X86_CR4_LA57 ? 5 : 4; level >= PG_LEVEL_4K; level--) {
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
 * To be called when all that the guest needs is mapped, and before the vCPU has run: its
 * CR3 is the first one.
 */
static inline u64 clone_page_table_root(struct kvm_vcpu *vcpu)
{
	gpa_t root = vm_alloc_page_table(vcpu->vm);
	struct kvm_sregs sregs;

	vcpu_sregs_get(vcpu, &sregs);
	memcpy(addr_gpa2hva(vcpu->vm, root), addr_gpa2hva(vcpu->vm, sregs.cr3), getpagesize());
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

/* The words are those that the flags tell of, and nothing is after them. */
static inline bool sample_vcpu_is_whole(const struct perf_sample *sample)
{
	return sample->rest_size == (1 + sample_vcpu_words(sample)) * sizeof(u64);
}

static inline bool sample_is_in_guest(const struct perf_sample *sample)
{
	return sample_vcpu(sample)->flags & PERF_VCPU_IN_GUEST;
}

static inline u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Time in which the thread has no vCPU loaded */
static inline void spin_in_user_space(u64 ns)
{
	u64 end = now_ns() + ns;

	while (now_ns() < end)
		;
}

/* Until the guest's next exit to user space */
static inline void run_turn(struct kvm_vcpu *vcpu)
{
	struct ucall uc;

	vcpu_run(vcpu);
	switch (get_ucall(vcpu, &uc)) {
	case UCALL_SYNC:
		break;
	case UCALL_ABORT:
		REPORT_GUEST_ASSERT(uc);
		break;
	default:
		TEST_FAIL("Unexpected exit: %s", exit_reason_str(vcpu->run->exit_reason));
	}
}

struct test_case {
	const char	*name;
	unsigned int	results;
	void		(*run)(void);
	const char	*(*why_not)(void);	/* NULL: it can be run anywhere */
};

static inline bool is_wanted(const struct test_case *test, const char *only)
{
	return !only || !strcmp(only, test->name);
}

/* @only: the name of a case, or NULL for all. False if there is no such case. */
static inline bool plan_cases(const struct test_case *tests, unsigned int nr, const char *only)
{
	unsigned int plan = 0;

	for (unsigned int i = 0; i < nr; i++)
		plan += is_wanted(&tests[i], only) ? tests[i].results : 0;
	if (plan)
		ksft_set_plan(plan);
	return plan;
}

static inline void run_case(const struct test_case *test)
{
	const char *why_not = test->why_not ? test->why_not() : NULL;

	if (!why_not) {
		test->run();
		return;
	}
	for (unsigned int i = 0; i < test->results; i++)
		ksft_test_result_skip("%s: %s\n", test->name, why_not);
}

static inline void run_cases(const struct test_case *tests, unsigned int nr, const char *only)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (is_wanted(&tests[i], only))
			run_case(&tests[i]);
	}
}

#endif /* SELFTEST_KVM_PERF_VCPU_H */
