// SPDX-License-Identifier: GPL-2.0
/*
 * A VMM besides QEMU: /dev/kvm and nothing else, for guests of which all is known.
 *
 * Usage: tiny-vmm [--id NAME] [--cr3 HEX]... [--vcpus N] [--vms N] [--seconds N]
 *		   [--kernel-us N] [--user-us N] [--idle-us N] [--plug]
 *	  tiny-vmm --symbols
 *
 * The guest (tiny-guest.S) is in long mode. Its processes have the CR3s of the
 * command line and run the same program at the same address. On each vCPU the
 * kernel gives them the same work in turn, and then halts: what shares of the CPU time
 * they have is known, however often the vCPU is preempted.
 *
 * Nothing here is of AMD or of Intel only.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tiny-vmm.h"

/*
 * Guest-physical memory. Tables of the command line's CR3s may be in all of it that
 * is not used here.
 */
#define MEM_SIZE	0x400000
#define KERNEL_TEXT	0x100000
#define USER_PAGE	0x101000
#define GDT		0x102000
#define IDT		0x103000
#define PARAMS		0x104000
#define USER_PDPT	0x105000
#define USER_PD		0x106000
#define USER_PT		0x107000
#define KERNEL_PDPT	0x108000
#define KERNEL_PD	0x109000
#define CPUS		0x110000	/* a page for each vCPU */
#define USED_END	0x180000

#define MAX_VCPUS	64
#define MAX_CR3S	16
#define MAX_CPUID	256

#define PTE_P		0x1
#define PTE_W		0x2
#define PTE_U		0x4
#define PTE_PS		0x80

#define CR0_LONG_MODE	0x80010033	/* PG WP NE ET MP PE */
#define CR4_PAE		0x20
#define CR4_PCIDE	0x20000
#define EFER_LONG_MODE	0x500		/* LMA LME */
#define CPUID_1_ECX_PCID 0x20000
#define X2APIC_ENABLED	0xc00
#define PCID_MASK	0xfffULL

/* Below 4 GB, away from the memory: what KVM needs of some Intel CPUs. */
#define IDENTITY_MAP	0xfeffc000ULL
#define TSS_ADDR	0xfeffd000UL

extern const uint8_t guest_kernel[], guest_start[], guest_schedule[], guest_syscall[],
	guest_idle[], guest_kernel_work[], guest_timer[], guest_spurious[], guest_kernel_end[],
	guest_user[], guest_user_end[];

static uint8_t *memory;
static int kvm, vm, run_size;
static uint64_t cr3s[MAX_CR3S], cr4 = CR4_PAE;
static unsigned int nr_cr3s;
static unsigned long user_us = 3000, kernel_us = 1000, idle_us = 1000;
static struct {
	struct kvm_cpuid2 header;
	struct kvm_cpuid_entry2 entries[MAX_CPUID];
} cpuid = { .header.nent = MAX_CPUID };

static uint64_t *page(uint64_t addr)
{
	return (uint64_t *)(memory + addr);
}

/* Where the kernel sees memory, and its own code */
static uint64_t kernel_addr(uint64_t addr)
{
	return KERNEL_BASE + addr;
}

static uint64_t text_addr(const uint8_t *symbol)
{
	return kernel_addr(KERNEL_TEXT + (symbol - guest_kernel));
}

static int kvm_ioctl(int fd, unsigned long request, void *arg, const char *what)
{
	int ret = ioctl(fd, request, arg);

	if (ret < 0)
		err(1, "%s", what);
	return ret;
}

/* As in /proc/kallsyms of the guest, if it had one */
static void print_symbols(void)
{
	static const struct {
		const uint8_t *addr;
		const char *name;
	} symbols[] = {
		{ guest_kernel, "_text" }, { guest_kernel, "_stext" },
		{ guest_start, "guest_start" }, { guest_schedule, "guest_schedule" },
		{ guest_syscall, "guest_syscall" }, { guest_idle, "guest_idle" },
		{ guest_kernel_work, "guest_kernel_work" }, { guest_timer, "guest_timer" },
		{ guest_spurious, "guest_spurious" }, { guest_kernel_end, "_etext" },
	};

	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		printf("%016lx T %s\n", text_addr(symbols[i].addr), symbols[i].name);
}

