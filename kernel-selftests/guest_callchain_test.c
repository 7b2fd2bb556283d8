// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callchains of a vCPU's thread: a sample of the guest has nothing of the VMM's user
 * stack, whether that is unwound at once or deferred; the samples of the host around it
 * do have it.
 *
 * There is no need for a PMU: samples are of the software event cpu-clock.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "kselftest.h"
#include "kvm_util.h"
#include "processor.h"
#include "test_util.h"

#define SAMPLE_PERIOD_NS	500000
#define MAX_STACK		16
/* Of each kind that a case wants, and how long it may take */
#define MIN_SAMPLES		200
#define TIMEOUT_NS		(20 * NSEC_PER_SEC)
/* How long the thread stays in the guest and in its own user space in turns */
#define GUEST_LOOPS		5000000
#define USER_NS			5000000
#define RING_PAGES		64
#define MAX_RECORD		1024

/* Whom header.misc says that a sample is of */
enum sample_mode {
	HOST_USER,
	HOST_KERNEL,
	GUEST,
	NR_MODES,
};

struct callchain_counts {
	unsigned int samples;
	unsigned int user;	/* with PERF_CONTEXT_USER in the callchain */
	unsigned int deferred;	/* with PERF_CONTEXT_USER_DEFERRED in it */
};

struct callchain_sample {
	struct perf_event_header header;
	u64 nr;
	u64 ips[];
};

union perf_record {
	struct perf_event_header header;
	struct callchain_sample sample;
	u8 bytes[MAX_RECORD];
};

static const char * const mode_names[NR_MODES] = {
	[HOST_USER]	= "host user",
	[HOST_KERNEL]	= "host kernel",
	[GUEST]		= "guest",
};

static void guest_code(void)
{
	/* Some emulators interrupt no guest that has interrupts disabled. */
	sti();
	for (;;) {
		for (u64 i = 0; i < GUEST_LOOPS; i++)
			barrier();
		GUEST_SYNC(0);
	}
}

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return timespec_to_ns(now);
}

static int open_callchain_event(bool defer, bool exclude_guest)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = SAMPLE_PERIOD_NS,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
		.sample_max_stack = MAX_STACK,
		.disabled = 1,
		.exclude_guest = exclude_guest,
		.defer_callchain = defer,
	};

	return syscall(__NR_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static enum sample_mode sample_mode(const struct perf_event_header *header)
{
	switch (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_USER:
		return HOST_USER;
	case PERF_RECORD_MISC_KERNEL:
		return HOST_KERNEL;
	case PERF_RECORD_MISC_GUEST_KERNEL:
	case PERF_RECORD_MISC_GUEST_USER:
		return GUEST;
	default:
		TEST_FAIL("Sample with misc 0x%x", header->misc);
	}
}

static void count_sample(const struct callchain_sample *sample,
			 struct callchain_counts *counts)
{
	bool user = false, deferred = false;

	TEST_ASSERT(sample->header.size == sizeof(*sample) + sample->nr * sizeof(u64),
		    "Sample of %u bytes with a callchain of %lu",
		    sample->header.size, sample->nr);
	for (u64 i = 0; i < sample->nr; i++) {
		if (sample->ips[i] == PERF_CONTEXT_USER)
			user = true;
		if (sample->ips[i] == PERF_CONTEXT_USER_DEFERRED) {
			deferred = true;
			/* Behind it is the cookie, which is any number. */
			i++;
		}
	}

	counts += sample_mode(&sample->header);
	counts->samples++;
	counts->user += user;
	counts->deferred += deferred;
}

static void read_ring(struct perf_event_mmap_page *meta, struct callchain_counts *counts)
{
	const u8 *data = (u8 *)meta + getpagesize();
	const size_t size = RING_PAGES * getpagesize();
	u64 head = __atomic_load_n(&meta->data_head, __ATOMIC_ACQUIRE);
	u64 tail = meta->data_tail;
	union perf_record record;

	while (tail != head) {
		/* Records are aligned to 8 bytes, their headers do not wrap around. */
		memcpy(&record.header, data + tail % size, sizeof(record.header));
		TEST_ASSERT(record.header.size <= sizeof(record), "Record of %u bytes",
			    record.header.size);
		for (size_t i = 0; i < record.header.size; i++)
			record.bytes[i] = data[(tail + i) % size];
		tail += record.header.size;
		if (record.header.type == PERF_RECORD_SAMPLE)
			count_sample(&record.sample, counts);
	}
	__atomic_store_n(&meta->data_tail, tail, __ATOMIC_RELEASE);
}

/* Sample guest and host in turns until there are MIN_SAMPLES of both @wanted modes. */
static void record(struct kvm_vcpu *vcpu, bool defer, bool exclude_guest,
		   const enum sample_mode wanted[2], struct callchain_counts *counts)
{
	const size_t size = (1 + RING_PAGES) * getpagesize();
	const u64 end = now_ns() + TIMEOUT_NS;
	struct perf_event_mmap_page *meta;
	struct ucall uc;
	int fd;

	memset(counts, 0, NR_MODES * sizeof(*counts));
	fd = open_callchain_event(defer, exclude_guest);
	TEST_ASSERT(fd >= 0, __KVM_SYSCALL_ERROR("perf_event_open()", fd));
	meta = kvm_mmap(size, PROT_READ | PROT_WRITE, MAP_SHARED, fd);

	TEST_ASSERT(!ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), "PERF_EVENT_IOC_ENABLE");
	do {
		u64 turn_end;

		vcpu_run(vcpu);
		TEST_ASSERT_EQ(get_ucall(vcpu, &uc), UCALL_SYNC);
		turn_end = now_ns() + USER_NS;
		while (now_ns() < turn_end)
			;
		read_ring(meta, counts);
	} while ((counts[wanted[0]].samples < MIN_SAMPLES ||
		  counts[wanted[1]].samples < MIN_SAMPLES) && now_ns() < end);

	kvm_munmap(meta, size);
	kvm_close(fd);

	for (int i = 0; i < NR_MODES; i++)
		ksft_print_msg("%s: %u samples, %u with user context, %u with a deferred one\n",
			       mode_names[i], counts[i].samples, counts[i].user,
			       counts[i].deferred);
}

