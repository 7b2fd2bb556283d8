/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_GUEST_H
#define __PERF_KVM_UNIFIED_GUESTS_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/list.h>
#include <linux/types.h>

#include "util/build-id.h"
#include "kvm-unified/format/clock.h"
#include "kvm-unified/format/vms.h"
#include "kvm-unified/format/spaces.h"

struct guest_changing_module;
struct hashmap;
struct machine;
struct told_range;
union perf_event;

/**
 * struct guest_symbols - what the process @pid, or the vDSO if that is 0, has told of its code
 * @text: @nr_lines, of @len bytes
 * @ranges: where that is, sorted, as soon as they are needed: @has_ranges
 */
struct guest_symbols {
	pid_t	pid;
	char	*text;
	size_t	len;
	u64	nr_lines;
	struct told_range *ranges;
	size_t	nr_ranges;
	bool	has_ranges;
};

/**
 * struct guest_program - functions of a file, as the guest has it in memory
 * @text: lines "offset size name", by offset in the file
 */
struct guest_program {
	struct build_id bid;
	char	*text;
	size_t	len;
};

/* What is to be taken over when the samples have come to its time */
struct guest_replay_entry {
	u64		 time;		/* ns of the guest's CLOCK_BOOTTIME */
	union perf_event *event;
};

struct guest_replay {
	struct guest_replay_entry *entries;
	size_t	nr;
	size_t	allocated;
	size_t	next;			/* those before it are done */
};

/**
 * struct guest_map_data - what a guest map says of the guest as a whole
 * @spaces: whose address space is where
 * @clock: the guest's clock by that of the host's samples
 * @bad_clock: what the map says of the guest's clock makes no sense
 * @followed: the map tells of processes that came and went, while it was recorded
 * @replay: what has happened in the guest since the map was begun
 * @symbols: of code that is in no file
 * @programs: of files, for where the host has not got these
 * @modules: of its kernel, that came or went
 * @modules_since: @modules_until: in that time it has those that are placed now
 * @until_of_pid: until when there is a process of that number
 * @several: pids that several processes or programs had in turn
 * @from_of_pid: when the last one began
 * @missed_spaces: @missed_events: what the map says that it does not know
 */
struct guest_map_data {
	struct guest_spaces spaces;
	struct guest_clock clock;
	bool		 bad_clock;
	bool		 followed;
	struct guest_replay replay;
	struct guest_symbols *symbols;
	size_t		 nr_symbols;
	struct guest_program *programs;
	size_t		 nr_programs;
	struct guest_changing_module *modules;
	size_t		 nr_modules;
	u64		 modules_since;
	u64		 modules_until;
	struct hashmap	 *until_of_pid;
	struct hashmap	 *several;
	struct hashmap	 *from_of_pid;
	u64		 missed_spaces;
	u64		 missed_events;
};

/*
 * Pids of the pseudo processes that stand for a CR3 without a known owner,
 * above any pid that a kernel hands out (PID_MAX_LIMIT is 4 Mi).
 */
#define KVM_GUEST_PSEUDO_PID	0x40000000

/* In a guest's @pid: what ran in it before it was booted */
#define KVM_GUEST_EARLIER	((pid_t)(1U << 31))

/* How they are called: the page table root comes after it. */
#define GUEST_UNNAMED_COMM	"[cr3 "

/* How code is called that a process has made for itself: its pid comes after it. */
#define GUEST_JIT_MODULE	"[JIT] tid "

/* More of these than any guest needs get one row: a CR3 costs the guest nothing. */
#define KVM_GUEST_MAX_PSEUDO	4096

/* So many times a process may get a name that was told with a sample: a guest can make up any. */
#define KVM_GUEST_MAX_TOLD	16384

