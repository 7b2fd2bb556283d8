/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples with PERF_SAMPLE_VCPU, read from perf's ring buffer, and guests whose CR3
 * and instruction pointer prove each other.
 */
#ifndef SELFTEST_KVM_PERF_VCPU_H
#define SELFTEST_KVM_PERF_VCPU_H

#include <asm/processor-flags.h>
#include <linux/perf_event.h>
#include <linux/stringify.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "apic.h"
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

#define ip_is_in(ip, name) \
	((ip) >= (u64)(name) && (ip) < (u64)(name##_end))

#define SYSCALL_VECTOR	0x80
/* Behind what the library has in the GDT; flat segments of ring 3 */
#define USER_SS		0x2b
#define USER_CS		0x33
#define GDT_USER_DATA	0x00cff2000000ffffULL
#define GDT_USER_CODE	0x00affa000000ffffULL
/* SDM vol. 3A, "Task Management in 64-bit Mode" */
#define TSS_RSP0	4
#define RING_3		3

/*
 * enter_user() returns when the loop in ring 3, on a page of its own, is done: the gate
 * of SYSCALL_VECTOR leads back into it. To be used once.
 */
#define GUEST_RING_3()							\
	asm(".pushsection .text, \"ax\", @progbits\n"			\
	    ".balign 4096\n"						\
	    "guest_user:\n"						\
	    "1:	decq %rdi\n"						\
	    "	jnz 1b\n"						\
	    "	int $" __stringify(SYSCALL_VECTOR) "\n"			\
	    "guest_user_end:\n"						\
	    ".balign 4096\n"						\
	    "enter_user:\n"						\
	    "	push %rbx\n"						\
	    "	push %rbp\n"						\
	    "	push %r12\n"						\
	    "	push %r13\n"						\
	    "	push %r14\n"						\
	    "	push %r15\n"						\
	    "	mov %rsp, kernel_rsp\n"					\
	    "	pushq $" __stringify(USER_SS) "\n"			\
	    "	pushq $0\n"						\
	    "	pushfq\n"						\
	    "	pushq $" __stringify(USER_CS) "\n"			\
	    "	pushq $guest_user\n"					\
	    "	iretq\n"						\
	    "back_from_user:\n"						\
	    "	mov kernel_rsp, %rsp\n"					\
	    "	sti\n"							\
	    "	pop %r15\n"						\
	    "	pop %r14\n"						\
	    "	pop %r13\n"						\
	    "	pop %r12\n"						\
	    "	pop %rbp\n"						\
	    "	pop %rbx\n"						\
	    "	ret\n"							\
	    ".popsection\n");						\
	u64 kernel_rsp

extern const char guest_user[], guest_user_end[], back_from_user[];
extern u64 kernel_rsp;
void enter_user(u64 loops);

/* To be called before roots are cloned. */
static inline void vm_allow_ring_3(struct kvm_vm *vm)
{
	u8 *gdt = addr_gva2hva(vm, vm->arch.gdt), *tss = addr_gva2hva(vm, vm->arch.tss);
	struct idt_entry *idt = addr_gva2hva(vm, vm->arch.idt);
	u64 rsp0 = vm_vaddr_alloc_page(vm) + getpagesize();
	u64 back = (u64)back_from_user;
	u64 user_data = GDT_USER_DATA, user_code = GDT_USER_CODE;

	for (int level = PG_LEVEL_512G; level >= PG_LEVEL_4K; level--) {
		int this_level = level;

		*__vm_get_page_table_entry(vm, (u64)guest_user, &this_level) |= PTE_USER_MASK;
	}
	memcpy(gdt + (USER_SS & ~RING_3), &user_data, sizeof(user_data));
	memcpy(gdt + (USER_CS & ~RING_3), &user_code, sizeof(user_code));
	memcpy(tss + TSS_RSP0, &rsp0, sizeof(rsp0));
	idt[SYSCALL_VECTOR].offset0 = back;
	idt[SYSCALL_VECTOR].offset1 = back >> 16;
	idt[SYSCALL_VECTOR].offset2 = back >> 32;
	idt[SYSCALL_VECTOR].dpl = RING_3;
}

static inline void write_cr3(u64 root)
{
	asm volatile("mov %0, %%cr3" : : "r"(root) : "memory");
}

/*
 * A second root for the guest's page tables: the same address space by another CR3.
 * To be called when all that the guest needs is mapped.
 */
static inline u64 clone_page_table_root(struct kvm_vm *vm)
{
	vm_paddr_t root = vm_alloc_page_table(vm);

	memcpy(addr_gpa2hva(vm, root), addr_gpa2hva(vm, vm->pgd), getpagesize());
	return root;
}

/* Some emulators do not interrupt a guest that has interrupts off. */
static inline void vcpu_enable_interrupts(struct kvm_vcpu *vcpu)
{
	struct kvm_regs regs;

	vcpu_regs_get(vcpu, &regs);
	regs.rflags |= X86_EFLAGS_IF;
	vcpu_regs_set(vcpu, &regs);
}

#define TIMER_VECTOR	0xec
/* SDM vol. 3A, "APIC Timer": the divide configuration register */
#define APIC_TDR_DIV_1	0xb

/* The handler of the guest's timer, for vm_install_exception_handler() */
static inline void guest_timer(struct ex_regs *regs)
{
	x2apic_write_reg(APIC_EOI, 0);
}

/* In the guest: a periodic timer wakes up even what has halted right after the interrupt. */
static inline void guest_start_timer(u64 period_ns)
{
	x2apic_enable();
	x2apic_write_reg(APIC_TDCR, APIC_TDR_DIV_1);
	x2apic_write_reg(APIC_LVTT, APIC_LVT_TIMER_PERIODIC | TIMER_VECTOR);
	x2apic_write_reg(APIC_TMICT, period_ns);
}

struct perf_ring {
	int				fd;
	struct perf_event_mmap_page	*meta;
	size_t				data_size;
	u64				sample_type;
	u64				lost;
	u64				throttled;
};

/* From flags on as in the sample, for its size */
struct perf_vcpu {
	u64	flags;
	u64	pt_root;
	u32	vcpu_id;
	u32	vpid;
	u32	exit_reason;
	u32	reserved;
};

#define PERF_RAW_MAX	128

struct perf_sample {
	u16		misc;
	u16		size;
	u32		pid;
	u32		tid;
	u32		cpu;
	u64		ip;
	u32		raw_size;
	u8			raw[PERF_RAW_MAX];
	struct perf_vcpu	vcpu;
	/* Bytes of the record that its sample type does not explain */
	size_t			left_over;
};

/* What perf_sample_parse() knows of */
#define PERF_SAMPLE_KNOWN	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CPU | \
				 PERF_SAMPLE_RAW | PERF_SAMPLE_VCPU)
#define PERF_SAMPLE_DEFAULT	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CPU | \
				 PERF_SAMPLE_VCPU)

