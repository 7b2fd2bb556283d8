/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUEST_RECORDS_H
#define __PERF_KVM_UNIFIED_GUEST_RECORDS_H

#include <linux/perf_event.h>
#include <linux/types.h>

/*
 * The records that perf kvm unified adds to perf's user records (see enum
 * perf_user_event_type). They stand in two kinds of files, both streams in
 * perf.data's pipe format that end with PERF_RECORD_FINISHED_INIT:
 *
 *  - "vms" in a perf.data directory, written by the host: the VMs;
 *  - a guest map, "guest_map__<pid of the VMM>" in the directory, written by
 *    perf kvm unified guest-map in the guest: PERF_RECORD_COMM, _MMAP and
 *    _MMAP2 as perf record synthesizes them, and these.
 */

/* Longer names are cut; what is left of the array is zero. */
#define GUEST_VM_NAME_LEN	64

/* When the vCPU was there: before the measurement, after it. Both, or one, or none */
#define GUEST_VCPU_AT_START	(1U << 0)
#define GUEST_VCPU_AT_END	(1U << 1)
/* It was halted, or not started yet, just before the measurement. */
#define GUEST_VCPU_HALTED	(1U << 2)

struct guest_vcpu {
	__u32	id;		/* as in KVM_CREATE_VCPU */
	__u32	tid;		/* of the vCPU thread, 0 if not known */
	__u32	flags;		/* GUEST_VCPU_* */
	__u32	reserved;
};

/* Only the time of some tasks was sampled, not that of whole CPUs. */
#define GUEST_RECORDING_PER_TASK	(1U << 0)

/* PERF_RECORD_GUEST_RECORDING: how the profile was made */
struct perf_record_guest_recording {
	struct perf_event_header header;
	__u32	flags;		/* GUEST_RECORDING_* */
	__u32	reserved;
};

/*
 * PERF_RECORD_GUEST_VM: a VM that ran on the host. One with more vCPUs than a
 * record has room for has several.
 */
struct perf_record_guest_vm {
	struct perf_event_header header;
	__u32	pid;		/* of the VMM */
	__u32	nr_vcpus;
	char	name[GUEST_VM_NAME_LEN];
	struct guest_vcpu vcpus[];
};

/*
 * PERF_RECORD_GUEST_SPACE: an address space of the guest. Times are ns of the
 * guest's CLOCK_BOOTTIME.
 */
struct perf_record_guest_space {
	struct perf_event_header header;
	__u64	pt_root;	/* physical address of the top page table */
	__u64	from;
	__u64	until;		/* ~0: alive when the map was made */
	__u32	pid;
	__u32	reserved;
};

/* PERF_RECORD_GUEST_KALLSYMS: the next piece of the guest's /proc/kallsyms */
struct perf_record_guest_kallsyms {
	struct perf_event_header header;
	__u32	len;		/* of data; the record is padded to 8 bytes */
	__u32	reserved;
	char	data[];
};

#endif /* __PERF_KVM_UNIFIED_GUEST_RECORDS_H */
