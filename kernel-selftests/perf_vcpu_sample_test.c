// SPDX-License-Identifier: GPL-2.0-only
/*
 * PERF_SAMPLE_VCPU and the tracepoint kvm:kvm_vcpu_timeline, held against guests of
 * which all is known: which loop runs on which CR3, when they halt, and when they exit
 * to user space.
 *
 * There is no need for a PMU: samples are of the software event cpu-clock.
 */
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "apic.h"
#include "kvm_util.h"
#include "kselftest.h"
#include "perf_vcpu.h"
#include "processor.h"
#include "svm_util.h"
#include "test_util.h"
#include "userfaultfd_util.h"
#include "vmx.h"

/* Not 0, which is also what nothing is */
#define VCPU_ID		5
#define NESTED_LOOPS	10
/* Periods of the guest's timer that a guest halts before it exits to user space */
#define HALTS		8
#define HALT_TURNS	4
#define HALT_POLL_NS	20000000ULL
#define POLL_TURNS	8
#define USER_EXITS	20
/* Between two exits, in the VMM */
#define VMM_NS		2000000ULL
/* That the tracepoint is off */
#define STALE_NS	200000000ULL
#define RING_PAGES	64
#define MAX_SAMPLES	50000
/* Of the guest's memory, which the host does not have at first, and how late each is */
#define ABSENT_PAGES	16
#define ABSENT_SLOT	10
#define ABSENT_GPA	0x10000000
#define PAGE_DELAY_US	5000
#define NOBODY		65534
#define SMRAM_GPA	0x1000000

/* SDM, "VMX Basic Exit Reasons"; APM, "SVM Intercept Exit Codes" */
static u64 interrupt_exit, nmi_exit, io_exit, hlt_exit;
/* PERF_VCPU_ISA_* of the host */
static u64 isa;

/* Options */
static struct {
	unsigned int	samples;	/* in the guest, for each case */
	unsigned int	seconds;	/* at most, for each case */
	u64	period;		/* ns */
	const char	*only;
} opt = { .samples = 400, .seconds = 20, .period = 500000 };

/* What the guests have to know */
static struct {
	u64	roots[2];
	u64	l2_root;
	u64	cr4;		/* bits to set */
	u64	loops;		/* of each spin */
	u64	turns;		/* of both spins before an exit to user space */
	u64	halt_ns;
	u64	absent;		/* address of the first of ABSENT_PAGES */
	u64	page_size;
} guest = { .loops = 10000, .turns = 50, .halt_ns = 2000000 };

GUEST_SPIN(spin_a);
GUEST_SPIN(spin_b);
GUEST_SPIN(spin_l2);
GUEST_RING_3();

/* Ring 0 on one root, ring 3 on the other */
static void guest_two_rings(void)
{
	set_cr4(get_cr4() | guest.cr4);
	for (;;) {
		for (u64 i = 0; i < guest.turns; i++) {
			write_cr3(guest.roots[0]);
			spin_a(guest.loops);
			write_cr3(guest.roots[1]);
			enter_user(guest.loops);
		}
		GUEST_SYNC1(0);
	}
}

/*
 * Many more switches of CR3 than exits: a CR3 that is not of the sample's moment is
 * wrong every other time. CPUID makes exits that KVM handles by itself.
 */
static void guest_two_roots(void)
{
	u32 eax, ebx, ecx, edx;

	set_cr4(get_cr4() | guest.cr4);
	for (;;) {
		for (u64 i = 0; i < guest.turns; i++) {
			write_cr3(guest.roots[0]);
			spin_a(guest.loops);
			write_cr3(guest.roots[1]);
			spin_b(guest.loops);
		}
		for (u64 i = 0; i < guest.turns; i++)
			cpuid(0, &eax, &ebx, &ecx, &edx);
		GUEST_SYNC1(0);
	}
}

static void guest_halt(void)
{
	guest_start_timer(guest.halt_ns);
	for (;;) {
		for (unsigned int i = 0; i < HALTS; i++)
			asm volatile("hlt");
		GUEST_SYNC1(0);
	}
}

/*
 * The handler of the SMI, which begins here in real mode: it spins, without an instruction
 * that exits. Interrupts are on, see vcpu_enable_interrupts(), but there are none.
 */
#define SMI_ENTRY	0x8000
static const u8 smi_handler[] = {
	0xfb,					/* sti */
	0x66, 0xb9, 0x00, 0x00, 0x10, 0x00,	/* mov $0x100000, %ecx */
	0x67, 0xe2, 0xfd,			/* loop to itself, by %ecx */
	0x0f, 0xaa,				/* rsm */
};

static void guest_smi(void)
{
	x2apic_enable();
	for (;;) {
		for (u64 i = 0; i < guest.turns; i++)
			spin_a(guest.loops);
		x2apic_write_reg(APIC_ICR, APIC_DEST_SELF | APIC_INT_ASSERT | APIC_DM_SMI);
		GUEST_SYNC1(0);
	}
}

static void guest_touch_pages(void)
{
	for (unsigned int i = 0; i < ABSENT_PAGES; i++)
		*(volatile u8 *)(guest.absent + i * guest.page_size);
	for (;;)
		GUEST_SYNC1(0);
}

static void guest_l2_svm(void)
{
	for (;;) {
		spin_l2(guest.loops);
		vmmcall();
	}
}

static void guest_l2_vmx(void)
{
	for (;;) {
		spin_l2(guest.loops);
		vmcall();
	}
}

/* L1 on one root, L2 on another: L1 does not use nested paging. */
static void guest_l1_svm(struct svm_test_data *svm)
{
	struct vmcb *vmcb = svm->vmcb;

	write_cr3(guest.roots[0]);
	generic_svm_setup(svm, guest_l2_svm);
	vmcb->save.cr3 = guest.l2_root;
	for (;;) {
		for (u64 i = 0; i < guest.turns; i++) {
			run_guest(vmcb, svm->vmcb_gpa);
			GUEST_ASSERT_EQ(vmcb->control.exit_code, SVM_EXIT_VMMCALL);
			vmcb->save.rip += 3;
			spin_a(guest.loops);
		}
		GUEST_SYNC1(0);
	}
}

static void guest_l1_vmx(struct vmx_pages *vmx)
{
	bool launched = false;

	write_cr3(guest.roots[0]);
	GUEST_ASSERT(prepare_for_vmx_operation(vmx));
	GUEST_ASSERT(load_vmcs(vmx));
	prepare_vmcs(vmx, guest_l2_vmx);
	GUEST_ASSERT(!vmwrite(GUEST_CR3, guest.l2_root));
	GUEST_ASSERT(!vmwrite(GUEST_RFLAGS, X86_EFLAGS_FIXED | X86_EFLAGS_IF));
	for (;;) {
		for (u64 i = 0; i < guest.turns; i++) {
			GUEST_ASSERT(!(launched ? vmresume() : vmlaunch()));
			launched = true;
			GUEST_ASSERT_EQ(vmreadz(VM_EXIT_REASON), EXIT_REASON_VMCALL);
			GUEST_ASSERT(!vmwrite(GUEST_RIP, vmreadz(GUEST_RIP) +
					      vmreadz(VM_EXIT_INSTRUCTION_LEN)));
			/* As L2: a VM-Exit clears it, and Bochs takes it for the host's, too. */
			asm volatile("sti");
			spin_a(guest.loops);
		}
		GUEST_SYNC1(0);
	}
}

