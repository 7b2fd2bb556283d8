/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_FORMAT_VM_LIMITS_H
#define __PERF_KVM_UNIFIED_FORMAT_VM_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

union perf_event;

/**
 * struct kvm_limit - a limit on the CPU time of a VM's vCPUs, as the host has set it
 * @pid: of the VM, as in struct kvm_vm
 * @cgroup: whose limit it is, its path in the hierarchy; "": SCHED_DEADLINE, of a thread
 * @quota: of CPU time, ns, in each @period; 0: there was none at the end
 * @times: in so many periods it held tasks back while it was recorded, on any CPU, if @counted
 */
struct kvm_limit {
	pid_t	pid;
	char	*cgroup;
	u64	quota;
	u64	period;
	u64	times;
	bool	counted;
};

/* All of them, one for each VM and cgroup. All zero: none */
struct kvm_limits {
	struct kvm_limit *entries;
	size_t	nr;
	size_t	allocated;
};

int kvm_limits__set(struct kvm_limits *limits, const struct kvm_limit *limit);
const struct kvm_limit *kvm_limits__next(const struct kvm_limits *limits, pid_t pid,
					 const struct kvm_limit *last);
bool kvm_limit__may_hold(const struct kvm_limit *limit);
bool kvm_limits__may_hold(const struct kvm_limits *limits, pid_t pid);
const struct kvm_limit *kvm_limits__deadline(const struct kvm_limits *limits, pid_t pid);
void kvm_limits__exit(struct kvm_limits *limits);

int kvm_limits__write(const struct kvm_limits *limits, int fd);
int kvm_limits__process(struct kvm_limits *limits, const union perf_event *event);

#endif /* __PERF_KVM_UNIFIED_FORMAT_VM_LIMITS_H */
