// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * What KVM knows of a VMM's VM and only its own structures say: where the guest's memory is in the
 * VMM, and the page table that each vCPU had last. For kvm-unified/memory/slots.c, which reads
 * /proc for the rest. Nothing is locked, and nothing changed.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "kvm_slots.h"

/*
 * The kernel's types, of which this needs no more than these members. The names end as they do so
 * that there is no conflict with the header that perf comes with, or one made from a kernel. KVM
 * can be a module: its types are found there then.
 */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct bpf_iter__task_file___kg {
	struct task_struct *task;
	struct file *file;
};

struct task_struct___kg {
	int tgid;
	struct mm_struct *mm;
};

struct super_block___kg {
	unsigned long s_magic;
};

struct qstr___kg {
	const unsigned char *name;
};

struct dentry___kg {
	struct qstr___kg d_name;
	struct super_block___kg *d_sb;
};

struct path___kg {
	struct dentry___kg *dentry;
};

struct file___kg {
	struct path___kg f_path;
	void *private_data;
};

struct hlist_node___kg {
	struct hlist_node___kg *next;
};

struct hlist_head___kg {
	struct hlist_node___kg *first;
};

struct kvm_memory_slot___kg {
	struct hlist_node___kg id_node[2];
	u64 base_gfn;
	unsigned long npages;
	unsigned long userspace_addr;
	u32 flags;
};

struct kvm_memslots___kg {
	u64 generation;
	struct hlist_head___kg id_hash[1];
	int node_idx;
};

struct kvm_arch___kg {
	unsigned char vm_type;
	bool has_protected_state;
};

struct kvm___kg {
	struct mm_struct *mm;
	struct kvm_memslots___kg *memslots[1];
	struct kvm_arch___kg arch;
};

struct kvm_vcpu_arch___kg {
	unsigned long cr3;
};

struct kvm_vcpu___kg {
	struct kvm___kg *kvm;
	struct kvm_vcpu_arch___kg arch;
};

struct kvm_sev_info___kg {
	bool active;
};

struct kvm_svm___kg {
	struct kvm___kg kvm;
	struct kvm_sev_info___kg sev_info;
};

struct vmcb_save_area___kg {
	u64 cr3;
};

struct vmcb___kg {
	struct vmcb_save_area___kg save;
};

struct vcpu_svm___kg {
	struct kvm_vcpu___kg vcpu;
	struct vmcb___kg *vmcb;
};

#pragma clang attribute pop

/* include/uapi/linux/magic.h */
#define ANON_INODE_FS_MAGIC	0x09041934
/* virt/kvm/kvm_main.c: what the files are called */
#define VM_FILE			"kvm-vm"
#define VCPU_FILE		"kvm-vcpu:"
/* include/linux/kvm_host.h: the slot is about to go */
#define KVM_MEMSLOT_INVALID	(1UL << 16)
/* include/uapi/linux/kvm.h */
#define KVM_MEM_GUEST_MEMFD	(1UL << 2)
/* arch/x86/include/uapi/asm/kvm.h: below this and above 1, SEV's kinds of VMs */
#define KVM_X86_SEV_VM		2
#define KVM_X86_TDX_VM		5
#define PAGE_SHIFT		12

/* Hash buckets and slots, and one step to see the end */
#define WALK_STEPS_MAX		(2 * KVM_SLOTS_MAX + 1)

/* KVM is SVM's: other vendors' have other structures around the common ones. */
const volatile bool is_svm;

/* The process to look at, and what a pass over its files has found of its VM */
int vmm;
struct kvm_slot slots[KVM_SLOTS_MAX];
u64 roots[KVM_ROOTS_MAX];
u32 nr_slots;
u32 nr_roots;
u32 nr_vms;
u32 nr_foreign;
u32 confidential;
bool unknown;
bool changed;
bool too_many;

/* Which VM that is: a process can have the file twice, and, if not as a VMM does, two VMs */
u64 the_vm;

/*
 * Not on the stack: before 6.7, the kernel's verifier looks once at what bpf_loop() calls, and
 * removes what the values that it begins with do not lead to.
 */
struct kvm_slots_walk walk;

static __always_inline void add_root(u64 root)
{
	u32 i = nr_roots;

	if (!root)
		return;
	if (i >= KVM_ROOTS_MAX) {
		too_many = true;
		return;
	}
	roots[i & (KVM_ROOTS_MAX - 1)] = root;
	nr_roots = i + 1;
}

static __always_inline void add_slot(struct kvm_memory_slot___kg *from)
{
	u32 flags = BPF_CORE_READ(from, flags);
	struct kvm_slot *slot;
	u32 i = nr_slots;

	if (flags & KVM_MEMSLOT_INVALID)
		return;
	if (i >= KVM_SLOTS_MAX) {
		too_many = true;
		return;
	}
	slot = &slots[i & (KVM_SLOTS_MAX - 1)];
	slot->gpa = BPF_CORE_READ(from, base_gfn) << PAGE_SHIFT;
	slot->size = (u64)BPF_CORE_READ(from, npages) << PAGE_SHIFT;
	slot->hva = BPF_CORE_READ(from, userspace_addr);
	slot->private = !!(flags & KVM_MEM_GUEST_MEMFD);
	nr_slots = i + 1;
}

