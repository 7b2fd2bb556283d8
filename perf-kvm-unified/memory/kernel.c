// SPDX-License-Identifier: GPL-2.0
/*
 * A guest's kernel, found in its memory: from any page table root that it has used, to its
 * image, the symbols in that, and by those to its own page tables and its types. Nothing is
 * believed before things that have nothing to do with each other agree.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#include "kvm-unified/lib/errors.h"
#include "kvm-unified/lib/x86.h"
#include "image.h"
#include "kernel.h"
#include "note.h"
#include "ram.h"
#include "types.h"
#include "vmcoreinfo.h"

/*
 * Distributions' kernels have 4 to 7 MiB. It is had twice for a moment, and libbpf adds 4 bytes
 * for each type, of at least 12: under the 64 MiB of a guest, with its symbols.
 */
#define MAX_BTF_SIZE	(16ULL << 20)

/* So many kernels that turn out to be none are looked at closely: a guest can make up many. */
#define MAX_TRIES		4

/* More roots than the newest of these are not needed: one is enough. */
#define MAX_ROOTS		64

#define BANNER			"Linux version "

/* arch/x86/include/asm/cpufeatures.h: the same since 4.15 */
#define X86_FEATURE_PTI		(7 * 32 + 11)

/* A section of notes has some hundred bytes. */
#define MAX_NOTES		65536

/* As guest_paging__read(), only in the kernel half */
int guest_kernel__read(struct guest_kernel *k, u64 va, void *buf, size_t len)
{
	if (va >> 56 != 0xff)
		return -EFAULT;
	return guest_paging__read(&k->paging, va, buf, len);
}

int guest_kernel__read_u64(struct guest_kernel *k, u64 va, u64 *v)
{
	return guest_kernel__read(k, va, v, sizeof(*v));
}

int guest_kernel__read_u32(struct guest_kernel *k, u64 va, u32 *v)
{
	return guest_kernel__read(k, va, v, sizeof(*v));
}

/**
 * guest_kernel__read_string - read a string that ends with a zero byte
 * @size: of @buf
 *
 * Not beyond the page that the string ends in. Return: 0, -E2BIG: it is longer, or as
 * guest_kernel__read()
 */
int guest_kernel__read_string(struct guest_kernel *k, u64 va, char *buf, size_t size)
{
	size_t len = 0;

	while (len < size) {
		size_t n = guest_page__part(va, size - len);
		int ret;

		/* Most are short. */
		n = min_t(size_t, n, 64);
		ret = guest_kernel__read(k, va, buf + len, n);
		if (ret)
			return ret;
		if (memchr(buf + len, '\0', n))
			return 0;
		va += n;
		len += n;
	}
	return -E2BIG;
}

static u64 symbol(const struct guest_kernel *k, const char *name)
{
	return kernel_symbols__find(&k->symbols, name);
}

/* The value of the kernel's variable @name, or @otherwise if it has none */
static u64 variable(struct guest_kernel *k, const char *name, u64 otherwise)
{
	u64 at = symbol(k, name), v;

	return at && !guest_kernel__read_u64(k, at, &v) ? v : otherwise;
}

/* The text that the kernel prints first: it is where the symbols say, and has a release. */
static int check_banner(struct guest_kernel *k)
{
	char banner[sizeof(BANNER) + sizeof(k->release)];
	u64 at = symbol(k, "linux_banner");
	size_t len;

	if (!at || guest_kernel__read(k, at, banner, sizeof(banner)) ||
	    memcmp(banner, BANNER, strlen(BANNER)))
		return -EBADMSG;
	len = sizeof(k->release) - 1;
	memcpy(k->release, banner + strlen(BANNER), len);
	k->release[len] = '\0';
	k->release[strcspn(k->release, "\n ")] = '\0';
	return 0;
}

/* Code is where the symbols say: a single run has all of it, and may be executed. */
static int check_text(struct guest_kernel *k)
{
	k->text = symbol(k, "_stext");
	k->text_end = symbol(k, "_etext");
	for (size_t i = 0; i < k->nr_runs; i++) {
		const struct guest_run *run = &k->runs[i];

		if (run->executable && k->text >= run->va && k->text_end > k->text &&
		    k->text_end <= run->va + run->size)
			return 0;
	}
	return -EBADMSG;
}

