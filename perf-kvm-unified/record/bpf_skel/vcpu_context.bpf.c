// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * At a sample: which vCPU is loaded on this CPU, was its guest interrupted, and which page table
 * had that? For kernels that do not put it into the sample themselves. Read from KVM's own
 * variables, without a lock: the vCPU is loaded here, so that nobody else writes them.
 *
 * On VMX the guest's CR3 is in the VMCS, which no BPF program can read. What the guest's kernel has
 * in memory as the CPU's current task tells it, and more: the VMM has that memory mapped, and the
 * program runs in the VMM's thread. What is read there is the guest's to forge.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "kvm-unified/format/vcpu-context.h"
#include "current_task.h"
#include "kvm_types.h"

/* include/linux/kvm_host.h: enum kvm_intr_type */
#define KVM_HANDLING_NMI	2
/* include/linux/preempt.h */
#define SOFTIRQ_OFFSET		0x100
#define NMI_MASK		0xf00000
/* include/uapi/linux/perf_event.h */
#define PERF_SAMPLE_TIME	(1U << 2)

/* CR3 has no more bits of an address: Intel SDM volume 3, "4-Level Paging and 5-Level Paging". */
#define PAGE_MASK		0xfffULL
#define MAX_PHYS_BITS		52
/* The root in CR3 of kernel mode, without PCID (bits 0 to 11) and LAM (61 and 62) */
#define ROOT_MASK		(((1ULL << MAX_PHYS_BITS) - 1) & ~PAGE_MASK)
/* With page table isolation, user mode has that bit more: arch/x86/mm/pti.c of the guest */
#define USER_ROOT		0x1000ULL

/* The guests' page tables are used by the CPU as they are. */
const volatile bool has_nested_paging;

/* There may be guests whose registers are encrypted. */
const volatile bool may_be_protected;

/* It is told of guests' current tasks. */
const volatile bool with_tasks;

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(int));
	__uint(value_size, sizeof(int));
} contexts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CURRENT_TASK_VCPUS);
	__type(key, struct current_task_key);
	__type(value, struct current_task);
} tasks SEC(".maps");

static __always_inline int preempt_count(void)
{
	if (bpf_ksym_exists(&__preempt_count))
		return *(int *)bpf_this_cpu_ptr(&__preempt_count);
	if (bpf_ksym_exists(&pcpu_hot))
		return ((struct pcpu_hot___vc *)bpf_this_cpu_ptr(&pcpu_hot))->preempt_count;
	return 0;
}

/*
 * Has the sample's interrupt come while the guest ran? KVM's flag stays set while softirqs run
 * after it, and an NMI can come in the handler of the IRQ that it is set for.
 */
static __always_inline bool interrupted_guest(struct kvm_vcpu___vc *vcpu)
{
	u8 handling = BPF_CORE_READ(vcpu, arch.handling_intr_from_guest);
	int count = preempt_count();

	if (!handling)
		return false;
	if (handling == KVM_HANDLING_NMI)
		return count & NMI_MASK;
	return !(count & (NMI_MASK | SOFTIRQ_OFFSET));
}

/* The sample's time, or 0: before 6.3, the sample is made after this runs. */
static __always_inline u64 sample_time(void *ctx)
{
	struct perf_sample_data___vc *data = NULL;

	if (!bpf_ksym_exists(bpf_cast_to_kern_ctx) ||
	    !bpf_core_field_exists(data->sample_flags))
		return 0;
	data = ((struct bpf_perf_event_data_kern___vc *)bpf_cast_to_kern_ctx(ctx))->data;
	return data->sample_flags & PERF_SAMPLE_TIME ? data->time : 0;
}

static __always_inline void add_svm(struct vcpu_context *context, struct kvm_vcpu___vc *vcpu)
{
	struct vcpu_svm___vc *svm = (void *)vcpu;
	struct vmcb___vc *vmcb = BPF_CORE_READ(svm, vmcb);

	if (last_svm_exit(vmcb, &context->exit_reason, &context->vpid))
		context->flags |= VCPU_CONTEXT_EXIT;
	context->flags |= VCPU_CONTEXT_SVM;
	if (vmcb != BPF_CORE_READ(svm, vmcb01.ptr))
		context->flags |= VCPU_CONTEXT_NESTED;
	if ((context->flags & VCPU_CONTEXT_PROTECTED) || !(context->flags & VCPU_CONTEXT_IN_GUEST))
		return;
	/* On 6.1, the sample has the mode in which the vCPU was preempted the last time. */
	context->flags |= VCPU_CONTEXT_PT_ROOT | VCPU_CONTEXT_CPL;
	if (BPF_CORE_READ(vmcb, save.cpl))
		context->flags |= VCPU_CONTEXT_USER;
	/* With shadow paging, KVM knows of each change of CR3, and the CPU has another one. */
	context->pt_root = has_nested_paging ? BPF_CORE_READ(vmcb, save.cr3) :
					       BPF_CORE_READ(vcpu, arch.cr3);
}