static void set_gate(uint8_t vector, const uint8_t *symbol, unsigned int dpl)
{
	uint64_t addr = text_addr(symbol), *gate = page(IDT) + 2 * vector;

	/* A trap gate: interrupts stay on. */
	gate[0] = (addr & 0xffff) | KERNEL_CS << 16 | (0x8f00ULL | dpl << 13) << 32 |
		  (addr >> 16 & 0xffff) << 48;
	gate[1] = addr >> 32;
}

/* What all address spaces have in common */
static void set_up_tables(void)
{
	page(USER_PDPT)[0] = USER_PD | PTE_P | PTE_W | PTE_U;
	page(USER_PD)[USER_TEXT >> 21] = USER_PT | PTE_P | PTE_W | PTE_U;
	page(USER_PT)[USER_TEXT >> 12 & 511] = USER_PAGE | PTE_P | PTE_U;

	page(KERNEL_PDPT)[KERNEL_BASE >> 30 & 511] = KERNEL_PD | PTE_P | PTE_W;
	for (uint64_t addr = 0; addr < MEM_SIZE; addr += 1 << 21)
		page(KERNEL_PD)[kernel_addr(addr) >> 21 & 511] = addr | PTE_P | PTE_W | PTE_PS;

	for (unsigned int i = 0; i < nr_cr3s; i++) {
		uint64_t *top = page(cr3s[i] & ~PCID_MASK);

		top[0] = USER_PDPT | PTE_P | PTE_W | PTE_U;
		top[KERNEL_BASE >> 39 & 511] = KERNEL_PDPT | PTE_P | PTE_W;
	}

	/* 64-bit code and data, accessed, of privilege 0 and 3 */
	page(GDT)[KERNEL_CS >> 3] = 0x00af9b000000ffff;
	page(GDT)[KERNEL_SS >> 3] = 0x00cf93000000ffff;
	page(GDT)[USER_CS >> 3] = 0x00affb000000ffff;
	page(GDT)[USER_SS >> 3] = 0x00cff3000000ffff;
	set_gate(TIMER_VECTOR, guest_timer, 0);
	set_gate(SPURIOUS_VECTOR, guest_spurious, 0);
	set_gate(SYSCALL_VECTOR, guest_syscall, 3);
}

static void set_up_memory(void)
{
	struct kvm_userspace_memory_region region = { .memory_size = MEM_SIZE };

	memory = mmap(NULL, MEM_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		err(1, "memory for the guest");
	memcpy(memory + KERNEL_TEXT, guest_kernel, guest_kernel_end - guest_kernel);
	memcpy(memory + USER_PAGE, guest_user, guest_user_end - guest_user);
	set_up_tables();
	region.userspace_addr = (uintptr_t)memory;
	kvm_ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region, "KVM_SET_USER_MEMORY_REGION");
}

/* Loops in a microsecond, in the guest as here: the best of some, as this may be preempted. */
static double loops_per_us(void)
{
	double best = 0;

	for (int i = 0; i < 10; i++) {
		unsigned long loops = 100000;
		struct timespec start, end;
		double us;

		clock_gettime(CLOCK_MONOTONIC, &start);
		asm volatile("1: decq %0\n\tjnz 1b" : "+r" (loops));
		clock_gettime(CLOCK_MONOTONIC, &end);
		us = (end.tv_sec - start.tv_sec) * 1e6 + (end.tv_nsec - start.tv_nsec) / 1e3;
		if (us > 0 && 100000 / us > best)
			best = 100000 / us;
	}
	return best;
}

