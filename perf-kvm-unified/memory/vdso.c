// SPDX-License-Identifier: GPL-2.0
/*
 * The functions of the vDSO of 64-bit processes: its image is a part of the kernel's.
 */
#include <errno.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "kernel.h"
#include "program.h"
#include "vdso.h"

/* It has two pages. */
#define MAX_VDSO_SIZE	(1U << 20)

struct image {
	struct guest_kernel *kernel;
	u64	at;
};

static int image_read(void *arg, u64 offset, void *buf, size_t len)
{
	struct image *image = arg;

	return guest_kernel__read(image->kernel, image->at + offset, buf, len);
}

/**
 * guest_vdso__symbols - the functions of the vDSO
 * @text: gets lines as guest_elf__symbols() writes
 *
 * Return: 0, if there are none too, or -EDQUOT, -ENOMEM
 */
int guest_vdso__symbols(struct guest_kernel *k, struct guest_text *text)
{
	/* Since 6.19, and before */
	u64 at = kernel_symbols__find(&k->symbols, "vdso64_image"), size;
	struct image image = { .kernel = k };
	struct guest_elf elf = { .read = image_read, .arg = &image };
	int ret;

	if (!at)
		at = kernel_symbols__find(&k->symbols, "vdso_image_64");
	if (!at || k->offsets.vdso_data == GUEST_NO_MEMBER ||
	    k->offsets.vdso_size == GUEST_NO_MEMBER)
		return 0;
	ret = guest_kernel__read_u64(k, at + k->offsets.vdso_data, &image.at);
	if (!ret)
		ret = guest_kernel__read_u64(k, at + k->offsets.vdso_size, &size);
	if (ret || size > MAX_VDSO_SIZE)
		return ret == -EDQUOT ? ret : 0;
	elf.size = size;
	ret = guest_elf__symbols(&elf, text);
	return ret == -EDQUOT || ret == -ENOMEM ? ret : 0;
}
