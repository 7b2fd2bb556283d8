// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callchains of a guest: attr.guest_callchain and PERF_RECORD_GUEST_CALLCHAIN.
 *
 * Each sample of the guest has a cookie, and one record with that follows. The guest
 * makes frames that are known, or has anything else in the registers that lead to them,
 * and its page tables show whether it was read without leaving a trace. So for what
 * code without frame pointers is unwound with, registers and a copy of the stack.
 *
 * There is no need for a PMU: samples are of the software event cpu-clock.
 */
#include <errno.h>
#include <getopt.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "asm/perf_regs.h"
#include "guest_callchain.h"
#include "kselftest.h"
#include "kvm_util.h"
#include "perf_util.h"
#include "perf_vcpu.h"
#include "processor.h"
#include "test_util.h"

/* More than an emulated machine takes for a callchain, or the guest does not get on. */
#define SAMPLE_PERIOD_NS	1000000
/* ... and for a large record: there, that is more than 10 ms. */
#define LONG_PERIOD_NS		100000000
/* Of the guest for each case, and how long one may take */
#define MIN_SAMPLES		50
#define MIN_LARGE_SAMPLES	8
#define TIMEOUT_NS		(20 * NSEC_PER_SEC)
/* For each of random states */
#define STATE_TIMEOUT_NS	(NSEC_PER_SEC / 50)
#define RING_PAGES		2048
#define GUEST_LOOPS		200000
/* With the same registers, of random ones */
#define RANDOM_LOOPS		1000
/* Of memory that the guest itself does not touch */
#define NR_PAGES		16
/* What the kernel has at most, with the context */
#define MAX_IPS			128
/* perf_copy_attr()'s largest stack: with all that is beside it, it does not fit in a record. */
#define MAX_STACK		65528
#define SMALL_STACK		1024

/* What the processor leaves in a page table entry: SDM vol. 3A, "Accessed and Dirty Flags" */
#define PTE_TOUCHED	(BIT_ULL(5) | BIT_ULL(6))