/* --- A VM, and its samples ----------------------------------------------------- */

static struct {
	struct perf_sample	*samples;
	unsigned int		nr;
	unsigned int		in_guest;
	unsigned int		labelled_guest;
	unsigned int		loaded;
	unsigned int		excluded;
	unsigned int		in_smm;
} rec;

static bool has_flag(const struct perf_sample *sample, u64 flag)
{
	return sample_vcpu(sample)->flags & flag;
}

static void keep_sample(const struct perf_sample *sample, void *arg)
{
	if (rec.nr == MAX_SAMPLES)
		return;
	rec.samples[rec.nr++] = *sample;
	rec.in_guest += sample_is_in_guest(sample);
	rec.labelled_guest += sample_is_labelled_guest(sample);
	rec.loaded += has_flag(sample, PERF_VCPU_LOADED);
	rec.excluded += has_flag(sample, PERF_VCPU_EXCLUDED);
	rec.in_smm += has_flag(sample, PERF_VCPU_SMM);
}

/* The CR3s have bits below the address of the table, too: PCIDs, or else PWT and PCD. */
static void make_roots(struct kvm_vm *vm)
{
	bool pcid = kvm_cpu_has(X86_FEATURE_PCID);

	guest.cr4 = pcid ? X86_CR4_PCIDE : 0;
	guest.roots[0] = clone_page_table_root(vm) | (pcid ? 0x5a5 : 0x08);
	guest.roots[1] = clone_page_table_root(vm) | (pcid ? 0x2d1 : 0x10);
	guest.l2_root = clone_page_table_root(vm);
	sync_global_to_guest(vm, guest);
}

static struct kvm_vm *make_vm(struct kvm_vcpu **vcpu, void *code)
{
	struct kvm_vm *vm = vm_create(1);

	*vcpu = vm_vcpu_add(vm, VCPU_ID, code);
	vcpu_enable_interrupts(*vcpu);
	make_roots(vm);
	return vm;
}

/* Until the guest's next exit to user space */
static void run_turn(struct kvm_vcpu *vcpu)
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

/* A VM that runs on its two roots: it has begun on another. */
static struct kvm_vm *make_vm_two_roots(struct kvm_vcpu **vcpu)
{
	struct kvm_vm *vm = make_vm(vcpu, guest_two_roots);

	run_turn(*vcpu);
	return vm;
}

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Time in which the thread has no vCPU loaded */
static void spin_in_user_space(u64 ns)
{
	u64 end = now_ns() + ns;

	while (now_ns() < end)
		;
}

static void init_clock(struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr) {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(*attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = opt.period,
		.sample_type = PERF_SAMPLE_DEFAULT,
	};
}

static void init_tracepoint(struct perf_event_attr *attr, const char *event)
{
	*attr = (struct perf_event_attr) {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(*attr),
		.config = tracepoint_id(event),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_DEFAULT,
	};
}

/* Run the vCPU until *counted is opt.samples, or the time is over. */
static void record(struct kvm_vcpu *vcpu, struct perf_event_attr *attr,
		   const unsigned int *counted)
{
	u64 end = now_ns() + opt.seconds * 1000000000ULL;
	struct perf_ring ring;

	rec.nr = 0;
	rec.in_guest = 0;
	rec.labelled_guest = 0;
	rec.loaded = 0;
	rec.excluded = 0;
	rec.in_smm = 0;
	perf_ring_open(&ring, attr, 0, -1, RING_PAGES);
	/* Not the first exits ever: the guest's memory is there. */
	run_turn(vcpu);
	perf_ring_enable(&ring);
	while (*counted < opt.samples && now_ns() < end && rec.nr < MAX_SAMPLES) {
		run_turn(vcpu);
		spin_in_user_space(opt.period);
		perf_ring_read(&ring, keep_sample, NULL);
	}
	perf_ring_disable(&ring);
	perf_ring_close(&ring);
	ksft_print_msg("%u samples, %u in the guest, %u labelled guest, lost %lu, throttled %lu\n",
		       rec.nr, rec.in_guest, rec.labelled_guest, ring.lost, ring.throttled);
}

/* How many samples there are for which @cond holds, with @s for the sample */
#define count_samples(s, cond) ({				\
	unsigned int __nr = 0;					\
								\
	for (unsigned int __i = 0; __i < rec.nr; __i++) {	\
		const struct perf_sample *s = &rec.samples[__i];	\
		(void)s;					\
								\
		if (cond)					\
			__nr++;					\
	}							\
	__nr;							\
})

/* All samples with @of are @should_be, and there are @least of them, or more. */
#define check_samples(s, least, of, should_be, fmt, ...) do {			\
	unsigned int __all = count_samples(s, of);				\
	unsigned int __bad = count_samples(s, (of) && !(should_be));		\
										\
	if (__all < (least) || __bad)						\
		ksft_print_msg("%u of %u are not so, at least %u wanted\n",	\
			       __bad, __all, (unsigned int)(least));		\
	ksft_test_result(__all >= (least) && !__bad, fmt "\n", ##__VA_ARGS__);	\
} while (0)

#define is_loaded(s)	has_flag(s, PERF_VCPU_LOADED)
#define root_valid(s)	has_flag(s, PERF_VCPU_PT_ROOT_VALID)
#define is_nested(s)	has_flag(s, PERF_VCPU_NESTED)
#define in_smm(s)	has_flag(s, PERF_VCPU_SMM)
#define isa_of(s)	((sample_vcpu(s)->flags & PERF_VCPU_ISA_MASK) >> PERF_VCPU_ISA_SHIFT)
#define by_interrupt(s)	(has_flag(s, PERF_VCPU_EXIT_REASON_VALID) && \
			 (sample_vcpu(s)->exit_reason == interrupt_exit || \
			  sample_vcpu(s)->exit_reason == nmi_exit))

/* What is so in each recording, with @host samples in host mode at least */
static void check_always(const char *name, unsigned int host)
{
	check_samples(s, 1, true, sample_is_labelled_guest(s) == sample_is_in_guest(s),
		      "%s: in the guest is what perf labels guest, of all samples", name);
	check_samples(s, 1, sample_is_in_guest(s), by_interrupt(s),
		      "%s: and an interrupt or NMI has made it exit", name);
	check_samples(s, host, is_loaded(s) && !sample_is_in_guest(s),
		      !root_valid(s) && !sample_vcpu(s)->pt_root,
		      "%s: in host mode with the vCPU loaded there is no CR3", name);
	check_samples(s, 1, true, sample_vcpu_is_whole(s),
		      "%s: the words are those that the flags tell of", name);
}

#define NR_ALWAYS	4

/* --- Tests --------------------------------------------------------------------- */

static bool host_has_vpid(void)
{
	return !host_cpu_is_intel || get_kvm_intel_param_bool("vpid");
}

