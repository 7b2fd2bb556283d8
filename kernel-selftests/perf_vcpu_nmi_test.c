// SPDX-License-Identifier: GPL-2.0-only
/*
 * PERF_SAMPLE_VCPU in NMI context. One CPU sends NMIs to all others, at random, while
 * a guest runs there that switches between two CR3s, exits, halts, returns to user
 * space, is preempted and moved from CPU to CPU. The samples are of the tracepoint
 * nmi:nmi_handler, which the kernel hits in its NMI handler: this takes no PMU. A second event
 * on the same tracepoint has callchains of the guest.
 *
 * The local APIC is written to through /dev/mem, which takes CONFIG_STRICT_DEVMEM=n
 * and a CPU in xAPIC mode, and nobody claims the NMIs: a machine that is set to panic then,
 * or whose watchdog's driver does it (hpwdt), would. For test machines and emulators, and
 * not among the tests that are run by default.
 */
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "apic.h"
#include "kvm_util.h"
#include "kselftest.h"
#include "perf_vcpu.h"
#include "processor.h"
#include "svm_util.h"
#include "test_util.h"
#include "vmx.h"

/* It comes with the kernel's support of them. */
#if __has_include("guest_callchain.h")
#define HAS_GUEST_CALLCHAINS	1
#include "guest_callchain.h"
#else
#define HAS_GUEST_CALLCHAINS	0
#endif

#define VCPU_ID		3
#define RING_PAGES	256
#define MAX_CPUS	64
#define SENDER_CPU	0
#define NMI_EVENT	"nmi/nmi_handler"
/* How many are sent before the ring buffers are read and NMIs counted */
#define BATCH		256
/* Of callchains */
#define CHAIN_RESULTS	4

/* SDM vol. 3A, "Interrupt Command Register (ICR)": one write, and so no race with ICR2 */
#define ICR_NMI_TO_OTHERS (APIC_DEST_ALLBUT | APIC_INT_ASSERT | APIC_DM_NMI)
/* Of the version register: 0x10 to 0x15 are local APICs as such */
#define APIC_VERSION_MASK 0xf0
#define APIC_VERSION_XAPIC 0x10

static struct {
	unsigned int	nmis;
	unsigned int	interval_us;	/* mean time between two NMIs to the same CPU */
	unsigned int	seconds;	/* at most */
} opt = { .nmis = 20000, .interval_us = 300, .seconds = 120 };

static struct {
	u64	roots[2];
	u64	loops;
	u64	turns;
	u64	timer_ns;
} guest = { .loops = 10000, .turns = 100, .timer_ns = 1000000 };

/* The vCPU's thread ends after those that meddle with it. */
static volatile bool stop, stop_vcpu;
static pid_t vcpu_tid;
static unsigned int user_exits, nr_cpus;
static struct rusage vcpu_usage;

/* What the samples of one CPU were */
static struct {
	unsigned int	all, first_handler;
	unsigned int	in_guest, loaded, not_loaded;
	unsigned int	labelled_guest, in_a, in_b;
	unsigned int	in_user_space;	/* of the vCPU's thread */
	/* Wrong: */
	unsigned int	bad_cr3, bad_a, bad_b, bad_exit, bad_label, bad_host, bad_vcpu_id;
} seen[MAX_CPUS], sum;

static u64 nmi_exit;
static u64 first_handler;

GUEST_SPIN(spin_a);
GUEST_SPIN(spin_b);

static void guest_code(void)
{
	u32 eax, ebx, ecx, edx;

	guest_start_timer(guest.timer_ns);
	for (;;) {
		for (u64 i = 0; i < guest.turns; i++) {
			write_cr3(guest.roots[0]);
			spin_a(guest.loops);
			write_cr3(guest.roots[1]);
			spin_b(guest.loops);
		}
		for (u64 i = 0; i < guest.turns; i++)
			cpuid(0, &eax, &ebx, &ecx, &edx);
		asm volatile("hlt");
		GUEST_SYNC1(0);
	}
}