/* Where a label of assembly is */
#define ADDRESS_OF(label)					\
({								\
	u64 address;						\
								\
	asm("lea " #label "(%%rip), %0" : "=r"(address));	\
	address;						\
})

/* The outermost function, and two with frames, the inner one of which spins: @loops is in rdi. */
static noinline __attribute__((naked)) void spin_in_frames(u64 loops)
{
	asm volatile("push %rbp\n"
		     "	xor %ebp, %ebp\n"
		     "	call middle\n"
		     "outer_return:\n"
		     "	pop %rbp\n"
		     "	ret\n"
		     "middle:\n"
		     "	push %rbp\n"
		     "	mov %rsp, %rbp\n"
		     "	call inner\n"
		     "middle_return:\n"
		     "	pop %rbp\n"
		     "	ret\n"
		     "inner:\n"
		     "	push %rbp\n"
		     "	mov %rsp, %rbp\n"
		     "	push $0x77\n"
		     "inner_loop:\n"
		     "	decq %rdi\n"
		     "	jnz inner_loop\n"
		     "inner_end:\n"
		     "	pop %rax\n"
		     "	pop %rbp\n"
		     "	ret\n");
}

/* Spins with these in its registers: @loops is in rdi, @rsp in rsi, @rbp in rdx. */
static noinline __attribute__((naked)) void spin_with(u64 loops, u64 rsp, u64 rbp)
{
	asm volatile("push %rbp\n"
		     "	push %r12\n"
		     "	mov %rsp, %r12\n"
		     "	mov %rdx, %rbp\n"
		     "	mov %rsi, %rsp\n"
		     "spin_with_loop:\n"
		     "	decq %rdi\n"
		     "	jnz spin_with_loop\n"
		     "spin_with_end:\n"
		     "	mov %r12, %rsp\n"
		     "	pop %r12\n"
		     "	pop %rbp\n"
		     "	ret\n");
}

/* What a case has seen; of chains, those of samples in its loop */
struct seen {
	unsigned int samples;		/* of the guest */
	unsigned int without;		/* of them, those that wait for no record */
	unsigned int cookies;		/* several samples of one VM-Exit have the same */
	unsigned int unmatched;		/* whose record was another, or did not come */
	unsigned int records;
	unsigned int in_loop;
	unsigned int as_wanted;
	u64 cookie;
	u64 ip;
};

/* What a case wants of each chain */
struct wanted {
	u64 begin, end;
	bool (*check)(const struct guest_callchain *chain, u64 arg);
	u64 arg;
};

/*
 * What a kernel's stack begins with if it was entered from user mode: SDM vol. 3A, "64-Bit Mode
 * Stack Frame"
 */
static struct user_frame {
	u64 ip;
	u64 cs;
	u64 flags;
	u64 sp;
	u64 ss;
} user_frame;

/* How much of the stack a callchain is to have, in bytes */
static u32 stack_size;

/* Of the guest, if a case wants more of them */
static unsigned int least_samples;
/* That have random registers */
static unsigned int nr_random = 1000;

/*
 * Set by the host, for the guest; @pages: it is to have random registers, half of them in the
 * NR_PAGES pages from there on
 */
static struct {
	u64 rsp;
	u64 rbp;
	u64 pages;
	bool frames;
} registers;

/* Both halves of what a register may have: random numbers of a u64 have no bits 63 and 31. */
static u64 random_register(struct kvm_random_state *random)
{
	u64 value = kvm_random_u64(random);

	return kvm_random_bool(random) ? ~value : value;
}

static void spin_randomly(u64 pages)
{
	static struct kvm_random_state random = { .seed = 1 };

	for (int i = 0; i < GUEST_LOOPS / RANDOM_LOOPS; i++) {
		u64 rsp = random_register(&random), rbp = random_register(&random);

		if (kvm_random_bool(&random)) {
			rsp = pages + rsp % (NR_PAGES * PAGE_SIZE);
			rbp = rsp + rbp % PAGE_SIZE;
		}
		spin_with(RANDOM_LOOPS, rsp, rbp);
	}
}

static void guest_code(void)
{
	/* Some emulators interrupt no guest that has interrupts disabled. */
	sti();
	for (;;) {
		if (READ_ONCE(registers.frames)) {
			spin_in_frames(GUEST_LOOPS);
		} else if (READ_ONCE(registers.pages)) {
			spin_randomly(READ_ONCE(registers.pages));
		} else {
			/* With a stack that is none, there must be no interrupt. */
			spin_with(GUEST_LOOPS, READ_ONCE(registers.rsp), READ_ONCE(registers.rbp));
		}
		GUEST_SYNC(0);
	}
}

static bool has_large_records(void)
{
	return stack_size == MAX_STACK;
}

static unsigned int min_samples(void)
{
	if (least_samples)
		return least_samples;
	return has_large_records() ? MIN_LARGE_SAMPLES : MIN_SAMPLES;
}

static struct perf_event_attr event_attr(bool request)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = has_large_records() ? LONG_PERIOD_NS : SAMPLE_PERIOD_NS,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
		/* Of the host: what is asked for here is the guest's. */
		.exclude_callchain_kernel = 1,
		.exclude_callchain_user = 1,
		.guest_callchain = request,
		.guest_output = 1,
	};

	if (stack_size) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		/* Any register: of the host's task there are none. */
		attr.sample_regs_user = BIT_ULL(PERF_REG_X86_SP);
		attr.sample_stack_user = stack_size;
	}
	return attr;
}

static void look_at_sample(const struct callchain_sample *sample, struct seen *seen)
{
	u64 cookie = callchain_cookie(sample);

	if (!perf_record_is_labelled_guest(sample->header.misc))
		return;
	seen->samples++;
	if (stack_size)
		TEST_ASSERT(!sample->ips[sample->nr] && !sample->ips[sample->nr + 1],
			    "The sample has registers and a stack of its own");
	seen->without += !cookie;
	if (cookie == seen->cookie)
		return;
	/* The record of the one before should have come. */
	seen->unmatched += seen->cookie != 0;
	seen->cookies++;
	seen->cookie = cookie;
	seen->ip = sample->ip;
}