static void set_up_params(void)
{
	uint64_t *params = page(PARAMS);
	double loops = loops_per_us();

	params[PARAM_KERNEL / 8] = kernel_us * loops + 1;
	params[PARAM_USER / 8] = user_us * loops + 1;
	params[PARAM_IDLE / 8] = idle_us * 1000;
	params[PARAM_NR_CR3 / 8] = nr_cr3s;
	memcpy(&params[PARAM_CR3 / 8], cr3s, sizeof(cr3s));
}

static void set_up_vcpu(int vcpu, unsigned int id)
{
	uint64_t cpu_page = CPUS + id * CPU_SIZE, stack = kernel_addr(cpu_page) + CPU_SIZE;
	struct kvm_segment data = { .limit = ~0U, .selector = KERNEL_SS, .type = 3, .present = 1,
				    .db = 1, .s = 1, .g = 1 };
	struct kvm_mp_state runnable = { .mp_state = KVM_MP_STATE_RUNNABLE };
	struct kvm_sregs sregs;
	struct kvm_regs regs = {
		.rip = text_addr(guest_start), .rsp = stack, .rflags = RFLAGS_IF,
		.r14 = kernel_addr(PARAMS), .r15 = kernel_addr(cpu_page),
	};

	memcpy(memory + cpu_page + CPU_TSS + CPU_RSP0, &stack, sizeof(stack));

	/* First, since it says what the registers may be. */
	kvm_ioctl(vcpu, KVM_SET_CPUID2, &cpuid, "KVM_SET_CPUID2");
	kvm_ioctl(vcpu, KVM_GET_SREGS, &sregs, "KVM_GET_SREGS");
	sregs.cr0 = CR0_LONG_MODE;
	sregs.cr3 = cr3s[0];
	sregs.cr4 = cr4;
	sregs.efer = EFER_LONG_MODE;
	sregs.apic_base |= X2APIC_ENABLED;
	sregs.ds = data;
	sregs.es = data;
	sregs.fs = data;
	sregs.gs = data;
	sregs.ss = data;
	sregs.cs = data;
	sregs.cs.selector = KERNEL_CS;
	sregs.cs.type = 11;
	sregs.cs.db = 0;
	sregs.cs.l = 1;
	sregs.tr = (struct kvm_segment) { .base = kernel_addr(cpu_page + CPU_TSS), .limit = 0x67,
					  .selector = TSS_SELECTOR, .type = 11, .present = 1 };
	sregs.gdt = (struct kvm_dtable) { .base = kernel_addr(GDT), .limit = TSS_SELECTOR - 1 };
	sregs.idt = (struct kvm_dtable) { .base = kernel_addr(IDT), .limit = 0xfff };
	kvm_ioctl(vcpu, KVM_SET_SREGS, &sregs, "KVM_SET_SREGS");
	kvm_ioctl(vcpu, KVM_SET_REGS, &regs, "KVM_SET_REGS");
	/* Others than the first wait for it to start them, where there is firmware. */
	kvm_ioctl(vcpu, KVM_SET_MP_STATE, &runnable, "KVM_SET_MP_STATE");
}

/* One that is plugged and unplugged. It has a thread in between. */
static int plugged_vcpu = -1;
static volatile sig_atomic_t is_unplugged;

static void *run_vcpu(void *arg)
{
	int vcpu = (intptr_t)arg;
	struct kvm_run *run = mmap(NULL, run_size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);

	if (run == MAP_FAILED)
		err(1, "mmap of a vCPU");
	while (!ioctl(vcpu, KVM_RUN, NULL) || errno == EINTR || errno == EAGAIN) {
		if (vcpu == plugged_vcpu && is_unplugged)
			return NULL;
		if (run->exit_reason != KVM_EXIT_INTR)
			errx(1, "the guest has ended with exit reason %u", run->exit_reason);
	}
	err(1, "KVM_RUN");
}