static void test_content(void)
{
	const unsigned int words = sizeof(struct perf_sample_vcpu) / sizeof(u64) - 1;
	const u64 known = PERF_VCPU_LOADED | PERF_VCPU_IN_GUEST | PERF_VCPU_PT_ROOT_VALID |
			  PERF_VCPU_EXIT_REASON_VALID | PERF_VCPU_ISA_MASK |
			  PERF_VCPU_WORDS_MASK;
	const size_t head = sizeof(struct perf_event_header) + 3 * sizeof(u64);
	/* An eighth of the samples for each loop is far less than what there are. */
	const unsigned int eighth = opt.samples / 8;
	struct perf_event_attr attr;
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm = make_vm_two_roots(&vcpu);

	init_clock(&attr);
	record(vcpu, &attr, &rec.in_guest);

	check_samples(s, opt.samples, sample_is_in_guest(s), root_valid(s),
		      "content: samples in the guest have a CR3");
	check_samples(s, opt.samples, sample_is_in_guest(s),
		      sample_vcpu(s)->pt_root == guest.roots[0] ||
		      sample_vcpu(s)->pt_root == guest.roots[1],
		      "content: it is one of the guest's two, with its low bits");
	check_samples(s, eighth, sample_is_in_guest(s) && ip_is_in(s->ip, spin_a),
		      sample_vcpu(s)->pt_root == guest.roots[0],
		      "content: in the one loop it is the one");
	check_samples(s, eighth, sample_is_in_guest(s) && ip_is_in(s->ip, spin_b),
		      sample_vcpu(s)->pt_root == guest.roots[1],
		      "content: in the other loop it is the other");
	check_samples(s, eighth, ip_is_in(s->ip, spin_a) || ip_is_in(s->ip, spin_b),
		      sample_is_in_guest(s), "content: what is in the loops is in the guest");
	check_samples(s, opt.samples, is_loaded(s), sample_vcpu(s)->vcpu_id == VCPU_ID,
		      "content: the vCPU's id is the one it was created with");
	check_samples(s, opt.samples, is_loaded(s), isa_of(s) == isa,
		      "content: the ISA is the host's");
	check_samples(s, opt.samples, is_loaded(s), has_flag(s, PERF_VCPU_EXIT_REASON_VALID),
		      "content: there is an exit reason");
	check_samples(s, opt.samples, is_loaded(s), !!sample_vcpu(s)->vpid == host_has_vpid(),
		      "content: there is a VPID or ASID, if there are any");
	check_samples(s, opt.samples, is_loaded(s), !(sample_vcpu(s)->flags & ~known),
		      "content: no other flags than those");
	check_samples(s, opt.samples, sample_is_in_guest(s),
		      sample_mode(s) == PERF_RECORD_MISC_GUEST_KERNEL,
		      "content: perf says guest kernel, too");
	check_samples(s, opt.samples, true, s->tid == gettid(),
		      "content: all samples are of the vCPU's thread");
	check_samples(s, 1, !is_loaded(s), !sample_vcpu(s)->flags,
		      "content: without a vCPU loaded there are no flags");
	check_always("content", 1);

	check_samples(s, opt.samples, is_loaded(s),
		      sample_vcpu_words(s) == words &&
		      s->size == head + sizeof(struct perf_sample_vcpu),
		      "layout: %zu bytes with a vCPU loaded",
		      head + sizeof(struct perf_sample_vcpu));
	check_samples(s, 1, !is_loaded(s), s->size == head + sizeof(u64),
		      "layout: %zu bytes without", head + sizeof(u64));

	/* The same without the bit */
	attr.sample_type &= ~PERF_SAMPLE_VCPU;
	record(vcpu, &attr, &rec.labelled_guest);
	check_samples(s, opt.samples, true, s->size == head && !s->rest_size,
		      "layout: %zu bytes without the bit", head);
	kvm_vm_free(vm);
}

static void test_user(void)
{
	const unsigned int eighth = opt.samples / 8;
	struct perf_event_attr attr;
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm = make_vm(&vcpu, guest_two_rings);

	vm_allow_ring_3(vm);
	/* Ring 3 is allowed in the roots, too. */
	make_roots(vm);
	init_clock(&attr);
	record(vcpu, &attr, &rec.in_guest);
	check_samples(s, eighth, sample_is_in_guest(s) && ip_is_in(s->ip, guest_user),
		      sample_mode(s) == PERF_RECORD_MISC_GUEST_USER,
		      "user: samples of ring 3 are guest user");
	check_samples(s, eighth, sample_is_in_guest(s) && ip_is_in(s->ip, guest_user),
		      root_valid(s) && sample_vcpu(s)->pt_root == guest.roots[1],
		      "user: and have its CR3");
	check_samples(s, eighth, sample_is_in_guest(s) && ip_is_in(s->ip, spin_a),
		      sample_mode(s) == PERF_RECORD_MISC_GUEST_KERNEL,
		      "user: samples of ring 0 are guest kernel");
	check_samples(s, eighth, sample_is_in_guest(s) && ip_is_in(s->ip, spin_a),
		      root_valid(s) && sample_vcpu(s)->pt_root == guest.roots[0],
		      "user: and have the other CR3");
	check_always("user", 0);
	kvm_vm_free(vm);
}

static const char *no_nested(void)
{
	if (!kvm_cpu_has(X86_FEATURE_SVM) && !kvm_cpu_has(X86_FEATURE_VMX))
		return "KVM offers guests neither SVM nor VMX (nested=0)";
	return NULL;
}

static void test_nested(void)
{
	const unsigned int eighth = opt.samples / 8;
	struct perf_event_attr attr;
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm = vm_create(1);
	gva_t gva;

	if (kvm_cpu_has(X86_FEATURE_SVM)) {
		vcpu = vm_vcpu_add(vm, VCPU_ID, guest_l1_svm);
		vcpu_alloc_svm(vm, &gva);
	} else {
		vcpu = vm_vcpu_add(vm, VCPU_ID, guest_l1_vmx);
		vcpu_alloc_vmx(vm, &gva);
	}
	vcpu_args_set(vcpu, 1, gva);
	vcpu_enable_interrupts(vcpu);
	make_roots(vm);
	/* Without CR4.PCIDE, what would be a PCID is reserved. */
	guest.roots[0] &= PHYSICAL_PAGE_MASK;
	/* Exits from L2 to L1 take long. */
	guest.loops *= NESTED_LOOPS;
	guest.turns /= NESTED_LOOPS;
	sync_global_to_guest(vm, guest);

	init_clock(&attr);
	record(vcpu, &attr, &rec.in_guest);
	check_samples(s, eighth, sample_is_in_guest(s) && ip_is_in(s->ip, spin_l2),
		      is_nested(s), "nested: samples of L2 say so");
	check_samples(s, eighth, sample_is_in_guest(s) && ip_is_in(s->ip, spin_l2),
		      root_valid(s) && sample_vcpu(s)->pt_root == guest.l2_root,
		      "nested: and have L2's CR3");
	check_samples(s, eighth, sample_is_in_guest(s) && ip_is_in(s->ip, spin_a),
		      !is_nested(s), "nested: samples of L1 do not say so");
	check_samples(s, eighth, sample_is_in_guest(s) && ip_is_in(s->ip, spin_a),
		      root_valid(s) && sample_vcpu(s)->pt_root == guest.roots[0],
		      "nested: and have L1's CR3");
	check_always("nested", 0);
	guest.loops /= NESTED_LOOPS;
	guest.turns *= NESTED_LOOPS;
	kvm_vm_free(vm);
}

