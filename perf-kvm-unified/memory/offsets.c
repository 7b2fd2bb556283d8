// SPDX-License-Identifier: GPL-2.0
/*
 * Where members are in the structs of a guest's kernel, by its BTF, besides those that the
 * walk over its tasks needs.
 */
#include <errno.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>
#ifdef HAVE_LIBBPF_SUPPORT
#include <bpf/btf.h>
#endif

#include "kvm-unified/collector/layout.h"
#include "note.h"
#include "offsets.h"

#ifdef HAVE_LIBBPF_SUPPORT

/* include/linux/kallsyms.h: KSYM_NAME_LEN before 6.1, and since */
#define KSYM_NAME_OLD		128
#define KSYM_NAME_NEW		512

/* Before 6.13, the struct around it has no name: after a sequence number, aligned to 8. */
#define TK_CORE_TIMEKEEPER	8

/*
 * Of one member under all its names, newest kernels first. @optional: the last of its names,
 * and there are kernels without it
 */
struct wanted {
	const char *type, *path;
	u32	size;
	u32	offset;			/* in struct guest_offsets */
	bool	optional;
};

#define WANT(_type, _path, _size, _to)						\
	{ #_type, _path, _size, offsetof(struct guest_offsets, _to), false }
#define MAY(_type, _path, _size, _to)						\
	{ #_type, _path, _size, offsetof(struct guest_offsets, _to), true }

static const struct wanted wanted[] = {
	MAY(mm_struct, "mmap", 8, mm_mmap),
	MAY(vm_area_struct, "vm_next", 8, vma_next),
	MAY(mm_struct, "mm_mt.ma_root", 8, mm_maple_root),
	WANT(mm_struct, "map_count", 4, mm_map_count),
	WANT(mm_struct, "context.vdso", 8, mm_vdso),
	MAY(mm_struct, "context.ctx_id", 8, mm_ctx),
	WANT(vm_area_struct, "vm_start", 8, vma_start),
	WANT(vm_area_struct, "vm_end", 8, vma_end),
	WANT(vm_area_struct, "vm_pgoff", 8, vma_pgoff),
	WANT(vm_area_struct, "vm_flags", 8, vma_flags),
	WANT(vm_area_struct, "vm_file", 8, vma_file),
	WANT(vm_area_struct, "vm_mm", 8, vma_mm),
	WANT(file, "f_path.dentry", 8, file_dentry),
	WANT(file, "f_path.mnt", 8, file_mnt),
	WANT(file, "f_mapping", 8, file_mapping),
	WANT(dentry, "d_name.name", 8, dentry_name),
	WANT(dentry, "d_parent", 8, dentry_parent),
	WANT(dentry, "d_hash.pprev", 8, dentry_pprev),
	WANT(mount, "mnt_parent", 8, mount_parent),
	WANT(mount, "mnt_mountpoint", 8, mount_mountpoint),
	WANT(mount, "mnt", 0, mount_mnt),
	WANT(mount, "mnt.mnt_root", 8, mnt_root),
	WANT(address_space, "host", 8, mapping_host),
	WANT(address_space, "i_pages.xa_head", 8, mapping_pages),
	WANT(inode, "i_ino", 8, inode_ino),
	WANT(inode, "i_size", 8, inode_size),
	WANT(inode, "i_sb", 8, inode_sb),
	WANT(super_block, "s_dev", 4, sb_dev),
	WANT(xa_node, "shift", 1, xa_node_shift),
	WANT(xa_node, "slots", 64 * 8, xa_node_slots),
	WANT(page, "flags", 8, folio_flags),
	WANT(page, "mapping", 8, folio_mapping),
	MAY(folio, "index", 8, folio_index),
	MAY(page, "index", 8, folio_index),
	WANT(task_struct, "thread_pid", 8, task_thread_pid),
	MAY(task_struct, "cgroups", 8, task_cgroups),
	MAY(css_set, "dfl_cgrp", 8, css_set_cgroup),
	MAY(cgroup, "kn", 8, cgroup_dir),
	MAY(kernfs_node, "id", 8, dir_id),
	MAY(kernfs_node, "name", 8, dir_name),
	/* Since 6.15, and before */
	MAY(kernfs_node, "__parent", 8, dir_parent),
	MAY(kernfs_node, "parent", 8, dir_parent),
	WANT(pid, "level", 4, pid_level),
	WANT(pid, "numbers", 0, pid_numbers),
	WANT(upid, "nr", 4, upid_nr),
	MAY(tk_data, "timekeeper", 0, tk_core_timekeeper),
	MAY(timekeeper, "tkr_mono", 0, tk_mono),
	MAY(timekeeper, "offs_boot", 8, tk_offs_boot),
	MAY(tk_read_base, "clock", 8, tkr_clock),
	MAY(tk_read_base, "cycle_last", 8, tkr_cycle_last),
	MAY(tk_read_base, "xtime_nsec", 8, tkr_xtime_nsec),
	MAY(tk_read_base, "base", 8, tkr_base),
	MAY(tk_read_base, "mult", 4, tkr_mult),
	MAY(tk_read_base, "shift", 4, tkr_shift),
	MAY(clocksource, "name", 8, clocksource_name),
	MAY(cpuinfo_x86, "x86_capability", 0, cpu_capability),
	MAY(cpuinfo_x86, "topo.initial_apicid", 4, cpu_apic_id),
	MAY(cpuinfo_x86, "initial_apicid", 2, cpu_apic_id_u16),
	MAY(pcpu_hot, "current_task", 8, hot_current),
	MAY(module, "list", 16, module_list),
	MAY(module, "name", 56, module_name),
	MAY(module, "state", 4, module_state),
	MAY(module, "kallsyms", 8, module_kallsyms),
	MAY(module, "build_id", GUEST_BUILD_ID_MAX, module_build_id),
	/* Since 6.4, a module has several pieces of memory; the first has its text. */
	MAY(module, "core_layout.base", 8, module_base),
	MAY(module, "core_layout.size", 4, module_size),
	MAY(module, "mem", 0, module_mem),
	MAY(module_memory, "base", 8, module_memory_base),
	MAY(module_memory, "size", 4, module_memory_size),
	/* With CONFIG_UNWINDER_ORC */
	MAY(module, "arch.num_orcs", 4, module_num_orcs),
	MAY(module, "arch.orc_unwind_ip", 8, module_orc_offsets),
	MAY(module, "arch.orc_unwind", 8, module_orc_entries),
	MAY(mod_kallsyms, "symtab", 8, mod_kallsyms_symtab),
	MAY(mod_kallsyms, "num_symtab", 4, mod_kallsyms_num),
	MAY(mod_kallsyms, "strtab", 8, mod_kallsyms_strtab),
	MAY(mod_kallsyms, "typetab", 8, mod_kallsyms_types),
	MAY(bpf_ksym, "lnode", 16, bpf_ksym_node),
	MAY(bpf_ksym, "start", 8, bpf_ksym_start),
	MAY(vdso_image, "data", 8, vdso_data),
	MAY(vdso_image, "size", 8, vdso_size),
};

static u32 *member(struct guest_offsets *o, u32 offset)
{
	return (u32 *)((char *)o + offset);
}

static u32 struct_size(const struct btf *btf, const char *type)
{
	s32 id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	s64 size = id < 0 ? -1 : btf__resolve_size(btf, id);

	return size > 0 && size < GUEST_NO_MEMBER ? size : GUEST_NO_MEMBER;
}

static u32 enum_value(const struct btf *btf, const char *type, const char *name)
{
	s32 id = btf__find_by_name_kind(btf, type, BTF_KIND_ENUM);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, id);
	const struct btf_enum *e = t ? btf_enum(t) : NULL;

	for (u32 i = 0; e && i < btf_vlen(t); i++, e++) {
		const char *is = btf__name_by_offset(btf, e->name_off);

		if (is && !strcmp(is, name))
			return e->val;
	}
	return GUEST_NO_MEMBER;
}

static void find_bpf_name(struct guest_offsets *o, const struct btf *btf)
{
	u32 sizes[] = { KSYM_NAME_OLD, KSYM_NAME_NEW };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		if (!guest_btf__member(btf, "bpf_ksym", "name", sizes[i], &o->bpf_ksym_name)) {
			o->bpf_ksym_name_size = sizes[i];
			return;
		}
	}
	o->bpf_ksym_name = GUEST_NO_MEMBER;
}

