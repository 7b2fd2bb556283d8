// SPDX-License-Identifier: GPL-2.0
/*
 * perf_event_open() with PERF_SAMPLE_VCPU and all else: what is accepted, and whether the
 * records are as include/uapi/linux/perf_event.h says, to the last byte.
 *
 * Usage: attr-fuzz bits
 *	  attr-fuzz fuzz SEED SECONDS [TID...]
 *	  attr-fuzz keep SECONDS
 *
 * bits: each bit of sample_type with PERF_SAMPLE_VCPU on each kind of event, and what the kernel
 * has to refuse.
 *
 * fuzz: random attributes until the time is over. TIDs, of vCPU threads say, are among the tasks
 * that events are put on; they may end.
 *
 * In both, an attribute has to be accepted with PERF_SAMPLE_VCPU exactly if it is without.
 *
 * keep: one event for each CPU, open all the time or until SIGTERM, whatever happens to the
 * hypervisor.
 *
 * Ends with a line of what there was, and with 1 if anything was wrong. The kernel is to be
 * built with INIT_STACK_ALL_PATTERN, so that a member which it copies out and has never written
 * is not 0 by chance.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TRACEFS		"/sys/kernel/tracing/events/"
#define DATA_PAGES	16
/* In ns: rare enough for a slow kernel to get on */
#define KEEP_PERIOD	10000000
#define MAX_TIDS	64
/* Of what the kernel refuses with EINVAL, not of what it has a meaning for. */
#define SAMPLE_BITS	26
#define FORMAT_BITS	5
/* PERF_REG_X86_*: all of 64 bit code but ds, es, fs, gs */
#define REGS_MASK	0xff0fffULL

#define FLAGS_KNOWN	(PERF_VCPU_LOADED | PERF_VCPU_IN_GUEST | PERF_VCPU_NESTED | \
			 PERF_VCPU_PROTECTED | PERF_VCPU_PT_ROOT_VALID | \
			 PERF_VCPU_EXIT_REASON_VALID | PERF_VCPU_EXCLUDED | PERF_VCPU_SMM | \
			 PERF_VCPU_ISA_MASK | PERF_VCPU_WORDS_MASK)
/* Words behind the flags */
#define VCPU_WORDS	(sizeof(struct perf_sample_vcpu) / sizeof(uint64_t) - 1)
/* Of the lab's host */
#define MAX_CPUS	64
/* KVM's limit for x86 (KVM_MAX_VCPU_IDS); the pattern is above it. */
#define MAX_VCPU_ID	(4096 * 4)
/* An ASID or VPID is 16 bits wide on all CPUs; KVM's exit codes have no such value. */
#define MAX_VPID	0xffff
#define PATTERN_32	0xfefefefeU
/* Guests of the lab have no more memory. */
#define MAX_PT_ROOT	(1ULL << 40)

/* After its common header; kvm_vcpu_timeline in include/trace/events/kvm.h */
struct timeline {
	uint64_t common, ns, wait, exit_reason;
	uint32_t vcpu_id, seq;
	int32_t why, next_pid;
	uint32_t cpu;
	uint8_t state, isa;
} __attribute__((packed));

#define TIMELINE_STATES	7

struct ring {
	int fd;
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t size;
};

/* What is read of a record, and how far */
struct cursor {
	const uint8_t *at;
	size_t left;
	bool short_read;
};

static unsigned long opened, refused, records, samples, loaded, in_guest, timelines, callchains;
static unsigned long wrong;
static uint64_t random_state;
static size_t page_size;
static unsigned int nr_cpus, nr_tids;
static pid_t tids[MAX_TIDS];
static uint64_t timeline_id;
static volatile uint64_t watched;
/* Of the last sample with a dump of the stack */
static uint64_t stack_bytes;
/* The stack pointer of page faults, or 0: the real one */
static uintptr_t fault_stack;

