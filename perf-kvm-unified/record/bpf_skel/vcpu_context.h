/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What vcpu_context.bpf.c reads of the kernel: of its types, no more than these members, and
 * variables by their BTF. KVM can be a module. The types' names end as they do so that there is no
 * conflict with the header that perf comes with, or one made from a kernel.
 */
#ifndef __PERF_KVM_UNIFIED_RECORD_VCPU_CONTEXT_H
#define __PERF_KVM_UNIFIED_RECORD_VCPU_CONTEXT_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kvm_vcpu_arch___vc {
	unsigned long cr3;
	u8 handling_intr_from_guest;
	bool guest_state_protected;
};

struct kvm_vcpu___vc {
	int vcpu_id;
	struct kvm_vcpu_arch___vc arch;
};

struct vmcb_control_area___vc {
	u32 asid;
	/* Its lower half: the upper one is 0, but for entries that have failed. */
	u32 exit_code;
};

struct vmcb_save_area___vc {
	u8 cpl;
	u64 cr3;
};

struct vmcb___vc {
	struct vmcb_control_area___vc control;
	struct vmcb_save_area___vc save;
};

struct kvm_vmcb_info___vc {
	struct vmcb___vc *ptr;
};

struct vcpu_svm___vc {
	struct vmcb___vc *vmcb;
	struct kvm_vmcb_info___vc vmcb01;
};

union vmx_exit_reason___vc {
	u32 full;
};

struct loaded_vmcs___vc {
	void *vmcs;
};

/* Since Linux 6.16 */
struct vcpu_vt___vc {
	union vmx_exit_reason___vc exit_reason;
};

struct vcpu_vmx___vc {
	struct vcpu_vt___vc vt;
	struct loaded_vmcs___vc vmcs01;
	struct loaded_vmcs___vc *loaded_vmcs;
	int vpid;
};

struct vcpu_vmx___old {
	union vmx_exit_reason___vc exit_reason;
};

struct perf_sample_data___vc {
	u64 sample_flags;
	u64 time;
};

struct bpf_perf_event_data_kern___vc {
	struct perf_sample_data___vc *data;
};

/* From 6.2 to 6.14 it has what is a variable of its own before and after. */
struct pcpu_hot___vc {
	int preempt_count;
};

#pragma clang attribute pop

extern struct kvm_vcpu___vc *kvm_running_vcpu __ksym;
extern const int __preempt_count __ksym __weak;
extern const struct pcpu_hot___vc pcpu_hot __ksym __weak;
void *bpf_cast_to_kern_ctx(void *ctx) __ksym __weak;

#endif /* __PERF_KVM_UNIFIED_RECORD_VCPU_CONTEXT_H */