/* What follows the addresses */
struct stack {
	u64 mask;
	u64 regs[16 + 1];
	u64 size;
	u64 words[];
};

static const struct stack *stack_of(const struct guest_callchain *chain)
{
	return (const struct stack *)(chain->ips + chain->nr);
}

static u64 copied_of(const struct guest_callchain *chain)
{
	const struct stack *stack = stack_of(chain);

	return stack->words[stack->size / sizeof(u64)];
}

/* What follows the stack, as the guest is in its kernel always */
struct user_stack {
	u64 sp;
	u64 size;
};

static const struct user_stack *user_stack_of(const struct guest_callchain *chain)
{
	const struct stack *stack = stack_of(chain);

	return (const struct user_stack *)(stack->words + stack->size / sizeof(u64) + 1);
}

static void look_at_chain(const struct guest_callchain *chain, const struct wanted *wanted,
			  struct seen *seen)
{
	size_t size = sizeof(*chain) + chain->nr * sizeof(u64);

	TEST_ASSERT(chain->nr <= MAX_IPS + 1, "%lu addresses", chain->nr);
	TEST_ASSERT(!!(chain->flags & PERF_GUEST_CALLCHAIN_STACK) == !!stack_size &&
		    !!(chain->flags & PERF_GUEST_CALLCHAIN_USER_STACK) == !!stack_size,
		    "flags %#x", chain->flags);
	if (stack_size)
		size += sizeof(struct stack) + stack_of(chain)->size + sizeof(u64) +
			sizeof(struct user_stack);
	TEST_ASSERT(chain->header.size == size, "Record of %u bytes with %lu addresses",
		    chain->header.size, chain->nr);
	seen->records++;
	seen->unmatched += chain->cookie != seen->cookie;
	seen->cookie = 0;
	if (seen->ip < wanted->begin || seen->ip >= wanted->end)
		return;
	seen->in_loop++;
	seen->as_wanted += chain->nr >= 2 && chain->ips[0] == PERF_CONTEXT_GUEST_KERNEL &&
			   chain->ips[1] == seen->ip && wanted->check(chain, wanted->arg);
}

struct reader {
	const struct wanted *wanted;
	struct seen seen;
};

static void look_at_record(const struct perf_event_header *record, void *arg)
{
	struct reader *reader = arg;

	TEST_ASSERT(record->type != PERF_RECORD_LOST, "Lost records");
	if (record->type == PERF_RECORD_SAMPLE)
		look_at_sample((const struct callchain_sample *)record, &reader->seen);
	else if (record->type == PERF_RECORD_GUEST_CALLCHAIN)
		look_at_chain((const struct guest_callchain *)record, reader->wanted,
			      &reader->seen);
}

static struct seen sample_guest(struct kvm_vcpu *vcpu, bool request, const struct wanted *wanted)
{
	const u64 end = now_ns() + TIMEOUT_NS + least_samples * STATE_TIMEOUT_NS;
	struct perf_event_attr attr = event_attr(request);
	struct reader reader = { .wanted = wanted };
	struct seen *seen = &reader.seen;
	struct perf_ring ring;

	perf_ring_open(&ring, &attr, 0, -1, RING_PAGES);
	perf_ring_enable(&ring);
	do {
		run_turn(vcpu);
		perf_ring_read_records(&ring, look_at_record, &reader);
	} while ((request ? seen->in_loop : seen->samples) < min_samples() && now_ns() < end);
	perf_ring_disable(&ring);
	perf_ring_read_records(&ring, look_at_record, &reader);
	perf_ring_close(&ring);
	ksft_print_msg("%u samples, %u without, %u cookies, %u unmatched, %u records, %u in the loop, %u as wanted\n",
		       seen->samples, seen->without, seen->cookies, seen->unmatched,
		       seen->records, seen->in_loop, seen->as_wanted);
	return *seen;
}