static u64 now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000ULL + now.tv_nsec / 1000;
}

static void spin_us(u64 us)
{
	u64 end = now_us() + us;

	while (now_us() < end)
		;
}

static void *run_vcpu(void *arg)
{
	struct kvm_vcpu *vcpu = arg;
	struct ucall uc;

	__atomic_store_n(&vcpu_tid, gettid(), __ATOMIC_RELEASE);
	while (!stop_vcpu) {
		vcpu_run(vcpu);
		if (get_ucall(vcpu, &uc) == UCALL_ABORT)
			REPORT_GUEST_ASSERT(uc);
		user_exits++;
		spin_us(opt.interval_us);
	}
	getrusage(RUSAGE_THREAD, &vcpu_usage);
	return NULL;
}

/* Takes the CPU away from the vCPU every now and then. */
static void *preempt(void *arg)
{
	pin_self_to_cpu((long)arg);
	while (!stop) {
		spin_us(opt.interval_us);
		usleep(10 * opt.interval_us);
	}
	return NULL;
}

static void *move_vcpu(void *arg)
{
	unsigned int cpu = SENDER_CPU;
	cpu_set_t set;

	while (!stop) {
		cpu = cpu + 1 < nr_cpus ? cpu + 1 : SENDER_CPU + 1;
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		TEST_ASSERT(!sched_setaffinity(vcpu_tid, sizeof(set), &set), "sched_setaffinity()");
		usleep(10 * opt.interval_us);
	}
	return NULL;
}

/* What the callchains of one CPU's samples were, in an event of their own */
static struct {
	unsigned int	samples, cookies, records;
	unsigned int	in_loop;
	/* Wrong: */
	unsigned int	without, unmatched, bad_ip, bad_caller;
	u64		cookie, ip, lost;
} chains[MAX_CPUS];

#if HAS_GUEST_CALLCHAINS
/* SDM vol. 2A, "CALL": the opcode, and its target relative to what follows */
#define CALL_REL32	0xe8
#define CALL_SIZE	5
/* More than guest_code() has */
#define GUEST_CODE_SIZE	4096

/* Is there a call of @function before @address, in guest_code()? The guest has the same code. */
static bool is_return_from(u64 address, const void *function)
{
	s32 offset;

	if (!ip_is_between(address - CALL_SIZE, guest_code, (char *)guest_code + GUEST_CODE_SIZE))
		return false;
	memcpy(&offset, (const void *)(address - sizeof(offset)), sizeof(offset));
	return *(const u8 *)(address - CALL_SIZE) == CALL_REL32 &&
	       address + offset == (u64)function;
}

static void look_at_chain_sample(const struct callchain_sample *sample, unsigned int cpu)
{
	__typeof__(*chains) *seen = &chains[cpu];
	u64 cookie = callchain_cookie(sample);

	if (!perf_record_is_labelled_guest(sample->header.misc))
		return;
	seen->samples++;
	seen->without += !cookie;
	/* Each of the handlers hits the tracepoint for the same NMI. */
	if (cookie == seen->cookie)
		return;
	seen->unmatched += seen->cookie != 0;
	seen->cookies++;
	seen->cookie = cookie;
	seen->ip = sample->ip;
}

static void look_at_chain(const struct guest_callchain *chain, unsigned int cpu)
{
	__typeof__(*chains) *seen = &chains[cpu];
	const void *loop = NULL;

	seen->records++;
	seen->unmatched += chain->cookie != seen->cookie;
	seen->cookie = 0;
	seen->bad_ip += chain->nr < 2 || chain->ips[0] != PERF_CONTEXT_GUEST_KERNEL ||
			chain->ips[1] != seen->ip;
	if (ip_is_in(seen->ip, spin_a))
		loop = spin_a;
	else if (ip_is_in(seen->ip, spin_b))
		loop = spin_b;
	if (!loop)
		return;
	/* It has no frame: its caller is at the stack pointer. */
	seen->in_loop++;
	seen->bad_caller += !(chain->flags & PERF_GUEST_CALLCHAIN_WORDS) ||
			    !is_return_from(chain->words[0], loop);
}

