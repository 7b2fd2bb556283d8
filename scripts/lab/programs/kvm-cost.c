// SPDX-License-Identifier: GPL-2.0
/*
 * What a VM-exit, a KVM_RUN and a sample cost, in ticks of the TSC. On the lab's virtual clock
 * with shift=0 a tick is an instruction, and the figures are exact.
 *
 * Usage: kvm-cost exit|run none|timeline|existing|switches|bpf
 *	  kvm-cost guest-sample|host-sample plain|vcpu|bpf
 *	  kvm-cost guest-frames|host-frames plain|chain|stack
 *
 * exit: from before the guest's CPUID to behind it, all of it KVM's.
 * run: from before KVM_RUN to behind it, of a guest that writes to a port: into the kernel, into
 *	the guest, and out to the VMM.
 * guest-sample, host-sample: how long the guest, or this program, does not get on for a sample of
 *	a cpu-clock event.
 *
 * guest-frames, host-frames: the same of code that twenty functions with frame pointers have led
 *	to.
 *
 * The last word is what is open on this thread. For stays in the VMM: none; the tracepoint
 * kvm_vcpu_timeline; the existing ones that tell the same, kvm_userspace_exit and kvm_entry; the
 * thread's own context switches with kvm_userspace_exit and ioctl()s (switches); or a BPF program
 * on the existing ones, which emits one record for such a stay, as kvm_vcpu_timeline does. For
 * samples: cpu-clock without (plain) and with PERF_SAMPLE_VCPU (vcpu); a BPF program in place of
 * the sample, which emits what that has (bpf); with callchains of user mode or of the guest by
 * frame pointers (chain), or with registers and 8 KiB of the stack, as perf's --call-graph dwarf
 * has them (stack).
 *
 * Prints "least N most-often N (TIMES of ALL) bytes N", the most frequent value being what a
 * timer's interrupt between the two looks at the counter does not change, and the bytes those that
 * are recorded of a stay, or the largest sample's. Ends with 3 if the kernel does not have such an
 * event.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <bpf/libbpf.h>
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

#define MAX_RINGS	3

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

static void print_results(size_t bytes)
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
	printf("least %u most-often %u (%u of %u) bytes %zu\n", results[0], best, times,
	       NR_RESULTS, bytes);
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

/* What is in kvm-cost.bpf.c, which is beside this program */
static struct bpf_object *load_bpf(void)
{
	struct bpf_object *object;
	char path[256];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - sizeof(".bpf.o"));

	if (len < 0)
		err(1, "/proc/self/exe");
	strcpy(path + len, ".bpf.o");
	object = bpf_object__open_file(path, NULL);
	if (!object)
		err(1, "%s", path);
	if (bpf_object__load(object))
		err(1, "BPF programs");
	return object;
}

static int bpf_program(const struct bpf_object *object, const char *name)
{
	return bpf_program__fd(bpf_object__find_program_by_name(object, name));
}

/* The buffers of what is open */
static struct perf_event_mmap_page *rings[MAX_RINGS];
static unsigned int nr_rings;
static struct ring_buffer *bpf_ring;

static void open_ring(int fd, unsigned int pages)
{
	void *ring = mmap(NULL, (1 + pages) * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (ring == MAP_FAILED)
		err(1, "buffer of an event");
	rings[nr_rings++] = ring;
}

static int open_on_thread(struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	return syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/*
 * The tracepoint, on this thread; @filter: of it, or NULL; @program: -1, or what runs then, and
 * nothing is recorded
 */
static void open_tracepoint(const char *name, const char *filter, int program)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.config = tracepoint_id(name), .sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_RAW,
	};
	int fd = open_on_thread(&attr);

	if (fd < 0)
		err(1, "event %s", name);
	if (filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter))
		err(1, "filter of %s", name);
	if (program < 0)
		open_ring(fd, RING_PAGES);
	else if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program))
		err(1, "a BPF program for %s", name);
}

/* When this thread gets and loses the CPU, as perf record --switch-events */
static void open_switches(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.context_switch = 1,
	};
	int fd = open_on_thread(&attr);

	if (fd < 0)
		err(1, "context switches");
	open_ring(fd, RING_PAGES);
}

/* What BPF has recorded */
struct bpf_records {
	size_t size, all;
};

static int note_size(void *records, void *record, size_t len)
{
	struct bpf_records *seen = records;

	(void)record;
	/* With the header */
	seen->size = len + BPF_RINGBUF_HDR_SZ;
	seen->all += seen->size;
	return 0;
}