static bool is_whole(const struct guest_callchain *chain, u64 arg)
{
	return chain->nr == 4 && chain->ips[2] == ADDRESS_OF(middle_return) &&
	       chain->ips[3] == ADDRESS_OF(outer_return) &&
	       chain->end == PERF_GUEST_CALLCHAIN_END &&
	       chain->flags == PERF_GUEST_CALLCHAIN_WORDS && chain->words[0] == arg;
}

/* The reason @arg, and no caller */
static bool ends_at_once(const struct guest_callchain *chain, u64 arg)
{
	return chain->nr == 2 && chain->end == arg;
}

/* @arg callers that are 1, as test_trace() has put there */
static bool has_ones(const struct guest_callchain *chain, u64 arg)
{
	for (u64 i = 2; i < chain->nr; i++) {
		if (chain->ips[i] != 1)
			return false;
	}
	return chain->nr == 2 + arg;
}

/* All registers, and frames below the word @arg at the stack pointer */
static bool has_frames(const struct guest_callchain *chain, u64 arg)
{
	const struct stack *stack = stack_of(chain);

	return stack->mask == (GENMASK_ULL(PERF_REG_X86_IP, PERF_REG_X86_AX) |
			       GENMASK_ULL(PERF_REG_X86_R15, PERF_REG_X86_R8)) &&
	       stack->regs[PERF_REG_X86_IP] == chain->ips[1] &&
	       stack->regs[PERF_REG_X86_BP] - stack->regs[PERF_REG_X86_SP] == sizeof(u64) &&
	       stack->regs[PERF_REG_X86_DI] <= GUEST_LOOPS && stack->size == SMALL_STACK &&
	       copied_of(chain) >= 5 * sizeof(u64) && stack->words[0] == arg &&
	       stack->words[2] == ADDRESS_OF(middle_return) &&
	       stack->words[4] == ADDRESS_OF(outer_return);
}

/* @arg bytes of a stack that is filled with its own addresses; 0: as many as fit in a record */
static bool has_copied(const struct guest_callchain *chain, u64 arg)
{
	const struct stack *stack = stack_of(chain);
	u64 nr = copied_of(chain) / sizeof(u64);

	for (u64 i = 0; i < nr; i++) {
		if (stack->words[i] != stack->regs[PERF_REG_X86_SP] + i * sizeof(u64))
			return false;
	}
	if (user_stack_of(chain)->sp || user_stack_of(chain)->size)
		return false;
	return arg ? nr * sizeof(u64) == arg : nr * sizeof(u64) == stack->size &&
					       chain->header.size > MAX_STACK - sizeof(u64);
}

/* Of the kernel's stack, for what is below */
#define KERNEL_STACK	328

/* The stack of a system call, and after it what there is room for of its program's, if @arg */
static bool has_user_stack(const struct guest_callchain *chain, u64 arg)
{
	const struct user_stack *user = user_stack_of(chain);
	const u64 *words = stack_of(chain)->words + KERNEL_STACK / sizeof(u64);

	if (copied_of(chain) != KERNEL_STACK || user->sp != user_frame.sp ||
	    user->size != (arg ? SMALL_STACK - KERNEL_STACK : 0))
		return false;
	for (u64 i = 0; i < user->size / sizeof(u64); i++) {
		if (words[i] != user->sp + i * sizeof(u64))
			return false;
	}
	return true;
}

/* All that is wanted is of the kernel's stack. */
static bool has_no_user_stack(const struct guest_callchain *chain, u64 arg)
{
	return copied_of(chain) == SMALL_STACK && !user_stack_of(chain)->sp &&
	       !user_stack_of(chain)->size;
}

static bool is_any(const struct guest_callchain *chain, u64 arg)
{
	return true;
}

static bool is_right(const struct seen *seen)
{
	return seen->in_loop >= min_samples() && seen->as_wanted == seen->in_loop &&
	       !seen->without && !seen->unmatched && seen->records == seen->cookies;
}

