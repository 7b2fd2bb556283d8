// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * What vCPUs do when they do not run, on kernels without the tracepoint kvm:kvm_vcpu_timeline: as
 * the tracepoint has it, and where it does, see kvm-unified-timeline.rst. KVM calls the functions
 * for threads of vCPUs alone. A state is noted as it begins, and told when it ends.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "kvm-unified/format/vcpu-timeline.h"
#include "kvm_types.h"

/* As enum kvm_vcpu_timeline_state of the series */
enum vcpu_state {
	STATE_NONE,
	STATE_USER,
	STATE_PREEMPTED,
	STATE_BLOCKED,
	STATE_HALTED,
	STATE_HALT_POLL,
	STATE_THROTTLED,
};

/* PERF_VCPU_ISA_VMX and _SVM of the series */
#define ISA_VMX		1
#define ISA_SVM		2

/* A host has a few thousand: of those above, nothing is told. */
#define MAX_VCPUS	16384

/**
 * struct vcpu - what is noted of one
 * @since: when @state has begun, 0: before this was attached
 * @run_delay: ns that thread @tid had waited for a CPU by then
 * @poll_since: polls in kvm_vcpu_halt() since then; or 0
 * @seq: records so far
 * @tgid: of its VMM: another vCPU may have its address later
 * @why: @next_pid: @cpu: of the state
 * @in_run: in KVM_RUN
 */
struct vcpu {
	u64 since;
	u64 run_delay;
	u64 poll_since;
	u32 seq;
	u32 tgid;
	u32 tid;
	int why;
	int next_pid;
	u32 cpu;
	u8  state;
	u8  in_run;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_VCPUS);
	__type(key, u64);
	__type(value, struct vcpu);
} vcpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(int));
	__uint(value_size, sizeof(int));
} states SEC(".maps");

/* NULL: there are more than MAX_VCPUS */
static __always_inline struct vcpu *findnew(struct kvm_vcpu___vc *vcpu)
{
	/* A vCPU that is met outside of these functions is in KVM_RUN already. */
	struct vcpu new = { .tgid = bpf_get_current_pid_tgid() >> 32, .in_run = true };
	u64 key = (u64)vcpu;
	struct vcpu *one = bpf_map_lookup_elem(&vcpus, &key);

	if (one && one->tgid == new.tgid)
		return one;
	bpf_map_update_elem(&vcpus, &key, &new, BPF_ANY);
	return bpf_map_lookup_elem(&vcpus, &key);
}

static __always_inline u64 run_delay(void)
{
	struct task_struct___vc *task = (void *)bpf_get_current_task();

	if (!bpf_core_field_exists(task->sched_info.run_delay))
		return 0;
	return BPF_CORE_READ(task, sched_info.run_delay);
}

static __always_inline void begin(struct vcpu *one, u8 state, int next_pid)
{
	one->state = state;
	one->why = 0;
	one->next_pid = next_pid;
	one->cpu = bpf_get_smp_processor_id();
	one->tid = bpf_get_current_pid_tgid();
	one->run_delay = run_delay();
	one->since = bpf_ktime_get_ns();
}

static __always_inline void tell(void *ctx, struct kvm_vcpu___vc *vcpu, struct vcpu *one, u8 state,
				 u64 ns, u64 wait)
{
	struct vcpu_svm___vc *svm = (void *)vcpu;
	struct vcpu_timeline record = {
		.magic = VCPU_TIMELINE_MAGIC,
		.state = state,
		.ns = ns,
		.wait = wait,
		.vcpu_id = BPF_CORE_READ(vcpu, vcpu_id),
		.seq = ++one->seq,
		.cpu = bpf_get_smp_processor_id(),
	};
	u32 asid;

	if (is_svm) {
		if (last_svm_exit(BPF_CORE_READ(svm, vmcb), &record.exit_reason, &asid))
			record.isa = ISA_SVM;
	} else if (last_vmx_exit(vcpu, &record.exit_reason)) {
		record.isa = ISA_VMX;
	}
	if (ns && state != STATE_HALT_POLL) {
		record.why = one->why;
		record.next_pid = one->next_pid;
		record.cpu = one->cpu;
	}
	bpf_perf_event_output(ctx, &states, BPF_F_CURRENT_CPU, &record, sizeof(record));
}

/* @state: what it is if it began before this was attached */
static __always_inline void end(void *ctx, struct kvm_vcpu___vc *vcpu, struct vcpu *one, u8 state)
{
	u64 ns = 0, wait = 0;

	if (one->since) {
		ns = bpf_ktime_get_ns() - one->since;
		/* What another thread has waited before is not the vCPU's. */
		if (one->tid == (u32)bpf_get_current_pid_tgid())
			wait = run_delay() - one->run_delay;
		/* The scheduler's clock need not be the same. */
		if (wait > ns)
			wait = ns;
		state = one->state;
	}
	tell(ctx, vcpu, one, state, ns, wait);
	one->state = STATE_NONE;
	one->since = 0;
}