static void start_vcpus(unsigned int nr)
{
	int vcpus[MAX_VCPUS];
	pthread_t thread;

	for (uintptr_t id = 0; id < nr; id++) {
		vcpus[id] = kvm_ioctl(vm, KVM_CREATE_VCPU, (void *)id, "KVM_CREATE_VCPU");
		set_up_vcpu(vcpus[id], id);
	}
	for (unsigned int id = 0; id < nr; id++) {
		errno = pthread_create(&thread, NULL, run_vcpu, (void *)(intptr_t)vcpus[id]);
		if (errno)
			err(1, "pthread_create");
	}
}

/* Only to end KVM_RUN */
static void on_kick(int sig)
{
	(void)sig;
}

/* For sigwait(), in all threads */
static void block_plug_signals(sigset_t *plug, sigset_t *unplug)
{
	sigemptyset(plug);
	sigaddset(plug, SIGUSR1);
	sigemptyset(unplug);
	sigaddset(unplug, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, plug, NULL);
	pthread_sigmask(SIG_BLOCK, unplug, NULL);
	signal(SIGALRM, on_kick);
}

/*
 * Vcpu @id comes with SIGUSR1, and goes with SIGUSR2: KVM cannot delete one, so a VMM ends its thread
 * and keeps the descriptor.
 */
static void plug_vcpu(uintptr_t id, const sigset_t *plug, const sigset_t *unplug)
{
	pthread_t thread;
	int sig;

	sigwait(plug, &sig);
	plugged_vcpu = kvm_ioctl(vm, KVM_CREATE_VCPU, (void *)id, "KVM_CREATE_VCPU");
	set_up_vcpu(plugged_vcpu, id);
	errno = pthread_create(&thread, NULL, run_vcpu, (void *)(intptr_t)plugged_vcpu);
	if (errno)
		err(1, "pthread_create");
	sigwait(unplug, &sig);
	is_unplugged = 1;
	pthread_kill(thread, SIGALRM);
	pthread_join(thread, NULL);
}

static void create_vm(void)
{
	uint64_t identity_map = IDENTITY_MAP;

	kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (kvm < 0)
		err(1, "/dev/kvm");
	vm = kvm_ioctl(kvm, KVM_CREATE_VM, NULL, "KVM_CREATE_VM");
	run_size = kvm_ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, NULL, "KVM_GET_VCPU_MMAP_SIZE");
	kvm_ioctl(kvm, KVM_GET_SUPPORTED_CPUID, &cpuid, "KVM_GET_SUPPORTED_CPUID");
	kvm_ioctl(vm, KVM_SET_IDENTITY_MAP_ADDR, &identity_map, "KVM_SET_IDENTITY_MAP_ADDR");
	kvm_ioctl(vm, KVM_SET_TSS_ADDR, (void *)TSS_ADDR, "KVM_SET_TSS_ADDR");
	kvm_ioctl(vm, KVM_CREATE_IRQCHIP, NULL, "KVM_CREATE_IRQCHIP");
}

static bool has_pcid(void)
{
	for (unsigned int i = 0; i < cpuid.header.nent; i++) {
		if (cpuid.entries[i].function == 1)
			return cpuid.entries[i].ecx & CPUID_1_ECX_PCID;
	}
	return false;
}

/* The low bits of a CR3 are a PCID if the CPU has those, else they are left out. */
static void use_pcids(void)
{
	uint64_t pcids = 0;

	for (unsigned int i = 0; i < nr_cr3s; i++)
		pcids |= cr3s[i] & PCID_MASK;
	if (!pcids)
		return;
	if (has_pcid()) {
		cr4 |= CR4_PCIDE;
		return;
	}
	warnx("no PCIDs: this CPU has none");
	for (unsigned int i = 0; i < nr_cr3s; i++)
		cr3s[i] &= ~PCID_MASK;
}

static void add_cr3(const char *arg)
{
	char *end;
	uint64_t cr3 = strtoull(arg, &end, 16), table = cr3 & ~PCID_MASK;

	if (nr_cr3s == MAX_CR3S)
		errx(2, "--cr3: at most %d", MAX_CR3S);
	if (*end || !table || table >= MEM_SIZE || (table >= KERNEL_TEXT && table < USED_END))
		errx(2, "--cr3 %s: from 0x1000 to %#x, without %#x to %#x", arg, MEM_SIZE - 1,
		     KERNEL_TEXT, USED_END - 1);
	cr3s[nr_cr3s++] = cr3;
}

