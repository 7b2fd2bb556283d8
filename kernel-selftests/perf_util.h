/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of a guest, read from perf's ring buffer.
 */
#ifndef SELFTEST_KVM_PERF_UTIL_H
#define SELFTEST_KVM_PERF_UTIL_H

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "kvm_util.h"
#include "processor.h"

/*
 * Loops of two instructions, each at an address of its own: the IP of a sample tells
 * which of them was interrupted.
 */
#define GUEST_SPIN(name)				\
	asm(".pushsection .text, \"ax\", @progbits\n"	\
	    ".balign 64\n"				\
	    ".globl " #name ", " #name "_end\n"		\
	    #name ":\n"					\
	    "1:	decq %rdi\n"				\
	    "	jnz 1b\n"				\
	    "	ret\n"					\
	    #name "_end:\n"				\
	    ".popsection\n");				\
	void name(u64 loops);				\
	extern const char name##_end[]

/*
 * The same with a CPUID, which exits, after so many other instructions that an interrupt
 * which hits the guest is rarely taken at the CPUID itself: nothing jumps there, and after
 * an entry it has been skipped.
 */
#define GUEST_SPIN_AND_EXIT(name)			\
	asm(".pushsection .text, \"ax\", @progbits\n"	\
	    ".balign 4096\n"				\
	    ".globl " #name ", " #name "_insn\n"	\
	    #name ":\n"					\
	    "	push %rbx\n"				\
	    "1:	.fill 64, 1, 0x90\n"			\
	    "	xor %eax, %eax\n"			\
	    #name "_insn:\n"				\
	    "	cpuid\n"				\
	    "	decq %rdi\n"				\
	    "	jnz 1b\n"				\
	    "	pop %rbx\n"				\
	    "	ret\n"					\
	    ".popsection\n");				\
	void name(u64 loops);				\
	extern const char name##_insn[]

static inline bool ip_is_between(u64 ip, const void *begin, const void *end)
{
	return ip >= (u64)begin && ip < (u64)end;
}

#define ip_is_in(ip, name)	ip_is_between(ip, name, name##_end)

/* Some emulators do not interrupt a guest that has interrupts off. */
static inline void vcpu_enable_interrupts(struct kvm_vcpu *vcpu)
{
	struct kvm_regs regs;

	vcpu_regs_get(vcpu, &regs);
	regs.rflags |= X86_EFLAGS_IF;
	vcpu_regs_set(vcpu, &regs);
}

struct perf_ring {
	int				fd;
	struct perf_event_mmap_page	*meta;
	size_t				data_size;
	u64				sample_type;
	u64				lost;
	u64				throttled;
};

#define PERF_RAW_MAX	128
#define PERF_REST_MAX	8

struct perf_sample {
	u16	misc;
	u16	size;
	u32	pid;
	u32	tid;
	u32	cpu;
	u64	ip;
	u64	time;
	u32	raw_size;
	u8	raw[PERF_RAW_MAX];
	/* What is after the parts above, and how many bytes of it there are */
	u32	rest_size;
	u64	rest[PERF_REST_MAX];
};

/* What perf_sample_parse() takes apart; others have to come after all of these. */
#define PERF_SAMPLE_KNOWN	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
				 PERF_SAMPLE_CPU | PERF_SAMPLE_RAW)

