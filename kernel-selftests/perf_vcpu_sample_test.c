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
#define L2_STACK_SIZE	256
#define NESTED_LOOPS	10
/* Periods of the guest's timer that a guest halts before it exits to user space */
#define HALTS		8
#define HALT_TURNS	4
#define USER_EXITS	20
#define RING_PAGES	64
#define MAX_SAMPLES	50000
/* Of the guest's memory, which the host does not have at first, and how late each is */
#define ABSENT_PAGES	16
#define ABSENT_SLOT	10
#define ABSENT_GPA	0x10000000
#define PAGE_DELAY_US	5000
#define NOBODY		65534

/* SDM, "VMX Basic Exit Reasons"; APM, "SVM Intercept Exit Codes" */
static u32 interrupt_exit, nmi_exit, io_exit;

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
	unsigned long stack[L2_STACK_SIZE];
	struct vmcb *vmcb = svm->vmcb;

	write_cr3(guest.roots[0]);
	generic_svm_setup(svm, guest_l2_svm, &stack[L2_STACK_SIZE]);
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
	unsigned long stack[L2_STACK_SIZE];
	bool launched = false;

	write_cr3(guest.roots[0]);
	GUEST_ASSERT(prepare_for_vmx_operation(vmx));
	GUEST_ASSERT(load_vmcs(vmx));
	prepare_vmcs(vmx, guest_l2_vmx, &stack[L2_STACK_SIZE]);
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
	unsigned int		bare;
} rec;

