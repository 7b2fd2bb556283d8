// SPDX-License-Identifier: GPL-2.0-only
/*
 * What perf labels guest has interrupted the guest: kvm_arch_pmi_in_guest().
 *
 * Interrupts that hit the guest are taken after the exit, and so are others that have
 * become pending after an exit for another reason, and softirqs are run on top of both.
 * The former are the guest's samples, the latter the host's.
 *
 * There is no need for a PMU: samples are of the software event cpu-clock, and of the
 * tracepoint irq:softirq_entry.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kselftest.h"
#include "kvm_util.h"
#include "perf_util.h"
#include "processor.h"
#include "test_util.h"

#define RING_PAGES	64
#define SOFTIRQ_EVENT	"irq/softirq_entry"

/* Options */
static struct {
	unsigned int	samples;	/* of cpu-clock for each case */
	unsigned int	softirqs;
	unsigned int	seconds;	/* at most, for each case */
	u64		period;		/* of cpu-clock, ns */
} opt = { .samples = 1000, .softirqs = 50, .seconds = 20, .period = 250000 };

/* Between two exits to user space */
static u64 loops = 1000000, exits = 500;

GUEST_SPIN(spin);
GUEST_SPIN_AND_EXIT(exit_often);

static void guest_spin(void)
{
	for (;;) {
		spin(loops);
		GUEST_SYNC(0);
	}
}

static void guest_exit(void)
{
	for (;;) {
		exit_often(exits);
		GUEST_SYNC(0);
	}
}

/* What there is of the samples of one event */
struct seen {
	unsigned int	all;
	unsigned int	guest;		/* labelled guest */
	unsigned int	in_loop;	/* at an address in spin() */
	unsigned int	in_loop_host;	/* but labelled host */
	unsigned int	at_exit;	/* labelled guest, at the CPUID */
};

static void look_at(const struct perf_sample *sample, void *arg)
{
	const bool guest = sample_is_labelled_guest(sample);
	struct seen *seen = arg;

	seen->all++;
	seen->guest += guest;
	if (ip_is_in(sample->ip, spin)) {
		seen->in_loop++;
		seen->in_loop_host += !guest;
	}
	seen->at_exit += guest && sample->ip == (u64)exit_often_insn;
}

static struct perf_event_attr clock_attr(void)
{
	return (struct perf_event_attr) {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = opt.period,
		.sample_type = PERF_SAMPLE_IP,
	};
}

static void open_clock(struct perf_ring *ring)
{
	struct perf_event_attr attr = clock_attr();

	perf_ring_open(ring, &attr, 0, -1, RING_PAGES);
}

static void skip_without_clock(void)
{
	struct perf_event_attr attr = clock_attr();
	int fd = sys_perf_event_open(&attr, 0, -1);

	if (fd < 0)
		ksft_exit_skip("no cpu-clock that samples the kernel: %s\n", strerror(errno));
	close(fd);
}

static void open_softirq(struct perf_ring *ring)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = tracepoint_id(SOFTIRQ_EVENT),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP,
	};

	perf_ring_open(ring, &attr, 0, -1, RING_PAGES);
}

static void run_turn(struct kvm_vcpu *vcpu)
{
	struct ucall uc;

	vcpu_run(vcpu);
	TEST_ASSERT_EQ(get_ucall(vcpu, &uc), UCALL_SYNC);
}

static bool in_time(const struct timespec *begin)
{
	return timespec_elapsed(*begin).tv_sec < opt.seconds;
}

/* Run the guest until there are all samples, also of @softirq_ring if there is one. */
static void record(void *guest_code, struct perf_ring *clock_ring, struct seen *clock,
		   struct perf_ring *softirq_ring, struct seen *softirq)
{
	struct timespec begin;
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm = vm_create_with_one_vcpu(&vcpu, guest_code);

	vcpu_enable_interrupts(vcpu);
	/* The guest's memory is there. */
	run_turn(vcpu);

