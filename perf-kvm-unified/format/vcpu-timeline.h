/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A state of a vCPU that has ended, as BPF programs tell it on kernels without the tracepoint
 * kvm:kvm_vcpu_timeline: raw data of an event of perf's kind bpf-output. Of
 * record/bpf_skel/vcpu_timeline.bpf.c, too.
 */
#ifndef __PERF_KVM_UNIFIED_FORMAT_VCPU_TIMELINE_H
#define __PERF_KVM_UNIFIED_FORMAT_VCPU_TIMELINE_H

/* The event's name */
#define VCPU_TIMELINE_EVENT	"kvm_vcpu_timeline"

/* "vtml", the first version of it */
#define VCPU_TIMELINE_MAGIC	0x76746d6cU

/**
 * struct vcpu_timeline - as the tracepoint's fields, see kvm-unified-timeline.rst
 * @magic: VCPU_TIMELINE_MAGIC
 * @state: @isa: @ns: @wait: @exit_reason: @vcpu_id: @seq: @why: @next_pid: @cpu: as there; @ns and
 *	@wait are of CLOCK_MONOTONIC
 */
struct vcpu_timeline {
	unsigned int	   magic;
	unsigned char	   state;
	unsigned char	   isa;
	unsigned short	   reserved;
	unsigned long long ns;
	unsigned long long wait;
	unsigned long long exit_reason;
	unsigned int	   vcpu_id;
	unsigned int	   seq;
	int		   why;
	int		   next_pid;
	unsigned int	   cpu;
	unsigned int	   reserved2;
};

/* Not for BPF programs */
#ifndef __bpf__
#include <stdbool.h>
#include <stddef.h>

bool vcpu_timeline__read(struct vcpu_timeline *record, const void *raw, size_t size);
#endif

#endif /* __PERF_KVM_UNIFIED_FORMAT_VCPU_TIMELINE_H */