static const char *no_smm(void)
{
	return kvm_has_cap(KVM_CAP_X86_SMM) ? NULL : "KVM has no SMM";
}

static void test_smm(void)
{
	const unsigned int samples = opt.samples, eighth = samples / 8;
	struct perf_event_attr attr;
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm = make_vm(&vcpu, guest_smi);

	setup_smram(vm, vcpu, SMRAM_GPA, smi_handler, sizeof(smi_handler));
	init_clock(&attr);
	opt.samples = eighth;
	record(vcpu, &attr, &rec.in_smm);
	opt.samples = samples;
	/* Some of these are in host mode. */
	check_samples(s, eighth / 2, sample_is_in_guest(s) && in_smm(s),
		      s->ip >= SMI_ENTRY && s->ip < SMI_ENTRY + sizeof(smi_handler) &&
		      sample_mode(s) == PERF_RECORD_MISC_GUEST_KERNEL,
		      "smm: samples that say so are in the handler of the SMI");
	check_samples(s, eighth / 2, sample_is_in_guest(s) && s->ip < SMI_ENTRY + getpagesize(),
		      in_smm(s), "smm: and those in the handler say so");
	check_samples(s, eighth, sample_is_in_guest(s) && ip_is_in(s->ip, spin_a),
		      !in_smm(s), "smm: others do not");
	check_always("smm", 0);
	kvm_vm_free(vm);
}

static void test_exclude(void)
{
	const size_t size = sizeof(struct perf_event_header) + 4 * sizeof(u64);
	struct perf_event_attr attr;
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm = make_vm_two_roots(&vcpu);

	init_clock(&attr);
	attr.exclude_guest = 1;
	record(vcpu, &attr, &rec.excluded);
	check_samples(s, opt.samples, has_flag(s, PERF_VCPU_EXCLUDED),
		      sample_vcpu(s)->flags == PERF_VCPU_EXCLUDED && s->size == size,
		      "exclude_guest: what has interrupted the guest says that, and nothing else");
	check_samples(s, 1, true, !sample_is_in_guest(s) && !root_valid(s) &&
		      !sample_vcpu(s)->pt_root,
		      "exclude_guest: no sample is in the guest or has a CR3");
	check_samples(s, 1, has_flag(s, PERF_VCPU_EXCLUDED) || !is_loaded(s),
		      !sample_vcpu_words(s) && sample_vcpu_is_whole(s),
		      "exclude_guest: there are words with a vCPU only");
	check_samples(s, 0, is_loaded(s), sample_vcpu(s)->vcpu_id == VCPU_ID,
		      "exclude_guest: in host mode all is told");

	init_clock(&attr);
	attr.exclude_host = 1;
	record(vcpu, &attr, &rec.in_guest);
	check_samples(s, opt.samples, sample_is_in_guest(s),
		      root_valid(s) && (sample_vcpu(s)->pt_root == guest.roots[0] ||
					sample_vcpu(s)->pt_root == guest.roots[1]),
		      "exclude_host: samples in the guest have a CR3");
	kvm_vm_free(vm);
}

/* Of all kernels since the first, in the order of PERF_ATTR_SIZE_VER* */
static const unsigned int attr_sizes[] = {
	PERF_ATTR_SIZE_VER0, PERF_ATTR_SIZE_VER1, PERF_ATTR_SIZE_VER2,
	PERF_ATTR_SIZE_VER3, PERF_ATTR_SIZE_VER4, PERF_ATTR_SIZE_VER5,
	PERF_ATTR_SIZE_VER6, PERF_ATTR_SIZE_VER7, PERF_ATTR_SIZE_VER8,
	sizeof(struct perf_event_attr),
};

static void test_attr(void)
{
	const unsigned int wanted = 5;
	struct perf_event_attr attr;
	struct perf_ring ring;
	u64 end;
	int fd;

	for (unsigned int i = 0; i < ARRAY_SIZE(attr_sizes); i++) {
		init_clock(&attr);
		attr.size = attr_sizes[i];
		rec.nr = 0;
		perf_ring_open(&ring, &attr, 0, -1, RING_PAGES);
		perf_ring_enable(&ring);
		for (end = now_ns() + opt.seconds * 1000000000ULL;
		     rec.nr < wanted && now_ns() < end;) {
			spin_in_user_space(opt.period);
			perf_ring_read(&ring, keep_sample, NULL);
		}
		perf_ring_close(&ring);
		check_samples(s, wanted, true, s->size == 40 && sample_vcpu_is_whole(s) &&
			      !sample_vcpu(s)->flags,
			      "attr: samples with an attr of %u bytes", attr_sizes[i]);
	}

	init_clock(&attr);
	attr.sample_type |= PERF_SAMPLE_MAX;
	fd = sys_perf_event_open(&attr, 0, -1);
	ksft_test_result(fd < 0 && errno == EINVAL, "attr: an unknown sample type is refused\n");
}

/* --- Permission ---------------------------------------------------------------- */

#define PARANOID_PATH	"/proc/sys/kernel/perf_event_paranoid"

static const char *no_root(void)
{
	if (geteuid())
		return "takes root, to take its privileges away";
	return access(PARANOID_PATH, W_OK) ? "cannot write " PARANOID_PATH : NULL;
}

/* As a user without capabilities. Returns an errno, or 0. */
static int open_as_nobody(u64 sample_type)
{
	struct perf_event_attr attr;
	int status;
	pid_t pid;

	init_clock(&attr);
	/* The kernel would be privilege enough. */
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.sample_type = sample_type;
	fflush(NULL);
	pid = fork();
	TEST_ASSERT(pid >= 0, "fork()");
	if (!pid) {
		if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
			_exit(EXIT_FAILURE);
		_exit(sys_perf_event_open(&attr, 0, -1) < 0 ? errno : 0);
	}
	TEST_ASSERT(waitpid(pid, &status, 0) == pid && WIFEXITED(status), "waitpid()");
	return WEXITSTATUS(status);
}

/* The file, and what was in it before the test */
static struct {
	int	fd;
	char	before[16];
} paranoid;

/* Fit for a signal handler: nothing but abort() can be said of a failure there. */
static void write_paranoid(const char *value)
{
	ssize_t len = strlen(value);

	if (pwrite(paranoid.fd, value, len, 0) != len)
		abort();
}

static void restore_paranoid(void)
{
	write_paranoid(paranoid.before);
}

static void on_term(int sig)
{
	restore_paranoid();
	_exit(KSFT_FAIL);
}