/* The kernel knows how many levels its page tables have; before 4.17 it was built for that. */
static int check_levels(struct guest_kernel *k)
{
	u64 at = symbol(k, "__pgtable_l5_enabled");
	u32 five;

	if (!at || guest_kernel__read_u32(k, at, &five))
		return 0;
	return !!five == (k->paging.levels == 5) ? 0 : -EBADMSG;
}

/*
 * Goes on from the kernel's own root: the process whose root it was may exit. It has to lead
 * to the same banner, and to the same place in memory.
 */
static int rebase(struct guest_kernel *k)
{
	u64 top = symbol(k, "init_top_pgt"), banner = symbol(k, "linux_banner");
	struct guest_ram *ram = k->paging.ram;
	int levels = k->paging.levels;
	u64 root, before, after;

	if (guest_paging__translate(&k->paging, top, &root) || root % GUEST_PAGE_SIZE ||
	    guest_paging__translate(&k->paging, banner, &before))
		return -EBADMSG;
	guest_paging__init(&k->paging, ram, root, levels);
	return guest_paging__translate(&k->paging, banner, &after) || before != after ?
	       -EBADMSG : 0;
}

/* Finds where the image and all of physical memory are mapped. 0 or -errno */
static int find_maps(struct guest_kernel *k)
{
	bool five = k->paging.levels == 5;
	u64 text_pa, banner = symbol(k, "linux_banner"), pa, direct;

	k->layout.init_task = symbol(k, "init_task");
	k->layout.init_mm = symbol(k, "init_mm");
	k->layout.page_offset = variable(k, "page_offset_base",
					 five ? X86_PAGE_OFFSET_5 : X86_PAGE_OFFSET_4);
	k->vmemmap = variable(k, "vmemmap_base", five ? X86_VMEMMAP_5 : X86_VMEMMAP_4);
	if (!kernel_ptr(k->layout.init_task) ||
	    guest_paging__translate(&k->paging, k->text, &text_pa))
		return -EBADMSG;
	/* Nobody else needs to say it: the page tables do. */
	k->layout.phys_base = text_pa - (k->text - X86_KERNEL_IMAGE_START);
	if (variable(k, "phys_base", k->layout.phys_base) != k->layout.phys_base)
		return -EBADMSG;
	/* Read-only data has a second address, in the map of all memory. */
	if (guest_paging__translate(&k->paging, banner, &pa) ||
	    guest_paging__translate(&k->paging, k->layout.page_offset + pa, &direct) ||
	    direct != pa)
		return -EBADMSG;
	return 0;
}

/* As the guest's /proc/cpuinfo has it */
static bool has_pti(struct guest_kernel *k)
{
	u64 cpu = symbol(k, "boot_cpu_data");
	u32 word;

	return cpu && k->offsets.cpu_capability != GUEST_NO_MEMBER &&
	       !guest_kernel__read_u32(k, cpu + k->offsets.cpu_capability +
				       X86_FEATURE_PTI / 32 * sizeof(word), &word) &&
	       word & (1U << X86_FEATURE_PTI % 32);
}

static void find_build_id(struct guest_kernel *k)
{
	u64 start = symbol(k, "__start_notes"), end = symbol(k, "__stop_notes");
	char *notes;

	if (!start || end <= start || end - start > MAX_NOTES)
		return;
	notes = malloc(end - start);
	if (notes && !guest_kernel__read(k, start, notes, end - start))
		guest_note__build_id(notes, end - start, &k->build_id);
	free(notes);
}

/* Does the image at @root hold a kernel that all agrees on? 0, -EBADMSG, -ENOENT or so */
static int try_root(struct guest_kernel *k, struct guest_ram *ram, u64 root, int levels)
{
	int ret;

	guest_paging__init(&k->paging, ram, root, levels);
	ret = guest_image__find(&k->paging, k->runs, GUEST_KERNEL_MAX_RUNS, &k->nr_runs);
	if (!ret)
		ret = guest_image__symbols(&k->paging, k->runs, k->nr_runs, &k->symbols);
	if (!ret)
		ret = check_banner(k);
	if (!ret)
		ret = check_text(k);
	if (!ret)
		ret = check_levels(k);
	if (!ret)
		ret = rebase(k);
	if (!ret)
		ret = find_maps(k);
	if (ret)
		kernel_symbols__exit(&k->symbols);
	return ret;
}

