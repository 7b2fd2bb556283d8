/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_MACHINE_H
#define __PERF_KVM_UNIFIED_GUESTS_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/bits.h>
#include <linux/types.h>

struct build_id;
struct kvm_guest;
struct thread;

/*
 * So many processes at a time, so many maps of each, and so many files are taken over
 * of what happens in a guest: more than one has room for in its own tables of them.
 */
#define GUEST_MAX_PROCESSES	(1U << 16)
#define GUEST_MAX_MAPS_OF_PID	16384
#define GUEST_MAX_FILES		(1U << 16)

/* Kernel addresses of x86-64 and arm64 have the top bit set. */
#define GUEST_KERNEL_SPACE	BIT_ULL(63)

/* The kernel's own map is called that and the name of a symbol, which it begins at. */
#define KERNEL_MAP_NAME		"[kernel.kallsyms]"

/**
 * struct guest_mmap - a file, or memory, that a guest has mapped
 * @pid: of the process; not of a map of the kernel
 * @time: when, ns of the guest's CLOCK_BOOTTIME; 0: before the guest was followed
 * @prot: @flags: as for mmap()
 * @bid: the file's build-id, or NULL
 * @print: of a file without one: what file_print() makes of it, or NULL
 * @name: as the guest calls it
 * @is_given: the user has said where it is, which may be anywhere: a unikernel's, say
 */
struct guest_mmap {
	pid_t		pid;
	u64		time;
	u64		start;
	u64		len;
	u64		pgoff;
	u32		prot;
	u32		flags;
	const struct build_id *bid;
	const struct build_id *print;
	const char	*name;
	bool		is_given;
};

bool guest_pid__is_valid(pid_t pid);

struct thread *kvm_guest__findnew_thread(struct kvm_guest *guest, pid_t pid);
int kvm_guest__comm(struct kvm_guest *guest, pid_t pid, const char *comm, bool exec);
int kvm_guest__fork(struct kvm_guest *guest, pid_t pid, pid_t parent);
void kvm_guest__exit(struct kvm_guest *guest, pid_t pid);
int kvm_guest__add_kernel_map(struct kvm_guest *guest, const struct guest_mmap *map);
int kvm_guest__add_map(struct kvm_guest *guest, const struct guest_mmap *map);

int kvm_guest__add_symbols(struct kvm_guest *guest, pid_t pid, const char *text, size_t len);
int kvm_guest__load_symbols(struct kvm_guest *guest);
void kvm_guest__free_symbols(struct kvm_guest *guest);

#endif /* __PERF_KVM_UNIFIED_GUESTS_MACHINE_H */
