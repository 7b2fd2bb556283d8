/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_FORMAT_RECORDS_H
#define __PERF_KVM_UNIFIED_FORMAT_RECORDS_H

#include <linux/perf_event.h>
#include <linux/types.h>

/*
 * The records that perf kvm unified adds to perf's user records (see enum
 * perf_user_event_type). They stand in three kinds of files, all streams in
 * perf.data's pipe format that end with PERF_RECORD_FINISHED_INIT:
 *
 *  - "vms" in a perf.data directory, written by the host before the measurement, and again
 *    after it: the VMs;
 *  - "vcpu_looks" there, written by the host while it records: looks at the vCPUs' threads;
 *  - a guest map, "guest_map__<pid of the VMM>" in the directory, written by
 *    perf kvm unified guest-map in the guest: PERF_RECORD_COMM, _MMAP and
 *    _MMAP2 as perf record synthesizes them, and these. What happened while the
 *    guest was watched (--follow) has its time in front: see GUEST_TIME.
 *
 * A profile that is a stream itself (record -o -) has the records of "vms" among perf's own:
 * once in front of all others, with the VMs that there are then, and once after them.
 *
 * Room: format/, what is written on one side and read on the other: records, and the tables
 * that are made of them.
 * Calls: lib
 */

/* What a record has room for in front of its vCPUs; what is left of the array is zero. */
#define GUEST_VM_NAME_LEN	64

/* When the vCPU was there: before the measurement, after it. Both, or one, or none */
#define GUEST_VCPU_AT_START	(1U << 0)
#define GUEST_VCPU_AT_END	(1U << 1)
/* It was halted, or not started yet, just before the measurement. */
#define GUEST_VCPU_HALTED	(1U << 2)
/* What it was at just after the measurement; none of them: it could run */
#define GUEST_VCPU_END_HALTED	(1U << 3)
#define GUEST_VCPU_END_BLOCKED	(1U << 4)	/* in KVM_RUN, waits for the host */
#define GUEST_VCPU_END_VMM	(1U << 5)	/* sleeps out of KVM_RUN */
/* Other VMs were recorded, and not this one. */
#define GUEST_VCPU_LEFT_OUT	(1U << 6)
/* Stopped, traced or frozen: it cannot run, whatever it was at */
#define GUEST_VCPU_END_STOPPED	(1U << 8)
/* Looked at when the events were about to be disabled: none of them is missing until then */
#define GUEST_VCPU_AT_PAUSE	(1U << 7)

/*
 * What "pid of the VMM" means in these records and in the names of files. A process may run several
 * VMs: each but one that was there alone has, above the pid, the number of its descriptor and 1.
 * (PID_MAX_LIMIT is 4 Mi, and bit 30 is for the guests of guests.)
 */
#define GUEST_VM_PID_BITS	22
#define GUEST_VM_PID_MASK	((1U << GUEST_VM_PID_BITS) - 1)
#define GUEST_VM_FD_MAX		254

struct guest_vcpu {
	__u32	id;		/* as in KVM_CREATE_VCPU */
	__u32	tid;		/* of the vCPU thread, 0 if not known */
	__u32	flags;		/* GUEST_VCPU_* */
	__u32	reserved;
};

/* Only the time of some tasks was sampled, not that of whole CPUs. */
#define GUEST_RECORDING_PER_TASK	(1U << 0)
/* The profile is a stream, whose last record is another one of this, with _END. */
#define GUEST_RECORDING_STREAM		(1U << 1)
#define GUEST_RECORDING_END		(1U << 2)
/* CPUs of the host came online meanwhile: perf does not record them. */
#define GUEST_RECORDING_CPUS_CAME	(1U << 4)
/* The table is that of the start: the recorder did not come to write the one of the end. */
#define GUEST_RECORDING_AT_START	(1U << 3)

/* PERF_RECORD_GUEST_RECORDING: how the profile was made */
struct perf_record_guest_recording {
	struct perf_event_header header;
	__u32	flags;		/* GUEST_RECORDING_* */
	__u32	reserved;
};

/*
 * PERF_RECORD_GUEST_VM: a VM that ran on the host. One with more vCPUs than a
 * record has room for has several. What is left of a longer name is after the vCPUs, padded with
 * zeros to 8 bytes.
 */
