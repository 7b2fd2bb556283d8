// SPDX-License-Identifier: GPL-2.0
/*
 * What a VM-exit, a KVM_RUN and a sample cost, in ticks of the TSC. On the lab's virtual clock
 * with shift=0 a tick is an instruction, and the figures are exact.
 *
 * Usage: kvm-cost exit|run|guest-sample|host-sample none|plain|vcpu|timeline|existing|bpf
 *	  kvm-cost guest-frames|host-frames plain|chain|stack
 *
 * exit: from before the guest's CPUID to behind it, all of it KVM's.
 * run: from before KVM_RUN to behind it, of a guest that writes to a port: into the kernel, into
 *	the guest, and out to the VMM.
 * guest-sample, host-sample: how long the guest, or this program, does not get on for a sample of
 *	a cpu-clock event.
 *
 * guest-frames, host-frames: the same of code that twenty functions with frame pointers have led to.
 *
 * The last word is what is open on this thread: none; cpu-clock without (plain) and with
 * PERF_SAMPLE_VCPU (vcpu), which are for samples; the tracepoint kvm_vcpu_timeline; the existing
 * tracepoints that say the same of a stay in the VMM, kvm_userspace_exit and kvm_entry; or a
 * BPF program on these two, which emits one record for such a stay, as kvm_vcpu_timeline does; or
 * cpu-clock with callchains of user mode or of the guest by frame pointers (chain), or with registers
 * and 8 KiB of the stack, as perf's --call-graph dwarf has them (stack).
 *
 * Prints "least N most-often N (TIMES of ALL)", the most frequent value being what a timer's
 * interrupt between the two looks at the counter does not change. Ends with 3 if the kernel does
 * not have such an event.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/kvm.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#define EVENTS_DIR	"/sys/kernel/tracing/events/"
#define NO_SUCH_EVENT	3

/* Of the guest, which is in real mode: its code, and a segment for what it has measured */
#define MEM_SIZE	0x40000
#define CODE		0x1000
#define RESULTS		0x10000
#define RFLAGS_IF	0x202
#define PORT_DONE	0x10
#define PORT_RUN	0x11

/* 4 bytes each, in 64 KiB */
#define NR_RESULTS	2000
/* More than a turn of the loop takes, less than any interrupt. In ticks. */
#define GAP		300
/* Of the event. Rare enough that samples do not meet, often enough not to take long. In ns. */
#define PERIOD		200000
/* For all samples, as nobody reads them meanwhile. A power of two. */
#define RING_PAGES	256
#define PAGE_SIZE	4096
#define STACK_RING_PAGES 8192

/* Of a guest in 64-bit mode: three page tables and its frames, of four words each */
#define TABLES		0x20000
#define FRAMES		0x30000
#define NR_FRAMES	20
#define FRAME_WORDS	4
#define PTE_TABLE	0x7
#define PTE_LARGE	0x87
#define CR0_PE_PG	0x80000001
#define CR4_PAE		0x20
#define EFER_LME_LMA	0x500
#define CODE_SEGMENT	11
#define MAX_CPUID_ENTRIES 256
#define STACK_SIZE	8192
/* All of x86-64 but flags and segments */
#define STACK_REGS	0xff01ff

/* What the BPF program keeps for a thread, and emits: the time, and what it has lasted, in ns */
#define RECORD_SIZE	24
#define MAX_THREADS	64

#define STRING_OF(x)	#x
#define STRING(x)	STRING_OF(x)

