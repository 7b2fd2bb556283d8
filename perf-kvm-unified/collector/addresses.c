// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses that the running kernel has chosen at boot: of its symbols, by /proc/kallsyms,
 * and of the maps of physical memory.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <symbol/kallsyms.h>

#include "kvm-unified/lib/errors.h"
#include "kvm-unified/lib/x86.h"
#include "addresses.h"
#include "guest-mem.h"
#include "kcore.h"
#include "layout.h"

#ifdef HAVE_LIBELF_SUPPORT

struct ksyms_reader {
	struct guest_ksyms *syms;
	size_t	nr_seen;
	bool	any_address;
};

static int ksyms_reader__add(void *arg, const char *name, char type, u64 start)
{
	struct ksyms_reader *reader = arg;
	struct guest_ksyms *s = reader->syms;
	const struct {
		const char *name;
		u64 *addr;
	} wanted[] = {
		{ "init_task",		&s->init_task },
		{ "init_mm",		&s->init_mm },
		{ "page_offset_base",	&s->page_offset_base },
		{ "phys_base",		&s->phys_base },
		{ "sme_me_mask",	&s->sme_me_mask },
	};
	size_t i, found = 0;

	reader->nr_seen++;
	reader->any_address |= start != 0;

	/*
	 * A static symbol, or one of a module (whose name would have a tab and
	 * the module after it), may have the same name.
	 */
	if (kallsyms2elf_binding(type) != STB_GLOBAL)
		return 0;

	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		if (!*wanted[i].addr && !strcmp(name, wanted[i].name))
			*wanted[i].addr = start;
		found += *wanted[i].addr != 0;
	}

	/* modules make it long: stop when there is nothing left to find */
	return found == ARRAY_SIZE(wanted);
}

/**
 * guest_ksyms__read - look the addresses up
 * @s: result
 * @kallsyms: the path of /proc/kallsyms
 * @err: on error, one sentence that tells the user what to do
 * @errlen: bytes at @err
 *
 * Return: 0; -ENOKEY: kallsyms is missing; -ENODATA: it lacks init_task; -EACCES: it hides
 * the addresses
 */
int guest_ksyms__read(struct guest_ksyms *s, const char *kallsyms, char *err, size_t errlen)
{
	struct ksyms_reader reader = { .syms = s };

	*s = (struct guest_ksyms) { 0 };

	if (kallsyms__parse(kallsyms, &reader, ksyms_reader__add) < 0 || !reader.nr_seen)
		return fail(err, errlen, -ENOKEY,
			    "/proc/kallsyms cannot be read: the guest kernel needs CONFIG_KALLSYMS=y");

	if (!reader.any_address)
		return fail(err, errlen, -EACCES,
			    "/proc/kallsyms shows no addresses: run this as root with CAP_SYSLOG, and sysctl kernel.kptr_restrict=1 (or 0)");

	if (!kernel_ptr(s->init_task))
		return fail(err, errlen, -ENODATA,
			    "/proc/kallsyms does not know init_task: the guest kernel needs CONFIG_KALLSYMS_ALL=y");

	return 0;
}

/*
 * Where physical memory is mapped: in the direct map, or that of the kernel's @image. The
 * kernel has variables for it when the place is chosen at boot, whose address is @sym, and
 * /proc/kcore may tell it; on a kernel that has both, both must say the same.
 *
 * Return: 0, -ENODATA: neither, -EBADMSG: they differ
 */
static int linear_base(struct guest_kcore *k, u64 sym, bool image, u64 *base)
{
	bool found = kernel_ptr(sym) && !k->mem.read(&k->mem, sym, base, sizeof(*base));
	u64 offset, val;
	int ret;

	ret = guest_kcore__linear_offset(k, image ? X86_KERNEL_IMAGE_START : 0,
					 image ? UINT64_MAX : X86_KERNEL_IMAGE_START - 1, &offset);
	if (ret)
		return ret == -ENODATA && found ? 0 : ret;

	val = image ? X86_KERNEL_IMAGE_START - offset : offset;
	if (found && val != *base)
		return -EBADMSG;

	*base = val;
	return 0;
}

/**
 * guest_task_layout__locate - fill in the addresses
 * @l: the addresses are set, the offsets are left alone
 * @s: those of the kernel's symbols
 * @k: the kernel's memory
 * @err: on error, one sentence that tells the user what to do
 * @errlen: bytes at @err
 *
 * Return: 0; -ENODATA: it is unknown where physical memory is mapped; -EBADMSG: kallsyms
 * and kcore are not of one kernel
 */
int guest_task_layout__locate(struct guest_task_layout *l, const struct guest_ksyms *s,
			      struct guest_kcore *k, char *err, size_t errlen)
{
	int ret;

	l->init_task = s->init_task;
	l->init_mm = s->init_mm;

	ret = linear_base(k, s->page_offset_base, /*image=*/false, &l->page_offset);
	if (!ret)
		ret = linear_base(k, s->phys_base, /*image=*/true, &l->phys_base);
	if (ret)
		return fail(err, errlen, ret, ret == -ENODATA ?
			    "where physical memory is mapped is neither in kallsyms nor in kcore" :
			    "kallsyms and kcore contradict each other about the map of physical memory");

	l->me_mask = 0;
	if (kernel_ptr(s->sme_me_mask) &&
	    k->mem.read(&k->mem, s->sme_me_mask, &l->me_mask, sizeof(l->me_mask)))
		l->me_mask = 0;

	return 0;
}

#endif /* HAVE_LIBELF_SUPPORT */