/* The best error there was: how far the search came with any of the roots */
static int worse(int before, int now)
{
	if (now == -EDQUOT || now == -ENOMEM || before == -ENXIO)
		return now;
	return before == -EBADMSG ? before : now;
}

static int try_roots(struct guest_kernel *k, struct guest_ram *ram, const u64 *roots, size_t nr)
{
	int ret = -ENXIO, tries = 0;

	for (size_t i = 0; i < nr && i < MAX_ROOTS && tries < MAX_TRIES; i++) {
		u64 with = roots[i] & X86_CR3_ADDR, both[] = { with & ~X86_CR3_USER_TABLE, with };

		/* Without PTI, a root may have bit 12 as any other. */
		for (size_t j = 0; j < (with & X86_CR3_USER_TABLE ? 2 : 1); j++) {
			for (int levels = 4; levels <= 5; levels++) {
				int err = try_root(k, ram, both[j], levels);

				if (!err)
					return 0;
				ret = worse(ret, err);
				if (err == -EDQUOT || err == -ENOMEM)
					return ret;
				tries += err != -ENXIO;
			}
		}
	}
	return ret;
}

static int say_why(int ret, size_t nr, char *err, size_t errlen)
{
	switch (ret) {
	case -ENXIO:
		return fail(err, errlen, ret,
			    nr ? "no page table of it leads to a Linux kernel for x86-64" :
				 "no page table of it is known, and no kernel was found without one");
	case -ENOENT:
		return fail(err, errlen, ret,
			    "its kernel's symbols were not found: it is no Linux since 5.10, or it hides them");
	case -EBADMSG:
		return fail(err, errlen, ret,
			    "what looks like its kernel's symbols does not agree with its memory");
	case -EDQUOT:
		return fail(err, errlen, ret, "finding its kernel takes too long");
	default:
		return fail(err, errlen, ret, "finding its kernel has failed: %s", strerror(-ret));
	}
}

/* 0; -ENODATA: there are none; as guest_types__read(), -ENOMEM, or as guest_kernel__read() */
static int read_types(struct guest_kernel *k, char *err, size_t errlen)
{
	const u64 start = symbol(k, "__start_BTF"), end = symbol(k, "__stop_BTF");
	char *raw;
	int ret;

	if (!start || end <= start)
		return fail(err, errlen, -ENODATA,
			    "its kernel has no type information: it needs CONFIG_DEBUG_INFO_BTF=y");
	if (end - start > MAX_BTF_SIZE)
		return fail(err, errlen, -EPROTO,
			    "its kernel's type information is larger than any kernel's");
	raw = malloc(end - start);
	if (!raw)
		return fail(err, errlen, -ENOMEM, "out of memory");
	ret = guest_kernel__read(k, start, raw, end - start);
	if (ret)
		fail(err, errlen, ret, "its kernel's type information is not all in memory");
	else
		ret = guest_types__read(raw, end - start, &k->layout, &k->offsets, err, errlen);
	free(raw);
	return ret;
}

/**
 * guest_kernel__find - find the kernel of a guest
 * @k: the result, to be released with guest_kernel__exit()
 * @ram: the guest's memory
 * @roots: CR3s that were seen in the guest, which may be anything by now; 0: none is known
 * @err: on error, what is the matter with the guest
 *
 * Return: 0; -ENXIO: no root leads to a kernel; -ENOENT: no symbols; -EBADMSG: things
 * contradict each other; -ENODATA, -EPROTO: its types are missing, or not known; -EDQUOT,
 * -ENOMEM
 */
int guest_kernel__find(struct guest_kernel *k, struct guest_ram *ram, const u64 *roots, size_t nr,
		       char *err, size_t errlen)
{
	u64 own;
	int ret;

	memset(k, 0, sizeof(*k));
	ret = try_roots(k, ram, roots, nr);
	/* The last resort is to look at all of its memory for what it tells crash dumps. */
	if (ret && ret != -EDQUOT && ret != -ENOMEM && !guest_vmcoreinfo__find_root(ram, &own))
		ret = try_roots(k, ram, &own, 1);
	if (ret)
		return say_why(ret, nr, err, errlen);

	find_build_id(k);
	ret = read_types(k, err, errlen);
	if (ret)
		guest_kernel__exit(k);
	else
		k->pti = has_pti(k);
	return ret;
}

void guest_kernel__exit(struct guest_kernel *k)
{
	kernel_symbols__exit(&k->symbols);
	k->nr_runs = 0;
}