static void start_vm(unsigned int vcpus)
{
	create_vm();
	use_pcids();
	set_up_memory();
	set_up_params();
	start_vcpus(vcpus);
}

static void *start_vm_and_end(void *vcpus)
{
	start_vm((uintptr_t)vcpus);
	return NULL;
}

/*
 * A VM for each CR3, all but the first one made by a thread that ends then: KVM names its directory
 * after that. Their threads need nothing that is of the last one only.
 */
static void start_vms(unsigned int vcpus)
{
	uint64_t all[MAX_CR3S];
	pthread_t thread;
	unsigned int nr = nr_cr3s;

	memcpy(all, cr3s, sizeof(all));
	nr_cr3s = 1;
	for (unsigned int i = 0; i < nr; i++) {
		cr3s[0] = all[i];
		if (!i) {
			start_vm(vcpus);
			continue;
		}
		errno = pthread_create(&thread, NULL, start_vm_and_end, (void *)(uintptr_t)vcpus);
		if (errno)
			err(1, "pthread_create");
		pthread_join(thread, NULL);
	}
}

static unsigned long number(const char *arg, unsigned long min, unsigned long max)
{
	char *end;
	unsigned long value = strtoul(arg, &end, 10);

	if (*end || end == arg || value < min || value > max)
		errx(2, "not a number from %lu to %lu: %s", min, max, arg);
	return value;
}

static const struct option options[] = {
	{ "cr3", required_argument, NULL, 'c' },	/* hexadecimal; one for each process */
	{ "id", required_argument, NULL, 'n' },		/* for whoever looks at the command line */
	{ "vcpus", required_argument, NULL, 'v' },
	{ "vms", required_argument, NULL, 'm' },	/* in this process, one for each CR3 */
	{ "seconds", required_argument, NULL, 's' },	/* 0: until killed */
	{ "kernel-us", required_argument, NULL, 'k' },
	{ "user-us", required_argument, NULL, 'u' },
	{ "idle-us", required_argument, NULL, 'i' },
	{ "plug", no_argument, NULL, 'p' },		/* one vCPU more, see plug_vcpu() */
	{ "symbols", no_argument, NULL, 'S' },		/* print the guest kernel's, and end */
	{ }
};

int main(int argc, char **argv)
{
	unsigned int vcpus = 1, vms = 1, seconds = 0;
	sigset_t plug, unplug;
	bool plugs = false;
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'c': add_cr3(optarg); break;
		case 'n': break;
		case 'v': vcpus = number(optarg, 1, MAX_VCPUS); break;
		case 'm': vms = number(optarg, 1, MAX_CR3S); break;
		case 's': seconds = number(optarg, 0, 86400); break;
		case 'k': kernel_us = number(optarg, 0, 10000000); break;
		case 'u': user_us = number(optarg, 0, 10000000); break;
		case 'i': idle_us = number(optarg, 0, 10000000); break;
		case 'p': plugs = true; break;
		case 'S': print_symbols(); return 0;
		default: return 2;
		}
	}
	if (optind != argc)
		errx(2, "what is '%s'?", argv[optind]);
	if (!nr_cr3s)
		add_cr3("2000");

	if (plugs && vcpus == MAX_VCPUS)
		errx(2, "--plug: there are %d vCPUs at most", MAX_VCPUS);
	if (plugs)
		block_plug_signals(&plug, &unplug);
	if (vms == 1) {
		start_vm(vcpus);
	} else {
		if (vms != nr_cr3s)
			errx(2, "--vms %u: that many --cr3, and not %u", vms, nr_cr3s);
		start_vms(vcpus);
	}
	if (plugs)
		plug_vcpu(vcpus, &plug, &unplug);
	if (!seconds)
		pause();
	sleep(seconds);
	return 0;
}
