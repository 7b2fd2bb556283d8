/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What kvm_slots.bpf.c tells kvm-unified/memory/slots.c */
#ifndef __PERF_KVM_UNIFIED_MEMORY_KVM_SLOTS_H
#define __PERF_KVM_UNIFIED_MEMORY_KVM_SLOTS_H

/* A VMM has some ten; one that plugs memory in small pieces, a few thousand. A power of two */
#define KVM_SLOTS_MAX	8192U

/* A vCPU has two candidates; KVM_MAX_VCPUS of a distribution's kernel, and more. A power of two */
#define KVM_ROOTS_MAX	8192U

/**
 * struct kvm_slot - a piece of a guest's memory
 * @gpa: guest-physical address
 * @size: bytes
 * @hva: where the VMM has it mapped
 * @private: what the guest has there is not what is mapped (KVM_MEM_GUEST_MEMFD)
 */
struct kvm_slot {
	unsigned long long gpa;
	unsigned long long size;
	unsigned long long hva;
	unsigned long long private;
};

/**
 * struct kvm_slots_walk - where the program is on its way over the slots
 * @buckets: of the hash table, @nr_buckets
 * @node: the next slot's, or NULL: of the next bucket
 * @bucket: number of the next one
 * @id_node_offset: of the node in a slot
 */
struct kvm_slots_walk {
	void	     *buckets;
	void	     *node;
	unsigned int bucket;
	unsigned int nr_buckets;
	unsigned int id_node_offset;
};

/* Why what a VM has in its memory cannot be read */
enum kvm_confidential {
	KVM_NOT_CONFIDENTIAL,
	KVM_IS_SEV,	/* encrypted, with the state of its vCPUs or without */
	KVM_IS_TDX,
	KVM_HAS_PROTECTED_STATE,
};

#endif /* __PERF_KVM_UNIFIED_MEMORY_KVM_SLOTS_H */