static void look_at_chain_record(const struct perf_event_header *record, void *arg)
{
	unsigned int cpu = (__typeof__(*chains) *)arg - chains;

	if (record->type == PERF_RECORD_SAMPLE)
		look_at_chain_sample((const struct callchain_sample *)record, cpu);
	else if (record->type == PERF_RECORD_GUEST_CALLCHAIN)
		look_at_chain((const struct guest_callchain *)record, cpu);
	else if (record->type == PERF_RECORD_LOST)
		chains[cpu].lost += ((const u64 *)record)[2];
}

static void open_chain_ring(struct perf_ring *ring, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = tracepoint_id(NMI_EVENT),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
		.exclude_callchain_kernel = 1,
		.exclude_callchain_user = 1,
		.guest_callchain = 1,
		.guest_output = 1,
	};

	perf_ring_open(ring, &attr, -1, cpu, RING_PAGES);
}
#else
static void look_at_chain_record(const struct perf_event_header *record, void *arg)
{
}

static void open_chain_ring(struct perf_ring *ring, int cpu)
{
}
#endif

static void look_at(const struct perf_sample *sample, void *arg)
{
	__typeof__(sum) *cpu = arg;
	const struct perf_sample_vcpu *vcpu = sample_vcpu(sample);
	const bool in_guest = sample_is_in_guest(sample);
	u64 handler;

	/* The first field after the common ones, which are of 8 bytes */
	memcpy(&handler, sample->raw + 8, sizeof(handler));
	if (!first_handler)
		first_handler = handler;
	cpu->all++;
	/* Each of the handlers hits the tracepoint for the same NMI. */
	cpu->first_handler += handler == first_handler;

	cpu->labelled_guest += sample_is_labelled_guest(sample);
	cpu->bad_label += sample_is_labelled_guest(sample) != in_guest;
	if (!(vcpu->flags & PERF_VCPU_LOADED)) {
		cpu->not_loaded++;
		cpu->in_user_space += sample->tid == vcpu_tid;
		cpu->bad_host += vcpu->flags || !sample_vcpu_is_whole(sample);
		return;
	}

	cpu->bad_vcpu_id += vcpu->vcpu_id != VCPU_ID;
	if (!in_guest) {
		cpu->loaded++;
		cpu->bad_host += vcpu->flags & PERF_VCPU_PT_ROOT_VALID || vcpu->pt_root;
		return;
	}

	cpu->in_guest++;
	cpu->bad_exit += !(vcpu->flags & PERF_VCPU_EXIT_REASON_VALID) ||
			 vcpu->exit_reason != nmi_exit;
	cpu->bad_cr3 += !(vcpu->flags & PERF_VCPU_PT_ROOT_VALID) ||
			(vcpu->pt_root != guest.roots[0] && vcpu->pt_root != guest.roots[1]);
	if (ip_is_in(sample->ip, spin_a)) {
		cpu->in_a++;
		cpu->bad_a += vcpu->pt_root != guest.roots[0];
	} else if (ip_is_in(sample->ip, spin_b)) {
		cpu->in_b++;
		cpu->bad_b += vcpu->pt_root != guest.roots[1];
	}
}

/* NMIs of each CPU by /proc/interrupts; returns their sum without the sender's. */
static unsigned int count_nmis(unsigned int *nmis)
{
	FILE *file = fopen("/proc/interrupts", "r");
	unsigned int all = 0;
	char line[4096], *pos;

	TEST_ASSERT(file, "/proc/interrupts");
	while (fgets(line, sizeof(line), file)) {
		pos = strstr(line, "NMI:");
		if (!pos)
			continue;
		pos += strlen("NMI:");
		for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
			nmis[cpu] = strtoul(pos, &pos, 10);
			all += cpu == SENDER_CPU ? 0 : nmis[cpu];
		}
	}
	fclose(file);
	return all;
}