/* In the kernel or on top of a guest, and no vCPU said to be loaded */
static bool sample_is_bare(const struct perf_sample *sample)
{
	return !(sample->vcpu.flags & PERF_VCPU_LOADED) &&
	       (sample->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER;
}

static void keep_sample(const struct perf_sample *sample, void *arg)
{
	if (rec.nr == MAX_SAMPLES)
		return;
	rec.samples[rec.nr++] = *sample;
	rec.in_guest += sample_is_in_guest(sample);
	rec.labelled_guest += sample_is_labelled_guest(sample);
	rec.bare += sample_is_bare(sample);
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
	rec.bare = 0;
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

#define is_loaded(s)	((s)->vcpu.flags & PERF_VCPU_LOADED)
#define root_valid(s)	((s)->vcpu.flags & PERF_VCPU_PT_ROOT_VALID)
#define is_nested(s)	((s)->vcpu.flags & PERF_VCPU_NESTED)
#define isa_of(s)	(((s)->vcpu.flags & PERF_VCPU_ISA_MASK) >> PERF_VCPU_ISA_SHIFT)
#define is_interrupt(s)	((s)->vcpu.exit_reason == interrupt_exit || \
			 (s)->vcpu.exit_reason == nmi_exit)

/* --- Tests --------------------------------------------------------------------- */

static bool host_has_vpid(void)
{
	return !host_cpu_is_intel || get_kvm_intel_param_bool("vpid");
}

static void test_content(void)
{
	const u32 isa = host_cpu_is_intel ? PERF_VCPU_ISA_VMX : PERF_VCPU_ISA_SVM;
	const u64 known = PERF_VCPU_LOADED | PERF_VCPU_IN_GUEST | PERF_VCPU_PT_ROOT_VALID |
			       PERF_VCPU_EXIT_REASON_VALID | PERF_VCPU_ISA_MASK;
	const size_t head = sizeof(struct perf_event_header) + 3 * sizeof(u64);
	/* An eighth of the samples for each loop is far less than what there are. */
	const unsigned int eighth = opt.samples / 8;
	struct perf_event_attr attr;
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm = make_vm_two_roots(&vcpu);
	unsigned int spins, interrupts;

	init_clock(&attr);
	record(vcpu, &attr, &rec.in_guest);

	check_samples(s, opt.samples, sample_is_in_guest(s), root_valid(s),
		      "content: samples in the guest have a CR3");
	check_samples(s, opt.samples, sample_is_in_guest(s),
		      s->vcpu.pt_root == guest.roots[0] || s->vcpu.pt_root == guest.roots[1],
		      "content: it is one of the guest's two, with its low bits");
	check_samples(s, eighth, sample_is_in_guest(s) && ip_is_in(s->ip, spin_a),
		      s->vcpu.pt_root == guest.roots[0],
		      "content: in the one loop it is the one");
	check_samples(s, eighth, sample_is_in_guest(s) && ip_is_in(s->ip, spin_b),
		      s->vcpu.pt_root == guest.roots[1],
		      "content: in the other loop it is the other");
	check_samples(s, opt.samples, is_loaded(s), s->vcpu.vcpu_id == VCPU_ID,
		      "content: the vCPU's id is the one it was created with");
	check_samples(s, opt.samples, is_loaded(s), isa_of(s) == isa,
		      "content: the ISA is the host's");
	check_samples(s, opt.samples, is_loaded(s),
		      s->vcpu.flags & PERF_VCPU_EXIT_REASON_VALID,
		      "content: there is an exit reason");
	check_samples(s, opt.samples, is_loaded(s), !!s->vcpu.vpid == host_has_vpid(),
		      "content: there is a VPID or ASID, if there are any");
	check_samples(s, opt.samples, is_loaded(s), !(s->vcpu.flags & ~known),
		      "content: no other flags than those");
	check_samples(s, opt.samples, sample_is_in_guest(s),
		      (s->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_GUEST_KERNEL,
		      "content: perf says guest kernel, too");
	check_samples(s, opt.samples, true, s->tid == gettid(),
		      "content: all samples are of the vCPU's thread");

	/*
	 * The loops have no instruction that exits. What is not an interrupt can only be
	 * a fault on the host's page tables, which is rare.
	 */
	spins = count_samples(s, sample_is_in_guest(s) &&
			      (ip_is_in(s->ip, spin_a) || ip_is_in(s->ip, spin_b)));
	interrupts = count_samples(s, sample_is_in_guest(s) && is_interrupt(s) &&
				   (ip_is_in(s->ip, spin_a) || ip_is_in(s->ip, spin_b)));
	ksft_print_msg("%u of %u exits from the loops are interrupts\n", interrupts, spins);
	ksft_test_result(spins && interrupts >= spins - spins / 20,
			 "content: an interrupt or NMI made the exit from the loops\n");

	check_samples(s, 1, is_loaded(s) && !sample_is_in_guest(s),
		      !root_valid(s) && !s->vcpu.pt_root,
		      "content: in host mode with the vCPU loaded there is no CR3");
	check_samples(s, 1, !is_loaded(s), !s->vcpu.flags,
		      "content: without a vCPU loaded there are no flags");

	check_samples(s, opt.samples, is_loaded(s), s->size == head + sizeof(struct perf_vcpu),
		      "layout: %zu bytes with a vCPU loaded", head + sizeof(struct perf_vcpu));
	check_samples(s, 1, !is_loaded(s), s->size == head + sizeof(u64),
		      "layout: %zu bytes without", head + sizeof(u64));
	check_samples(s, opt.samples, true, !s->left_over && !s->vcpu.reserved,
		      "layout: reserved is 0, and nothing is left over");

	/* The same without the bit */
	attr.sample_type &= ~PERF_SAMPLE_VCPU;
	record(vcpu, &attr, &rec.labelled_guest);
	check_samples(s, opt.samples, true, s->size == head && !s->left_over,
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
		      (s->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_GUEST_USER,
		      "user: samples of ring 3 are guest user");
	check_samples(s, eighth, sample_is_in_guest(s) && ip_is_in(s->ip, guest_user),
		      root_valid(s) && s->vcpu.pt_root == guest.roots[1],
		      "user: and have its CR3");
	check_samples(s, eighth, sample_is_in_guest(s) && ip_is_in(s->ip, spin_a),
		      (s->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_GUEST_KERNEL,
		      "user: samples of ring 0 are guest kernel");
	check_samples(s, eighth, sample_is_in_guest(s) && ip_is_in(s->ip, spin_a),
		      root_valid(s) && s->vcpu.pt_root == guest.roots[0],
		      "user: and have the other CR3");
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
	vm_vaddr_t gva;

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
		      root_valid(s) && s->vcpu.pt_root == guest.l2_root,
		      "nested: and have L2's CR3");
	check_samples(s, eighth, sample_is_in_guest(s) && ip_is_in(s->ip, spin_a),
		      !is_nested(s), "nested: samples of L1 do not say so");
	check_samples(s, eighth, sample_is_in_guest(s) && ip_is_in(s->ip, spin_a),
		      root_valid(s) && s->vcpu.pt_root == guest.roots[0],
		      "nested: and have L1's CR3");
	guest.loops /= NESTED_LOOPS;
	guest.turns *= NESTED_LOOPS;
	kvm_vm_free(vm);
}

static void test_exclude(void)
{
	struct perf_event_attr attr;
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm = make_vm_two_roots(&vcpu);

	init_clock(&attr);
	attr.exclude_guest = 1;
	record(vcpu, &attr, &rec.bare);
	check_samples(s, 1, true, !sample_is_in_guest(s) && !root_valid(s) && !s->vcpu.pt_root,
		      "exclude_guest: no sample is in the guest or has a CR3");
	/* Most of these are on top of the guest. Kernels differ in how they label them. */
	check_samples(s, opt.samples / 2, sample_is_bare(s), !s->vcpu.flags && s->left_over == 0,
		      "exclude_guest: what has interrupted it has nothing at all");

	init_clock(&attr);
	attr.exclude_host = 1;
	record(vcpu, &attr, &rec.in_guest);
	check_samples(s, opt.samples, sample_is_in_guest(s),
		      root_valid(s) && (s->vcpu.pt_root == guest.roots[0] ||
					s->vcpu.pt_root == guest.roots[1]),
		      "exclude_host: samples in the guest have a CR3");
	kvm_vm_free(vm);
}

/* Of all kernels since the first, in the order of PERF_ATTR_SIZE_VER* */
static const unsigned int attr_sizes[] = {
	PERF_ATTR_SIZE_VER0, PERF_ATTR_SIZE_VER1, PERF_ATTR_SIZE_VER2,
	PERF_ATTR_SIZE_VER3, PERF_ATTR_SIZE_VER4, PERF_ATTR_SIZE_VER5,
	PERF_ATTR_SIZE_VER6, PERF_ATTR_SIZE_VER7, PERF_ATTR_SIZE_VER8,
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
		check_samples(s, wanted, true, s->size == 40 && !s->left_over && !s->vcpu.flags,
			      "attr: samples with an attr of %u bytes, as of version %u",
			      attr_sizes[i], i);
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

/* Softirqs that threads run are never on top of an interrupt. */
static bool softirqs_are_threads(void)
{
	char cmdline[4096];
	bool forced = false;
	FILE *file;

	if (!access("/sys/kernel/realtime", F_OK))
		return true;
	file = fopen("/proc/cmdline", "r");
	if (!file)
		return false;
	while (!forced && fscanf(file, "%4095s", cmdline) == 1)
		forced = !strcmp(cmdline, "threadirqs");
	fclose(file);
	return forced;
}

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
	record(vcpu, &attr, &rec.labelled_guest);
	check_samples(s, opt.samples, sample_is_labelled_guest(s),
		      is_loaded(s) && !sample_is_in_guest(s) && !root_valid(s),
		      "softirq: a softirq that perf labels guest is not in the guest");
	opt.samples = samples;
	kvm_vm_free(vm);
}

/* --- The timeline -------------------------------------------------------------- */

#define TIMELINE "kvm/kvm_vcpu_timeline"

/* As in enum kvm_vcpu_timeline_state, which is not in a uapi header */
enum {
	TL_RUN,
	TL_USER,
	TL_PREEMPTED,
	TL_BLOCKED,
	TL_HALTED,
	TL_HALT_POLL,
	NR_TL,
};

struct timeline_event {
	u32	vcpu_id;
	u32	state;
	s32		why;
	s32		next_pid;
	u32	exit_reason;
};

static struct {
	/* Not an array, which would be part of the guest's memory, too */
	struct timeline_event	*events;
	unsigned int		nr;
	unsigned int		count[NR_TL];
} tl;

static int timeline_cpu;
static volatile bool spinner_stop;
static pid_t spinner_tid;

static const char *no_timeline(void)
{
	return tracepoint_id(TIMELINE) < 0 ? "no tracepoint kvm:kvm_vcpu_timeline" : NULL;
}

/* The offset of a field of 32 bits in the tracepoint's record */
static int field_offset(const char *name)
{
	FILE *file = tracefs_open(TIMELINE, "format");
	int offset = -1, size;
	char line[256], pattern[64];
	const char *field;

	TEST_ASSERT(file, "No format of " TIMELINE);
	snprintf(pattern, sizeof(pattern), " %s;", name);
	while (offset < 0 && fgets(line, sizeof(line), file)) {
		field = strstr(line, pattern);
		if (field && (sscanf(field + strlen(pattern), " offset:%d; size:%d;",
				     &offset, &size) != 2 || size != sizeof(u32)))
			offset = -1;
	}
	fclose(file);
	TEST_ASSERT(offset >= 0 && offset + sizeof(u32) <= PERF_RAW_MAX,
		    "No field %s of 32 bits in " TIMELINE, name);
	return offset;
}

static struct {
	int vcpu_id, state, why, next_pid, exit_reason;
} offsets;

static void keep_event(const struct perf_sample *sample, void *arg)
{
	struct timeline_event *event = &tl.events[tl.nr];

	/* There may be other VMs. */
	if (sample->tid != gettid() || tl.nr == MAX_SAMPLES)
		return;
	memcpy(&event->vcpu_id, sample->raw + offsets.vcpu_id, sizeof(event->vcpu_id));
	memcpy(&event->state, sample->raw + offsets.state, sizeof(event->state));
	memcpy(&event->why, sample->raw + offsets.why, sizeof(event->why));
	memcpy(&event->next_pid, sample->raw + offsets.next_pid, sizeof(event->next_pid));
	memcpy(&event->exit_reason, sample->raw + offsets.exit_reason,
	       sizeof(event->exit_reason));
	if (event->state < NR_TL)
		tl.count[event->state]++;
	tl.nr++;
}

/*
 * The events of @turns turns, or until *counted is not 0, behind one that is not recorded
 * if @warm. They are of the CPU, not of
 * the thread: perf takes the thread's events away before KVM knows that it is scheduled
 * out.
 */
static void record_timeline(struct kvm_vcpu *vcpu, unsigned int turns,
			    const unsigned int *counted, bool warm)
{
	u64 end = now_ns() + opt.seconds * 1000000000ULL;
	struct perf_event_attr attr;
	struct perf_ring ring;

	offsets.vcpu_id = field_offset("vcpu_id");
	offsets.state = field_offset("state");
	offsets.why = field_offset("why");
	offsets.next_pid = field_offset("next_pid");
	offsets.exit_reason = field_offset("exit_reason");

	init_tracepoint(&attr, TIMELINE);
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_RAW;
	tl.nr = 0;
	memset(tl.count, 0, sizeof(tl.count));
	perf_ring_open(&ring, &attr, -1, timeline_cpu, RING_PAGES);
	if (warm)
		run_turn(vcpu);
	perf_ring_enable(&ring);
	for (unsigned int i = 0; (i < turns || (counted && !*counted)) && now_ns() < end; i++) {
		run_turn(vcpu);
		perf_ring_read(&ring, keep_event, NULL);
	}
	perf_ring_disable(&ring);
	perf_ring_close(&ring);
	ksft_print_msg("%u events: run %u user %u preempted %u blocked %u halted %u poll %u\n",
		       tl.nr, tl.count[TL_RUN], tl.count[TL_USER], tl.count[TL_PREEMPTED],
		       tl.count[TL_BLOCKED], tl.count[TL_HALTED], tl.count[TL_HALT_POLL]);
}

/* What may follow what, without halt-polling */
static const u32 tl_next[NR_TL] = {
	[TL_RUN]	= BIT(TL_USER) | BIT(TL_PREEMPTED) | BIT(TL_BLOCKED) | BIT(TL_HALTED),
	[TL_USER]	= BIT(TL_RUN),
	[TL_PREEMPTED]	= BIT(TL_RUN),
	[TL_BLOCKED]	= BIT(TL_RUN),
	[TL_HALTED]	= BIT(TL_RUN),
};

static bool order_is_right(void)
{
	unsigned int bad = 0;

	for (unsigned int i = 0; i < tl.nr; i++) {
		const struct timeline_event *event = &tl.events[i];

		if (event->state >= NR_TL || event->vcpu_id != VCPU_ID)
			bad++;
		else if (i && !(tl_next[tl.events[i - 1].state] & BIT(event->state)))
			bad++;
	}
	if (bad)
		ksft_print_msg("%u of %u events are not as they should be\n", bad, tl.nr);
	return tl.nr && !bad && tl.events[0].state == TL_RUN &&
	       tl.events[tl.nr - 1].state == TL_USER;
}

/* How many times KVM_RUN has ended with @why */
static unsigned int nr_exits(int why)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < tl.nr; i++)
		nr += tl.events[i].state == TL_USER && tl.events[i].why == why;
	return nr;
}

/* The library runs the vCPU once more after each exit, with immediate_exit. */
static bool exits_are_right(void)
{
	for (unsigned int i = 0; i < tl.nr; i++) {
		const struct timeline_event *event = &tl.events[i];

		if (event->state == TL_USER ? event->exit_reason != io_exit : event->why)
			return false;
	}
	return nr_exits(KVM_EXIT_IO) + nr_exits(-EINTR) == tl.count[TL_USER];
}

/* How many times the CPU was lost to the task, or to any other than the vCPU's if 0 */
static unsigned int lost_to(pid_t tid)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < tl.nr; i++)
		nr += tl.events[i].state == TL_PREEMPTED && tl.events[i].next_pid == tid;
	return nr;
}

