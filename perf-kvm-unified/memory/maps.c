// SPDX-License-Identifier: GPL-2.0
/*
 * What a process of the guest has mapped that is code: its VMAs, a list up to 6.0 and a maple
 * tree since, which change while they are read. A VMA counts if it is that process's, and where
 * what led to it says. Files count if all VMAs are the same before and after they were read: as
 * long as a VMA has it, a struct file is not another one's.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/zalloc.h>

#include "kvm-unified/collector/guest-mem.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/x86.h"
#include "files.h"
#include "kernel.h"
#include "maple.h"
#include "maps.h"
#include "ram.h"

/* include/linux/mm.h: never renumbered */
#define VM_READ		BIT(0)
#define VM_WRITE	BIT(1)
#define VM_EXEC		BIT(2)
#define VM_MAYSHARE	BIT(7)

/* vm.max_map_count is 65530; who has set it higher has databases, whose maps are no code. */
#define MAX_VMAS	(1U << 20)

/* So much code has no process: perf takes no more of one, see GUEST_MAX_MAPS_OF_PID. */
#define MAX_CODES	16384

/* A VMA has 200 bytes. */
#define MAX_VMA_SPAN	1024

struct vma {
	u64	start;
	u64	end;
	u64	pgoff;
	u64	flags;
	u64	file;
	u64	mm;
	u64	next;
};

/**
 * struct walk - over the VMAs of a process, twice
 * @codes: what is found, the first time
 * @files: address of the struct file of each of these, 0: none
 * @nr_same: how many are the same the second time
 * @again: it is the second time
 * @last_end: of the VMA before
 * @nr: of all VMAs
 * @lo: @span: the part of a struct vm_area_struct that is read
 */
struct walk {
	struct guest_kernel *k;
	struct guest_codes *codes;
	u64	*files;
	size_t	files_allocated;
	size_t	nr_same;
	bool	again;
	u64	mm;
	u64	vdso;
	u64	last_end;
	u32	nr;
	u32	lo;
	u32	span;
};

static int read_vma(struct walk *w, u64 at, struct vma *vma)
{
	const struct guest_offsets *o = &w->k->offsets;
	char buf[MAX_VMA_SPAN];
	int ret;

	if (!kernel_ptr(at))
		return -EAGAIN;
	ret = guest_kernel__read(w->k, at + w->lo, buf, w->span);
	if (ret)
		return ret;
#define VMA_GET(_member) \
	memcpy(&vma->_member, buf + o->vma_##_member - w->lo, sizeof(vma->_member))
	VMA_GET(start);
	VMA_GET(end);
	VMA_GET(pgoff);
	VMA_GET(flags);
	VMA_GET(file);
	VMA_GET(mm);
	vma->next = 0;
	if (o->mm_maple_root == GUEST_NO_MEMBER)
		VMA_GET(next);
#undef VMA_GET
	return vma->mm == w->mm && vma->start < vma->end && vma->end <= X86_USER_END &&
	       !((vma->start | vma->end) & (GUEST_PAGE_SIZE - 1)) ? 0 : -EAGAIN;
}

static int set_span(struct walk *w)
{
	const struct guest_offsets *o = &w->k->offsets;
	const u32 members[] = { o->vma_start, o->vma_end, o->vma_pgoff, o->vma_flags, o->vma_file,
				o->vma_mm, o->vma_next };
	u32 hi = 0;

	w->lo = GUEST_NO_MEMBER;
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		if (members[i] == GUEST_NO_MEMBER)
			continue;
		w->lo = min(w->lo, members[i]);
		hi = max(hi, members[i] + (u32)sizeof(u64));
	}
	w->span = hi - w->lo;
	return w->span <= MAX_VMA_SPAN ? 0 : -EINVAL;
}

static struct guest_code code_of(const struct walk *w, const struct vma *vma)
{
	return (struct guest_code) {
		.start = vma->start,
		.len = vma->end - vma->start,
		.pgoff = vma->file ? vma->pgoff << GUEST_PAGE_SHIFT : 0,
		.prot = PROT_EXEC | (vma->flags & VM_READ ? PROT_READ : 0) |
			(vma->flags & VM_WRITE ? PROT_WRITE : 0),
		.flags = vma->flags & VM_MAYSHARE ? MAP_SHARED : MAP_PRIVATE,
		.file = vma->start == w->vdso ? GUEST_MAP_VDSO : GUEST_MAP_ANON,
	};
}

