// SPDX-License-Identifier: GPL-2.0
/*
 * The process that looks at a guest. It is the only one that parses what is the guest's to forge,
 * and asks perf for each page of it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "util/tsc.h"
#include "kvm-unified/format/clock.h"
#include "kvm-unified/lib/write.h"
#include "confine.h"
#include "confined-look.h"
#include "current.h"
#include "phys.h"
#include "wire.h"

/* Pages that are kept, by the last bits of their number: 8 MiB. A power of two */
#define KEPT_PAGES	2048U

/**
 * struct kept_page - a page as it was when it was read
 * @number: gpa >> GUEST_PAGE_SHIFT
 * @age: it is as the guest had it then, see struct asked_phys; 0: there is none
 * @status: 0 or -errno
 */
struct kept_page {
	u64	number;
	u32	age;
	s32	status;
	char	data[GUEST_PAGE_SIZE];
};

/**
 * struct asked_phys - memory that perf is asked for
 * @kept: KEPT_PAGES pages, of which those of this @age are believed
 * @next: the page that comes after those that were asked for last
 * @window: how many were: more, as long as they are wanted one after another
 * @tsc: the guest's, by the host's
 */
struct asked_phys {
	struct guest_phys phys;
	struct kept_page  *kept;
	u32		  age;
	u64		  next;
	unsigned int	  window;
	struct guest_tsc  tsc;
};

/* perf has ended, or does not want any more: there is nothing left to do. */
static void __noreturn end(void)
{
	_exit(0);
}

static void read_all(void *buf, size_t len)
{
	while (len) {
		ssize_t n = read(CONFINED_CONTROL, buf, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			end();
		buf += n;
		len -= n;
	}
}

static struct kept_page *place_of(struct asked_phys *asked, u64 number)
{
	return &asked->kept[number & (KEPT_PAGES - 1)];
}

/* @nr pages from @number on. 0 or -errno: none of them can be had any more */
static int fetch(struct asked_phys *asked, u64 number, unsigned int nr)
{
	const struct look_message request = {
		.kind = LOOK_WANTS_MEMORY,
		.gpa = number << GUEST_PAGE_SHIFT,
		.nr = nr,
	};
	struct look_reply reply;

	if (write_all(CONFINED_CONTROL, &request, sizeof(request)))
		end();
	read_all(&reply, sizeof(reply));
	if (reply.ret)
		return reply.ret;
	for (unsigned int i = 0; i < nr; i++) {
		struct kept_page *page = place_of(asked, number + i);

		page->number = number + i;
		page->age = asked->age;
		page->status = reply.status[i];
		if (!page->status)
			read_all(page->data, GUEST_PAGE_SIZE);
	}
	return 0;
}

static int read_phys(struct guest_phys *phys, u64 gpa, void *buf, size_t len)
{
	struct asked_phys *asked = container_of(phys, struct asked_phys, phys);
	u64 number = gpa >> GUEST_PAGE_SHIFT;
	size_t offset = gpa % GUEST_PAGE_SIZE;
	struct kept_page *page = place_of(asked, number);

	if (len > GUEST_PAGE_SIZE - offset)
		return -EINVAL;
	if (page->age != asked->age || page->number != number) {
		int ret;

		asked->window = number == asked->next ? min(2 * asked->window, HOST_MEM_BATCH) : 1;
		ret = fetch(asked, number, asked->window);
		if (ret)
			return ret;
		asked->next = number + asked->window;
	}
	if (!page->status)
		memcpy(buf, page->data + offset, len);
	return page->status;
}

static void forget_phys(struct guest_phys *phys)
{
	struct asked_phys *asked = container_of(phys, struct asked_phys, phys);

	asked->age++;
	asked->window = 1;
}

static u64 phys_tsc(struct guest_phys *phys)
{
	return guest_tsc__of_host(&container_of(phys, struct asked_phys, phys)->tsc, rdtsc());
}

static int obey(struct guest_look *look, const struct look_order *order,
		struct guest_current *current, char *err, size_t errlen)
{
	switch (order->kind) {
	case LOOK_FIND_KERNEL:
		return guest_look__find_kernel(look, order->roots,
					       min(order->nr_roots, LOOK_ROOTS_MAX), err, errlen);
	case LOOK_ALL:
		return guest_look__tasks(look, /*modules=*/true, err, errlen);
	case LOOK_TASKS:
		return guest_look__tasks(look, /*modules=*/false, err, errlen);
	case LOOK_WRITE:
		return guest_look__write(look, CONFINED_OUT, order->orc, err, errlen);
	case LOOK_CURRENT:
		return guest_look__current(look, current, err, errlen);
	default:
		end();
	}
}

/**
 * confined_look - look at a guest, for as long as there are orders
 * @control: the socket to perf
 * @out: where maps are written
 * @max_gpa: see guest_look__new()
 * @tsc: of the guest
 * @late: see guest_look__new()
 * @cpu_seconds: see confine()
 *
 * To be called in a process of its own.
 */
void __noreturn confined_look(int control, int out, u64 max_gpa, const struct guest_tsc *tsc,
			      bool late, unsigned int cpu_seconds)
{
	struct asked_phys asked = {
		.phys = { .read = read_phys, .forget = forget_phys, .tsc = phys_tsc },
		.tsc = *tsc,
	};
	static struct guest_current current;
	struct guest_look *look;
	struct look_order order;
	int ret = confine(control, out, cpu_seconds);

	if (ret)
		_exit(-ret);
	asked.kept = calloc(KEPT_PAGES, sizeof(*asked.kept));
	look = guest_look__new(&asked.phys, max_gpa, late);
	if (!asked.kept || !look)
		_exit(ENOMEM);
	for (;;) {
		struct look_message done = { .kind = LOOK_IS_DONE };

		read_all(&order, sizeof(order));
		forget_phys(&asked.phys);
		done.ret = obey(look, &order, &current, done.err, sizeof(done.err));
		done.stats = *guest_look__stats(look);
		if (write_all(CONFINED_CONTROL, &done, sizeof(done)))
			end();
		if (order.kind == LOOK_CURRENT && !done.ret &&
		    write_all(CONFINED_CONTROL, &current, sizeof(current)))
			end();
	}
}