struct perf_record_guest_vm {
	struct perf_event_header header;
	__u32	pid;		/* of the VMM */
	__u32	nr_vcpus;
	char	name[GUEST_VM_NAME_LEN];
	struct guest_vcpu vcpus[];
};

/*
 * PERF_RECORD_GUEST_VCPU_LOOK: a vCPU's thread had not run for a second when it was looked
 * at, in "vcpu_looks" of the directory. Once for each such time, and again when there is
 * another vCPU. Or it slept when the events were about to be disabled
 */
struct perf_record_guest_vcpu_look {
	struct perf_event_header header;
	__u32	pid;		/* of the VMM */
	__u32	id;		/* as in KVM_CREATE_VCPU */
	__u32	flags;		/* GUEST_VCPU_END_*, or none: it could run; _AT_PAUSE */
	__u32	reserved;
	__u64	tsc;		/* the host's, when it was looked at */
};

/*
 * PERF_RECORD_GUEST_VM_TSC: what KVM makes of the host's TSC for a VM's vCPUs,
 *
 *	guest = host * ratio / 2^frac_bits + offset	(modulo 2^64)
 *
 * if it was the same for all of them. GUEST_TSC_CHANGED: it was another one before the measurement,
 * and this is the one after it: the VM was reset, or moved, or has set its TSC.
 */
#define GUEST_TSC_CHANGED	(1U << 0)

struct perf_record_guest_vm_tsc {
	struct perf_event_header header;
	__u32	pid;		/* of the VMM */
	__u32	frac_bits;	/* 0: not scaled, whatever ratio is */
	__u64	offset;
	__u64	ratio;
	__u32	flags;		/* GUEST_TSC_*; not in the first profiles */
	__u32	reserved;
};

/*
 * PERF_RECORD_GUEST_VM_LIMIT: a limit on the CPU time of a VM's vCPUs, in "vms", after the VMs. Of
 * a VM and a cgroup, the last one holds.
 */
/* How often it held tasks back was counted from before the measurement to after it. */
#define GUEST_LIMIT_COUNTED	(1U << 0)

struct perf_record_guest_vm_limit {
	struct perf_event_header header;
	__u32	pid;		/* of the VMM */
	__u32	flags;		/* GUEST_LIMIT_* */
	__u64	quota;		/* ns in each period; 0: there was none after the measurement */
	__u64	period;		/* ns */
	__u64	times;		/* in so many periods it held tasks back, on any CPU */
	char	cgroup[];	/* path in the hierarchy, padded with zeros; "": SCHED_DEADLINE */
};

/* PERF_RECORD_GUEST_VM_NO_MAP: why a VM has no map, in "vms", after the VMs */
struct perf_record_guest_vm_no_map {
	struct perf_event_header header;
	__u32	pid;		/* of the VMM */
	__u32	reserved;
	char	why[];		/* padded with zeros to 8 bytes */
};

/*
 * PERF_RECORD_MMAP2 in a guest map: in __reserved_1, with PERF_RECORD_MISC_MMAP_BUILD_ID. The file
 * has no build-id: what stands for it is what file_print() makes of the file. A reader that does
 * not know this takes it for a build-id, which no file has.
 */
#define GUEST_MMAP2_FILE_PRINT	1

/* The guest's kernel isolates page tables: user mode runs on bit 12 of the root. */
#define GUEST_MAP_PTI		(1U << 0)
/* Processes that came and went during the measurement are in the map. */
#define GUEST_MAP_FOLLOWED	(1U << 1)

#define GUEST_MAP_KNOWN		(GUEST_MAP_PTI | GUEST_MAP_FOLLOWED)

/* PERF_RECORD_GUEST_MAP: what kind of a map this is, before all others */
struct perf_record_guest_map {
	struct perf_event_header header;
	__u32	flags;		/* GUEST_MAP_*; a reader that does not know one refuses */
	__u32	reserved;
};

/* PERF_RECORD_GUEST_MISSED: what is not in the map, after all others */
struct perf_record_guest_missed {
	struct perf_event_header header;
	__u64	spaces;		/* processes whose root could not be read */
	__u64	events;		/* of processes coming and going that were lost */
};

/* PERF_RECORD_GUEST_CLOCK: the guest's TSC and CLOCK_BOOTTIME, read together */
struct perf_record_guest_clock {
	struct perf_event_header header;
	__u64	tsc;
	__u64	time;		/* ns */
};

