// SPDX-License-Identifier: GPL-2.0-only
/*
 * PERF_SAMPLE_VCPU, held against guests of which all is known: which loop runs on which
 * CR3, in which ring, and whether it is a guest's guest or a handler of SMIs.
 *
 * There is no need for a PMU: samples are of the software event cpu-clock.
 */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apic.h"
#include "kvm_util.h"
#include "kselftest.h"
#include "perf_vcpu.h"
#include "processor.h"
#include "smm.h"
#include "svm_util.h"
#include "test_util.h"
#include "vmx.h"

/* Not 0, which is also what nothing is */
#define VCPU_ID		5
#define NESTED_LOOPS	10
#define RING_PAGES	64
#define MAX_SAMPLES	50000
#define NOBODY		65534
#define SMRAM_GPA	0x1000000

/* SDM, "VMX Basic Exit Reasons"; APM, "SVM Intercept Exit Codes" */
static u64 interrupt_exit, nmi_exit;
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
} guest = { .loops = 10000, .turns = 50 };

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
	unsigned int		in_guest_not_smm;
	unsigned int		in_smm_and_not;	/* the smaller one of both */
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
	rec.in_guest_not_smm += ip_is_in(sample->ip, spin_a) && sample_is_in_guest(sample) &&
				!has_flag(sample, PERF_VCPU_SMM);
	rec.in_smm_and_not = min(rec.in_smm, rec.in_guest_not_smm);
}

/* The CR3s have bits below the address of the table, too: PCIDs, or else PWT and PCD. */
static void make_roots(struct kvm_vcpu *vcpu)
{
	bool pcid = kvm_cpu_has(X86_FEATURE_PCID);

	guest.cr4 = pcid ? X86_CR4_PCIDE : 0;
	guest.roots[0] = clone_page_table_root(vcpu) | (pcid ? 0x5a5 : 0x08);
	guest.roots[1] = clone_page_table_root(vcpu) | (pcid ? 0x2d1 : 0x10);
	guest.l2_root = clone_page_table_root(vcpu);
	sync_global_to_guest(vcpu->vm, guest);
}

static struct kvm_vm *make_vm(struct kvm_vcpu **vcpu, void *code)
{
	struct kvm_vm *vm = vm_create(1);

	*vcpu = vm_vcpu_add(vm, VCPU_ID, code);
	vcpu_enable_interrupts(*vcpu);
	make_roots(*vcpu);
	return vm;
}

/* A VM that runs on its two roots: it has begun on another. */
static struct kvm_vm *make_vm_two_roots(struct kvm_vcpu **vcpu)
{
	struct kvm_vm *vm = make_vm(vcpu, guest_two_roots);

	run_turn(*vcpu);
	return vm;
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
	rec.in_guest_not_smm = 0;
	rec.in_smm_and_not = 0;
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

	vm_allow_ring_3(vcpu);
	/* Ring 3 is allowed in the roots, too. */
	make_roots(vcpu);
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
	make_roots(vcpu);
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
	record(vcpu, &attr, &rec.in_smm_and_not);
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
	check_samples(s, 1, is_loaded(s), sample_vcpu(s)->vcpu_id == VCPU_ID && isa_of(s) == isa &&
		      has_flag(s, PERF_VCPU_EXIT_REASON_VALID),
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

/* --- All of them ---------------------------------------------------------------- */

static const struct test_case tests[] = {
	{ "content",	16 + NR_ALWAYS, test_content, NULL },
	{ "user",	4 + NR_ALWAYS, test_user, NULL },
	{ "nested",	4 + NR_ALWAYS, test_nested, no_nested },
	{ "smm",	3 + NR_ALWAYS, test_smm, no_smm },
	{ "exclude",	5,  test_exclude,	NULL },
	{ "attr",	ARRAY_SIZE(attr_sizes) + 1, test_attr, NULL },
	{ "permission",	3,  test_permission,	no_root },
	{ "softirq",	1,  test_softirq,	no_softirq_entry },
};

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
	parse_options(argc, argv);
	setbuf(stdout, NULL);
	ksft_print_header();
	require_vcpu_samples();
	if (!plan_cases(tests, ARRAY_SIZE(tests), opt.only))
		help(argv[0]);

	interrupt_exit = host_cpu_is_intel ? EXIT_REASON_EXTERNAL_INTERRUPT : SVM_EXIT_INTR;
	nmi_exit = host_cpu_is_intel ? EXIT_REASON_EXCEPTION_NMI : SVM_EXIT_NMI;
	isa = host_cpu_is_intel ? PERF_VCPU_ISA_VMX : PERF_VCPU_ISA_SVM;
	rec.samples = calloc(MAX_SAMPLES, sizeof(*rec.samples));
	TEST_ASSERT(rec.samples, "calloc()");

	run_cases(tests, ARRAY_SIZE(tests), opt.only);
	ksft_finished();
}