	clock_gettime(CLOCK_MONOTONIC, &begin);
	perf_ring_enable(clock_ring);
	if (softirq_ring)
		perf_ring_enable(softirq_ring);
	while ((clock->all < opt.samples ||
		(softirq_ring && softirq->all < opt.softirqs)) && in_time(&begin)) {
		run_turn(vcpu);
		perf_ring_read(clock_ring, look_at, clock);
		if (softirq_ring)
			perf_ring_read(softirq_ring, look_at, softirq);
	}
	perf_ring_disable(clock_ring);
	if (softirq_ring)
		perf_ring_disable(softirq_ring);
	kvm_vm_free(vm);
}

/* Interrupts hit a guest that does nothing else than run, and softirqs follow some. */
static void test_spin(void)
{
	const bool softirqs = tracepoint_id(SOFTIRQ_EVENT) >= 0 && !softirqs_are_threads();
	struct seen clock = {}, softirq = {};
	struct perf_ring clock_ring, softirq_ring;

	open_clock(&clock_ring);
	if (softirqs)
		open_softirq(&softirq_ring);
	record(guest_spin, &clock_ring, &clock, softirqs ? &softirq_ring : NULL, &softirq);
	ksft_print_msg("spin: %u samples of cpu-clock, %u labelled guest, %u in the loop, %u of these labelled host\n",
		       clock.all, clock.guest, clock.in_loop, clock.in_loop_host);
	ksft_test_result(clock.in_loop >= clock.all / 2 && clock.in_loop >= opt.samples / 2,
			 "spin: most samples are at an address in the guest's loop\n");
	ksft_test_result(!clock.in_loop_host, "spin: and all of them are labelled guest\n");
	perf_ring_close(&clock_ring);

	if (!softirqs) {
		ksft_test_result_skip("softirq: no " SOFTIRQ_EVENT " on top of interrupts here\n");
		return;
	}
	ksft_print_msg("softirq: %u samples of " SOFTIRQ_EVENT ", %u labelled guest\n",
		       softirq.all, softirq.guest);
	ksft_test_result(softirq.all >= opt.softirqs / 5 && !softirq.guest,
			 "softirq: no softirq is labelled guest\n");
	perf_ring_close(&softirq_ring);
}

/* A guest that exits all the time: most interrupts become pending after an exit. */
static void test_exit(void)
{
	struct perf_ring ring;
	struct seen seen = {};

	open_clock(&ring);
	record(guest_exit, &ring, &seen, NULL, NULL);
	perf_ring_close(&ring);
	ksft_print_msg("exit: %u samples of cpu-clock, %u labelled guest, %u of these at the instruction that exits\n",
		       seen.all, seen.guest, seen.at_exit);
	/* A few have hit the guest right before it. */
	ksft_test_result(seen.all >= opt.samples / 2 && seen.at_exit <= seen.all / 100,
			 "exit: interrupts behind an exit for another reason are labelled host\n");
}

static void help(const char *name)
{
	printf("usage: %s [-n samples] [-i softirqs] [-p period] [-s seconds]\n"
	       "  -n  samples of cpu-clock for each case (%u)\n"
	       "  -i  samples of softirqs (%u)\n"
	       "  -p  period of the samples in ns (%lu)\n"
	       "  -s  seconds that a case may take for its samples (%u)\n",
	       name, opt.samples, opt.softirqs, opt.period, opt.seconds);
	exit(KSFT_FAIL);
}

static void parse_options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:i:p:s:h")) != -1) {
		switch (c) {
		case 'n':
			opt.samples = atoi_positive("samples", optarg);
			break;
		case 'i':
			opt.softirqs = atoi_positive("softirqs", optarg);
			break;
		case 'p':
			opt.period = atoi_positive("period", optarg);
			break;
		case 's':
			opt.seconds = atoi_positive("seconds", optarg);
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
	skip_without_clock();
	ksft_set_plan(4);
	test_spin();
	test_exit();
	ksft_finished();
}
