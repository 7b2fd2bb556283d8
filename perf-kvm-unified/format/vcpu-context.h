/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What a BPF program on a sampling event tells of the vCPU that is loaded, on kernels without
 * PERF_SAMPLE_VCPU: a record before the sample, in the same buffer. It is the raw data of an event
 * of perf's kind bpf-output. Of record/bpf_skel/vcpu_context.bpf.c, too.
 */
#ifndef __PERF_KVM_UNIFIED_FORMAT_VCPU_CONTEXT_H
#define __PERF_KVM_UNIFIED_FORMAT_VCPU_CONTEXT_H

/* The event's name */
#define VCPU_CONTEXT_EVENT	"kvm_vcpu_context"

/* "vctx", the first version of it */
#define VCPU_CONTEXT_MAGIC	0x76637478U

#define VCPU_CONTEXT_IN_GUEST	(1U << 0)	/* The guest was interrupted */
#define VCPU_CONTEXT_NESTED	(1U << 1)	/* ... or the guest of that */
#define VCPU_CONTEXT_PROTECTED	(1U << 2)	/* The host does not see its registers */
#define VCPU_CONTEXT_PT_ROOT	(1U << 3)	/* @pt_root is known */
#define VCPU_CONTEXT_EXIT	(1U << 4)	/* @exit_reason is known */
#define VCPU_CONTEXT_SVM	(1U << 5)	/* AMD's numbers, and not Intel's */
#define VCPU_CONTEXT_CPL	(1U << 6)	/* It is known which mode the guest was in: */
#define VCPU_CONTEXT_USER	(1U << 7)	/* ... user mode */
#define VCPU_CONTEXT_TASK	(1U << 8)	/* What follows @vpid is known */

/* As long as TASK_COMM_LEN of include/linux/sched.h */
#define VCPU_CONTEXT_COMM	16

/**
 * struct vcpu_context - a vCPU that is loaded on the CPU
 * @magic: VCPU_CONTEXT_MAGIC
 * @flags: VCPU_CONTEXT_*
 * @time: that of the sample, ns of its clock; 0: it is the next one (kernels before 6.3)
 * @pt_root: CR3 of the guest
 * @exit_reason: why it was left the last time
 * @vcpu_id: number of the vCPU
 * @vpid: VPID (Intel) or ASID (AMD), 0: none
 * @task_root: of the task that the guest's kernel runs, as its memory has it: the page table, 0: a
 *	kernel thread has none
 * @tgid: @tid: @comm: ... its process, its thread, and what that is called. May be anything: a
 *	guest can forge them
 *
 * Records of programs that know of no tasks end before @task_root.
 */
struct vcpu_context {
	unsigned int	   magic;
	unsigned int	   flags;
	unsigned long long time;
	unsigned long long pt_root;
	unsigned long long exit_reason;
	unsigned int	   vcpu_id;
	unsigned int	   vpid;
	unsigned long long task_root;
	unsigned int	   tgid;
	unsigned int	   tid;
	char		   comm[VCPU_CONTEXT_COMM];
};

/* Not for BPF programs */
#ifndef __bpf__
#include <stdbool.h>
#include <stddef.h>

bool vcpu_context__read(struct vcpu_context *context, const void *raw, size_t size);
#endif

#endif /* __PERF_KVM_UNIFIED_FORMAT_VCPU_CONTEXT_H */