static void *spinner(void *arg)
{
	kvm_pin_this_task_to_pcpu(timeline_cpu);
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
	kvm_pin_this_task_to_pcpu(timeline_cpu);
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
	guest.absent = vm_vaddr_unused_gap(vm, ABSENT_PAGES * guest.page_size, ABSENT_GPA);
	virt_map(vm, guest.absent, ABSENT_GPA, ABSENT_PAGES);
	sync_global_to_guest(vm, guest);
	pages = uffd_setup_demand_paging(UFFDIO_REGISTER_MODE_MISSING, PAGE_DELAY_US,
					 addr_gpa2hva(vm, ABSENT_GPA),
					 ABSENT_PAGES * guest.page_size, 1, bring_page);

	record_timeline(vcpu, 1, NULL, false);
	ksft_test_result(order_is_right(), "pages: the order of waits for pages\n");
	ksft_test_result(tl.count[TL_BLOCKED] >= ABSENT_PAGES,
			 "pages: the vCPU is blocked for each of %u\n", ABSENT_PAGES);
	ksft_test_result(!tl.count[TL_HALTED], "pages: and never halted\n");
	uffd_stop_demand_paging(pages);
	kvm_vm_free(vm);
	unpin(&before);
}

static void test_timeline(void)
{
	pthread_t thread;
	cpu_set_t before;
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm;

	pin_for_timeline(&before);

	vm = make_vm_two_roots(&vcpu);
	record_timeline(vcpu, USER_EXITS, NULL, true);
	ksft_test_result(order_is_right(), "timeline: the order of exits to user space\n");
	ksft_test_result(nr_exits(KVM_EXIT_IO) == USER_EXITS,
			 "timeline: %u exits to user space\n", USER_EXITS);
	ksft_test_result(exits_are_right(), "timeline: and why\n");

	pthread_create(&thread, NULL, spinner, NULL);
	while (!__atomic_load_n(&spinner_tid, __ATOMIC_ACQUIRE))
		usleep(1000);
	record_timeline(vcpu, USER_EXITS, &tl.count[TL_PREEMPTED], true);
	spinner_stop = true;
	pthread_join(thread, NULL);
	ksft_test_result(order_is_right(), "timeline: the order of preemptions\n");
	ksft_test_result(lost_to(spinner_tid) > 0,
			 "timeline: the vCPU loses its CPU to the other thread\n");
	ksft_test_result(!lost_to(gettid()), "timeline: and never to itself\n");
	kvm_vm_free(vm);

	vm = make_vm(&vcpu, guest_halt);
	vm_install_exception_handler(vm, TIMER_VECTOR, guest_timer);
	/* No polling */
	vm_enable_cap(vm, KVM_CAP_HALT_POLL, 0);
	record_timeline(vcpu, HALT_TURNS, NULL, true);
	ksft_test_result(order_is_right(), "timeline: the order of halts\n");
	/* Some find the interrupt pending if the host is slow, some wake up in vain. */
	ksft_test_result(tl.count[TL_HALTED] >= HALT_TURNS * HALTS / 2,
			 "timeline: the vCPU is halted\n");
	ksft_test_result(!tl.count[TL_HALT_POLL], "timeline: and does not poll\n");
	kvm_vm_free(vm);
	unpin(&before);
}

/* --- All of them ---------------------------------------------------------------- */

static const struct {
	const char	*name;
	unsigned int	results;
	void		(*run)(void);
	const char	*(*why_not)(void);
} tests[] = {
	{ "content",	18, test_content,	NULL },
	{ "user",	4,  test_user,		NULL },
	{ "nested",	4,  test_nested,	no_nested },
	{ "exclude",	3,  test_exclude,	NULL },
	{ "attr",	ARRAY_SIZE(attr_sizes) + 1, test_attr, NULL },
	{ "permission",	3,  test_permission,	no_root },
	{ "softirq",	1,  test_softirq,	no_softirq_entry },
	{ "timeline",	9,  test_timeline,	no_timeline },
	{ "pages",	3,  test_pages,		no_pages },
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
	rec.samples = calloc(MAX_SAMPLES, sizeof(*rec.samples));
	tl.events = calloc(MAX_SAMPLES, sizeof(*tl.events));
	TEST_ASSERT(rec.samples && tl.events, "calloc()");

	for (unsigned int i = 0; i < ARRAY_SIZE(tests); i++) {
		if (wanted(i))
			run_case(i);
	}
	ksft_finished();
}