static inline int sys_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return syscall(__NR_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* @pages: of data, a power of two. The event is not enabled. */
static inline void perf_ring_open(struct perf_ring *ring, struct perf_event_attr *attr,
				  pid_t pid, int cpu, unsigned int pages)
{
	const size_t page = getpagesize();

	memset(ring, 0, sizeof(*ring));
	attr->disabled = 1;
	ring->fd = sys_perf_event_open(attr, pid, cpu);
	TEST_ASSERT(ring->fd >= 0, __KVM_SYSCALL_ERROR("perf_event_open", ring->fd));

	ring->data_size = pages * page;
	ring->sample_type = attr->sample_type;
	ring->meta = mmap(NULL, page + ring->data_size, PROT_READ | PROT_WRITE, MAP_SHARED,
			  ring->fd, 0);
	TEST_ASSERT(ring->meta != MAP_FAILED, __KVM_SYSCALL_ERROR("mmap", -1));
}

static inline void perf_ring_close(struct perf_ring *ring)
{
	munmap(ring->meta, getpagesize() + ring->data_size);
	close(ring->fd);
}

static inline void perf_ring_enable(struct perf_ring *ring)
{
	TEST_ASSERT(!ioctl(ring->fd, PERF_EVENT_IOC_ENABLE, 0), "PERF_EVENT_IOC_ENABLE");
}

static inline void perf_ring_disable(struct perf_ring *ring)
{
	TEST_ASSERT(!ioctl(ring->fd, PERF_EVENT_IOC_DISABLE, 0), "PERF_EVENT_IOC_DISABLE");
}

/* Out of a record that has *left bytes more from *pos on */
static inline void perf_take(void *to, size_t size, const u8 **pos, size_t *left)
{
	TEST_ASSERT(*left >= size, "Record has %lu bytes, %lu wanted", *left, size);
	memcpy(to, *pos, size);
	*pos += size;
	*left -= size;
}

static inline void perf_sample_parse(u64 type, const struct perf_event_header *header,
				     struct perf_sample *sample)
{
	const u8 *pos = (const u8 *)(header + 1);
	size_t left = header->size - sizeof(*header);
	u32 reserved;

	memset(sample, 0, sizeof(*sample));
	sample->misc = header->misc;
	sample->size = header->size;
	if (type & PERF_SAMPLE_IP)
		perf_take(&sample->ip, sizeof(sample->ip), &pos, &left);
	if (type & PERF_SAMPLE_TID) {
		perf_take(&sample->pid, sizeof(sample->pid), &pos, &left);
		perf_take(&sample->tid, sizeof(sample->tid), &pos, &left);
	}
	if (type & PERF_SAMPLE_TIME)
		perf_take(&sample->time, sizeof(sample->time), &pos, &left);
	if (type & PERF_SAMPLE_CPU) {
		perf_take(&sample->cpu, sizeof(sample->cpu), &pos, &left);
		perf_take(&reserved, sizeof(reserved), &pos, &left);
	}
	if (type & PERF_SAMPLE_RAW) {
		perf_take(&sample->raw_size, sizeof(sample->raw_size), &pos, &left);
		TEST_ASSERT(sample->raw_size <= PERF_RAW_MAX, "raw_size %u", sample->raw_size);
		perf_take(sample->raw, sample->raw_size, &pos, &left);
	}
	TEST_ASSERT(left <= sizeof(sample->rest), "%lu bytes are left", left);
	sample->rest_size = left;
	perf_take(sample->rest, left, &pos, &left);
}

/* header.size has 16 bits, and records are of 8 bytes. */
#define PERF_RECORD_MAX	65528

/* Hand all records that are there to @handle. */
static inline void perf_ring_read_records(struct perf_ring *ring,
					  void (*handle)(const struct perf_event_header *record,
							 void *arg),
					  void *arg)
{
	const u8 *data = (u8 *)ring->meta + getpagesize();
	u64 head = __atomic_load_n(&ring->meta->data_head, __ATOMIC_ACQUIRE);
	u64 tail = ring->meta->data_tail;
	union {
		struct perf_event_header header;
		u64 words[PERF_RECORD_MAX / sizeof(u64)];
		u8 bytes[PERF_RECORD_MAX];
	} record;

	while (tail != head) {
		/* So a header does not wrap around. */
		memcpy(&record.header, data + tail % ring->data_size, sizeof(record.header));
		TEST_ASSERT(record.header.size <= sizeof(record), "Record of %u bytes",
			    record.header.size);
		for (size_t i = 0; i < record.header.size; i++)
			record.bytes[i] = data[(tail + i) % ring->data_size];
		tail += record.header.size;
		handle(&record.header, arg);
	}
	__atomic_store_n(&ring->meta->data_tail, tail, __ATOMIC_RELEASE);
}

struct perf_sample_reader {
	struct perf_ring	*ring;
	void			(*handle)(const struct perf_sample *sample, void *arg);
	void			*arg;
};

static inline void perf_sample_reader_handle(const struct perf_event_header *record, void *arg)
{
	struct perf_sample_reader *reader = arg;
	struct perf_sample sample;

	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		perf_sample_parse(reader->ring->sample_type, record, &sample);
		reader->handle(&sample, reader->arg);
		break;
	case PERF_RECORD_LOST:
		/* header, id, lost */
		reader->ring->lost += ((const u64 *)record)[2];
		break;
	case PERF_RECORD_THROTTLE:
		reader->ring->throttled++;
		break;
	}
}

/* Hand all samples that are there to @handle. */
static inline void perf_ring_read(struct perf_ring *ring,
				  void (*handle)(const struct perf_sample *sample, void *arg),
				  void *arg)
{
	struct perf_sample_reader reader = { ring, handle, arg };

	perf_ring_read_records(ring, perf_sample_reader_handle, &reader);
}

/* What perf takes the sample for */
static inline u16 perf_record_mode(u16 misc)
{
	return misc & PERF_RECORD_MISC_CPUMODE_MASK;
}

static inline bool perf_record_is_labelled_guest(u16 misc)
{
	return perf_record_mode(misc) == PERF_RECORD_MISC_GUEST_KERNEL ||
	       perf_record_mode(misc) == PERF_RECORD_MISC_GUEST_USER;
}

static inline u16 sample_mode(const struct perf_sample *sample)
{
	return perf_record_mode(sample->misc);
}

static inline bool sample_is_labelled_guest(const struct perf_sample *sample)
{
	return perf_record_is_labelled_guest(sample->misc);
}

/* @file: of the @event, "system/name". NULL if there is none, or it must not be opened. */
static inline FILE *tracefs_open(const char *event, const char *file, const char *mode)
{
	static const char * const mounts[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char path[PATH_MAX];
	FILE *stream = NULL;

	for (unsigned int i = 0; i < ARRAY_SIZE(mounts) && !stream; i++) {
		snprintf(path, sizeof(path), "%s/events/%s/%s", mounts[i], event, file);
		stream = fopen(path, mode);
	}
	return stream;
}

/* Returns attr.config, or -1 if there is no such event to be read. */
static inline int tracepoint_id(const char *event)
{
	FILE *stream = tracefs_open(event, "id", "r");
	int id = -1;

	if (!stream)
		return -1;
	if (fscanf(stream, "%d", &id) != 1)
		id = -1;
	fclose(stream);
	return id;
}

/* Softirqs that threads run are never on top of an interrupt. */
static inline bool softirqs_are_threads(void)
{
	char word[4096];
	bool forced = false;
	FILE *file;

	if (!access("/sys/kernel/realtime", F_OK))
		return true;
	file = fopen("/proc/cmdline", "r");
	if (!file)
		return false;
	while (!forced && fscanf(file, "%4095s", word) == 1)
		forced = !strcmp(word, "threadirqs");
	fclose(file);
	return forced;
}

#endif /* SELFTEST_KVM_PERF_UTIL_H */
