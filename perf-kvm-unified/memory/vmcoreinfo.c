// SPDX-License-Identifier: GPL-2.0
/*
 * What a kernel tells crash dumps of itself, a page of text somewhere in its memory
 * (Documentation/admin-guide/kdump/vmcoreinfo.rst): enough to find its page tables when nobody
 * has seen a CR3. It is the last resort: all pages have to be looked at.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "kvm-unified/lib/x86.h"
#include "ram.h"
#include "vmcoreinfo.h"

/* How it begins, in a page of its own */
#define VMCOREINFO_HEAD		"OSRELEASE="

/* The number after "@key=" at the beginning of a line. 0 or -ENOENT */
static int find_number(const char *text, const char *key, int base, u64 *value)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, len) && line[len] == '=') {
			*value = strtoull(line + len + 1, NULL, base);
			return 0;
		}
	}
	return -ENOENT;
}

/**
 * guest_vmcoreinfo__root - the root of a kernel's own page tables
 * @text: what it tells, 0-terminated
 *
 * Return: 0, or -ENOENT: it does not tell
 */
int guest_vmcoreinfo__root(const char *text, u64 *root)
{
	u64 top, phys_base;

	/* The first is in hex without 0x, the other a signed decimal. */
	if (find_number(text, "SYMBOL(init_top_pgt)", 16, &top) ||
	    find_number(text, "NUMBER(phys_base)", 10, &phys_base) || top < X86_KERNEL_IMAGE_START)
		return -ENOENT;
	*root = top - X86_KERNEL_IMAGE_START + phys_base;
	return *root % GUEST_PAGE_SIZE ? -ENOENT : 0;
}

/**
 * guest_vmcoreinfo__find_root - look at all of a guest's memory for its page tables
 *
 * The first page that tells of one will do: what is there is put to the test. Return: 0,
 * -ENOENT: none does, or -EDQUOT: the guest is too large for that
 */
int guest_vmcoreinfo__find_root(struct guest_ram *ram, u64 *root)
{
	char head[sizeof(VMCOREINFO_HEAD) - 1], page[GUEST_PAGE_SIZE + 1];

	for (u64 gpa = 0; gpa < ram->max_gpa; gpa += GUEST_PAGE_SIZE) {
		int ret = guest_ram__read(ram, gpa, head, sizeof(head));

		if (ret == -EDQUOT)
			return ret;
		if (ret || memcmp(head, VMCOREINFO_HEAD, sizeof(head)))
			continue;
		if (guest_ram__read(ram, gpa, page, GUEST_PAGE_SIZE))
			continue;
		page[GUEST_PAGE_SIZE] = '\0';
		if (!guest_vmcoreinfo__root(page, root))
			return 0;
	}
	return -ENOENT;
}