static void open_bpf_ring(const struct bpf_object *object, struct bpf_records *records)
{
	bpf_ring = ring_buffer__new(bpf_object__find_map_fd_by_name(object, "records"), note_size,
				    records, NULL);
	if (!bpf_ring)
		err(1, "buffer of BPF's records");
}

/* The largest record, in bytes. Nothing is overwritten in a buffer. */
static size_t largest_record(const struct perf_event_mmap_page *ring)
{
	const char *data = (const char *)ring + ring->data_offset;
	size_t largest = 0;

	for (uint64_t at = 0; at < ring->data_head;) {
		const struct perf_event_header *record = (const void *)(data + at);

		if (record->size > largest)
			largest = record->size;
		at += record->size;
	}
	return largest;
}

/* In bytes: all records, by the number of stays; or the largest sample */
static size_t recorded_size(struct bpf_records *bpf, bool stays)
{
	size_t size = 0;

	if (bpf_ring && ring_buffer__consume(bpf_ring) < 0)
		errx(1, "BPF's records cannot be read");
	for (unsigned int i = 0; i < nr_rings; i++)
		size += stays ? rings[i]->data_head : largest_record(rings[i]);
	return stays ? (size + bpf->all) / NR_RESULTS : size + bpf->size;
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

/* Of stays in the VMM, as @name has them. false: it is none of those */
static bool open_stays(const char *name, const struct bpf_object *bpf)
{
	if (!strcmp(name, "timeline")) {
		open_tracepoint("kvm/kvm_vcpu_timeline", NULL, -1);
	} else if (!strcmp(name, "existing")) {
		open_tracepoint("kvm/kvm_userspace_exit", NULL, -1);
		open_tracepoint("kvm/kvm_entry", NULL, -1);
	} else if (!strcmp(name, "switches")) {
		open_switches();
		open_tracepoint("kvm/kvm_userspace_exit", NULL, -1);
		open_tracepoint("raw_syscalls/sys_enter", "id == " STRING(SYS_ioctl), -1);
	} else if (bpf) {
		open_tracepoint("kvm/kvm_userspace_exit", NULL, bpf_program(bpf, "leave"));
		open_tracepoint("kvm/kvm_entry", NULL, bpf_program(bpf, "enter"));
	} else {
		return false;
	}
	return true;
}

/* Samples, as @name has them; @guest: with callchains of the guest, if with any */
static void open_samples(const char *name, bool guest, const struct bpf_object *bpf)
{
	bool stack = !strcmp(name, "stack");
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = PERIOD,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	};
	int fd;

	if (!strcmp(name, "vcpu"))
		attr.sample_type |= PERF_SAMPLE_VCPU;
	else if (stack || !strcmp(name, "chain"))
		want_chains(&attr, name, guest);
	else if (strcmp(name, "plain") && !bpf)
		errx(2, "no event '%s'", name);
	fd = open_on_thread(&attr);
	if (fd < 0 && errno == EINVAL)
		exit(NO_SUCH_EVENT);
	if (fd < 0)
		err(1, "event %s", name);
	if (bpf && ioctl(fd, PERF_EVENT_IOC_SET_BPF, bpf_program(bpf, "sample")))
		err(1, "a BPF program for samples");
	if (!bpf)
		open_ring(fd, stack ? STACK_RING_PAGES : RING_PAGES);
}

int main(int argc, char **argv)
{
	const struct bpf_object *bpf = NULL;
	struct bpf_records records = { };
	bool stays;

	if (argc != 3)
		errx(2, "usage: kvm-cost exit|run none|timeline|existing|switches|bpf\n"
			"       kvm-cost guest-sample|host-sample plain|vcpu|bpf\n"
			"       kvm-cost guest-frames|host-frames plain|chain|stack");
	if (!strcmp(argv[2], "bpf")) {
		struct bpf_object *object = load_bpf();

		open_bpf_ring(object, &records);
		bpf = object;
	}
	stays = !strcmp(argv[1], "exit") || !strcmp(argv[1], "run");
	if (stays) {
		if (strcmp(argv[2], "none") && !open_stays(argv[2], bpf))
			errx(2, "no event '%s'", argv[2]);
	} else {
		open_samples(argv[2], !strcmp(argv[1], "guest-frames"), bpf);
	}
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
	print_results(recorded_size(&records, stays));
	return 0;
}