static inline int sys_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return syscall(__NR_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* @pages: of data, a power of two. The event is not enabled. */
static inline void perf_ring_open(struct perf_ring *ring, struct perf_event_attr *attr,
				  pid_t pid, int cpu, unsigned int pages)
{
	const size_t page = getpagesize();

	TEST_ASSERT(!(attr->sample_type & ~PERF_SAMPLE_KNOWN), "Cannot parse sample type %llx",
		    attr->sample_type);
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

/* Out of a record that ends at *left bytes from *pos; short ones are left_over's matter. */
static inline void perf_take(void *to, size_t size, const u8 **pos, size_t *left)
{
	memset(to, 0, size);
	if (*left < size) {
		*left = 0;
		return;
	}
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
	if (type & PERF_SAMPLE_CPU) {
		perf_take(&sample->cpu, sizeof(sample->cpu), &pos, &left);
		perf_take(&reserved, sizeof(reserved), &pos, &left);
	}
	if (type & PERF_SAMPLE_RAW) {
		perf_take(&sample->raw_size, sizeof(sample->raw_size), &pos, &left);
		TEST_ASSERT(sample->raw_size <= PERF_RAW_MAX, "raw_size %u", sample->raw_size);
		perf_take(sample->raw, sample->raw_size, &pos, &left);
	}
	if (type & PERF_SAMPLE_VCPU) {
		perf_take(&sample->vcpu.flags, sizeof(sample->vcpu.flags), &pos, &left);
		if (sample->vcpu.flags & PERF_VCPU_LOADED)
			perf_take(&sample->vcpu.pt_root,
				  sizeof(sample->vcpu) - offsetof(struct perf_vcpu, pt_root),
				  &pos, &left);
	}
	sample->left_over = left;
}

/* Hand all samples that are there to @handle. */
static inline void perf_ring_read(struct perf_ring *ring,
				  void (*handle)(const struct perf_sample *sample, void *arg),
				  void *arg)
{
	const u8 *data = (u8 *)ring->meta + getpagesize();
	u64 head = __atomic_load_n(&ring->meta->data_head, __ATOMIC_ACQUIRE);
	u64 tail = ring->meta->data_tail;
	union {
		struct perf_event_header header;
		u64 words[64];
		u8 bytes[512];
	} record;
	struct perf_sample sample;

	while (tail != head) {
		size_t at = tail % ring->data_size;

		/* Records are of 8 bytes, so a header does not wrap around. */
		memcpy(&record.header, data + at, sizeof(record.header));
		TEST_ASSERT(record.header.size <= sizeof(record), "Record of %u bytes",
			    record.header.size);
		for (size_t i = 0; i < record.header.size; i++)
			record.bytes[i] = data[(tail + i) % ring->data_size];
		tail += record.header.size;

		switch (record.header.type) {
		case PERF_RECORD_SAMPLE:
			perf_sample_parse(ring->sample_type, &record.header, &sample);
			handle(&sample, arg);
			break;
		case PERF_RECORD_LOST:
			/* header, id, lost */
			ring->lost += record.words[2];
			break;
		case PERF_RECORD_THROTTLE:
			ring->throttled++;
			break;
		}
	}
	__atomic_store_n(&ring->meta->data_tail, tail, __ATOMIC_RELEASE);
}

static inline bool sample_is_in_guest(const struct perf_sample *sample)
{
	return sample->vcpu.flags & PERF_VCPU_IN_GUEST;
}

/* What perf itself takes the sample for, without PERF_SAMPLE_VCPU */
static inline bool sample_is_labelled_guest(const struct perf_sample *sample)
{
	const u16 mode = sample->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
}

static inline FILE *tracefs_open(const char *event, const char *file)
{
	static const char * const mounts[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char path[PATH_MAX];
	FILE *stream = NULL;

	for (unsigned int i = 0; i < ARRAY_SIZE(mounts) && !stream; i++) {
		snprintf(path, sizeof(path), "%s/events/%s/%s", mounts[i], event, file);
		stream = fopen(path, "r");
	}
	return stream;
}

/* @event: "system/name". Returns attr.config, or -1 if there is no such event to be read. */
static inline int tracepoint_id(const char *event)
{
	FILE *stream = tracefs_open(event, "id");
	int id = -1;

	if (!stream)
		return -1;
	if (fscanf(stream, "%d", &id) != 1)
		id = -1;
	fclose(stream);
	return id;
}

#endif /* SELFTEST_KVM_PERF_VCPU_H */