static void test_frames(struct kvm_vcpu *vcpu)
{
	const struct wanted wanted = {
		ADDRESS_OF(inner_loop), ADDRESS_OF(inner_end), is_whole, 0x77
	};
	struct seen seen;

	registers.frames = true;
	sync_global_to_guest(vcpu->vm, registers);
	seen = sample_guest(vcpu, true, &wanted);
	ksft_test_result(is_right(&seen), "each sample has its callchain, and that is whole\n");

	seen = sample_guest(vcpu, false, &wanted);
	ksft_test_result(seen.samples >= min_samples() && seen.without == seen.samples &&
			 !seen.records, "no sample has one that does not want it\n");
	registers.frames = false;
}

static struct seen run_with(struct kvm_vcpu *vcpu, u64 rsp, u64 rbp,
			    bool (*check)(const struct guest_callchain *chain, u64 arg), u64 arg)
{
	const struct wanted wanted = {
		ADDRESS_OF(spin_with_loop), ADDRESS_OF(spin_with_end), check, arg
	};

	registers.rsp = rsp;
	registers.rbp = rbp;
	sync_global_to_guest(vcpu->vm, registers);
	return sample_guest(vcpu, true, &wanted);
}

static void test_ends(struct kvm_vcpu *vcpu, gva_t page)
{
	const struct {
		const char *what;
		u64 rsp, rbp, end;
	} cases[] = {
		{ "a frame pointer of 0", page, 0, PERF_GUEST_CALLCHAIN_END },
		{ "one that is not aligned", page, page + 12, PERF_GUEST_CALLCHAIN_NO_FRAME },
		{ "one below the stack pointer", page + 64, page, PERF_GUEST_CALLCHAIN_NO_FRAME },
		{ "one that is far above", page, page + (1ULL << 40),
		  PERF_GUEST_CALLCHAIN_NO_FRAME },
		{ "one at a page that is not there", page, page + (1ULL << 20),
		  PERF_GUEST_CALLCHAIN_NO_MEMORY },
		{ "one that is not canonical", 1ULL << 60, 1ULL << 60,
		  PERF_GUEST_CALLCHAIN_NO_MEMORY },
		{ "a return address of 0", page, page + 128, PERF_GUEST_CALLCHAIN_NO_CODE },
	};

	memset(addr_gva2hva(vcpu->vm, page), 0, getpagesize());
	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct seen seen = run_with(vcpu, cases[i].rsp, cases[i].rbp, ends_at_once,
					    cases[i].end);

		ksft_test_result(is_right(&seen), "%s ends the callchain\n", cases[i].what);
	}
}

/* Each word of the pages has its own address. */
static void fill_with_addresses(struct kvm_vm *vm, gva_t pages)
{
	for (gva_t at = pages; at < pages + NR_PAGES * getpagesize(); at += sizeof(u64))
		*(u64 *)addr_gva2hva(vm, at) = at;
}

static void clear_touched(struct kvm_vm *vm, gva_t pages)
{
	for (int i = 0; i < NR_PAGES; i++)
		*vm_get_pte(vm, pages + i * getpagesize()) &= ~PTE_TOUCHED;
}

static unsigned int touched_of(struct kvm_vm *vm, gva_t pages)
{
	unsigned int touched = 0;

	for (int i = 0; i < NR_PAGES; i++)
		touched += !!(*vm_get_pte(vm, pages + i * getpagesize()) & PTE_TOUCHED);
	return touched;
}

/* Sixteen frames, each in a page of its own */
static void test_trace(struct kvm_vcpu *vcpu, gva_t pages)
{
	struct kvm_vm *vm = vcpu->vm;
	struct seen seen;

	for (int i = 0; i < NR_PAGES; i++) {
		u64 *frame = addr_gva2hva(vm, pages + i * getpagesize());

		frame[0] = i + 1 < NR_PAGES ? pages + (i + 1) * getpagesize() : 0;
		frame[1] = 1;
	}
	clear_touched(vm, pages);
	seen = run_with(vcpu, pages, pages, has_ones, NR_PAGES);
	ksft_test_result(is_right(&seen), "a frame in each of %u pages\n", NR_PAGES);
	ksft_test_result(!touched_of(vm, pages), "and no page table shows that they were read\n");

	/* A frame that is its own caller */
	*(u64 *)addr_gva2hva(vm, pages) = pages;
	seen = run_with(vcpu, pages, pages, has_ones, 1);
	ksft_test_result(is_right(&seen), "a frame that leads to itself is one\n");

	/* More than there is room for, and more reads than are allowed */
	for (int i = 0; i < NR_PAGES * getpagesize() / 16; i++) {
		u64 *frame = addr_gva2hva(vm, pages + i * 16);

		frame[0] = pages + (i + 1) * 16;
		frame[1] = 1;
	}
	seen = run_with(vcpu, pages, pages, has_ones, MAX_IPS - 2);
	ksft_test_result(is_right(&seen), "at most %u callers\n", MAX_IPS - 2);
}

