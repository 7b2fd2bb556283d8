// SPDX-License-Identifier: GPL-2.0
/*
 * Where things are in a kernel: the offsets of members, by its BTF, and the page table
 * that is after an address.
 */
#include <errno.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>
#ifdef HAVE_LIBBPF_SUPPORT
#include <bpf/btf.h>
#endif

#include "kvm-unified/lib/errors.h"
#include "kvm-unified/lib/x86.h"
#include "guest-mem.h"
#include "layout.h"

/**
 * guest_task_layout__root - the CR3 field that selects the page table at @pgd
 * @pgd: a kernel address, as in mm_struct's pgd
 *
 * CR3 holds bits 12..51 of the physical address of the top table (Intel SDM
 * vol. 3A, 4.5 "4-Level Paging and 5-Level Paging"; AMD APM vol. 2, 5.3.2
 * "CR3"). The table is in the direct map, but init_mm's is part of the kernel
 * image. With memory encryption the C-bit is a part of the address that CR3
 * holds (AMD APM vol. 2, 7.10.4 "Page Table Support").
 *
 * Return: 0, or -EFAULT: no such page can be in use
 */
int guest_task_layout__root(const struct guest_task_layout *l, u64 pgd, u64 *root)
{
	u64 pa;

	if (!kernel_ptr(pgd))
		return -EFAULT;

	if (pgd >= X86_KERNEL_IMAGE_START)
		pa = pgd - X86_KERNEL_IMAGE_START + l->phys_base;
	else
		pa = pgd - l->page_offset;

	/* below the direct map it has wrapped to far above 52 bits */
	if (!pa || pa & 0xfff || pa >> 52)
		return -EFAULT;

	*root = pa | l->me_mask;
	return 0;
}

#ifdef HAVE_LIBBPF_SUPPORT

/* Anonymous members nest two or three deep in real kernels */
#define MAX_ANON_DEPTH		8

/* Longer than any that is asked for */
#define MAX_MEMBER_NAME		64

/*
 * Byte offset of member @name of the struct or union @id, and the id of its type in *@type.
 * Anonymous members are searched too: mm_struct and, with CONFIG_RANDSTRUCT, task_struct
 * keep nearly all of theirs in one.
 *
 * Return: 0; -ENOENT: no such member; -EPROTO: it is of another kind
 */
static int find_member(const struct btf *btf, u32 id, const char *name, int depth,
		       u32 *offset, u32 *type)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	const struct btf_member *m;
	u32 i, bits, sub;
	int err;

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);

	if (!t || !btf_is_composite(t) || depth > MAX_ANON_DEPTH)
		return -ENOENT;

	for (i = 0, m = btf_members(t); i < btf_vlen(t); i++, m++) {
		const char *mname = btf__name_by_offset(btf, m->name_off);
		s64 size;

		bits = btf_member_bit_offset(t, i);
		if (mname && *mname) {
			if (strcmp(mname, name))
				continue;
			if (bits % 8 || btf_member_bitfield_size(t, i))
				return -EPROTO;
			*offset = bits / 8;
			*type = m->type;
		} else {
			err = find_member(btf, m->type, name, depth + 1, &sub, type);
			if (err == -ENOENT)
				continue;
			if (err)
				return err;
			*offset = bits / 8 + sub;
		}

		size = btf__resolve_size(btf, *type);
		return size >= 0 && (u64)*offset + size <= t->size ? 0 : -EPROTO;
	}

	return -ENOENT;
}

/**
 * guest_btf__member - where a member is in a struct
 * @btf: of the guest's kernel
 * @type: the struct's name
 * @path: of the member, with a dot before each member of a member; anonymous ones in between
 *	  need not be named
 * @size: in bytes that it must have, 0: any
 * @offset: result, in bytes
 *
 * Return: 0; -ENOENT: no such struct or member; -EPROTO: it is of another kind or size
 */
int guest_btf__member(const struct btf *btf, const char *type, const char *path, u32 size,
		      u32 *offset)
{
	s32 id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	u32 next = id, sub;

	if (id < 0)
		return -ENOENT;

	*offset = 0;
	while (*path) {
		size_t len = strcspn(path, ".");
		char name[MAX_MEMBER_NAME];
		int err;

		if (len >= sizeof(name))
			return -ENOENT;
		memcpy(name, path, len);
		name[len] = '\0';
		err = find_member(btf, next, name, 0, &sub, &next);
		if (err)
			return err;
		*offset += sub;
		path += path[len] ? len + 1 : len;
	}

	return !size || btf__resolve_size(btf, next) == size ? 0 : -EPROTO;
}

/**
 * guest_task_layout__from_btf - fill in the offsets
 * @l: the offsets are set, the addresses are left alone
 * @btf: that of the running kernel
 * @missing: on error, "struct.member" that was not found or not as expected
 *
 * Return: 0; -ENOENT: not there; -EPROTO: there, but of another size
 */
int guest_task_layout__from_btf(struct guest_task_layout *l, const struct btf *btf,
				const char **missing)
{
	const struct {
		const char *type, *member, *both;
		u32 size;
		u32 *offset;
	} wanted[] = {
#define WANT(_type, _member, _size, _dst)	\
	{ #_type, #_member, #_type "." #_member, _size, &l->_dst }
		WANT(task_struct, tasks, 16, task_tasks),
		WANT(task_struct, thread_node, 16, task_thread_node),
		WANT(task_struct, pid, 4, task_pid),
		WANT(task_struct, tgid, 4, task_tgid),
		WANT(task_struct, flags, 4, task_flags),
		WANT(task_struct, mm, 8, task_mm),
		WANT(task_struct, signal, 8, task_signal),
		WANT(task_struct, group_leader, 8, task_group_leader),
		WANT(task_struct, comm, GUEST_TASK_COMM_LEN, task_comm),
		WANT(mm_struct, pgd, 8, mm_pgd),
		WANT(signal_struct, thread_head, 16, signal_thread_head),
		WANT(task_struct, start_boottime, 8, task_start),
#undef WANT
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		int err = guest_btf__member(btf, wanted[i].type, wanted[i].member,
					    wanted[i].size, wanted[i].offset);

		/* its name before 5.5 */
		if (err == -ENOENT && wanted[i].offset == &l->task_start)
			err = guest_btf__member(btf, "task_struct", "real_start_time", 8,
						&l->task_start);
		if (err) {
			*missing = wanted[i].both;
			return err;
		}
	}

	return 0;
}

/**
 * guest_task_layout__read_btf - fill in the offsets of the running kernel
 * @l: the offsets are set, the addresses are left alone
 * @err: on error, one sentence that tells the user what to do
 * @errlen: bytes at @err
 *
 * Return: 0; -ENODATA: it has no BTF; -EPROTO: BTF lacks a member
 */
int guest_task_layout__read_btf(struct guest_task_layout *l, char *err, size_t errlen)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const char *missing = "";
	int ret;

	if (!btf)
		return fail(err, errlen, -ENODATA,
			    "no type information in /sys/kernel/btf/vmlinux: the guest kernel needs CONFIG_DEBUG_INFO_BTF=y");

	ret = guest_task_layout__from_btf(l, btf, &missing);
	btf__free(btf);
	if (ret)
		return fail(err, errlen, -EPROTO,
			    "the guest kernel's type information has no %s of the known form: this kernel is not supported",
			    missing);

	return 0;
}

#endif /* HAVE_LIBBPF_SUPPORT */
