// SPDX-License-Identifier: GPL-2.0
/*
 * All reads of a guest's physical memory come through here, and all that the parser does in
 * loops that the guest decides on is paid for here: so no guest can make it run for long.
 */
#include <errno.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "ram.h"

/*
 * What a look may cost, in bytes: about a second where a read of a page takes 2 us. The
 * tables of a kernel have 10 to 20 MiB, and a guest with 2,000 processes takes 100 MiB.
 */
#define RAM_LOOK_COST	(1ULL << 30)

/* A read besides its bytes */
#define RAM_READ_COST	1024

/* A new look may cost as much as any. */
void guest_ram__refill(struct guest_ram *ram)
{
	ram->left = RAM_LOOK_COST;
}

/* 0, or -EDQUOT: the look has cost enough */
int guest_ram__spend(struct guest_ram *ram, u64 cost)
{
	if (ram->left < cost) {
		ram->left = 0;
		return -EDQUOT;
	}
	ram->left -= cost;
	return 0;
}

static int read_in_page(struct guest_ram *ram, u64 gpa, void *buf, size_t len)
{
	int ret = guest_ram__spend(ram, RAM_READ_COST + len);

	if (ret)
		return ret;
	if (gpa >= ram->max_gpa || len > ram->max_gpa - gpa)
		return -EFAULT;
	ram->stats.pages++;
	ram->stats.bytes += len;
	ret = ram->phys->read(ram->phys, gpa, buf, len);
	if (ret == -ENODATA)
		ram->stats.unread++;
	return ret;
}

/**
 * guest_ram__read - read physical memory, any number of pages
 * @gpa: where it begins
 *
 * Return: 0, or as struct guest_phys, and @buf is undefined
 */
int guest_ram__read(struct guest_ram *ram, u64 gpa, void *buf, size_t len)
{
	char *to = buf;

	while (len) {
		size_t n = guest_page__part(gpa, len);
		int ret = read_in_page(ram, gpa, to, n);

		if (ret)
			return ret;
		gpa += n;
		to += n;
		len -= n;
	}
	return 0;
}

/* Forgets what was read: from here on, memory is as the guest has it from here on. */
void guest_ram__forget(struct guest_ram *ram)
{
	if (ram->phys->forget)
		ram->phys->forget(ram->phys);
}

/* The guest's TSC now, 0: not known */
u64 guest_ram__tsc(const struct guest_ram *ram)
{
	return ram->phys->tsc ? ram->phys->tsc(ram->phys) : 0;
}