static volatile u32 *map_apic(void)
{
	volatile u32 *apic;
	u32 version;
	int fd = open("/dev/mem", O_RDWR | O_SYNC);

	if (fd < 0)
		ksft_exit_skip("/dev/mem: %s\n", strerror(errno));
	apic = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, APIC_DEFAULT_GPA);
	if (apic == MAP_FAILED)
		ksft_exit_skip("/dev/mem at %lx: %s\n", (unsigned long)APIC_DEFAULT_GPA,
			       strerror(errno));
	close(fd);
	version = apic[APIC_LVR / sizeof(*apic)];
	if ((version & 0xff & APIC_VERSION_MASK) != APIC_VERSION_XAPIC)
		ksft_exit_skip("the local APIC is not in xAPIC mode\n");
	return apic;
}

static void read_rings(struct perf_ring *rings, struct perf_ring *chain_rings)
{
	for (unsigned int cpu = SENDER_CPU + 1; cpu < nr_cpus; cpu++) {
		perf_ring_read(&rings[cpu], look_at, &seen[cpu]);
		if (HAS_GUEST_CALLCHAINS)
			perf_ring_read_records(&chain_rings[cpu], look_at_chain_record,
					       &chains[cpu]);
	}
}

static void send_nmis(struct perf_ring *rings, struct perf_ring *chain_rings)
{
	volatile u32 *icr = map_apic() + APIC_ICR / sizeof(*icr);
	unsigned int before[MAX_CPUS], after[MAX_CPUS], at_end[MAX_CPUS], base, nr, sent = 0;
	u64 start, end, lost = 0;
	bool each = true;

	for (unsigned int cpu = SENDER_CPU + 1; cpu < nr_cpus; cpu++) {
		perf_ring_enable(&rings[cpu]);
		if (HAS_GUEST_CALLCHAINS)
			perf_ring_enable(&chain_rings[cpu]);
	}
	base = count_nmis(before);
	start = now_us();
	end = start + opt.seconds * 1000000ULL;
	do {
		for (unsigned int i = 0; i < BATCH; i++) {
			spin_us(random() % (2 * opt.interval_us));
			*icr = ICR_NMI_TO_OTHERS;
			sent++;
		}
		read_rings(rings, chain_rings);
		nr = count_nmis(after) - base;
	} while (nr < opt.nmis && now_us() < end);
	/* The last one has arrived, but on a machine that is very slow. */
	usleep(10000);
	nr = count_nmis(after) - base;
	end = now_us();

	for (unsigned int cpu = SENDER_CPU + 1; cpu < nr_cpus; cpu++) {
		perf_ring_disable(&rings[cpu]);
		if (HAS_GUEST_CALLCHAINS)
			perf_ring_disable(&chain_rings[cpu]);
	}
	count_nmis(at_end);
	read_rings(rings, chain_rings);
	for (unsigned int cpu = SENDER_CPU + 1; cpu < nr_cpus; cpu++) {
		unsigned int samples = seen[cpu].first_handler;

		lost += rings[cpu].lost;
		each = each && samples >= after[cpu] - before[cpu] &&
		       samples <= at_end[cpu] - before[cpu];
		ksft_print_msg("CPU %u: %u NMIs, %u samples of them, lost %lu: %u in the guest, %u loaded, %u not\n",
			       cpu, after[cpu] - before[cpu], samples, rings[cpu].lost,
			       seen[cpu].in_guest, seen[cpu].loaded, seen[cpu].not_loaded);
	}
	ksft_print_msg("sent %u times, %u NMIs in %lu ms\n", sent, nr, (end - start) / 1000);
	ksft_test_result(nr >= opt.nmis, "%u NMIs are delivered\n", opt.nmis);
	ksft_test_result(each && !lost, "each has its sample, in NMI context\n");
}

/* @bad of @all samples, which are to be @least at least, were not as they should be. */
static void check(unsigned int bad, unsigned int all, unsigned int least, const char *what)
{
	if (bad || all < least)
		ksft_print_msg("%u of %u are not so, at least %u wanted\n", bad, all, least);
	ksft_test_result(!bad && all >= least, "%s\n", what);
}

