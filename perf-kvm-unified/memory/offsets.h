/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_OFFSETS_H
#define __PERF_KVM_UNIFIED_MEMORY_OFFSETS_H

#include <stdbool.h>
#include <linux/types.h>

struct btf;

/* A member that this kernel has not */
#define GUEST_NO_MEMBER		(~0U)

/**
 * struct guest_offsets - where members are in the structs of this kernel, in bytes
 *
 * Named as struct and member are; GUEST_NO_MEMBER: it has none. And the sizes of some
 * structs, and the number of a flag.
 */
struct guest_offsets {
	u32	mm_mmap;		/* VMAs are a list, up to 6.0 ... */
	u32	vma_next;
	u32	mm_maple_root;		/* ... or a tree */
	u32	mm_map_count;
	u32	mm_vdso;
	u32	mm_ctx;			/* the number of the address space */
	u32	vma_start;
	u32	vma_end;
	u32	vma_pgoff;
	u32	vma_flags;
	u32	vma_file;
	u32	vma_mm;
	u32	file_dentry;
	u32	file_mnt;
	u32	file_mapping;
	u32	dentry_name;
	u32	dentry_parent;
	u32	dentry_pprev;		/* of the hash that it is found by, 0: it is unlinked */
	u32	mount_parent;
	u32	mount_mountpoint;
	u32	mount_mnt;
	u32	mnt_root;
	u32	mapping_host;
	u32	mapping_pages;
	u32	inode_ino;
	u32	inode_size;
	u32	inode_sb;
	u32	sb_dev;
	u32	xa_node_shift;
	u32	xa_node_slots;
	u32	folio_flags;
	u32	folio_mapping;
	u32	folio_index;
	u32	page_size;
	u32	pg_uptodate;
	u32	task_thread_pid;
	u32	task_cgroups;
	u32	css_set_cgroup;		/* that of cgroup v2's hierarchy */
	u32	cgroup_dir;		/* a struct kernfs_node */
	u32	dir_id;
	u32	dir_name;
	u32	dir_parent;
	u32	pid_level;
	u32	pid_numbers;
	u32	upid_size;
	u32	upid_nr;
	u32	module_list;
	u32	module_name;
	u32	module_state;
	u32	module_base;		/* of its text */
	u32	module_size;
	u32	module_mem;		/* of which there are several, since 6.4 */
	u32	module_memory_base;
	u32	module_memory_size;
	u32	module_build_id;
	u32	module_kallsyms;
	u32	module_num_orcs;
	u32	module_orc_offsets;
	u32	module_orc_entries;
	u32	mod_kallsyms_symtab;
	u32	mod_kallsyms_num;
	u32	mod_kallsyms_strtab;
	u32	mod_kallsyms_types;
	u32	bpf_ksym_node;
	u32	bpf_ksym_start;
	u32	bpf_ksym_name;
	u32	bpf_ksym_name_size;
	u32	tk_core_timekeeper;
	u32	tk_mono;
	u32	tk_offs_boot;
	u32	tkr_clock;
	u32	tkr_cycle_last;
	u32	tkr_xtime_nsec;
	u32	tkr_base;
	u32	tkr_mult;
	u32	tkr_shift;
	u32	clocksource_name;
	u32	cpu_capability;
	u32	cpu_apic_id;		/* the initial one, since 6.7 ... */
	u32	cpu_apic_id_u16;	/* ... or, before, of 16 bits */
	u32	hot_current;		/* from 6.2 to 6.14 */
	u32	vdso_data;
	u32	vdso_size;
};

bool guest_offsets__has_time(const struct guest_offsets *o);
int guest_offsets__from_btf(struct guest_offsets *o, const struct btf *btf, const char **missing);

#endif /* __PERF_KVM_UNIFIED_MEMORY_OFFSETS_H */