static void test_permission(void)
{
	paranoid.fd = open(PARANOID_PATH, O_RDWR | O_CLOEXEC);
	TEST_ASSERT(paranoid.fd >= 0, "Cannot open " PARANOID_PATH);
	TEST_ASSERT(read(paranoid.fd, paranoid.before, sizeof(paranoid.before) - 1) > 0,
		    "Cannot read " PARANOID_PATH);
	/* Also if it ends in a TEST_ASSERT(), or in the timeout of the selftests. */
	atexit(restore_paranoid);
	signal(SIGTERM, on_term);
	signal(SIGINT, on_term);

	write_paranoid("2");
	ksft_test_result(!open_as_nobody(PERF_SAMPLE_IP),
			 "permission: a user may sample himself\n");
	ksft_test_result(open_as_nobody(PERF_SAMPLE_IP | PERF_SAMPLE_VCPU) == EACCES,
			 "permission: but not the vCPU with perf_event_paranoid = 2\n");
	write_paranoid("1");
	ksft_test_result(!open_as_nobody(PERF_SAMPLE_IP | PERF_SAMPLE_VCPU),
			 "permission: but with 1\n");
	restore_paranoid();
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
}

/* --- Softirqs on top of the interrupt that the guest was running into ----------- */

static const char *no_softirq_entry(void)
{
	if (softirqs_are_threads())
		return "softirqs run in threads here";
	return tracepoint_id("irq/softirq_entry") < 0 ? "no tracepoint irq:softirq_entry" : NULL;
}

static void test_softirq(void)
{
	unsigned int samples = opt.samples;
	struct perf_event_attr attr;
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm = make_vm_two_roots(&vcpu);

	init_tracepoint(&attr, "irq/softirq_entry");
	/* There are not as many. */
	opt.samples = 10;
	record(vcpu, &attr, &rec.loaded);
	check_samples(s, opt.samples, is_loaded(s),
		      !sample_is_in_guest(s) && !sample_is_labelled_guest(s) && !root_valid(s),
		      "softirq: what softirqs do is not in the guest, and has no CR3");
	opt.samples = samples;
	kvm_vm_free(vm);
}

/* --- The timeline -------------------------------------------------------------- */

#define TIMELINE "kvm/kvm_vcpu_timeline"

/* As in enum kvm_vcpu_timeline_state, which is not in a uapi header */
enum {
	TL_NONE,
	TL_USER,
	TL_PREEMPTED,
	TL_BLOCKED,
	TL_HALTED,
	TL_HALT_POLL,
	NR_TL,
};

static const char * const tl_names[] = {
	"unknown", "user", "preempted", "blocked", "halted", "halt-poll",
};

struct timeline_event {
	u64	time;		/* the sample's: when the state has ended */
	u32	sample_cpu;
	u64	ns;
	u64	wait;
	u64	exit_reason;
	u32	vcpu_id;
	u32	seq;
	s32	why;
	s32	next_pid;
	u32	cpu;
	u8	state;
	u8	isa;
};

#define TL_FIELD(name) \
	{ #name, offsetof(struct timeline_event, name), sizeof(((struct timeline_event *)0)->name) }

/* The fields of the tracepoint, and where they are kept */
static struct {
	const char	*name;
	size_t		to, size;
	int		from;	/* offset in the tracepoint's record */
} tl_fields[] = {
	TL_FIELD(ns),
	TL_FIELD(wait),
	TL_FIELD(exit_reason),
	TL_FIELD(vcpu_id),
	TL_FIELD(seq),
	TL_FIELD(why),
	TL_FIELD(next_pid),
	TL_FIELD(cpu),
	TL_FIELD(state),
	TL_FIELD(isa),
};

static struct {
	/* Not an array, which would be part of the guest's memory, too */
	struct timeline_event	*events;
	unsigned int		nr;
	unsigned int		count[NR_TL];
	u64			ns[NR_TL];	/* sums */
	u64			lost;
	u64			wall_ns;	/* that the recording has taken */
	u64			vmm_ns;		/* of it, between the turns */
} tl;

static int timeline_cpu;
static cpu_set_t allowed;
static volatile bool spinner_stop;
static pid_t spinner_tid;

static const char *no_timeline(void)
{
	return tracepoint_id(TIMELINE) < 0 ? "no tracepoint kvm:kvm_vcpu_timeline" : NULL;
}

static void find_fields(void)
{
	char line[256], pattern[64];
	FILE *file;

	for (unsigned int i = 0; i < ARRAY_SIZE(tl_fields); i++) {
		const char *field = NULL;
		int size;

		file = tracefs_open(TIMELINE, "format", "r");
		TEST_ASSERT(file, "No format of " TIMELINE);
		snprintf(pattern, sizeof(pattern), " %s;", tl_fields[i].name);
		while (!field && fgets(line, sizeof(line), file))
			field = strstr(line, pattern);
		fclose(file);
		TEST_ASSERT(field && sscanf(field + strlen(pattern), " offset:%d; size:%d;",
					    &tl_fields[i].from, &size) == 2 &&
			    size == tl_fields[i].size &&
			    tl_fields[i].from + size <= PERF_RAW_MAX,
			    "No field %s of %zu bytes in " TIMELINE,
			    tl_fields[i].name, tl_fields[i].size);
	}
}

static void keep_event(const struct perf_sample *sample, void *arg)
{
	struct timeline_event *event = &tl.events[tl.nr];

	TEST_ASSERT_EQ(sample->tid, gettid());
	if (tl.nr == MAX_SAMPLES)
		return;
	event->time = sample->time;
	event->sample_cpu = sample->cpu;
	for (unsigned int i = 0; i < ARRAY_SIZE(tl_fields); i++)
		memcpy((u8 *)event + tl_fields[i].to, sample->raw + tl_fields[i].from,
		       tl_fields[i].size);
	if (event->state < NR_TL) {
		tl.count[event->state]++;
		tl.ns[event->state] += event->ns;
	}
	tl.nr++;
}

static void open_timeline(struct perf_ring *ring)
{
	struct perf_event_attr attr;

	find_fields();
	init_tracepoint(&attr, TIMELINE);
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;
	tl.nr = 0;
	memset(tl.count, 0, sizeof(tl.count));
	memset(tl.ns, 0, sizeof(tl.ns));
	/* Of the thread, on all CPUs */
	perf_ring_open(ring, &attr, gettid(), -1, RING_PAGES);
}

/*
 * The events of @turns turns, or until *counted is not 0, behind one that is not recorded
 * if @warm. Between any two, and before the first, the vCPU's thread is in user space for
 * @vmm_ns, and @between is called.
 */
static void record_timeline(struct kvm_vcpu *vcpu, unsigned int turns,
			    const unsigned int *counted, bool warm, u64 vmm_ns,
			    void (*between)(void))
{
	u64 begin, end, before;
	struct perf_ring ring;

	open_timeline(&ring);
	if (warm)
		run_turn(vcpu);
	perf_ring_enable(&ring);
	tl.vmm_ns = 0;
	begin = now_ns();
	end = begin + opt.seconds * 1000000000ULL;
	for (unsigned int i = 0; (i < turns || (counted && !*counted)) && now_ns() < end; i++) {
		before = now_ns();
		if (between)
			between();
		spin_in_user_space(vmm_ns);
		tl.vmm_ns += now_ns() - before;
		run_turn(vcpu);
		perf_ring_read(&ring, keep_event, NULL);
	}
	tl.wall_ns = now_ns() - begin;
	perf_ring_disable(&ring);
	perf_ring_close(&ring);
	tl.lost = ring.lost;

	ksft_print_msg("%u events in %lu us:", tl.nr, tl.wall_ns / 1000);
	for (unsigned int i = 0; i < NR_TL; i++)
		printf(" %s %u (%lu us)", tl_names[i], tl.count[i], tl.ns[i] / 1000);
	printf("\n");
}

/*
 * Each is of the vCPU, of the time since the one before, and no one is missing. A vCPU
 * that is preempted while it polls for a wakeup has two states at once: the event of
 * the inner one comes first.
 */
static bool order_is_right(void)
{
	unsigned int bad = 0;

	for (unsigned int i = 0; i < tl.nr; i++) {
		const struct timeline_event *event = &tl.events[i];
		const u64 begin = event->time - event->ns;
		unsigned int before = i;

		if (event->state == TL_HALT_POLL)
			while (before && tl.events[before - 1].state == TL_PREEMPTED &&
			       tl.events[before - 1].time - tl.events[before - 1].ns >= begin)
				before--;

		/* What has begun before the tracepoint was on has no length. */
		if (event->state >= NR_TL || (event->state == TL_NONE && event->ns) ||
		    event->vcpu_id != VCPU_ID || (event->isa ?: isa) != isa ||
		    (!event->isa && event->exit_reason) ||
		    (i && event->seq != tl.events[i - 1].seq + 1) ||
		    (before && tl.events[before - 1].time > begin)) {
			ksft_print_msg("event %u: state %u vcpu %u isa %u seq %u [%lu, %lu]\n", i,
				       event->state, event->vcpu_id, event->isa, event->seq,
				       begin, event->time);
			bad++;
		}
	}
	if (bad || tl.lost)
		ksft_print_msg("%u of %u events are not as they should be, %lu are lost\n",
			       bad, tl.nr, tl.lost);
	return tl.nr && !bad && !tl.lost;
}

/* How many events there are for which @cond holds, with @e for the event */
#define count_events(e, cond) ({				\
	unsigned int __nr = 0;					\
								\
	for (unsigned int __i = 0; __i < tl.nr; __i++) {	\
		const struct timeline_event *e = &tl.events[__i];	\
								\
		if (cond)					\
			__nr++;					\
	}							\
	__nr;							\
})

