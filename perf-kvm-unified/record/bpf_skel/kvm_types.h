/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What the BPF programs here read of the kernel: of its types, no more than these members, and
 * variables by their BTF. KVM can be a module. The types' names end as they do so that there is no
 * conflict with the header that perf comes with, or one made from a kernel.
 */
#ifndef __PERF_KVM_UNIFIED_RECORD_KVM_TYPES_H
#define __PERF_KVM_UNIFIED_RECORD_KVM_TYPES_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* A page of the guest's is being brought in: kvm_arch_vcpu_awaits_page() of the series */
struct kvm_apf___vc {
	bool halted;
};

struct kvm_vcpu_arch___vc {
	unsigned long cr3;
	u8 handling_intr_from_guest;
	bool guest_state_protected;
	struct kvm_apf___vc apf;
};

struct kvm_vcpu_stat_generic___vc {
	u64 blocking;
};

struct kvm_vcpu_stat___vc {
	struct kvm_vcpu_stat_generic___vc generic;
};

struct kvm_run___vc {
	u32 exit_reason;
};

struct preempt_notifier___vc {
	void *ops;
};

struct kvm_vcpu___vc {
	struct preempt_notifier___vc preempt_notifier;
	int vcpu_id;
	struct kvm_run___vc *run;
	unsigned int halt_poll_ns;
	struct kvm_vcpu_arch___vc arch;
	struct kvm_vcpu_stat___vc stat;
};

/* With the bandwidth of cgroups: how many of its own and those above are used up */
struct cfs_rq___vc {
	int throttle_count;
};

struct sched_entity___vc {
	struct cfs_rq___vc *cfs_rq;
	u8 sched_delayed;
};

struct sched_info___vc {
	u64 run_delay;
};

struct task_struct___vc {
	int pid;
	int on_rq;
	bool throttled;
	struct sched_entity___vc se;
	struct sched_info___vc sched_info;
};

struct vmcb_save_area___vc {
	u8 cpl;
	u64 cr3;
};

struct vmcb___vc {
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

/* What is known of KVM that it does not tell by itself: set before a program is loaded */

/* KVM is SVM's */
const volatile bool is_svm;

/*
 * Where ASID and EXITCODE are in a VMCB, of 4 bytes each: AMD APM volume 2, Appendix B "VMCB
 * Layout". Of EXITCODE, it is the lower half: the upper one is 0, but for entries that have failed.
 */
#define VMCB_ASID		0x58
#define VMCB_EXITCODE		0x70

/* The last exit reason on SVM, and the ASID, or false: they are not known. One read, not two */
static __always_inline bool last_svm_exit(struct vmcb___vc *vmcb, u64 *reason, u32 *asid)
{
	u32 control[(VMCB_EXITCODE - VMCB_ASID) / sizeof(u32) + 1] = {};

	if (bpf_probe_read_kernel(control, sizeof(control), (void *)vmcb + VMCB_ASID))
		return false;
	*reason = control[(VMCB_EXITCODE - VMCB_ASID) / sizeof(u32)];
	*asid = control[0];
	return true;
}

/* The last exit reason on VMX, or false: it is not known */
static __always_inline bool last_vmx_exit(struct kvm_vcpu___vc *vcpu, u64 *reason)
{
	struct vcpu_vmx___vc *vmx = (void *)vcpu;
	struct vcpu_vmx___old *old = (void *)vcpu;

	if (bpf_core_field_exists(vmx->vt.exit_reason.full))
		*reason = BPF_CORE_READ(vmx, vt.exit_reason.full);
	else if (bpf_core_field_exists(old->exit_reason.full))
		*reason = BPF_CORE_READ(old, exit_reason.full);
	else
		return false;
	return true;
}

extern struct kvm_vcpu___vc *kvm_running_vcpu __ksym;
extern const int __preempt_count __ksym __weak;
extern const struct pcpu_hot___vc pcpu_hot __ksym __weak;
void *bpf_cast_to_kern_ctx(void *ctx) __ksym __weak;

#endif /* __PERF_KVM_UNIFIED_RECORD_KVM_TYPES_H */