/* Copied into the guest. es:di: where the results go. */
asm(".pushsection .rodata\n"
    ".code16\n"
    "guest_exit:\n"
    "	movw	$" STRING(NR_RESULTS) ", %bp\n"
    "1:	xorl	%eax, %eax\n"
    "	rdtsc\n"
    "	movl	%eax, %esi\n"
    "	xorl	%eax, %eax\n"
    "	cpuid\n"
    "	rdtsc\n"
    "	subl	%esi, %eax\n"
    "	stosl\n"
    "	decw	%bp\n"
    "	jnz	1b\n"
    "	outb	%al, $" STRING(PORT_DONE) "\n"
    "guest_run:\n"
    "	outb	%al, $" STRING(PORT_RUN) "\n"
    "	jmp	guest_run\n"
    "guest_sample:\n"
    "	movw	$" STRING(NR_RESULTS) ", %bp\n"
    "	rdtsc\n"
    "	movl	%eax, %esi\n"
    "2:	rdtsc\n"
    "	movl	%eax, %ebx\n"
    "	subl	%esi, %eax\n"
    "	movl	%ebx, %esi\n"
    "	cmpl	$" STRING(GAP) ", %eax\n"
    "	jb	2b\n"
    "	stosl\n"
    "	decw	%bp\n"
    "	jnz	2b\n"
    "	outb	%al, $" STRING(PORT_DONE) "\n"
    ".code64\n"
    "guest_frames:\n"
    "	movl	$" STRING(NR_RESULTS) ", %r8d\n"
    "	rdtsc\n"
    "	movl	%eax, %esi\n"
    "3:	rdtsc\n"
    "	movl	%eax, %ebx\n"
    "	subl	%esi, %eax\n"
    "	movl	%ebx, %esi\n"
    "	cmpl	$" STRING(GAP) ", %eax\n"
    "	jb	3b\n"
    "	stosl\n"
    "	decl	%r8d\n"
    "	jnz	3b\n"
    "	outb	%al, $" STRING(PORT_DONE) "\n"
    "guest_end:\n"
    ".popsection\n");

extern const uint8_t guest_exit[], guest_run[], guest_sample[], guest_frames[], guest_end[];

static uint32_t results[NR_RESULTS];

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void print_results(void)
{
	unsigned int best = 0, times = 0;

	qsort(results, NR_RESULTS, sizeof(results[0]), compare);
	for (unsigned int i = 0, from = 0; i < NR_RESULTS; i++) {
		if (results[i] != results[from])
			from = i;
		if (i - from + 1 > times) {
			times = i - from + 1;
			best = results[i];
		}
	}
	printf("least %u most-often %u (%u of %u)\n", results[0], best, times, NR_RESULTS);
}

static int kvm_ioctl(int fd, unsigned long request, void *arg, const char *what)
{
	int ret = ioctl(fd, request, arg);

	if (ret < 0)
		err(1, "%s", what);
	return ret;
}

struct vm {
	int kvm, vcpu;
	uint8_t *memory;
	struct kvm_run *run;
};