SEC("fentry/kvm_arch_vcpu_ioctl_run")
int BPF_PROG(run, struct kvm_vcpu___vc *vcpu)
{
	struct vcpu *one = findnew(vcpu);

	if (!one)
		return 0;
	end(ctx, vcpu, one, STATE_USER);
	one->in_run = true;
	return 0;
}

SEC("fexit/kvm_arch_vcpu_ioctl_run")
int BPF_PROG(leave, struct kvm_vcpu___vc *vcpu, int ret)
{
	struct vcpu *one = findnew(vcpu);

	if (!one)
		return 0;
	one->in_run = false;
	one->poll_since = 0;
	begin(one, STATE_USER, 0);
	one->why = ret < 0 ? ret : (int)BPF_CORE_READ(vcpu, run, exit_reason);
	return 0;
}

/* Could the thread go on? task_is_runnable() */
static __always_inline bool is_runnable(struct task_struct___vc *task)
{
	if (!BPF_CORE_READ(task, on_rq))
		return false;
	return !bpf_core_field_exists(task->se.sched_delayed) ||
	       !BPF_CORE_READ(task, se.sched_delayed);
}

/* Is it held back by the bandwidth of its cgroup, or one above? */
static __always_inline bool is_throttled(struct task_struct___vc *task)
{
	struct cfs_rq___vc *cfs_rq = NULL;

	/* Since 6.18 */
	if (bpf_core_field_exists(task->throttled))
		return BPF_CORE_READ(task, throttled);
	return bpf_core_field_exists(task->se.cfs_rq) &&
	       bpf_core_field_exists(cfs_rq->throttle_count) &&
	       BPF_CORE_READ(task, se.cfs_rq, throttle_count);
}

static __always_inline u8 state_of(struct kvm_vcpu___vc *vcpu)
{
	struct task_struct___vc *task = (void *)bpf_get_current_task();

	if (is_runnable(task))
		return is_throttled(task) ? STATE_THROTTLED : STATE_PREEMPTED;
	if (BPF_CORE_READ(vcpu, stat.generic.blocking) && !BPF_CORE_READ(vcpu, arch.apf.halted))
		return STATE_HALTED;
	return STATE_BLOCKED;
}

static __always_inline struct kvm_vcpu___vc *vcpu_of(void *notifier)
{
	return notifier - bpf_core_field_offset(struct kvm_vcpu___vc, preempt_notifier);
}

static __always_inline void end_poll(void *ctx, struct kvm_vcpu___vc *vcpu, struct vcpu *one)
{
	if (!one->poll_since)
		return;
	tell(ctx, vcpu, one, STATE_HALT_POLL, bpf_ktime_get_ns() - one->poll_since, 0);
	one->poll_since = 0;
}

/* It has the runqueue's lock. */
SEC("fentry/kvm_sched_out")
int BPF_PROG(sched_out, void *notifier, struct task_struct___vc *next)
{
	struct kvm_vcpu___vc *vcpu = vcpu_of(notifier);
	struct vcpu *one = findnew(vcpu);
	u8 state;

	if (!one || !one->in_run)
		return 0;
	state = state_of(vcpu);
	/* It has polled in vain. */
	if (state == STATE_HALTED)
		end_poll(ctx, vcpu, one);
	begin(one, state, BPF_CORE_READ(next, pid));
	return 0;
}

SEC("fentry/kvm_sched_in")
int BPF_PROG(sched_in, void *notifier)
{
	struct kvm_vcpu___vc *vcpu = vcpu_of(notifier);
	struct vcpu *one = findnew(vcpu);

	if (one && one->in_run)
		end(ctx, vcpu, one, STATE_NONE);
	return 0;
}

SEC("fentry/kvm_vcpu_halt")
int BPF_PROG(halt, struct kvm_vcpu___vc *vcpu)
{
	struct vcpu *one = findnew(vcpu);

	if (one && one->in_run && BPF_CORE_READ(vcpu, halt_poll_ns))
		one->poll_since = bpf_ktime_get_ns();
	return 0;
}

/* It was worth it, or the thread did not have to wait after it. */
SEC("fexit/kvm_vcpu_halt")
int BPF_PROG(halted, struct kvm_vcpu___vc *vcpu)
{
	struct vcpu *one = findnew(vcpu);

	if (one)
		end_poll(ctx, vcpu, one);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