static void check_samples(void)
{
	/* Each phase has far more than this of the samples. */
	const unsigned int some = opt.nmis / 1000 + 1, many = opt.nmis / 200 + 1;
	unsigned int cpus = 0;

	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		const unsigned int *from = (void *)&seen[cpu];
		unsigned int *to = (void *)&sum;

		for (size_t i = 0; i < sizeof(sum) / sizeof(*to); i++)
			to[i] += from[i];
		cpus += seen[cpu].in_guest > 0;
	}
	ksft_print_msg("%u samples: %u in the guest (%u in one loop, %u in the other), %u in host mode with the vCPU loaded, %u without, %u of them in its thread\n",
		       sum.all, sum.in_guest, sum.in_a, sum.in_b, sum.loaded, sum.not_loaded,
		       sum.in_user_space);
	ksft_print_msg("the vCPU's thread: %u exits to user space, %ld switches as it waited, %ld as it was preempted\n",
		       user_exits, vcpu_usage.ru_nvcsw, vcpu_usage.ru_nivcsw);

	check(sum.bad_cr3, sum.in_guest, many, "samples in the guest have one of its CR3s");
	check(sum.bad_a, sum.in_a, many, "in the one loop it is the one");
	check(sum.bad_b, sum.in_b, many, "in the other loop it is the other");
	check(sum.bad_exit, sum.in_guest, many, "the exit was by an NMI");
	check(sum.bad_label, sum.all, many, "in the guest is what perf labels guest, of all samples");
	check(sum.bad_vcpu_id, sum.in_guest + sum.loaded, many, "the vCPU's id is right");
	check(sum.bad_host, sum.loaded, some, "in host mode with the vCPU loaded there is no CR3");
	check(0, sum.in_user_space, some, "some hit the vCPU's thread in user space");
	check(0, sum.not_loaded - sum.in_user_space, some, "some hit other threads");
	check(0, user_exits, some, "the vCPU has returned to user space");
	check(0, vcpu_usage.ru_nvcsw, some, "it has halted");
	check(0, vcpu_usage.ru_nivcsw, some, "it was preempted");
	if (nr_cpus > 2)
		check(0, cpus, nr_cpus - 1, "it was in the guest on each CPU");
	else
		ksft_test_result_skip("a single CPU besides the sender's\n");
}

static void check_chains(void)
{
	const unsigned int many = opt.nmis / 200 + 1;
	__typeof__(*chains) all = { };

	if (!HAS_GUEST_CALLCHAINS) {
		for (unsigned int i = 0; i < CHAIN_RESULTS; i++)
			ksft_test_result_skip("this kernel has no callchains of guests\n");
		return;
	}
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		all.samples += chains[cpu].samples;
		all.cookies += chains[cpu].cookies;
		all.records += chains[cpu].records;
		all.in_loop += chains[cpu].in_loop;
		all.without += chains[cpu].without;
		all.unmatched += chains[cpu].unmatched + chains[cpu].lost;
		all.bad_ip += chains[cpu].bad_ip;
		all.bad_caller += chains[cpu].bad_caller;
	}
	ksft_print_msg("callchains: %u samples in the guest, %u cookies, %u records, %u of them in the loops\n",
		       all.samples, all.cookies, all.records, all.in_loop);
	check(all.without, all.samples, many, "each sample in the guest waits for a callchain");
	check(all.unmatched, all.records, many, "each gets it before the next one, and none is lost");
	check(all.bad_ip, all.records, many, "it begins where the guest was interrupted");
	check(all.bad_caller, all.in_loop, many, "it has the caller, whatever the CR3");
}

static void help(const char *name)
{
	printf("usage: %s [-n NMIs] [-i interval] [-s seconds]\n"
	       "  -n  NMIs to be delivered, on all CPUs but one together (%u)\n"
	       "  -i  mean time between two, in us (%u)\n"
	       "  -s  seconds that it may take (%u)\n",
	       name, opt.nmis, opt.interval_us, opt.seconds);
	exit(KSFT_FAIL);
}