/* How many times KVM_RUN has ended with @why */
static unsigned int nr_exits(int why)
{
	return count_events(e, e->state == TL_USER && e->why == why);
}

/* The library runs the vCPU again after each exit, with immediate_exit. */
static bool exits_are_right(void)
{
	return !count_events(e, e->state == TL_USER ? e->exit_reason != io_exit : !!e->why) &&
	       nr_exits(KVM_EXIT_IO) + nr_exits(-EINTR) == tl.count[TL_USER];
}

/* What there is of @ns, is @least percent of @all at least, and not more than that. */
static bool is_about(u64 ns, unsigned int least, u64 all)
{
	if (ns > all || ns < all / 100 * least)
		ksft_print_msg("%lu us of %lu us, at least %u %% wanted\n", ns / 1000,
			       all / 1000, least);
	return ns <= all && ns >= all / 100 * least;
}

/* Whatever the thread was doing, it has not waited for a CPU for longer than that. */
static bool waits_are_right(void)
{
	unsigned int bad = 0;

	for (unsigned int i = 0; i < tl.nr; i++) {
		const struct timeline_event *event = &tl.events[i];

		if (event->wait <= event->ns)
			continue;
		if (!bad++)
			ksft_print_msg("event %u: %s for %lu ns, waited for %lu ns\n", i,
				       tl_names[event->state], event->ns, event->wait);
	}
	if (bad)
		ksft_print_msg("%u of %u events have waited for longer than they lasted\n",
			       bad, tl.nr);
	return !bad;
}

/* ns that the vCPU was in user space between the turns */
static u64 ns_between_turns(void)
{
	u64 ns = 0;

	for (unsigned int i = 0; i < tl.nr; i++)
		if (tl.events[i].state == TL_USER && tl.events[i].why == -EINTR)
			ns += tl.events[i].ns;
	return ns;
}

static u64 waited_ns(u8 state)
{
	u64 ns = 0;

	for (unsigned int i = 0; i < tl.nr; i++)
		if (tl.events[i].state == state)
			ns += tl.events[i].wait;
	return ns;
}

static u64 ns_of_all(void)
{
	u64 ns = 0;

	for (unsigned int i = 0; i < NR_TL; i++)
		ns += tl.ns[i];
	return ns;
}

static void *spinner(void *arg)
{
	pin_self_to_cpu(timeline_cpu);
	__atomic_store_n(&spinner_tid, gettid(), __ATOMIC_RELEASE);
	while (!spinner_stop)
		;
	return NULL;
}

/* Called for each page that is touched for the first time, after PAGE_DELAY_US */
static int bring_page(int uffd_mode, int uffd, struct uffd_msg *msg)
{
	struct uffdio_zeropage zero = {
		.range.start = msg->arg.pagefault.address & ~(u64)(getpagesize() - 1),
		.range.len = getpagesize(),
	};

	return ioctl(uffd, UFFDIO_ZEROPAGE, &zero) && errno != EEXIST ? -1 : 0;
}

static const char *no_pages(void)
{
	int uffd = syscall(__NR_userfaultfd, O_CLOEXEC);

	if (uffd < 0)
		return "no userfaultfd()";
	close(uffd);
	return no_timeline();
}

/* @before: for unpin() */
static void pin_for_timeline(cpu_set_t *before)
{
	TEST_ASSERT(!sched_getaffinity(0, sizeof(*before), before), "sched_getaffinity()");
	timeline_cpu = sched_getcpu();
	pin_self_to_cpu(timeline_cpu);
}

static void unpin(const cpu_set_t *before)
{
	sched_setaffinity(0, sizeof(*before), before);
}

/* The guest has no part in it: it does not know asynchronous page faults. */
static void test_pages(void)
{
	struct uffd_desc *pages;
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm = make_vm(&vcpu, guest_touch_pages);
	cpu_set_t before;

	pin_for_timeline(&before);
	vm_userspace_mem_region_add(vm, VM_MEM_SRC_ANONYMOUS, ABSENT_GPA, ABSENT_SLOT,
				    ABSENT_PAGES, 0);
	guest.page_size = getpagesize();
	guest.absent = vm_unused_gva_gap(vm, ABSENT_PAGES * guest.page_size, ABSENT_GPA);
	virt_map(vm, guest.absent, ABSENT_GPA, ABSENT_PAGES);
	sync_global_to_guest(vm, guest);
	pages = uffd_setup_demand_paging(UFFDIO_REGISTER_MODE_MISSING, PAGE_DELAY_US,
					 addr_gpa2hva(vm, ABSENT_GPA),
					 ABSENT_PAGES * guest.page_size, 1, bring_page);

	record_timeline(vcpu, 1, NULL, false, 0, NULL);
	ksft_test_result(order_is_right(), "pages: the order of waits for pages\n");
	ksft_test_result(tl.count[TL_BLOCKED] >= ABSENT_PAGES,
			 "pages: the vCPU is blocked for each of %u\n", ABSENT_PAGES);
	ksft_test_result(tl.ns[TL_BLOCKED] >= ABSENT_PAGES * PAGE_DELAY_US * 1000ULL &&
			 ns_of_all() <= tl.wall_ns, "pages: for as long as they take\n");
	ksft_test_result(!tl.count[TL_HALTED], "pages: and never halted\n");
	uffd_stop_demand_paging(pages);
	kvm_vm_free(vm);
	unpin(&before);
}