static void create_vm(struct vm *vm, const uint8_t *start)
{
	struct kvm_userspace_memory_region region = { .memory_size = MEM_SIZE };
	struct kvm_regs regs = { .rip = start - guest_exit, .rflags = RFLAGS_IF };
	struct kvm_sregs sregs;
	int fd;

	vm->kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (vm->kvm < 0)
		err(1, "/dev/kvm");
	fd = kvm_ioctl(vm->kvm, KVM_CREATE_VM, NULL, "KVM_CREATE_VM");
	vm->memory = mmap(NULL, MEM_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (vm->memory == MAP_FAILED)
		err(1, "memory for the guest");
	memcpy(vm->memory + CODE, guest_exit, guest_end - guest_exit);
	region.userspace_addr = (uintptr_t)vm->memory;
	kvm_ioctl(fd, KVM_SET_USER_MEMORY_REGION, &region, "KVM_SET_USER_MEMORY_REGION");

	vm->vcpu = kvm_ioctl(fd, KVM_CREATE_VCPU, NULL, "KVM_CREATE_VCPU");
	vm->run = mmap(NULL, kvm_ioctl(vm->kvm, KVM_GET_VCPU_MMAP_SIZE, NULL, "vCPU's size"),
		       PROT_READ | PROT_WRITE, MAP_SHARED, vm->vcpu, 0);
	if (vm->run == MAP_FAILED)
		err(1, "mmap of a vCPU");
	kvm_ioctl(vm->vcpu, KVM_GET_SREGS, &sregs, "KVM_GET_SREGS");
	sregs.cs.base = CODE;
	sregs.cs.selector = CODE >> 4;
	sregs.es.base = RESULTS;
	sregs.es.selector = RESULTS >> 4;
	kvm_ioctl(vm->vcpu, KVM_SET_SREGS, &sregs, "KVM_SET_SREGS");
	kvm_ioctl(vm->vcpu, KVM_SET_REGS, &regs, "KVM_SET_REGS");
}

/* 64-bit mode, the first 2 MiB mapped to themselves, and frames that lead outwards */
static void enter_long_mode(struct vm *vm)
{
	uint64_t *tables = (uint64_t *)(vm->memory + TABLES), *frame;
	static struct {
		struct kvm_cpuid2 header;
		struct kvm_cpuid_entry2 entries[MAX_CPUID_ENTRIES];
	} cpuid = { .header.nent = MAX_CPUID_ENTRIES };
	struct kvm_regs regs;
	struct kvm_sregs sregs;

	tables[0] = (TABLES + PAGE_SIZE) | PTE_TABLE;
	tables[PAGE_SIZE / sizeof(*tables)] = (TABLES + 2 * PAGE_SIZE) | PTE_TABLE;
	tables[2 * PAGE_SIZE / sizeof(*tables)] = PTE_LARGE;
	for (unsigned int i = 0; i < NR_FRAMES; i++) {
		frame = (uint64_t *)(vm->memory + FRAMES) + i * FRAME_WORDS;
		frame[0] = i + 1 < NR_FRAMES ?
			   FRAMES + (i + 1) * FRAME_WORDS * sizeof(uint64_t) : 0;
		frame[1] = CODE + i + 1;
	}
	/* Without it, the CPU has no such mode. */
	kvm_ioctl(vm->kvm, KVM_GET_SUPPORTED_CPUID, &cpuid, "KVM_GET_SUPPORTED_CPUID");
	kvm_ioctl(vm->vcpu, KVM_SET_CPUID2, &cpuid, "KVM_SET_CPUID2");
	kvm_ioctl(vm->vcpu, KVM_GET_SREGS, &sregs, "KVM_GET_SREGS");
	sregs.cr3 = TABLES;
	sregs.cr4 |= CR4_PAE;
	sregs.cr0 |= CR0_PE_PG;
	sregs.efer |= EFER_LME_LMA;
	sregs.cs.base = 0;
	sregs.cs.selector = 8;
	sregs.cs.type = CODE_SEGMENT;
	sregs.cs.l = 1;
	sregs.cs.db = 0;
	sregs.es.base = 0;
	kvm_ioctl(vm->vcpu, KVM_SET_SREGS, &sregs, "KVM_SET_SREGS");
	kvm_ioctl(vm->vcpu, KVM_GET_REGS, &regs, "KVM_GET_REGS");
	regs.rip += CODE;
	regs.rdi = RESULTS;
	regs.rbp = FRAMES;
	regs.rsp = FRAMES - 2 * sizeof(uint64_t);
	kvm_ioctl(vm->vcpu, KVM_SET_REGS, &regs, "KVM_SET_REGS");
}

static void run_to(struct vm *vm, uint16_t port)
{
	while (ioctl(vm->vcpu, KVM_RUN, NULL) < 0) {
		if (errno != EINTR)
			err(1, "KVM_RUN");
	}
	if (vm->run->exit_reason != KVM_EXIT_IO || vm->run->io.port != port)
		errx(1, "the guest has ended with exit reason %u", vm->run->exit_reason);
}

static void in_guest(const uint8_t *start)
{
	struct vm vm;

	create_vm(&vm, start);
	if (start == guest_frames)
		enter_long_mode(&vm);
	run_to(&vm, PORT_DONE);
	memcpy(results, vm.memory + RESULTS, sizeof(results));
}

static void measure_runs(void)
{
	struct vm vm;

	create_vm(&vm, guest_run);
	for (unsigned int i = 0; i < NR_RESULTS; i++) {
		uint64_t start = __rdtsc();

		ioctl(vm.vcpu, KVM_RUN, NULL);
		results[i] = __rdtsc() - start;
	}
	run_to(&vm, PORT_RUN);
}

static void measure_host_samples(void)
{
	uint64_t last = __rdtsc();

	for (unsigned int i = 0; i < NR_RESULTS;) {
		uint64_t now = __rdtsc();

		if (now - last >= GAP)
			results[i++] = now - last;
		last = now;
	}
}

/* The same, called by @depth functions */
static __attribute__((noinline, optimize("no-omit-frame-pointer"))) void in_frames(unsigned int depth)
{
	if (depth)
		in_frames(depth - 1);
	else
		measure_host_samples();
	/* Or the call is a jump */
	asm volatile("");
}

/* Of SYSTEM/EVENT. A kernel that does not have it is no error. */
static uint64_t tracepoint_id(const char *name)
{
	char path[256];
	unsigned long long id;
	FILE *file;

	snprintf(path, sizeof(path), EVENTS_DIR "%s/id", name);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%llu", &id) != 1)
		exit(NO_SUCH_EVENT);
	fclose(file);
	return id;
}

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr, const char *what)
{
	int ret = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	if (ret < 0)
		err(1, "bpf: %s", what);
	return ret;
}