/**
 * struct kvm_guest - a VM of a session, with what is known of its inside
 * @pid: of the VMM, or as @kvm_vm.pid; that and KVM_GUEST_PSEUDO_PID for the guests of a guest,
 *	and KVM_GUEST_EARLIER for what ran before it was booted
 * @nested: the guests of a guest, of which nothing is known
 * @earlier: what ran in the guest before the boot that its map is of: nothing is known of it
 * @has_map: a guest map was loaded: @map and the text of its kernel are known
 * @given_map: the user has given it, it is not the one in the profile
 * @left_out: some of what the map tells is not used
 * @loaded: its kernel's symbols, and those of JIT compilers, are loaded
 * @asked_clock: @has_clock is settled: whether the guest's time of a sample is known
 * @files: what files below @root are called on the host, by build-id and name, NULL:
 *	none of them, and @files_ns: the CPU time that it took to find out
 * @nr_changes: what was taken over of what has happened in the guest; names and maps
 *	may be others then
 * @nr_processes: that there are now
 * @sharers_of_maps: how many processes have the maps of one of them, if it is not one
 * @nr_copied_maps: how many maps were copied as a child changed what it had of its parent
 * @unnamed: pseudo pid by page table root, for CR3s without an owner, and for processes that were
 *	told and have the number of one in the map: see told_key()
 * @cgroups: paths of the guest's cgroups, or NULL; @cgroup_of: those of its processes
 * @nr_told: how often a process got a name that was told with a sample
 * @kernel_start: @kernel_end: the kernel's text, 0 if not known
 * @nr_samples: of its code, whatever is known of them
 * @nr_user: samples of guest user mode, @nr_user_named: those whose CR3 has an
 *	 owner in the map
 * @nr_user_told: those whose CR3 has none, and whose process was told with the sample
 * @nr_user_shared: those of @nr_user_named whose address space was shared by processes
 * @nr_user_ambiguous: samples without a name as several processes had that CR3 in
 *	 turn, and it is not known when
 * @nr_user_outside: samples without a name as the guest was not followed then
 * @nr_kernel: samples where a guest has its kernel's image, and not modules or
 *	 BPF programs; @nr_kernel_named: those within the kernel of the map
 * @nr_foreign_files: files of the map that were found in its root directory but
 *	 with another build-id
 * @nr_other_files: ... those of them that have no build-id, and are others
 * @nr_large_files: ... and those that are over a limit, and not used
 */
struct kvm_guest {
	struct list_head node;
	pid_t		 pid;
	char		 name[KVM_VM_NAME_LEN];
	struct machine	 *machine;
	bool		 nested;
	bool		 earlier;
	bool		 has_map;
	bool		 given_map;
	bool		 left_out;
	bool		 loaded;
	bool		 asked_clock;
	bool		 has_clock;
	char		 *root;
	struct guest_map_data map;
	struct hashmap	 *files;
	u64		 files_ns;
	u64		 nr_changes;
	u32		 nr_processes;
	u32		 nr_copied_maps;
	struct hashmap	 *sharers_of_maps;
	struct hashmap	 *unnamed;
	struct hashmap	 *cgroups;
	struct hashmap	 *cgroup_of;
	u32		 nr_told;
	u64		 kernel_start;
	u64		 kernel_end;
	u64		 nr_samples;
	u64		 nr_user;
	u64		 nr_user_named;
	u64		 nr_user_told;
	u64		 nr_user_shared;
	u64		 nr_user_ambiguous;
	u64		 nr_user_outside;
	u64		 nr_kernel;
	u64		 nr_kernel_named;
	u64		 nr_foreign_files;
	u64		 nr_other_files;
	u64		 nr_large_files;
};

/* The @kvm_vm.pid of the VM that @guest is a part of */
static inline pid_t kvm_guest__vm(const struct kvm_guest *guest)
{
	return guest->pid & ~(KVM_GUEST_PSEUDO_PID | KVM_GUEST_EARLIER);
}

#endif /* __PERF_KVM_UNIFIED_GUESTS_GUEST_H */