/*
 * PERF_RECORD_GUEST_TIME: when that happened which the records after it say, up
 * to the next of these. It never goes back. Before the first: before the map.
 */
struct perf_record_guest_time {
	struct perf_event_header header;
	__u64	time;		/* ns of the guest's CLOCK_BOOTTIME */
};

/*
 * PERF_RECORD_GUEST_SPACE: an address space of the guest, and whose it was from
 * @from to just before @until, in ns of the guest's CLOCK_BOOTTIME.
 */
struct perf_record_guest_space {
	struct perf_event_header header;
	__u64	pt_root;	/* physical address of the top page table */
	__u64	from;
	__u64	until;		/* ~0: alive when the map was made */
	__u32	pid;
	__u32	ns_pid;		/* in its own pid namespace; 0: the same */
};

/* PERF_RECORD_GUEST_KALLSYMS: the next piece of the guest's /proc/kallsyms */
struct perf_record_guest_kallsyms {
	struct perf_event_header header;
	__u32	len;		/* of data; the record is padded to 8 bytes */
	__u32	reserved;
	char	data[];
};

/*
 * PERF_RECORD_GUEST_SYMBOLS: the next piece of symbols that are in no file: lines
 * of start and size, in hex, and a name, as in /tmp/perf-<pid>.map. Of the code
 * that @pid has made for itself, or, if that is 0, of the vDSO, by offset.
 *
 * If @pid is GUEST_SYMBOLS_OF_FILE, a struct guest_symbols_file is in front of the lines, in
 * each record: they are of the file with that build-id, by offset in the file, as the guest has
 * it in memory. Some may be missing.
 */
#define GUEST_SYMBOLS_OF_FILE	(~0U)

/*
 * If it is GUEST_SYMBOLS_OF_MODULE, a struct guest_symbols_module is: they are of a module of the
 * kernel that was not there all the time, by offset in its code. A reader that does not know this
 * leaves it out.
 */
#define GUEST_SYMBOLS_OF_MODULE	(~1U)

/*
 * If it is GUEST_SYMBOLS_OF_BPF, the same of a BPF program, whose name stands in it, and in the one
 * line after it.
 */
#define GUEST_SYMBOLS_OF_BPF	(~2U)

struct perf_record_guest_symbols {
	struct perf_event_header header;
	__u32	pid;
	__u32	len;		/* of data; the record is padded to 8 bytes */
	char	data[];
};

struct guest_symbols_file {
	__u8	build_id[20];
	__u8	build_id_size;
	__u8	reserved[3];
};

#define GUEST_MODULE_NAME_LEN	64

/*
 * A map of the kernel at @start, if the map has one, is replaced by this. It was there from @from
 * to just before @until, in ns of the guest's CLOCK_BOOTTIME; both 0: nobody knows when.
 */
struct guest_symbols_module {
	__u64	start;		/* address */
	__u64	len;
	__u64	from;		/* 0: it was there before the map was begun */
	__u64	until;		/* ~0: it was there when the map was made */
	char	name[GUEST_MODULE_NAME_LEN];
};

/*
 * PERF_RECORD_GUEST_CGROUP: the cgroup, of cgroup v2's hierarchy, that a process was last seen in
 * while it ran this program. A reader that does not know this leaves it out.
 */
struct perf_record_guest_cgroup {
	struct perf_event_header header;
	__u32	pid;
	__u32	reserved;
	char	path[];		/* as in /proc/<pid>/cgroup, padded with zeros to 8 bytes */
};

/*
 * PERF_RECORD_GUEST_ORC: the next piece of a table by which the guest's kernel, or a module of it,
 * is unwound: @nr offsets of 4 bytes, and after them as many entries of 6 bytes, padded with zeros
 * to 8 bytes. A piece whose @addr is where the offsets of the last one have ended is of the same
 * table.
 */
struct perf_record_guest_orc {
	struct perf_event_header header;
	__u64	addr;		/* of the first offset in the guest */
	__u32	nr;
	__u32	layout;		/* enum guest_orc_layout; one that is not known is left out */
	char	data[];
};

#endif /* __PERF_KVM_UNIFIED_FORMAT_RECORDS_H */