/* xorshift64: the same for a seed on each machine */
static uint64_t any(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static unsigned int below(unsigned int n)
{
	return any() % n;
}

static bool one_in(unsigned int n)
{
	return !below(n);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Zeros behind the attributes, for sizes beyond theirs; the kernel may write its own size. */
static int event_open(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	union {
		struct perf_event_attr attr;
		char bytes[2 * sizeof(*attr)];
	} args = { .bytes = { 0 } };

	args.attr = *attr;
	return syscall(SYS_perf_event_open, &args, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void complain(const struct perf_event_attr *attr, const char *what, uint64_t value)
{
	wrong++;
	printf("attr-fuzz: WRONG: %s %#" PRIx64 ": type %u config %#llx sample_type %#llx read_format %#llx size %u\n",
	       what, value, attr->type, attr->config, attr->sample_type, attr->read_format,
	       attr->size);
}

/* --- records ------------------------------------------------------------------------ */

static const void *take(struct cursor *c, uint64_t size)
{
	const void *at = c->at;

	if (size > c->left) {
		c->short_read = true;
		c->left = 0;
		return NULL;
	}
	c->at += size;
	c->left -= size;
	return at;
}

static uint64_t take_u64(struct cursor *c)
{
	const void *at = take(c, sizeof(uint64_t));
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

static void take_array(struct cursor *c, uint64_t nr, size_t size)
{
	if (nr > c->left / size)
		c->short_read = true;
	else
		take(c, nr * size);
}

static void take_read(struct cursor *c, uint64_t format)
{
	unsigned int each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	unsigned int times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			     !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t nr = 1;

	if (format & PERF_FORMAT_GROUP)
		nr = take_u64(c);
	take_array(c, times, sizeof(uint64_t));
	take_array(c, nr, each * sizeof(uint64_t));
}

static void check_timeline(const struct perf_event_attr *attr, const uint8_t *raw, uint32_t size)
{
	struct timeline timeline;

	timelines++;
	/* All, and padded so that the size of it and what follows is a multiple of 8 */
	if (size < sizeof(timeline) || size >= sizeof(timeline) + 2 * sizeof(uint64_t)) {
		complain(attr, "timeline: size", size);
		return;
	}
	memcpy(&timeline, raw, sizeof(timeline));
	if (timeline.state >= TIMELINE_STATES)
		complain(attr, "timeline: state", timeline.state);
	if (timeline.wait > timeline.ns)
		complain(attr, "timeline: wait", timeline.wait);
	if (timeline.cpu >= MAX_CPUS)
		complain(attr, "timeline: cpu", timeline.cpu);
	if (timeline.vcpu_id >= MAX_VCPU_ID)
		complain(attr, "timeline: vcpu_id", timeline.vcpu_id);
	if (timeline.isa != 0 && timeline.isa != PERF_VCPU_ISA_VMX &&
	    timeline.isa != PERF_VCPU_ISA_SVM)
		complain(attr, "timeline: isa", timeline.isa);
	if (!timeline.isa && timeline.exit_reason)
		complain(attr, "timeline: exit_reason without isa", timeline.exit_reason);
}

static void take_raw(struct cursor *c, const struct perf_event_attr *attr)
{
	const void *at = take(c, sizeof(uint32_t));
	uint32_t size = 0;

	if (at)
		memcpy(&size, at, sizeof(size));
	at = take(c, size);
	if (at && attr->type == PERF_TYPE_TRACEPOINT && attr->config == timeline_id)
		check_timeline(attr, at, size);
}

static void take_regs(struct cursor *c, uint64_t mask)
{
	if (take_u64(c) != PERF_SAMPLE_REGS_ABI_NONE)
		take_array(c, __builtin_popcountll(mask), sizeof(uint64_t));
}

static void take_vcpu(struct cursor *c, const struct perf_event_attr *attr)
{
	struct perf_sample_vcpu vcpu = { .flags = take_u64(c) };
	uint64_t flags = vcpu.flags;
	uint64_t words = (flags & PERF_VCPU_WORDS_MASK) >> PERF_VCPU_WORDS_SHIFT;
	const void *at = take(c, words * sizeof(uint64_t));

	if (flags & ~FLAGS_KNOWN)
		complain(attr, "flags that do not exist", flags);
	if (!(flags & PERF_VCPU_LOADED)) {
		if (flags && flags != PERF_VCPU_EXCLUDED)
			complain(attr, "flags, and not LOADED", flags);
		return;
	}
	loaded++;
	if (words != VCPU_WORDS) {
		complain(attr, "words", words);
		return;
	}
	if (!at)
		return;
	memcpy(&vcpu.pt_root, at, words * sizeof(uint64_t));

	if (vcpu.vcpu_id >= MAX_VCPU_ID)
		complain(attr, "vcpu_id", vcpu.vcpu_id);
	if (vcpu.vpid > MAX_VPID)
		complain(attr, "vpid", vcpu.vpid);
	if (flags & PERF_VCPU_EXCLUDED)
		complain(attr, "EXCLUDED with more", flags);
	if (flags & PERF_VCPU_PT_ROOT_VALID) {
		if (!(flags & PERF_VCPU_IN_GUEST) || (flags & PERF_VCPU_PROTECTED))
			complain(attr, "flags with PT_ROOT_VALID", flags);
		if (!vcpu.pt_root || vcpu.pt_root >= MAX_PT_ROOT)
			complain(attr, "pt_root", vcpu.pt_root);
	} else if (vcpu.pt_root) {
		complain(attr, "pt_root without PT_ROOT_VALID", vcpu.pt_root);
	}
	if (flags & PERF_VCPU_EXIT_REASON_VALID) {
		if ((uint32_t)vcpu.exit_reason == PATTERN_32)
			complain(attr, "exit_reason", vcpu.exit_reason);
	} else if (vcpu.exit_reason) {
		complain(attr, "exit_reason without EXIT_REASON_VALID", vcpu.exit_reason);
	}
	if (flags & PERF_VCPU_IN_GUEST) {
		in_guest++;
		if (attr->exclude_guest)
			complain(attr, "IN_GUEST with exclude_guest", flags);
		if (!(flags & PERF_VCPU_EXIT_REASON_VALID))
			complain(attr, "IN_GUEST without EXIT_REASON_VALID", flags);
	}
}

/* In the order of PERF_RECORD_SAMPLE in include/uapi/linux/perf_event.h */
static void take_sample(struct cursor *c, const struct perf_event_attr *attr)
{
	static const uint64_t first = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
		PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	static const uint64_t last = PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |
		PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE;
	uint64_t type = attr->sample_type, nr;

	take_array(c, __builtin_popcountll(type & first), sizeof(uint64_t));
	if (type & PERF_SAMPLE_READ)
		take_read(c, attr->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		nr = take_u64(c);
		take_array(c, nr, sizeof(uint64_t));
	}
	if (type & PERF_SAMPLE_RAW)
		take_raw(c, attr);
	if (type & PERF_SAMPLE_BRANCH_STACK) {
		nr = take_u64(c);
		/* No event here has branches; without, there is no hw_idx either. */
		take_array(c, nr, sizeof(struct perf_branch_entry));
	}
	if (type & PERF_SAMPLE_REGS_USER)
		take_regs(c, attr->sample_regs_user);
	if (type & PERF_SAMPLE_STACK_USER) {
		nr = take_u64(c);
		take(c, nr);
		if (nr)
			take_u64(c);
		stack_bytes = nr;
	}
	if (type & PERF_SAMPLE_WEIGHT_TYPE)
		take_u64(c);
	if (type & PERF_SAMPLE_DATA_SRC)
		take_u64(c);
	if (type & PERF_SAMPLE_TRANSACTION)
		take_u64(c);
	if (type & PERF_SAMPLE_REGS_INTR)
		take_regs(c, attr->sample_regs_intr);
	take_array(c, __builtin_popcountll(type & last), sizeof(uint64_t));
	if (type & PERF_SAMPLE_AUX) {
		nr = take_u64(c);
		take(c, nr);
	}
	if (type & PERF_SAMPLE_VCPU)
		take_vcpu(c, attr);
}

/* As in include/uapi/linux/perf_event.h; the LTS kernel does not have it. */
#ifdef PERF_GUEST_CALLCHAIN_STACK
static void want_callchains(struct perf_event_attr *attr)
{
	/* A record needs both, and a guest that is interrupted while the event is open. */
	bool both = one_in(2);

	attr->guest_callchain = both || one_in(3);
	attr->guest_output = both || one_in(3);
	if (attr->guest_callchain)
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
}

static void check_callchain(struct cursor *c, const struct perf_event_attr *attr)
{
	static const uint64_t ids = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
		PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	uint64_t cookie = take_u64(c), how = take_u64(c), size;
	uint32_t end = how, flags = how >> 32;

	callchains++;
	if (!attr->guest_output || !cookie)
		complain(attr, "callchain that nobody wants, with cookie", cookie);
	if (end >= PERF_GUEST_CALLCHAIN_END_MAX)
		complain(attr, "callchain: end", end);
	take_array(c, 2, sizeof(uint64_t));
	take_array(c, take_u64(c), sizeof(uint64_t));
	if (flags & PERF_GUEST_CALLCHAIN_STACK) {
		take_array(c, __builtin_popcountll(take_u64(c)), sizeof(uint64_t));
		size = take_u64(c);
		take(c, size);
		if (take_u64(c) > size)
			complain(attr, "callchain: more of the stack than its size", size);
	}
	if (attr->sample_id_all)
		take_array(c, __builtin_popcountll(attr->sample_type & ids), sizeof(uint64_t));
	if (c->short_read || c->left)
		complain(attr, "callchain: bytes too many, or too few", c->left);
}
#else
static void want_callchains(struct perf_event_attr *attr)
{
	(void)attr;
}
#endif

static void check_record(const uint8_t *record, const struct perf_event_attr *attr)
{
	struct perf_event_header header;
	struct cursor c;

	memcpy(&header, record, sizeof(header));
	records++;
	if (header.type == 0 || header.type >= PERF_RECORD_MAX)
		complain(attr, "record type", header.type);
	c = (struct cursor) { record + sizeof(header), header.size - sizeof(header), false };
#ifdef PERF_GUEST_CALLCHAIN_STACK
	if (header.type == PERF_RECORD_GUEST_CALLCHAIN)
		check_callchain(&c, attr);
#endif
	if (header.type != PERF_RECORD_SAMPLE)
		return;

	samples++;
	take_sample(&c, attr);
	if (c.short_read)
		complain(attr, "sample too short for its type, size", header.size);
	else if (c.left)
		complain(attr, "bytes behind the sample, of size", header.size);
}

/* --- ring buffers -------------------------------------------------------------------- */

static bool map_ring(struct ring *ring, int fd, unsigned int pages)
{
	ring->fd = fd;
	ring->size = (uint64_t)pages * page_size;
	ring->page = mmap(NULL, ring->size + page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring->page == MAP_FAILED)
		return false;
	ring->data = (const uint8_t *)ring->page + page_size;
	return true;
}

static void unmap_ring(struct ring *ring)
{
	munmap(ring->page, ring->size + page_size);
}

static void copy_out(const struct ring *ring, uint64_t from, void *to, size_t size)
{
	uint64_t offset = from % ring->size, first = ring->size - offset;

	if (first > size)
		first = size;
	memcpy(to, ring->data + offset, first);
	memcpy((uint8_t *)to + first, ring->data, size - first);
}

static void read_ring(struct ring *ring, const struct perf_event_attr *attr)
{
	static uint8_t record[1 << 16];
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;
	struct perf_event_header header;

	while (tail < head) {
		copy_out(ring, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size % sizeof(uint64_t) ||
		    header.size > head - tail) {
			complain(attr, "record size", header.size);
			break;
		}
		copy_out(ring, tail, record, header.size);
		check_record(record, attr);
		tail += header.size;
	}
	__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
}

/* --- attributes ---------------------------------------------------------------------- */

static uint64_t tracepoint(const char *name)
{
	char path[128];
	unsigned long long id = 0;
	FILE *file;

	snprintf(path, sizeof(path), TRACEFS "%s/id", name);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%llu", &id) != 1)
		id = 0;
	fclose(file);
	return id;
}

#define NR_KINDS	14
/* Places in software[]: timers, and whose samples have registers of user space */
#define CPU_CLOCK	0
#define PAGE_FAULTS	2
/* Behind software[] */
#define TIMELINE	8
/* A multiple of 8, below 64 KiB - 1 */
#define LARGEST_STACK	65528

/* Tracepoints of a module that is not loaded have no id: the event is refused. */
static void set_kind(struct perf_event_attr *attr, unsigned int kind)
{
	static const uint64_t software[] = {
		PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_PAGE_FAULTS,
		PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS,
		PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_COUNT_SW_DUMMY, PERF_COUNT_SW_BPF_OUTPUT,
	};
	static const char *const points[] = {
		"kvm/kvm_vcpu_timeline", "kvm/kvm_exit", "sched/sched_switch", "irq/softirq_entry",
	};
	const unsigned int nr_software = sizeof(software) / sizeof(software[0]);
	const unsigned int nr_points = sizeof(points) / sizeof(points[0]);

	if (kind < nr_software) {
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = software[kind];
		/* Timers: in ns */
		attr->sample_period = kind < PAGE_FAULTS ? 500000 + below(5000000) : 1;
	} else if (kind < nr_software + nr_points) {
		attr->type = PERF_TYPE_TRACEPOINT;
		attr->config = tracepoint(points[kind - nr_software]);
		attr->sample_period = 1;
		if (kind == TIMELINE)
			timeline_id = attr->config;
	} else if (kind == nr_software + nr_points) {
		attr->type = PERF_TYPE_BREAKPOINT;
		attr->bp_type = HW_BREAKPOINT_RW;
		attr->bp_addr = (uintptr_t)&watched;
		attr->bp_len = HW_BREAKPOINT_LEN_8;
		attr->sample_period = 1;
	} else {
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = PERF_COUNT_HW_CPU_CYCLES;
		attr->sample_period = 1000000;
	}
}

/* What a bit of sample_type wants besides */
static void set_details(struct perf_event_attr *attr)
{
	attr->sample_regs_user = REGS_MASK;
	attr->sample_regs_intr = REGS_MASK;
	attr->sample_stack_user = 512;
	attr->branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
}

static void set_randomly(struct perf_event_attr *attr)
{
	attr->sample_type = any() & any() & ((1U << SAMPLE_BITS) - 1);
	/* What the kernel says of a vCPU's state is looked at, too. */
	if (attr->type == PERF_TYPE_TRACEPOINT)
		attr->sample_type |= PERF_SAMPLE_RAW;
	attr->read_format = one_in(2) ? any() & ((1U << FORMAT_BITS) - 1) : 0;
	attr->sample_regs_user = any() & REGS_MASK;
	attr->sample_regs_intr = any() & REGS_MASK;
	/* Up to more than what there is room for in a sample, which the kernel then cuts. */
	attr->sample_stack_user = below(8192) * 8;
	attr->branch_sample_type = any() & (PERF_SAMPLE_BRANCH_MAX - 1);
	attr->inherit = one_in(3);
	attr->exclude_user = one_in(4);
	attr->exclude_kernel = one_in(4);
	attr->exclude_hv = one_in(4);
	attr->exclude_idle = one_in(4);
	attr->exclude_host = one_in(6);
	attr->exclude_guest = one_in(4);
	attr->exclude_callchain_kernel = one_in(4);
	attr->exclude_callchain_user = one_in(4);
	attr->mmap = one_in(4);
	attr->comm = one_in(4);
	attr->task = one_in(4);
	attr->context_switch = one_in(4);
	attr->sample_id_all = one_in(2);
	attr->watermark = one_in(4);
	attr->write_backward = one_in(16);
	want_callchains(attr);
	attr->wakeup_events = below(4);
	attr->pinned = one_in(8);
	if (one_in(4) && attr->type == PERF_TYPE_SOFTWARE) {
		attr->freq = 1;
		attr->sample_freq = 1 + below(2000);
	}
	if (one_in(16))
		attr->precise_ip = below(4);
	if (one_in(16))
		attr->use_clockid = 1, attr->clockid = below(12);
	if (one_in(16))
		attr->aux_sample_size = below(4096);
	/* Old sizes cut members off, larger ones must be zero behind what the kernel knows. */
	if (one_in(8))
		attr->size = PERF_ATTR_SIZE_VER0 + 8 * below(20);
}

/* --- one event ------------------------------------------------------------------------ */

/* Nothing may use the stack between: no call, and no signal. */
static void touch(char *page)
{
	if (!fault_stack) {
		*page = 1;
		return;
	}
	asm volatile("mov %%rsp, %%rbx\n\t"
		     "mov %1, %%rsp\n\t"
		     "movb $1, (%0)\n\t"
		     "mov %%rbx, %%rsp"
		     : : "r" (page), "r" (fault_stack) : "rbx", "memory");
}

static void work(void)
{
	uint64_t until = now_ns() + 2000000 + below(10000000);
	char *page = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	if (page != MAP_FAILED) {
		touch(page);
		munmap(page, page_size);
	}
	do {
		watched++;
		sched_yield();
	} while (now_ns() < until);
	/* The CPU is the vCPUs' then: to open and to close an event takes longer still. */
	if (nr_tids && one_in(2))
		usleep(20000 + below(200000));
}

static bool expected_errno(int error)
{
	switch (error) {
	case EINVAL: case EOPNOTSUPP: case ENOENT: case E2BIG: case ESRCH: case ENODEV:
	case ENOSPC: case EBUSY: case EACCES: case ENOSYS:
		return true;
	}
	return false;
}

/* The same with and without the bit, on the same task and CPU */
static void compare(struct perf_event_attr attr, pid_t pid, int cpu, int fd, int error)
{
	int without, its_error;

	attr.sample_type &= ~(uint64_t)PERF_SAMPLE_VCPU;
	without = event_open(&attr, pid, cpu);
	its_error = errno;
	if (without >= 0)
		close(without);
	/* A thread may end between the two, the module of a tracepoint come or go. */
	if (pid > 0 || attr.type == PERF_TYPE_TRACEPOINT)
		return;
	if (fd < 0 ? without >= 0 || error != its_error : without < 0)
		complain(&attr, "another verdict with PERF_SAMPLE_VCPU, error", fd < 0 ? error : 0);
}

static void churn(int fd)
{
	for (unsigned int i = below(4); i; i--) {
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	}
}

static void try_attr(struct perf_event_attr attr, pid_t pid, int cpu)
{
	struct ring ring;
	int fd, error;

	attr.disabled = 1;
	fd = event_open(&attr, pid, cpu);
	error = errno;
	if (attr.sample_type & PERF_SAMPLE_VCPU)
		compare(attr, pid, cpu, fd, error);
	if (fd < 0) {
		refused++;
		if (!expected_errno(error))
			complain(&attr, "errno", error);
		return;
	}
	opened++;
	/* Members that an old size cuts off are 0 for the kernel. */
	if (attr.size && attr.size < sizeof(attr))
		memset((char *)&attr + attr.size, 0, sizeof(attr) - attr.size);
	if (map_ring(&ring, fd, attr.write_backward ? 1 : DATA_PAGES)) {
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		churn(fd);
		work();
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		/* The last record is the first there: another way to read, which perf tests. */
		if (!attr.write_backward)
			read_ring(&ring, &attr);
		unmap_ring(&ring);
	} else if (errno != EINVAL && errno != EAGAIN) {
		/* An inherited event of a task on all CPUs has no buffer. */
		complain(&attr, "mmap, errno", errno);
	}
	close(fd);
}

/* Above all, those that see vCPUs */
static unsigned int random_kind(void)
{
	if (one_in(3))
		return CPU_CLOCK;
	return one_in(4) ? TIMELINE : below(NR_KINDS);
}

static void try_random(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	pid_t pid = 0;
	int cpu = -1;

	set_kind(&attr, random_kind());
	set_randomly(&attr);
	if (!one_in(4))
		attr.sample_type |= PERF_SAMPLE_VCPU;
	if (one_in(2) && nr_tids)
		pid = tids[below(nr_tids)];
	if (one_in(2)) {
		cpu = below(nr_cpus);
		if (one_in(2))
			pid = -1;
	}
	try_attr(attr, pid, cpu);
}

static void try_all_bits(void)
{
	for (unsigned int kind = 0; kind < NR_KINDS; kind++) {
		for (unsigned int bit = 0; bit < SAMPLE_BITS; bit++) {
			struct perf_event_attr attr = { .size = sizeof(attr) };

			set_kind(&attr, kind);
			set_details(&attr);
			attr.sample_type = 1ULL << bit | PERF_SAMPLE_VCPU;
			try_attr(attr, -1, bit % nr_cpus);
		}
	}
}

/*
 * As much of the stack as may be asked for, and what else is of a size that is not the same in
 * each sample: of the whole, the stack has what is left. @more: bits for what comes behind it
 */
static void try_large(uint64_t more)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };

	set_kind(&attr, PAGE_FAULTS);
	set_details(&attr);
	attr.sample_stack_user = LARGEST_STACK;
	attr.sample_type = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER |
			   PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_VCPU | more;
	stack_bytes = 0;
	try_attr(attr, 0, -1);
	if (stack_bytes < LARGEST_STACK / 2)
		complain(&attr, "bytes of the stack in a large sample", stack_bytes);
}

/* Where user space ends: a page less than what five or four levels of page tables have for it */
static uintptr_t user_end(void)
{
	static const unsigned int bits[] = { 56, 47 };

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		uintptr_t end = (1UL << bits[i]) - page_size;
		void *last = mmap((void *)(end - page_size), page_size, PROT_NONE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (last != MAP_FAILED)
			munmap(last, page_size);
		if (last != MAP_FAILED || errno == EEXIST)
			return end;
	}
	errx(1, "no end of user space");
}

/* A stack pointer from which it is @bytes to the end of user space */
static void try_short_stack(unsigned int bytes)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };

	set_kind(&attr, PAGE_FAULTS);
	attr.sample_stack_user = 64;
	attr.sample_type = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_VCPU;
	stack_bytes = 0;
	fault_stack = user_end() - bytes;
	try_attr(attr, 0, -1);
	fault_stack = 0;
	if (stack_bytes != bytes / sizeof(uint64_t) * sizeof(uint64_t))
		complain(&attr, "bytes of a short stack", stack_bytes);
}

static void try_unknown_bit(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK, .sample_type = 1ULL << SAMPLE_BITS,
	};
	int fd = event_open(&attr, 0, -1);

	if (fd >= 0 || errno != EINVAL)
		complain(&attr, "a bit that does not exist, errno", fd < 0 ? errno : 0);
}