static int add_code(struct walk *w, const struct vma *vma)
{
	struct guest_codes *codes = w->codes;

	if (codes->nr >= MAX_CODES)
		return -E2BIG;
	if (grow_array(codes->entries, codes->nr, codes->allocated) ||
	    grow_array(w->files, codes->nr, w->files_allocated))
		return -ENOMEM;
	w->files[codes->nr] = vma->file;
	codes->entries[codes->nr++] = code_of(w, vma);
	return 0;
}

static int check_code(struct walk *w, const struct vma *vma)
{
	const struct guest_code now = code_of(w, vma), *was;

	if (w->nr_same >= w->codes->nr || w->files[w->nr_same] != vma->file)
		return -EAGAIN;
	was = &w->codes->entries[w->nr_same++];
	return was->start == now.start && was->len == now.len && was->pgoff == now.pgoff &&
	       was->prot == now.prot && was->flags == now.flags ? 0 : -EAGAIN;
}

static int take_vma(struct walk *w, const struct vma *vma)
{
	if (vma->start < w->last_end)
		return -EAGAIN;
	w->last_end = vma->end;
	if (++w->nr > MAX_VMAS)
		return -ELOOP;
	if (!(vma->flags & VM_EXEC))
		return 0;
	return w->again ? check_code(w, vma) : add_code(w, vma);
}

static int walk_list(struct walk *w)
{
	struct vma vma;
	u64 at;
	int ret = guest_kernel__read_u64(w->k, w->mm + w->k->offsets.mm_mmap, &at);

	while (!ret && at) {
		ret = read_vma(w, at, &vma);
		if (!ret)
			ret = take_vma(w, &vma);
		at = vma.next;
	}
	return ret;
}

static int walk_entry(void *arg, u64 entry, u64 first, u64 last)
{
	struct walk *w = arg;
	struct vma vma;
	int ret;

	/* XA_ZERO_ENTRY: room that fork() has reserved */
	if (entry & 3)
		return 0;
	ret = read_vma(w, entry, &vma);
	if (!ret && (vma.start != first || vma.end - 1 != last))
		ret = -EAGAIN;
	return ret ?: take_vma(w, &vma);
}

static int walk_tree(struct walk *w)
{
	u64 root;
	int ret = guest_kernel__read_u64(w->k, w->mm + w->k->offsets.mm_maple_root, &root);

	return ret ?: guest_maple__walk(&w->k->paging.mem, root, walk_entry, w);
}

/* As guest_codes__read() */
static int walk_vmas(struct walk *w)
{
	const struct guest_offsets *o = &w->k->offsets;
	u32 count;
	int ret;

	guest_ram__forget(w->k->paging.ram);
	w->last_end = 0;
	w->nr = 0;
	ret = guest_kernel__read_u64(w->k, w->mm + o->mm_vdso, &w->vdso);
	if (!ret)
		ret = o->mm_maple_root != GUEST_NO_MEMBER ? walk_tree(w) : walk_list(w);
	if (!ret)
		ret = guest_kernel__read_u32(w->k, w->mm + o->mm_map_count, &count);
	/* In the middle of a change, some may be in neither place. */
	return ret ?: w->nr == count ? 0 : -EAGAIN;
}

static int find_files(struct walk *w, struct guest_files *files)
{
	int ret = 0;

	guest_ram__forget(w->k->paging.ram);
	for (size_t i = 0; !ret && i < w->codes->nr; i++) {
		size_t file;

		if (!w->files[i])
			continue;
		ret = guest_files__find(files, w->k, w->files[i], &file);
		w->codes->entries[i].file = file;
	}
	return ret;
}

/**
 * guest_codes__read - list the code that an address space has
 * @codes: overwritten; to be released with guest_codes__exit() also after an error
 * @mm: address of the mm_struct
 *
 * Return: 0; -EAGAIN, -EFAULT, -ENODATA: it cannot be read, or has changed meanwhile; -E2BIG,
 * -ELOOP: it has more than any process; -EDQUOT, -ENOMEM
 */
int guest_codes__read(struct guest_codes *codes, struct guest_kernel *k, struct guest_files *files,
		      u64 mm)
{
	struct walk w = { .k = k, .codes = codes, .mm = mm };
	int ret;

	codes->nr = 0;
	if (!kernel_ptr(mm))
		return -EAGAIN;
	ret = set_span(&w);
	if (!ret)
		ret = walk_vmas(&w);
	if (!ret)
		ret = find_files(&w, files);
	w.again = true;
	if (!ret)
		ret = walk_vmas(&w);
	if (!ret && w.nr_same != codes->nr)
		ret = -EAGAIN;
	free(w.files);
	return ret;
}

void guest_codes__exit(struct guest_codes *codes)
{
	zfree(&codes->entries);
	codes->nr = 0;
	codes->allocated = 0;
}
