// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoint kvm:kvm_vcpu_timeline, held against guests that halt, poll, exit to user
 * space and wait for pages when they are told to, and against the time that has passed.
 */
#include <getopt.h>
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
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

#define TIMELINE "kvm/kvm_vcpu_timeline"

/* Not 0, which is also what nothing is */
#define VCPU_ID		5
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
#define MAX_EVENTS	50000
/* That a thread has waited for a CPU */
#define WAITED_NS	20000000ULL
/* Of the guest's memory, which the host does not have at first, and how late each is */
#define ABSENT_PAGES	16
#define ABSENT_SLOT	10
#define ABSENT_GPA	0x10000000
#define PAGE_DELAY_US	5000
/* A limit of a thread's CPU time: so much of each so long */
#define LIMIT_NS	2000000ULL
#define LIMIT_PERIOD_NS	10000000ULL

/* SDM, "VMX Basic Exit Reasons"; APM, "SVM Intercept Exit Codes" */
static u64 io_exit, hlt_exit;
/* PERF_VCPU_ISA_* of the host */
static u64 isa;

/* Options */
static struct {
	unsigned int	seconds;	/* at most, for each recording */
	const char	*only;
} opt = { .seconds = 20 };

/* What the guests have to know */
static struct {
	u64	roots[2];
	u64	loops;		/* of each spin */
	u64	turns;		/* of both spins before an exit to user space */
	u64	halt_ns;
	u64	absent;		/* address of the first of ABSENT_PAGES */
	u64	page_size;
} guest = { .loops = 10000, .turns = 50, .halt_ns = 2000000 };

GUEST_SPIN(spin);

