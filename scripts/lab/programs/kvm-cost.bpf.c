// SPDX-License-Identifier: GPL-2.0
/*
 * The same by BPF, without the series: how long a thread was out of KVM_RUN, on two existing
 * tracepoints, and on a sampling event the vCPU, CR3 and exit reason of the sample. The latter on
 * SVM: on VMX, CR3 is in the VMCS, which BPF cannot read.
 */
#include <linux/types.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define RING_SIZE	(1 << 20)
#define MAX_THREADS	64

#define __unused	__attribute__((unused))
#define FROM_KERNEL	__attribute__((preserve_access_index))

/* Of the kernel's types, what is read here: where that is, the kernel's BTF tells. */
struct kvm_vcpu_arch {
	unsigned long cr3;
	__u8 handling_intr_from_guest;
} FROM_KERNEL;

struct kvm_vcpu {
	int vcpu_id;
	struct kvm_vcpu_arch arch;
} FROM_KERNEL;

struct vmcb_control_area {
	__u32 asid;
	__u64 exit_code;
} FROM_KERNEL;

struct vmcb_save_area {
	__u8 cpl;
	__u64 rip;
} FROM_KERNEL;

struct vmcb {
	struct vmcb_control_area control;
	struct vmcb_save_area save;
} FROM_KERNEL;

struct vcpu_svm {
	struct vmcb *vmcb;
} FROM_KERNEL;

extern struct kvm_vcpu *kvm_running_vcpu __ksym;
extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym;

#define CAST(p, type)	((type *)bpf_rdonly_cast(p, bpf_core_type_id_kernel(type)))

/* A stay out of KVM_RUN, in ns */
struct stay {
	__u64 time;
	__u64 length;
	__u64 thread;
};

/* As what PERF_SAMPLE_VCPU has, with IP, TID and TIME */
struct sample {
	__u64 time;
	__u64 thread;
	__u64 ip;
	__u64 cr3;
	__u64 exit_code;
	__u32 vcpu_id;
	__u32 asid;
	__u32 cpl;
	__u32 flags;
};

#define LOADED		1
#define IN_GUEST	2

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_THREADS);
	__type(key, __u64);
	__type(value, __u64);
} since SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_SIZE);
} records SEC(".maps");

/* kvm_userspace_exit */
SEC("tracepoint")
int leave(void *ctx __unused)
{
	__u64 thread = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns();

	bpf_map_update_elem(&since, &thread, &now, BPF_ANY);
	return 0;
}

/* kvm_entry: if the thread has been out since the last time, that is one record. */
SEC("tracepoint")
int enter(void *ctx __unused)
{
	__u64 thread = bpf_get_current_pid_tgid(), *left = bpf_map_lookup_elem(&since, &thread);
	struct stay *stay;

	if (!left || !*left)
		return 0;
	stay = bpf_ringbuf_reserve(&records, sizeof(*stay), 0);
	if (stay) {
		stay->time = bpf_ktime_get_ns();
		stay->length = stay->time - *left;
		stay->thread = thread;
		/* Nobody reads them meanwhile. */
		bpf_ringbuf_submit(stay, BPF_RB_NO_WAKEUP);
	}
	*left = 0;
	return 0;
}

static void add_vcpu(struct sample *sample, const struct kvm_vcpu *vcpu)
{
	const struct vmcb *vmcb = CAST(vcpu, struct vcpu_svm)->vmcb;

	sample->flags = LOADED;
	sample->vcpu_id = vcpu->vcpu_id;
	sample->asid = vmcb->control.asid;
	sample->exit_code = vmcb->control.exit_code;
	if (!vcpu->arch.handling_intr_from_guest)
		return;
	sample->flags |= IN_GUEST;
	sample->cr3 = vcpu->arch.cr3;
	sample->ip = vmcb->save.rip;
	sample->cpl = vmcb->save.cpl;
}

/* In place of perf's own sample, which there is none of */
SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	struct kvm_vcpu **running = bpf_this_cpu_ptr(&kvm_running_vcpu);
	struct sample *sample = bpf_ringbuf_reserve(&records, sizeof(*sample), 0);

	if (!sample)
		return 0;
	*sample = (struct sample) {
		.time = bpf_ktime_get_ns(),
		.thread = bpf_get_current_pid_tgid(),
		.ip = ctx->regs.rip,
	};
	if (*running)
		add_vcpu(sample, CAST(*running, struct kvm_vcpu));
	bpf_ringbuf_submit(sample, BPF_RB_NO_WAKEUP);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