static void test_guest(struct kvm_vcpu *vcpu, bool defer)
{
	static const enum sample_mode wanted[] = { HOST_USER, GUEST };
	const char *name = defer ? "deferred" : "at once";
	struct callchain_counts counts[NR_MODES], *guest = &counts[GUEST];
	struct callchain_counts *user = &counts[HOST_USER];

	record(vcpu, defer, false, wanted, counts);
	ksft_test_result(guest->samples >= MIN_SAMPLES && !guest->user && !guest->deferred,
			 "%s: no user context in samples of the guest\n", name);
	ksft_test_result(user->samples >= MIN_SAMPLES &&
			 (defer ? user->deferred : user->user) == user->samples,
			 "%s: but in all of the host's user space\n", name);
}

/* What hits the guest is the host's then, with the chain of KVM_RUN. */
static void test_exclude_guest(struct kvm_vcpu *vcpu)
{
	static const enum sample_mode wanted[] = { HOST_USER, HOST_KERNEL };
	struct callchain_counts counts[NR_MODES], *kernel = &counts[HOST_KERNEL];

	record(vcpu, true, true, wanted, counts);
	ksft_test_result(!counts[GUEST].samples, "exclude_guest: no sample of the guest\n");
	ksft_test_result(kernel->samples >= MIN_SAMPLES &&
			 kernel->deferred == kernel->samples,
			 "exclude_guest: the VMM's user stack in all of the host's kernel\n");
}

int main(int argc, char *argv[])
{
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm;
	int fd;

	ksft_print_header();
	fd = open_callchain_event(true, false);
	if (fd < 0)
		ksft_exit_skip("no cpu-clock with deferred callchains: %s\n",
			       strerror(errno));
	kvm_close(fd);
	ksft_set_plan(6);

	vm = vm_create_with_one_vcpu(&vcpu, guest_code);
	test_guest(vcpu, false);
	test_guest(vcpu, true);
	test_exclude_guest(vcpu);
	kvm_vm_free(vm);
	ksft_finished();
}