/* Exits to user space, which are told by the next KVM_RUN */
static void test_exits(void)
{
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm = make_vm_two_roots(&vcpu);
	cpu_set_t before;

	pin_for_timeline(&before);
	record_timeline(vcpu, USER_EXITS, NULL, true, VMM_NS, NULL);
	ksft_test_result(order_is_right(), "exits: the order of exits to user space\n");
	ksft_test_result(nr_exits(KVM_EXIT_IO) == USER_EXITS,
			 "exits: %u exits to user space\n", USER_EXITS);
	ksft_test_result(exits_are_right(), "exits: and why\n");
	/* With the system calls around KVM_RUN it is a bit more. */
	ksft_test_result(is_about(tl.vmm_ns, 75, ns_between_turns()),
			 "exits: the time between them is the VMM's\n");
	ksft_test_result(ns_of_all() <= tl.wall_ns, "exits: no more than all time is told\n");
	ksft_test_result(!count_events(e, e->cpu != timeline_cpu || e->sample_cpu != timeline_cpu),
			 "exits: all began on the CPU\n");
	ksft_test_result(waits_are_right(),
			 "exits: none has waited for longer than it lasted\n");

	/* The state that the vCPU is in now began when the tracepoint was on last. */
	spin_in_user_space(STALE_NS);
	record_timeline(vcpu, 1, NULL, false, 0, NULL);
	ksft_test_result(tl.nr && tl.events[0].state == TL_USER && !tl.events[0].ns &&
			 !tl.events[0].wait && !tl.events[0].why &&
			 !count_events(e, e->state == TL_USER && e->ns >= STALE_NS),
			 "exits: of a state that began before the tracepoint was on, only the end is told\n");
	kvm_vm_free(vm);
	unpin(&before);
}

/*
 * The scheduler and the event take their times at two places: of one preemption of some
 * us that may be most of it, of all of them together it is little.
 */
static bool preempted_is_waiting(void)
{
	u64 ns = 0, wait = 0;

	for (unsigned int i = 0; i < tl.nr; i++) {
		if (tl.events[i].state != TL_PREEMPTED)
			continue;
		ns += tl.events[i].ns;
		wait += tl.events[i].wait;
	}
	ksft_print_msg("preempted for %lu us, of which %lu us on a runqueue\n",
		       (unsigned long)(ns / 1000), (unsigned long)(wait / 1000));
	return wait >= ns - ns / 10;
}

static void test_preempted(void)
{
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm = make_vm_two_roots(&vcpu);
	unsigned int preempted, to_spinner;
	cpu_set_t before;
	pthread_t thread;

	pin_for_timeline(&before);
	pthread_create(&thread, NULL, spinner, NULL);
	while (!__atomic_load_n(&spinner_tid, __ATOMIC_ACQUIRE))
		usleep(1000);
	record_timeline(vcpu, USER_EXITS, &tl.count[TL_PREEMPTED], true, 0, NULL);
	spinner_stop = true;
	pthread_join(thread, NULL);

	preempted = tl.count[TL_PREEMPTED];
	to_spinner = count_events(e, e->state == TL_PREEMPTED && e->next_pid == spinner_tid);
	ksft_test_result(order_is_right(), "preempted: the order of preemptions\n");
	ksft_test_result(to_spinner > 0 && to_spinner * 2 > preempted,
			 "preempted: the vCPU loses its CPU, mostly to the other thread\n");
	ksft_test_result(!count_events(e, e->next_pid == gettid()),
			 "preempted: and never to itself\n");
	/* It could have run all the time. */
	ksft_test_result(waits_are_right() && preempted_is_waiting(),
			 "preempted: and waits for it as long as it is preempted\n");
	ksft_test_result(ns_of_all() <= tl.wall_ns, "preempted: no more than all time is told\n");
	kvm_vm_free(vm);
	unpin(&before);
}

static struct kvm_vm *make_vm_halts(struct kvm_vcpu **vcpu, u64 poll_ns)
{
	struct kvm_vm *vm = make_vm(vcpu, guest_halt);

	vm_install_exception_handler(vm, TIMER_VECTOR, guest_timer);
	vm_enable_cap(vm, KVM_CAP_HALT_POLL, poll_ns);
	return vm;
}

static void test_halted(void)
{
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm;
	cpu_set_t before;

	pin_for_timeline(&before);
	vm = make_vm_halts(&vcpu, 0);
	record_timeline(vcpu, HALT_TURNS, NULL, true, 0, NULL);
	ksft_test_result(order_is_right(), "halted: the order of halts\n");
	/* Some find the interrupt pending if the host is slow, some wake up in vain. */
	ksft_test_result(tl.count[TL_HALTED] >= HALT_TURNS * HALTS / 2,
			 "halted: the vCPU is halted\n");
	ksft_test_result(is_about(tl.ns[TL_HALTED], 50, tl.wall_ns) && ns_of_all() <= tl.wall_ns,
			 "halted: for most of the time\n");
	ksft_test_result(!count_events(e, e->state == TL_HALTED &&
				       (e->exit_reason != hlt_exit || e->next_pid == gettid())),
			 "halted: by HLT, and its CPU is another's\n");
	/* What it is not waiting for is a CPU. */
	ksft_test_result(waits_are_right() && waited_ns(TL_HALTED) < tl.ns[TL_HALTED] / 2,
			 "halted: and waits for that afterwards only\n");
	ksft_test_result(!tl.count[TL_HALT_POLL], "halted: and does not poll\n");
	kvm_vm_free(vm);

	/* Each halt that is shorter than that lets KVM poll longer the next time. */
	vm = make_vm_halts(&vcpu, HALT_POLL_NS);
	record_timeline(vcpu, POLL_TURNS, NULL, true, 0, NULL);
	ksft_test_result(order_is_right(), "halted: the order of polls\n");
	ksft_test_result(tl.count[TL_HALT_POLL] >= POLL_TURNS * HALTS / 2,
			 "halted: the vCPU polls\n");
	ksft_test_result(is_about(tl.ns[TL_HALT_POLL], 1, tl.wall_ns),
			 "halted: for some of the time\n");
	kvm_vm_free(vm);
	unpin(&before);
}

static const char *no_two_cpus(void)
{
	cpu_set_t set;

	TEST_ASSERT(!sched_getaffinity(0, sizeof(set), &set), "sched_getaffinity()");
	return CPU_COUNT(&set) < 2 ? "takes two CPUs" : no_timeline();
}

