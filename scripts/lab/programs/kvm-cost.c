// SPDX-License-Identifier: GPL-2.0
/*
 * What a VM-exit, a KVM_RUN and a sample cost, in ticks of the TSC. On the lab's virtual clock
 * with shift=0 a tick is an instruction, and the figures are exact.
 *
 * Usage: kvm-cost exit|run|guest-sample|host-sample [none|plain|vcpu|timeline]
 *
 * exit: from before the guest's CPUID to behind it, all of it KVM's.
 * run: from before KVM_RUN to behind it, of a guest that writes to a port: into the kernel, into
 *	the guest, and out to the VMM.
 * guest-sample, host-sample: how long the guest, or this program, does not get on for a sample of
 *	a cpu-clock event.
 *
 * The last word is the event that is open on this thread: none, cpu-clock without and with
 * PERF_SAMPLE_VCPU, or the tracepoint kvm_vcpu_timeline. For samples it is to be one of the two
 * in the middle.
 *
 * Prints "least N most-often N (TIMES of ALL)", the most frequent value being what a timer's
 * interrupt between the two looks at the counter does not change. Ends with 3 if the kernel does
 * not have such an event.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
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

#define TIMELINE_ID	"/sys/kernel/tracing/events/kvm/kvm_vcpu_timeline/id"
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
    "guest_end:\n"
    ".code64\n"
    ".popsection\n");

extern const uint8_t guest_exit[], guest_run[], guest_sample[], guest_end[];

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
	int vcpu;
	uint8_t *memory;
	struct kvm_run *run;
};

static void create_vm(struct vm *vm, const uint8_t *start)
{
	struct kvm_userspace_memory_region region = { .memory_size = MEM_SIZE };
	struct kvm_regs regs = { .rip = start - guest_exit, .rflags = RFLAGS_IF };
	struct kvm_sregs sregs;
	int kvm, fd;

	kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (kvm < 0)
		err(1, "/dev/kvm");
	fd = kvm_ioctl(kvm, KVM_CREATE_VM, NULL, "KVM_CREATE_VM");
	vm->memory = mmap(NULL, MEM_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (vm->memory == MAP_FAILED)
		err(1, "memory for the guest");
	memcpy(vm->memory + CODE, guest_exit, guest_end - guest_exit);
	region.userspace_addr = (uintptr_t)vm->memory;
	kvm_ioctl(fd, KVM_SET_USER_MEMORY_REGION, &region, "KVM_SET_USER_MEMORY_REGION");

	vm->vcpu = kvm_ioctl(fd, KVM_CREATE_VCPU, NULL, "KVM_CREATE_VCPU");
	vm->run = mmap(NULL, kvm_ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, NULL, "vCPU's size"),
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

static uint64_t timeline_id(void)
{
	unsigned long long id;
	FILE *file = fopen(TIMELINE_ID, "r");

	if (!file || fscanf(file, "%llu", &id) != 1)
		exit(NO_SUCH_EVENT);
	fclose(file);
	return id;
}

/* On this thread, as long as it runs */
static void open_event(const char *name)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = PERIOD,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	};
	void *ring;
	int fd;

	if (!strcmp(name, "vcpu")) {
		attr.sample_type |= PERF_SAMPLE_VCPU;
	} else if (!strcmp(name, "timeline")) {
		attr.type = PERF_TYPE_TRACEPOINT;
		attr.config = timeline_id();
		attr.sample_period = 1;
		attr.sample_type |= PERF_SAMPLE_RAW;
	} else if (strcmp(name, "plain")) {
		errx(2, "no event '%s'", name);
	}
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && errno == EINVAL)
		exit(NO_SUCH_EVENT);
	if (fd < 0)
		err(1, "event %s", name);
	ring = mmap(NULL, (1 + RING_PAGES) * sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		err(1, "buffer of the event %s", name);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		errx(2, "usage: kvm-cost exit|run|guest-sample|host-sample none|plain|vcpu|timeline");
	if (strcmp(argv[2], "none"))
		open_event(argv[2]);
	if (!strcmp(argv[1], "exit"))
		in_guest(guest_exit);
	else if (!strcmp(argv[1], "run"))
		measure_runs();
	else if (!strcmp(argv[1], "guest-sample"))
		in_guest(guest_sample);
	else if (!strcmp(argv[1], "host-sample"))
		measure_host_samples();
	else
		errx(2, "nothing to measure: '%s'", argv[1]);
	print_results();
	return 0;
}