#define INSN(c, d, s, o, i)	{ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) }
#define MOV_REG(d, s)		INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV_IMM(d, i)		INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ADD_IMM(d, i)		INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define SUB_REG(d, s)		INSN(BPF_ALU64 | BPF_SUB | BPF_X, d, s, 0, 0)
#define LOAD(d, s, o)		INSN(BPF_LDX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STORE(d, o, s)		INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STORE_IMM(d, o, i)	INSN(BPF_ST | BPF_MEM | BPF_DW, d, 0, o, i)
#define LOAD_MAP(d, fd)		INSN(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_MAP_FD, 0, fd), \
				INSN(0, 0, 0, 0, 0)
#define CALL(f)			INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_##f)
#define JUMP_IF_ZERO(d, o)	INSN(BPF_JMP | BPF_JEQ | BPF_K, d, 0, o, 0)
#define EXIT			INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define R(n)			BPF_REG_##n

static int load_program(const struct bpf_insn *insns, size_t nr)
{
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_TRACEPOINT,
		.insns = (uintptr_t)insns,
		.insn_cnt = nr,
		.license = (uintptr_t)"GPL",
	};

	return bpf(BPF_PROG_LOAD, &attr, "program");
}

/* The thread leaves KVM_RUN: since[thread] = now */
static int load_leave(int since)
{
	const struct bpf_insn insns[] = {
		CALL(get_current_pid_tgid),
		STORE(R(10), -8, R(0)),
		CALL(ktime_get_ns),
		STORE(R(10), -16, R(0)),
		LOAD_MAP(R(1), since),
		MOV_REG(R(2), R(10)),
		ADD_IMM(R(2), -8),
		MOV_REG(R(3), R(10)),
		ADD_IMM(R(3), -16),
		MOV_IMM(R(4), BPF_ANY),
		CALL(map_update_elem),
		MOV_IMM(R(0), 0),
		EXIT,
	};

	return load_program(insns, sizeof(insns) / sizeof(*insns));
}

/* It enters its guest: if it has been out since the last time, that is one record. */
static int load_enter(int since, int records)
{
	const struct bpf_insn insns[] = {
		CALL(get_current_pid_tgid),
		STORE(R(10), -8, R(0)),
		MOV_REG(R(9), R(0)),
		LOAD_MAP(R(1), since),
		MOV_REG(R(2), R(10)),
		ADD_IMM(R(2), -8),
		CALL(map_lookup_elem),
		JUMP_IF_ZERO(R(0), 18),
		LOAD(R(6), R(0), 0),
		JUMP_IF_ZERO(R(6), 16),
		STORE_IMM(R(0), 0, 0),
		CALL(ktime_get_ns),
		MOV_REG(R(7), R(0)),
		LOAD_MAP(R(1), records),
		MOV_IMM(R(2), RECORD_SIZE),
		MOV_IMM(R(3), 0),
		CALL(ringbuf_reserve),
		JUMP_IF_ZERO(R(0), 7),
		STORE(R(0), 0, R(7)),
		SUB_REG(R(7), R(6)),
		STORE(R(0), 8, R(7)),
		STORE(R(0), 16, R(9)),
		MOV_REG(R(1), R(0)),
		/* Nobody reads them meanwhile. */
		MOV_IMM(R(2), BPF_RB_NO_WAKEUP),
		CALL(ringbuf_submit),
		MOV_IMM(R(0), 0),
		EXIT,
	};

	return load_program(insns, sizeof(insns) / sizeof(*insns));
}

