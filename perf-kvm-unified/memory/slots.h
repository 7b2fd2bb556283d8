/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_SLOTS_H
#define __PERF_KVM_UNIFIED_MEMORY_SLOTS_H

#include <stddef.h>
#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>

#include "kvm-unified/memory/bpf_skel/kvm_slots.h"
#include "phys.h"

/* There if the kernel describes its types, as BPF programs need it */
#define VMLINUX_BTF	"/sys/kernel/btf/vmlinux"

struct kvm_reader;

/**
 * struct kvm_memory - what KVM says of a guest's memory
 * @pid: of the VMM
 * @slots: @nr_slots pieces by address, none of which is in another
 * @roots: @nr_roots values that CR3 of a vCPU has or had: to be tried, not to be believed
 * @max_gpa: nothing is at this address and above
 * @private: bytes that are in guest_memfd: what the VMM has mapped is not the guest's
 */
struct kvm_memory {
	pid_t		pid;
	struct kvm_slot	*slots;
	size_t		nr_slots;
	u64		*roots;
	size_t		nr_roots;
	u64		max_gpa;
	u64		private;
};

bool cpu_has_svm(void);

struct kvm_reader *kvm_reader__new(char *err, size_t errlen);
int kvm_reader__read(struct kvm_reader *reader, pid_t pid, struct kvm_memory *mem,
		     char *err, size_t errlen);
void kvm_reader__delete(struct kvm_reader *reader);

int kvm_memory__set(struct kvm_memory *mem, const struct kvm_slot *slots, size_t nr);
const struct kvm_slot *kvm_memory__find(const struct kvm_memory *mem, u64 gpa);
void kvm_memory__exit(struct kvm_memory *mem);

#endif /* __PERF_KVM_UNIFIED_MEMORY_SLOTS_H */