/* To the next CPU that the test may run on */
static void move(void)
{
	int cpu = sched_getcpu();

	do
		cpu = (cpu + 1) % CPU_SETSIZE;
	while (!CPU_ISSET(cpu, &allowed));
	pin_self_to_cpu(cpu);
}

static void test_moved(void)
{
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm = make_vm_two_roots(&vcpu);

	TEST_ASSERT(!sched_getaffinity(0, sizeof(allowed), &allowed), "sched_getaffinity()");
	move();
	record_timeline(vcpu, USER_EXITS, NULL, true, 0, move);
	ksft_test_result(nr_exits(KVM_EXIT_IO) == USER_EXITS && !tl.lost,
			 "moved: each exit is told, by the thread's event\n");
	ksft_test_result(count_events(e, e->state == TL_USER && e->why == -EINTR &&
				      e->cpu != e->sample_cpu) == USER_EXITS,
			 "moved: in between it is on one CPU, and then on another\n");
	ksft_test_result(!count_events(e, e > tl.events && e->cpu != e[-1].sample_cpu),
			 "moved: each state began on the CPU where the one before has ended\n");
	ksft_test_result(!count_events(e, e->seq != tl.events[0].seq + (e - tl.events)),
			 "moved: all are counted\n");
	sched_setaffinity(0, sizeof(allowed), &allowed);
	kvm_vm_free(vm);
}

static const char *no_ftrace(void)
{
	FILE *file = tracefs_open(TIMELINE, "enable", "w");

	if (!file)
		return "cannot write to tracefs";
	fclose(file);
	return NULL;
}

static void ftrace_timeline(bool on)
{
	FILE *file = tracefs_open(TIMELINE, "enable", "w");

	TEST_ASSERT(file && fprintf(file, "%d", on) == 1 && !fclose(file), "enable of " TIMELINE);
}

/* Who else reads the tracepoint does not change what the events are. */
static void test_others(void)
{
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm = make_vm_two_roots(&vcpu);

	ftrace_timeline(true);
	record_timeline(vcpu, USER_EXITS, NULL, true, 0, NULL);
	ftrace_timeline(false);
	ksft_test_result(nr_exits(KVM_EXIT_IO) == USER_EXITS &&
			 !count_events(e, e->seq != tl.events[0].seq + (e - tl.events)),
			 "others: each event counts once while ftrace has it, too\n");
	kvm_vm_free(vm);
}

/* --- All of them ---------------------------------------------------------------- */

static const struct {
	const char	*name;
	unsigned int	results;
	void		(*run)(void);
	const char	*(*why_not)(void);
} tests[] = {
	{ "content",	16 + NR_ALWAYS, test_content, NULL },
	{ "user",	4 + NR_ALWAYS, test_user, NULL },
	{ "nested",	4 + NR_ALWAYS, test_nested, no_nested },
	{ "smm",	3 + NR_ALWAYS, test_smm, no_smm },
	{ "exclude",	5,  test_exclude,	NULL },
	{ "attr",	ARRAY_SIZE(attr_sizes) + 1, test_attr, NULL },
	{ "permission",	3,  test_permission,	no_root },
	{ "softirq",	1,  test_softirq,	no_softirq_entry },
	{ "exits",	8,  test_exits,		no_timeline },
	{ "preempted",	5,  test_preempted,	no_timeline },
	{ "halted",	9,  test_halted,	no_timeline },
	{ "moved",	4,  test_moved,		no_two_cpus },
	{ "others",	1,  test_others,	no_ftrace },
	{ "pages",	4,  test_pages,		no_pages },
};

static bool wanted(unsigned int i)
{
	return !opt.only || !strcmp(opt.only, tests[i].name);
}

static void run_case(unsigned int i)
{
	const char *why_not = tests[i].why_not ? tests[i].why_not() : NULL;

	if (!why_not) {
		tests[i].run();
		return;
	}
	for (unsigned int j = 0; j < tests[i].results; j++)
		ksft_test_result_skip("%s: %s\n", tests[i].name, why_not);
}

static void help(const char *name)
{
	printf("usage: %s [-c case] [-n samples] [-p period] [-s seconds] [-l loops] [-t turns]\n"
	       "  -c  one case only:", name);
	for (unsigned int i = 0; i < ARRAY_SIZE(tests); i++)
		printf(" %s", tests[i].name);
	printf("\n"
	       "  -n  samples in the guest for each case (%u)\n"
	       "  -p  period of the samples in ns (%lu)\n"
	       "  -s  seconds that a case may take for its samples (%u)\n"
	       "  -l  iterations of each of the guest's loops (%lu)\n"
	       "  -t  turns of its loops before it exits to user space (%lu)\n",
	       opt.samples, opt.period, opt.seconds, guest.loops, guest.turns);
	exit(KSFT_FAIL);
}

static void parse_options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "c:n:p:s:l:t:h")) != -1) {
		switch (c) {
		case 'c':
			opt.only = optarg;
			break;
		case 'n':
			opt.samples = atoi_positive("samples", optarg);
			break;
		case 'p':
			opt.period = atoi_positive("period", optarg);
			break;
		case 's':
			opt.seconds = atoi_positive("seconds", optarg);
			break;
		case 'l':
			guest.loops = atoi_positive("loops", optarg);
			break;
		case 't':
			guest.turns = atoi_positive("turns", optarg);
			break;
		default:
			help(argv[0]);
		}
	}
}

static void require_vcpu_samples(void)
{
	struct perf_event_attr attr;
	int fd;

	init_clock(&attr);
	fd = sys_perf_event_open(&attr, 0, -1);
	if (fd < 0)
		ksft_exit_skip("no PERF_SAMPLE_VCPU: %s\n", strerror(errno));
	close(fd);
}

int main(int argc, char *argv[])
{
	unsigned int plan = 0;

	parse_options(argc, argv);
	setbuf(stdout, NULL);
	ksft_print_header();
	require_vcpu_samples();
	for (unsigned int i = 0; i < ARRAY_SIZE(tests); i++)
		plan += wanted(i) ? tests[i].results : 0;
	if (!plan)
		help(argv[0]);
	ksft_set_plan(plan);

	interrupt_exit = host_cpu_is_intel ? EXIT_REASON_EXTERNAL_INTERRUPT : SVM_EXIT_INTR;
	nmi_exit = host_cpu_is_intel ? EXIT_REASON_EXCEPTION_NMI : SVM_EXIT_NMI;
	io_exit = host_cpu_is_intel ? EXIT_REASON_IO_INSTRUCTION : SVM_EXIT_IOIO;
	hlt_exit = host_cpu_is_intel ? EXIT_REASON_HLT : SVM_EXIT_HLT;
	isa = host_cpu_is_intel ? PERF_VCPU_ISA_VMX : PERF_VCPU_ISA_SVM;
	rec.samples = calloc(MAX_SAMPLES, sizeof(*rec.samples));
	tl.events = calloc(MAX_SAMPLES, sizeof(*tl.events));
	TEST_ASSERT(rec.samples && tl.events, "calloc()");

	for (unsigned int i = 0; i < ARRAY_SIZE(tests); i++) {
		if (wanted(i))
			run_case(i);
	}
	ksft_finished();
}