static int create_map(enum bpf_map_type type, unsigned int key, unsigned int value,
		      unsigned int entries)
{
	union bpf_attr attr = {
		.map_type = type,
		.key_size = key,
		.value_size = value,
		.max_entries = entries,
	};

	return bpf(BPF_MAP_CREATE, &attr, "map");
}

/* The tracepoint, on this thread; @program: -1, or what runs then, and nothing is recorded */
static void open_tracepoint(const char *name, int program)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_TRACEPOINT,
		.config = tracepoint_id(name), .sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_RAW,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		err(1, "event %s", name);
	if (program >= 0) {
		if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program))
			err(1, "a BPF program for %s", name);
	} else if (mmap(NULL, (1 + RING_PAGES) * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			0) == MAP_FAILED) {
		err(1, "buffer of the event %s", name);
	}
}

static void open_bpf(void)
{
	int since = create_map(BPF_MAP_TYPE_HASH, 8, 8, MAX_THREADS);
	int records = create_map(BPF_MAP_TYPE_RINGBUF, 0, 0, RING_PAGES * PAGE_SIZE);

	open_tracepoint("kvm/kvm_userspace_exit", load_leave(since));
	open_tracepoint("kvm/kvm_entry", load_enter(since, records));
}

/* With callchains of this program, or of its guest */
static void want_chains(struct perf_event_attr *attr, const char *name, bool guest)
{
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->exclude_callchain_kernel = 1;
#ifdef PERF_GUEST_CALLCHAIN_STACK
	attr->guest_callchain = guest;
	attr->guest_output = guest;
#else
	if (guest)
		exit(NO_SUCH_EVENT);
#endif
	if (!strcmp(name, "stack")) {
		attr->exclude_callchain_user = 1;
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user = STACK_REGS;
		attr->sample_stack_user = STACK_SIZE;
	}
}

/* On this thread, as long as it runs. @guest: what is measured is one */
static void open_event(const char *name, bool guest)
{
	bool stack = !strcmp(name, "stack");
	size_t ring_size = (1 + (stack ? STACK_RING_PAGES : RING_PAGES)) * PAGE_SIZE;
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = PERIOD,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	};
	void *ring;
	int fd;

	if (!strcmp(name, "timeline")) {
		open_tracepoint("kvm/kvm_vcpu_timeline", -1);
		return;
	}
	if (!strcmp(name, "existing")) {
		open_tracepoint("kvm/kvm_userspace_exit", -1);
		open_tracepoint("kvm/kvm_entry", -1);
		return;
	}
	if (!strcmp(name, "bpf")) {
		open_bpf();
		return;
	}
	if (!strcmp(name, "vcpu"))
		attr.sample_type |= PERF_SAMPLE_VCPU;
	else if (stack || !strcmp(name, "chain"))
		want_chains(&attr, name, guest);
	else if (strcmp(name, "plain"))
		errx(2, "no event '%s'", name);
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && errno == EINVAL)
		exit(NO_SUCH_EVENT);
	if (fd < 0)
		err(1, "event %s", name);
	ring = mmap(NULL, ring_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		err(1, "buffer of the event %s", name);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		errx(2, "usage: kvm-cost exit|run|guest-sample|host-sample none|plain|vcpu|timeline|existing|bpf\n"
			"       kvm-cost guest-frames|host-frames plain|chain|stack");
	if (strcmp(argv[2], "none"))
		open_event(argv[2], !strcmp(argv[1], "guest-frames"));
	if (!strcmp(argv[1], "exit"))
		in_guest(guest_exit);
	else if (!strcmp(argv[1], "run"))
		measure_runs();
	else if (!strcmp(argv[1], "guest-sample"))
		in_guest(guest_sample);
	else if (!strcmp(argv[1], "guest-frames"))
		in_guest(guest_frames);
	else if (!strcmp(argv[1], "host-sample"))
		measure_host_samples();
	else if (!strcmp(argv[1], "host-frames"))
		in_frames(NR_FRAMES);
	else
		errx(2, "nothing to measure: '%s'", argv[1]);
	print_results();
	return 0;
}