/* It would be the last of what the kernel knows, and is more than it knows. */
static void try_long_attr(void)
{
	struct {
		struct perf_event_attr attr;
		uint64_t more;
	} args = {
		.attr = {
			.size = sizeof(args), .type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_CPU_CLOCK, .sample_type = PERF_SAMPLE_VCPU,
		}, .more = 1,
	};
	int fd = syscall(SYS_perf_event_open, &args, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0 || errno != E2BIG || args.attr.size != sizeof(args.attr))
		complain(&args.attr, "members that do not exist, errno", fd < 0 ? errno : 0);
}

static void bits(void)
{
	random_state = 1;
	try_unknown_bit();
	try_long_attr();
	try_all_bits();
	try_large(0);
	try_large(PERF_SAMPLE_AUX);
	try_short_stack(47);
	try_short_stack(56);
}

static void fuzz(uint64_t seed, unsigned int seconds)
{
	uint64_t until = now_ns() + seconds * 1000000000ULL;

	/* xorshift has no way out of 0. */
	random_state = seed * 2 + 1;
	while (now_ns() < until)
		try_random();
}

static volatile sig_atomic_t over;

static void on_term(int sig)
{
	(void)sig;
	over = 1;
}

static void keep(unsigned int seconds)
{
	uint64_t until = now_ns() + seconds * 1000000000ULL;
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = KEEP_PERIOD,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_VCPU,
	};
	struct ring *rings = calloc(nr_cpus, sizeof(*rings));

	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		int fd = event_open(&attr, -1, cpu);

		if (fd < 0 || !rings || !map_ring(&rings[cpu], fd, DATA_PAGES))
			err(1, "event on CPU %u", cpu);
		opened++;
	}
	signal(SIGTERM, on_term);
	while (!over && now_ns() < until) {
		usleep(100000);
		for (unsigned int cpu = 0; cpu < nr_cpus; cpu++)
			read_ring(&rings[cpu], &attr);
	}
	free(rings);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	page_size = sysconf(_SC_PAGESIZE);
	nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	for (int i = 4; i < argc && nr_tids < MAX_TIDS; i++)
		tids[nr_tids++] = atoi(argv[i]);
	if (!strcmp(what, "bits") && argc == 2)
		bits();
	else if (!strcmp(what, "fuzz") && argc >= 4)
		fuzz(strtoull(argv[2], NULL, 0), atoi(argv[3]));
	else if (!strcmp(what, "keep") && argc == 3)
		keep(atoi(argv[2]));
	else
		errx(2, "usage: attr-fuzz bits | fuzz SEED SECONDS [TID...] | keep SECONDS");
	printf("attr-fuzz %s: opened %lu refused %lu records %lu samples %lu loaded %lu in-guest %lu timeline %lu callchains %lu wrong %lu\n",
	       what, opened, refused, records, samples, loaded, in_guest, timelines, callchains,
	       wrong);
	return wrong ? 1 : 0;
}