static void test_stack(struct kvm_vcpu *vcpu, gva_t pages)
{
	const struct wanted wanted = {
		ADDRESS_OF(inner_loop), ADDRESS_OF(inner_end), has_frames, 0x77
	};
	const u64 end = pages + NR_PAGES * getpagesize(), left = 328;
	struct seen seen;

	stack_size = SMALL_STACK;
	registers.frames = true;
	sync_global_to_guest(vcpu->vm, registers);
	seen = sample_guest(vcpu, true, &wanted);
	ksft_test_result(is_right(&seen), "registers and stack\n");
	registers.frames = false;

	fill_with_addresses(vcpu->vm, pages);
	clear_touched(vcpu->vm, pages);
	seen = run_with(vcpu, end - left, 0, has_copied, left);
	ksft_test_result(is_right(&seen), "the stack as far as there is memory\n");

	stack_size = MAX_STACK;
	seen = run_with(vcpu, pages, 0, has_copied, 0);
	ksft_test_result(is_right(&seen), "as much of it as fits in a record\n");
	ksft_test_result(!touched_of(vcpu->vm, pages),
			 "and no page table shows that it was read\n");
	seen = run_with(vcpu, 1ULL << 60, 0, is_any, 0);
	ksft_test_result(is_right(&seen), "a stack that is nowhere\n");
	stack_size = 0;
}

/* User mode may read the page at @gva, or may not. */
static void set_user(struct kvm_vm *vm, gva_t gva, bool user)
{
	u64 *pte = &vm->mmu.pgd;

	for (int level = vm->mmu.pgtable_levels; level >= PG_LEVEL_4K; level--) {
		u64 *table = addr_gpa2hva(vm, PTE_GET_PA(*pte));

		pte = &table[(gva >> PG_LEVEL_SHIFT(level)) & 0x1ff];
		if (level > PG_LEVEL_4K || user)
			*pte |= BIT_ULL(2);
		else
			*pte &= ~BIT_ULL(2);
	}
}

/* The first page is the kernel's stack, and others are the program's. */
static void test_user_stack(struct kvm_vcpu *vcpu, gva_t pages)
{
	const u64 end = pages + getpagesize();
	const struct {
		const char *what;
		bool (*check)(const struct guest_callchain *chain, u64 arg);
		u64 padding, cs, ss, is_user, page;
	} cases[] = {
		{ "a program's stack", has_user_stack, 0, 0x33, 0x2b, 1, 2 },
		{ "one whose kernel was entered by FRED", has_user_stack, 16, 0x10033, 0x7002b,
		  1, 2 },
		{ "one that user mode may not read", has_user_stack, 0, 0x33, 0x2b, 0, 2 },
		{ "one that is the kernel's", has_user_stack, 0, 0x33, 0x2b, 0, 0 },
		{ "a frame of the kernel's", has_no_user_stack, 0, 0x10, 0x18, 1, 2 },
		{ "a frame that is not at the page's end", has_no_user_stack, 64, 0x33, 0x2b,
		  1, 2 },
	};

	stack_size = SMALL_STACK;
	fill_with_addresses(vcpu->vm, pages);
	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		u64 at = end - cases[i].padding - sizeof(user_frame);
		u64 user_page = pages + cases[i].page * getpagesize();
		struct user_frame *frame = addr_gva2hva(vcpu->vm, at), before = *frame;
		struct seen seen;

		user_frame = (struct user_frame) {
			.ip = 0x401000,
			.cs = cases[i].cs,
			.flags = X86_EFLAGS_FIXED,
			.sp = user_page + getpagesize() - 64,
			.ss = cases[i].ss,
		};
		*frame = user_frame;
		set_user(vcpu->vm, user_page, cases[i].is_user);
		set_user(vcpu->vm, user_page + getpagesize(), cases[i].is_user);
		seen = run_with(vcpu, end - KERNEL_STACK, 0, cases[i].check, cases[i].is_user);
		ksft_test_result(is_right(&seen), "below a kernel: %s\n", cases[i].what);
		*frame = before;
	}
	stack_size = 0;
}