static void parse_options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:i:s:h")) != -1) {
		switch (c) {
		case 'n':
			opt.nmis = atoi_positive("NMIs", optarg);
			break;
		case 'i':
			opt.interval_us = atoi_positive("interval", optarg);
			break;
		case 's':
			opt.seconds = atoi_positive("seconds", optarg);
			break;
		default:
			help(argv[0]);
		}
	}
}

/* No driver has asked for these NMIs. */
static void require_no_panic(void)
{
	static const char * const paths[] = {
		"/proc/sys/kernel/unknown_nmi_panic",
		"/proc/sys/kernel/panic_on_unrecovered_nmi",
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(paths); i++) {
		FILE *file = fopen(paths[i], "r");
		int value = 0;

		if (!file)
			continue;
		if (fscanf(file, "%d", &value) != 1 || value)
			ksft_exit_skip("%s is set\n", paths[i]);
		fclose(file);
	}
}

static void open_ring(struct perf_ring *ring, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = tracepoint_id(NMI_EVENT),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_DEFAULT | PERF_SAMPLE_RAW,
	};

	perf_ring_open(ring, &attr, -1, cpu, RING_PAGES);
}

int main(int argc, char *argv[])
{
	pthread_t vcpu_thread, mover, preempters[MAX_CPUS];
	static struct perf_ring rings[MAX_CPUS], chain_rings[MAX_CPUS];
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm;

	parse_options(argc, argv);
	setbuf(stdout, NULL);
	ksft_print_header();
	nr_cpus = min(get_nprocs(), MAX_CPUS);
	if (nr_cpus < 2)
		ksft_exit_skip("takes two CPUs\n");
	require_no_panic();
	if (tracepoint_id(NMI_EVENT) < 0)
		ksft_exit_skip("no tracepoint nmi:nmi_handler\n");
	ksft_set_plan(15 + CHAIN_RESULTS);

	nmi_exit = host_cpu_is_intel ? EXIT_REASON_EXCEPTION_NMI : SVM_EXIT_NMI;
	pin_self_to_cpu(SENDER_CPU);
	for (unsigned int cpu = SENDER_CPU + 1; cpu < nr_cpus; cpu++) {
		open_ring(&rings[cpu], cpu);
		open_chain_ring(&chain_rings[cpu], cpu);
	}

	vm = vm_create(1);
	vcpu = vm_vcpu_add(vm, VCPU_ID, guest_code);
	vm_install_exception_handler(vm, TIMER_VECTOR, guest_timer);
	vcpu_enable_interrupts(vcpu);
	/* The low bits are PWT and PCD, which belong to CR3, too. */
	guest.roots[0] = clone_page_table_root(vcpu) | 0x08;
	guest.roots[1] = clone_page_table_root(vcpu) | 0x10;
	sync_global_to_guest(vm, guest);
	/* It begins on another. */
	vcpu_run(vcpu);

	pthread_create(&vcpu_thread, NULL, run_vcpu, vcpu);
	while (!__atomic_load_n(&vcpu_tid, __ATOMIC_ACQUIRE))
		usleep(1000);
	pthread_create(&mover, NULL, move_vcpu, NULL);
	for (long cpu = SENDER_CPU + 1; cpu < nr_cpus; cpu++)
		pthread_create(&preempters[cpu], NULL, preempt, (void *)cpu);

	send_nmis(rings, chain_rings);
	stop = true;
	pthread_join(mover, NULL);
	stop_vcpu = true;
	pthread_join(vcpu_thread, NULL);
	for (unsigned int cpu = SENDER_CPU + 1; cpu < nr_cpus; cpu++) {
		pthread_join(preempters[cpu], NULL);
		perf_ring_close(&rings[cpu]);
		if (HAS_GUEST_CALLCHAINS)
			perf_ring_close(&chain_rings[cpu]);
	}
	check_samples();
	check_chains();
	kvm_vm_free(vm);
	ksft_finished();
}