/* One step: a slot, or on to the next bucket. bpf_loop() wants the number of the step. */
static int walk_step(u32 step, void *unused)
{
	struct hlist_head___kg *bucket = (struct hlist_head___kg *)walk.buckets + walk.bucket;
	struct hlist_node___kg *node = walk.node;

	if (node) {
		add_slot((void *)node - walk.id_node_offset);
		walk.node = BPF_CORE_READ(node, next);
		return 0;
	}
	if (walk.bucket >= walk.nr_buckets)
		return 1;
	walk.node = BPF_CORE_READ(bucket, first);
	walk.bucket++;
	return 0;
}

static __always_inline void read_slots(struct kvm___kg *kvm)
{
	/* Address space 0: system management mode has its own. */
	struct kvm_memslots___kg *set = BPF_CORE_READ(kvm, memslots[0]);
	u64 generation = BPF_CORE_READ(set, generation);
	u32 node_idx = BPF_CORE_READ(set, node_idx);

	walk = (struct kvm_slots_walk) {
		.buckets = (void *)set +
			   bpf_core_field_offset(struct kvm_memslots___kg, id_hash),
		.nr_buckets = bpf_core_field_size(struct kvm_memslots___kg, id_hash) /
			      sizeof(struct hlist_head___kg),
		.id_node_offset = bpf_core_field_offset(struct kvm_memory_slot___kg, id_node) +
				  node_idx * bpf_core_type_size(struct hlist_node___kg),
	};

	bpf_loop(WALK_STEPS_MAX, walk_step, NULL, 0);
	if (set != BPF_CORE_READ(kvm, memslots[0]) ||
	    generation != BPF_CORE_READ(set, generation))
		changed = true;
}

static __always_inline u32 is_confidential(struct kvm___kg *kvm)
{
	struct kvm_svm___kg *svm = (void *)kvm;

	if (is_svm && bpf_core_field_exists(svm->sev_info.active) &&
	    BPF_CORE_READ(svm, sev_info.active))
		return KVM_IS_SEV;
	if (bpf_core_field_exists(kvm->arch.vm_type)) {
		u8 type = BPF_CORE_READ(kvm, arch.vm_type);

		if (type >= KVM_X86_TDX_VM)
			return KVM_IS_TDX;
		if (type >= KVM_X86_SEV_VM)
			return KVM_IS_SEV;
	}
	if (bpf_core_field_exists(kvm->arch.has_protected_state) &&
	    BPF_CORE_READ(kvm, arch.has_protected_state))
		return KVM_HAS_PROTECTED_STATE;
	return KVM_NOT_CONFIDENTIAL;
}

static __always_inline void read_vm(struct kvm___kg *kvm, struct task_struct___kg *task)
{
	if ((u64)kvm == the_vm)
		return;
	if (!bpf_core_field_exists(((struct kvm_memslots___kg *)0)->id_hash)) {
		unknown = true;
		return;
	}
	/* Who has another process's VM open has not its memory. */
	if (BPF_CORE_READ(kvm, mm) != BPF_CORE_READ(task, mm)) {
		nr_foreign++;
		return;
	}
	if (nr_vms++)
		return;
	the_vm = (u64)kvm;
	confidential = is_confidential(kvm);
	read_slots(kvm);
}

/* The last page table that KVM has seen. With EPT that can be long ago: it is one to try. */
static __always_inline void read_vcpu(struct kvm_vcpu___kg *vcpu, struct task_struct___kg *task)
{
	struct vcpu_svm___kg *svm = (void *)vcpu;

	if (!bpf_core_field_exists(vcpu->kvm) ||
	    BPF_CORE_READ(vcpu, kvm, mm) != BPF_CORE_READ(task, mm))
		return;
	if (bpf_core_field_exists(vcpu->arch.cr3))
		add_root(BPF_CORE_READ(vcpu, arch.cr3));
	if (is_svm && bpf_core_field_exists(svm->vmcb) &&
	    bpf_core_field_exists(((struct vmcb___kg *)0)->save.cr3))
		add_root(BPF_CORE_READ(svm, vmcb, save.cr3));
}

SEC("iter/task_file")
int read_files(struct bpf_iter__task_file___kg *ctx)
{
	struct task_struct___kg *task = (void *)ctx->task;
	struct file___kg *file = (void *)ctx->file;
	char name[sizeof(VCPU_FILE)] = "";
	struct dentry___kg *dentry;

	if (!task || !file || BPF_CORE_READ(task, tgid) != vmm)
		return 0;
	/* A file that anybody can make has no such name on this file system. */
	dentry = BPF_CORE_READ(file, f_path.dentry);
	if (BPF_CORE_READ(dentry, d_sb, s_magic) != ANON_INODE_FS_MAGIC)
		return 0;
	bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(dentry, d_name.name));
	if (!bpf_strncmp(name, sizeof(VM_FILE), VM_FILE))
		read_vm(BPF_CORE_READ(file, private_data), task);
	else if (!bpf_strncmp(name, sizeof(VCPU_FILE) - 1, VCPU_FILE))
		read_vcpu(BPF_CORE_READ(file, private_data), task);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