/* Anything else may have any callchain, but it must have one, and the walk leaves no trace. */
static void test_random(struct kvm_vcpu *vcpu, gva_t pages)
{
	struct kvm_random_state random = new_kvm_random_state(1);
	struct seen seen;

	/* Each word leads to another, so that each frame has a caller. */
	for (gva_t at = pages; at < pages + NR_PAGES * getpagesize(); at += sizeof(u64))
		*(u64 *)addr_gva2hva(vcpu->vm, at) =
			pages + kvm_random_u32(&random) % (NR_PAGES * getpagesize());
	clear_touched(vcpu->vm, pages);
	stack_size = SMALL_STACK;
	least_samples = nr_random;
	registers.pages = pages;
	seen = run_with(vcpu, 0, 0, is_any, 0);
	registers.pages = 0;
	least_samples = 0;
	stack_size = 0;
	ksft_test_result(is_right(&seen), "random registers: a record for each sample\n");
	ksft_test_result(!touched_of(vcpu->vm, pages),
			 "and no page table shows that they were read\n");
}

/* kernel_lockdown(7): 0 if there is no lockdown, or it is not mounted */
static bool is_confidential(void)
{
	FILE *file = fopen("/sys/kernel/security/lockdown", "r");
	char levels[64] = "";

	if (!file)
		return false;
	if (!fgets(levels, sizeof(levels), file))
		levels[0] = '\0';
	fclose(file);
	return strstr(levels, "[confidentiality]");
}

/* Neither the callchains themselves, nor the records that they come with */
static void test_lockdown(void)
{
	struct perf_event_attr callchain = event_attr(true), output = event_attr(false);

	ksft_set_plan(2);
	callchain.guest_output = 0;
	ksft_test_result(sys_perf_event_open(&callchain, 0, -1) < 0 && errno == EPERM,
			 "locked down: no callchains of guests\n");
	ksft_test_result(sys_perf_event_open(&output, 0, -1) < 0 && errno == EPERM,
			 "locked down: no records of them\n");
	ksft_finished();
}

static void help(const char *name)
{
	printf("usage: %s [-n STATES]\n"
	       "-n: so many samples of a guest with random registers (%u)\n", name, nr_random);
}

static void parse_options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:h")) != -1) {
		if (c == 'n') {
			nr_random = atoi_positive("Number of states", optarg);
			continue;
		}
		help(argv[0]);
		exit(c == 'h' ? KSFT_PASS : KSFT_FAIL);
	}
}

int main(int argc, char *argv[])
{
	struct kvm_vcpu *vcpu;
	gva_t pages;
	struct kvm_vm *vm;
	struct perf_event_attr attr = event_attr(true);
	int fd;

	parse_options(argc, argv);
	ksft_print_header();
	if (is_confidential())
		test_lockdown();
	fd = sys_perf_event_open(&attr, 0, -1);
	if (fd < 0)
		ksft_exit_skip("no cpu-clock with callchains of guests: %s\n", strerror(errno));
	kvm_close(fd);
	ksft_set_plan(26);

	vm = vm_create_with_one_vcpu(&vcpu, guest_code);
	pages = vm_alloc_pages(vm, NR_PAGES);
	test_frames(vcpu);
	test_ends(vcpu, pages);
	test_trace(vcpu, pages);
	test_stack(vcpu, pages);
	test_user_stack(vcpu, pages);
	test_random(vcpu, pages);
	kvm_vm_free(vm);
	ksft_finished();
}