static __always_inline void add_vmx(struct vcpu_context *context, struct kvm_vcpu___vc *vcpu)
{
	struct vcpu_vmx___vc *vmx = (void *)vcpu;

	if (last_vmx_exit(vcpu, &context->exit_reason))
		context->flags |= VCPU_CONTEXT_EXIT;
	context->vpid = BPF_CORE_READ(vmx, vpid);
	if (BPF_CORE_READ(vmx, loaded_vmcs) !=
	    (void *)vmx + bpf_core_field_offset(vmx->vmcs01))
		context->flags |= VCPU_CONTEXT_NESTED;
}

/*
 * @len bytes at a guest's address in its direct map: memory that is always mapped there. What is
 * not in the VMM's memory now is not brought in. false: they cannot be read
 */
static __always_inline bool read_guest(const struct current_task *at, u64 va, void *to, u32 len)
{
	u64 gpa = va - at->page_offset;

	for (unsigned int i = 0; i < CURRENT_TASK_SLOTS && i < at->nr_slots; i++) {
		const struct current_task_slot *slot = &at->slots[i];

		if (gpa - slot->gpa < slot->size)
			return !bpf_probe_read_user(to, len,
						    (void *)(slot->hva + (gpa - slot->gpa)));
	}
	return false;
}

/* false: not known. @root: 0: it has none */
static __always_inline bool read_root(const struct current_task *at, u64 task, u64 *root)
{
	u64 mm, pgd;

	*root = 0;
	if (!read_guest(at, task + at->task_mm, &mm, sizeof(mm)))
		return false;
	if (!mm)
		return true;
	if (!read_guest(at, mm + at->mm_pgd, &pgd, sizeof(pgd)))
		return false;
	*root = pgd - at->page_offset;
	return *root && !(*root & PAGE_MASK) && !(*root >> MAX_PHYS_BITS);
}

/*
 * As read_root(). As long as the task has its page table on the CPU, that is the same: two reads
 * of the guest less for nearly all samples. An NMI may come in between: it writes the same, as the
 * guest stands still.
 */
static __always_inline bool find_root(const struct vcpu_context *context, struct current_task *at,
				      u64 task, u64 *root)
{
	bool has_cr3 = context->flags & VCPU_CONTEXT_PT_ROOT;
	u64 on_cpu = context->pt_root & ROOT_MASK;

	if (has_cr3 && at->known_task == task && at->known_cr3 == context->pt_root) {
		*root = at->known_root;
		return true;
	}
	if (!read_root(at, task, root))
		return false;
	if (has_cr3 && *root && (*root == on_cpu || *root == (on_cpu & ~USER_ROOT))) {
		at->known_task = 0;
		barrier();
		at->known_cr3 = context->pt_root;
		at->known_root = *root;
		barrier();
		at->known_task = task;
	}
	return true;
}

/*
 * The task that the guest's kernel runs. In the few instructions in which the kernel switches
 * tasks, the CPU may have the page table of the other one.
 */
static __always_inline void add_task(struct vcpu_context *context)
{
	const struct current_task_key key = {
		.vmm = bpf_get_current_pid_tgid() >> 32,
		.vcpu_id = context->vcpu_id,
	};
	struct current_task *at = bpf_map_lookup_elem(&tasks, &key);
	struct { u32 pid, tgid; } ids;
	u64 task;

	if (!at || bpf_probe_read_user(&task, sizeof(task), (void *)at->pointer) ||
	    !find_root(context, at, task, &context->task_root) ||
	    !read_guest(at, task + at->task_ids, &ids, sizeof(ids)) ||
	    !read_guest(at, task + at->task_comm, context->comm, sizeof(context->comm)))
		return;
	context->tgid = ids.tgid;
	context->tid = ids.pid;
	context->flags |= VCPU_CONTEXT_TASK;
}

/* Can what runs be the guest's own task? */
static __always_inline bool may_have_task(const struct vcpu_context *context)
{
	return context->flags & VCPU_CONTEXT_IN_GUEST &&
	       !(context->flags & (VCPU_CONTEXT_NESTED | VCPU_CONTEXT_PROTECTED));
}

SEC("perf_event")
int tell_vcpu(void *ctx)
{
	struct kvm_vcpu___vc **running = bpf_this_cpu_ptr(&kvm_running_vcpu);
	struct kvm_vcpu___vc *vcpu = *running;
	struct vcpu_context context = { .magic = VCPU_CONTEXT_MAGIC };

	if (!vcpu)
		return 1;
	context.time = sample_time(ctx);
	context.vcpu_id = BPF_CORE_READ(vcpu, vcpu_id);
	if (interrupted_guest(vcpu))
		context.flags |= VCPU_CONTEXT_IN_GUEST;
	if (may_be_protected && BPF_CORE_READ(vcpu, arch.guest_state_protected))
		context.flags |= VCPU_CONTEXT_PROTECTED;
	if (is_svm)
		add_svm(&context, vcpu);
	else
		add_vmx(&context, vcpu);
	if (with_tasks && may_have_task(&context))
		add_task(&context);
	bpf_perf_event_output(ctx, &contexts, BPF_F_CURRENT_CPU, &context,
			      context.flags & VCPU_CONTEXT_TASK ?
			      sizeof(context) : offsetof(struct vcpu_context, task_root));
	/* The sample is taken as well. */
	return 1;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