/* Is all known that the guest's time takes? */
bool guest_offsets__has_time(const struct guest_offsets *o)
{
	return o->tk_mono != GUEST_NO_MEMBER && o->tk_offs_boot != GUEST_NO_MEMBER &&
	       o->tkr_clock != GUEST_NO_MEMBER && o->tkr_cycle_last != GUEST_NO_MEMBER &&
	       o->tkr_xtime_nsec != GUEST_NO_MEMBER && o->tkr_base != GUEST_NO_MEMBER &&
	       o->tkr_mult != GUEST_NO_MEMBER && o->tkr_shift != GUEST_NO_MEMBER &&
	       o->clocksource_name != GUEST_NO_MEMBER;
}

/**
 * guest_offsets__from_btf - fill in the offsets
 * @btf: of the guest's kernel
 * @missing: on error, the struct of a member that any kernel has, and this has not
 *
 * Return: 0; -ENOENT: not there; -EPROTO: there, but of another size
 */
int guest_offsets__from_btf(struct guest_offsets *o, const struct btf *btf, const char **missing)
{
	memset(o, 0xff, sizeof(*o));
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		const struct wanted *w = &wanted[i];
		u32 *to = member(o, w->offset), offset;
		int err;

		if (*to != GUEST_NO_MEMBER)
			continue;
		err = guest_btf__member(btf, w->type, w->path, w->size, &offset);
		if (!err)
			*to = offset;
		if (err && !w->optional) {
			*missing = w->type;
			return err;
		}
	}
	o->upid_size = struct_size(btf, "upid");
	o->page_size = struct_size(btf, "page");
	o->pg_uptodate = enum_value(btf, "pageflags", "PG_uptodate");
	if (o->module_base == GUEST_NO_MEMBER && o->module_mem != GUEST_NO_MEMBER &&
	    o->module_memory_base != GUEST_NO_MEMBER && o->module_memory_size != GUEST_NO_MEMBER) {
		o->module_base = o->module_mem + o->module_memory_base;
		o->module_size = o->module_mem + o->module_memory_size;
	}
	find_bpf_name(o, btf);
	if (o->tk_core_timekeeper == GUEST_NO_MEMBER)
		o->tk_core_timekeeper = TK_CORE_TIMEKEEPER;

	*missing = "page";
	if (o->page_size == GUEST_NO_MEMBER || o->upid_size == GUEST_NO_MEMBER ||
	    o->folio_index == GUEST_NO_MEMBER || o->pg_uptodate >= 64)
		return -ENOENT;
	*missing = "mm_struct";
	return o->mm_maple_root == GUEST_NO_MEMBER &&
	       (o->mm_mmap == GUEST_NO_MEMBER || o->vma_next == GUEST_NO_MEMBER) ? -ENOENT : 0;
}

#endif /* HAVE_LIBBPF_SUPPORT */