/* CPUID makes exits that KVM handles by itself, and so may writes to CR3. */
static void guest_run(void)
{
	u32 eax, ebx, ecx, edx;

	for (;;) {
		for (u64 i = 0; i < guest.turns; i++) {
			write_cr3(guest.roots[0]);
			spin(guest.loops);
			write_cr3(guest.roots[1]);
			spin(guest.loops);
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

static struct kvm_vm *make_vm(struct kvm_vcpu **vcpu, void *code)
{
	struct kvm_vm *vm = vm_create(1);

	*vcpu = vm_vcpu_add(vm, VCPU_ID, code);
	vcpu_enable_interrupts(*vcpu);
	guest.roots[0] = clone_page_table_root(*vcpu);
	guest.roots[1] = clone_page_table_root(*vcpu);
	sync_global_to_guest(vm, guest);
	return vm;
}

/* A VM that has run: its memory is there. */
static struct kvm_vm *make_vm_runs(struct kvm_vcpu **vcpu)
{
	struct kvm_vm *vm = make_vm(vcpu, guest_run);

	run_turn(*vcpu);
	return vm;
}

/* --- The events ------------------------------------------------------------------ */

/* As in enum kvm_vcpu_timeline_state, which is not in a uapi header */
enum {
	TL_NONE,
	TL_USER,
	TL_PREEMPTED,
	TL_BLOCKED,
	TL_HALTED,
	TL_HALT_POLL,
	TL_THROTTLED,
	NR_TL,
};

static const char * const tl_names[] = {
	"unknown", "user", "preempted", "blocked", "halted", "halt-poll", "throttled",
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
	if (tl.nr == MAX_EVENTS)
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
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = tracepoint_id(TIMELINE),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			       PERF_SAMPLE_RAW,
	};

	find_fields();
	tl.nr = 0;
	memset(tl.count, 0, sizeof(tl.count));
	memset(tl.ns, 0, sizeof(tl.ns));
	/* Of the thread, on all CPUs */
	perf_ring_open(ring, &attr, gettid(), -1, RING_PAGES);
}

/*
 * The events of @turns turns, or until *counted is not 0, after one that is not recorded
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

/* --- Tests --------------------------------------------------------------------- */

static void *spinner(void *arg)
{
	pin_self_to_cpu(timeline_cpu);
	__atomic_store_n(&spinner_tid, gettid(), __ATOMIC_RELEASE);
	while (!spinner_stop)
		;
	return NULL;
}

static void start_spinner(pthread_t *thread)
{
	spinner_stop = false;
	spinner_tid = 0;
	pthread_create(thread, NULL, spinner, NULL);
	while (!__atomic_load_n(&spinner_tid, __ATOMIC_ACQUIRE))
		usleep(1000);
}

static void stop_spinner(pthread_t thread)
{
	spinner_stop = true;
	pthread_join(thread, NULL);
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
	return NULL;
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
	struct kvm_vm *vm = make_vm_runs(&vcpu);
	cpu_set_t before;

	pin_for_timeline(&before);
	record_timeline(vcpu, USER_EXITS, NULL, true, VMM_NS, NULL);
	ksft_test_result(order_is_right(), "exits: the order of exits to user space\n");
	ksft_test_result(nr_exits(KVM_EXIT_IO) == USER_EXITS,
			 "exits: %u exits to user space\n", USER_EXITS);
	ksft_test_result(exits_are_right(), "exits: and why\n");
	/* The system calls around KVM_RUN are in it, too; all is bounded by the next check. */
	ksft_test_result(tl.vmm_ns <= ns_between_turns(),
			 "exits: the time between them is the VMM's\n");
	ksft_test_result(ns_of_all() <= tl.wall_ns, "exits: no more than all time is told\n");
	ksft_test_result(!count_events(e, e->cpu != timeline_cpu || e->sample_cpu != timeline_cpu),
			 "exits: all began on the CPU\n");

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

/* ns that the thread has waited for a CPU in its life: sched-stats.rst; 0: not known */
static u64 run_delay(void)
{
	unsigned long ran, waited = 0;
	FILE *file = fopen("/proc/thread-self/schedstat", "r");

	if (!file)
		return 0;
	if (fscanf(file, "%lu %lu", &ran, &waited) != 2)
		waited = 0;
	fclose(file);
	return waited;
}

static const char *no_run_delay(void)
{
	return access("/proc/thread-self/schedstat", R_OK) ? "no schedstat" : NULL;
}

/*
 * Are most preemptions waits for a CPU? The scheduler and the event take their times at two places:
 * of one preemption, what is between these may be most of it, on a slow host.
 */
static bool preempted_is_waiting(void)
{
	unsigned int waits = count_events(e, e->state == TL_PREEMPTED && e->wait > e->ns / 2);

	ksft_print_msg("preempted for %lu us, of which %lu us on a runqueue; %u of %u times mostly\n",
		       (unsigned long)(tl.ns[TL_PREEMPTED] / 1000),
		       (unsigned long)(waited_ns(TL_PREEMPTED) / 1000), waits,
		       tl.count[TL_PREEMPTED]);
	return waits > tl.count[TL_PREEMPTED] / 2;
}

static void test_preempted(void)
{
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm = make_vm_runs(&vcpu);
	const char *no_delay = no_run_delay();
	unsigned int preempted, to_spinner;
	cpu_set_t before;
	pthread_t thread;
	u64 delay, wait;

	pin_for_timeline(&before);
	start_spinner(&thread);
	delay = run_delay();
	record_timeline(vcpu, USER_EXITS, &tl.count[TL_PREEMPTED], true, 0, NULL);
	delay = run_delay() - delay;
	stop_spinner(thread);
	wait = waited_ns(TL_PREEMPTED) + waited_ns(TL_USER);

	preempted = tl.count[TL_PREEMPTED];
	to_spinner = count_events(e, e->state == TL_PREEMPTED && e->next_pid == spinner_tid);
	ksft_test_result(order_is_right(), "preempted: the order of preemptions\n");
	ksft_test_result(to_spinner > 0 && to_spinner * 2 > preempted,
			 "preempted: the vCPU loses its CPU, mostly to the other thread\n");
	ksft_test_result(!count_events(e, e->next_pid == gettid()),
			 "preempted: and never to itself\n");
	ksft_test_result(!tl.count[TL_THROTTLED], "preempted: and not by a limit of its own\n");
	/* It could have run all the time. */
	ksft_test_result(preempted_is_waiting(),
			 "preempted: and waits for it while it is preempted\n");
	if (no_delay)
		ksft_test_result_skip("preempted: no more than the scheduler counts: %s\n",
				      no_delay);
	else
		ksft_test_result(wait && wait <= delay,
				 "preempted: no more than the scheduler counts\n");
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
	/* A slow host takes long for all else. */
	ksft_test_result(is_about(tl.ns[TL_HALTED], 10, tl.wall_ns) && ns_of_all() <= tl.wall_ns,
			 "halted: for a good part of the time\n");
	ksft_test_result(!count_events(e, e->state == TL_HALTED &&
				       (e->exit_reason != hlt_exit || e->next_pid == gettid())),
			 "halted: by HLT, and its CPU is another's\n");
	/* What it is not waiting for is a CPU. */
	ksft_test_result(waited_ns(TL_HALTED) < tl.ns[TL_HALTED] / 2,
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

/* A thread that has waited for long, and takes the vCPU over then */
static struct {
	struct kvm_vcpu	*vcpu;
	u64		waited;
	sem_t		has_waited, may_run;
} next;

static void *next_thread(void *arg)
{
	const u64 end = now_ns() + opt.seconds * 1000000000ULL;

	pin_self_to_cpu(timeline_cpu);
	do {
		spin_in_user_space(VMM_NS);
		next.waited = run_delay();
	} while (next.waited < WAITED_NS && now_ns() < end);
	sem_post(&next.has_waited);
	sem_wait(&next.may_run);
	record_timeline(next.vcpu, 1, NULL, false, 0, NULL);
	return NULL;
}

/* The vCPU is in user space when another thread takes it over. */
static void test_thread(void)
{
	struct kvm_vm *vm = make_vm_runs(&next.vcpu);
	struct perf_ring ring;
	pthread_t busy, other;
	cpu_set_t before;

	pin_for_timeline(&before);
	sem_init(&next.has_waited, 0, 0);
	sem_init(&next.may_run, 0, 0);
	start_spinner(&busy);
	pthread_create(&other, NULL, next_thread, NULL);
	sem_wait(&next.has_waited);
	stop_spinner(busy);

	/* The tracepoint is on when the state begins. */
	open_timeline(&ring);
	perf_ring_enable(&ring);
	run_turn(next.vcpu);
	spin_in_user_space(WAITED_NS);
	sem_post(&next.may_run);
	pthread_join(other, NULL);
	perf_ring_close(&ring);

	ksft_print_msg("thread: had waited for %lu us, the state for %lu of %lu us\n",
		       (unsigned long)(next.waited / 1000),
		       (unsigned long)(tl.events[0].wait / 1000),
		       (unsigned long)(tl.events[0].ns / 1000));
	ksft_test_result(tl.nr && tl.events[0].state == TL_USER && tl.events[0].ns >= WAITED_NS,
			 "thread: one that takes over ends the state of before\n");
	ksft_test_result(next.waited >= WAITED_NS && tl.events[0].wait < WAITED_NS / 4,
			 "thread: what it has waited before is not the vCPU's wait\n");
	kvm_vm_free(vm);
	unpin(&before);
}

static const char *no_two_cpus(void)
{
	cpu_set_t set;

	TEST_ASSERT(!sched_getaffinity(0, sizeof(set), &set), "sched_getaffinity()");
	return CPU_COUNT(&set) < 2 ? "takes two CPUs" : NULL;
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
	struct kvm_vm *vm = make_vm_runs(&vcpu);

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
	struct kvm_vm *vm = make_vm_runs(&vcpu);

	ftrace_timeline(true);
	record_timeline(vcpu, USER_EXITS, NULL, true, 0, NULL);
	ftrace_timeline(false);
	ksft_test_result(nr_exits(KVM_EXIT_IO) == USER_EXITS &&
			 !count_events(e, e->seq != tl.events[0].seq + (e - tl.events)),
			 "others: each event counts once while ftrace has it, too\n");
	kvm_vm_free(vm);
}

/* @policy: SCHED_DEADLINE with a limit, or SCHED_NORMAL */
static int set_policy(u32 policy)
{
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = policy,
	};

	if (policy == SCHED_DEADLINE) {
		attr.sched_runtime = LIMIT_NS;
		attr.sched_deadline = LIMIT_PERIOD_NS;
		attr.sched_period = LIMIT_PERIOD_NS;
	}
	return syscall(__NR_sched_setattr, 0, &attr, 0);
}

static const char *no_limit(void)
{
	if (set_policy(SCHED_DEADLINE))
		return "no SCHED_DEADLINE for this thread";
	set_policy(SCHED_NORMAL);
	return NULL;
}

/* A limit takes the CPU from the thread, whether somebody else wants it or not. */
static void test_throttled(void)
{
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm = make_vm_runs(&vcpu);

	TEST_ASSERT(!set_policy(SCHED_DEADLINE), "sched_setattr()");
	record_timeline(vcpu, USER_EXITS, &tl.count[TL_THROTTLED], true, 0, NULL);
	set_policy(SCHED_NORMAL);
	ksft_test_result(order_is_right(), "throttled: the order of states\n");
	ksft_test_result(tl.count[TL_THROTTLED], "throttled: the limit holds the vCPU back\n");
	ksft_test_result(!count_events(e, e->state == TL_THROTTLED && e->next_pid == gettid()),
			 "throttled: it does not get the CPU then\n");
	ksft_test_result(ns_of_all() <= tl.wall_ns, "throttled: no more than all time is told\n");
	kvm_vm_free(vm);
}

/* --- All of them ---------------------------------------------------------------- */

static const struct test_case tests[] = {
	{ "exits",	7,  test_exits,		NULL },
	{ "preempted",	7,  test_preempted,	NULL },
	{ "halted",	9,  test_halted,	NULL },
	{ "thread",	2,  test_thread,	no_run_delay },
	{ "moved",	4,  test_moved,		no_two_cpus },
	{ "others",	1,  test_others,	no_ftrace },
	{ "pages",	4,  test_pages,		no_pages },
	{ "throttled",	4,  test_throttled,	no_limit },
};

static void help(const char *name)
{
	printf("usage: %s [-c case] [-s seconds] [-l loops] [-t turns]\n"
	       "  -c  one case only:", name);
	for (unsigned int i = 0; i < ARRAY_SIZE(tests); i++)
		printf(" %s", tests[i].name);
	printf("\n"
	       "  -s  seconds that a recording may take (%u)\n"
	       "  -l  iterations of each of the guest's loops (%lu)\n"
	       "  -t  turns of its loops before it exits to user space (%lu)\n",
	       opt.seconds, guest.loops, guest.turns);
	exit(KSFT_FAIL);
}

static void parse_options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "c:s:l:t:h")) != -1) {
		switch (c) {
		case 'c':
			opt.only = optarg;
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

int main(int argc, char *argv[])
{
	parse_options(argc, argv);
	setbuf(stdout, NULL);
	ksft_print_header();
	if (tracepoint_id(TIMELINE) < 0)
		ksft_exit_skip("no tracepoint kvm:kvm_vcpu_timeline, or it cannot be read\n");
	if (!plan_cases(tests, ARRAY_SIZE(tests), opt.only))
		help(argv[0]);

	io_exit = host_cpu_is_intel ? EXIT_REASON_IO_INSTRUCTION : SVM_EXIT_IOIO;
	hlt_exit = host_cpu_is_intel ? EXIT_REASON_HLT : SVM_EXIT_HLT;
	isa = host_cpu_is_intel ? PERF_VCPU_ISA_VMX : PERF_VCPU_ISA_SVM;
	tl.events = calloc(MAX_EVENTS, sizeof(*tl.events));
	TEST_ASSERT(tl.events, "calloc()");

	run_cases(tests, ARRAY_SIZE(tests), opt.only);
	ksft_finished();
}
