// SPDX-License-Identifier: GPL-2.0
/*
 * The tables by which a guest's kernel is unwound, as its map has them.
 */
#include <errno.h>
#include <linux/types.h>

#include "util/debug.h"
#include "util/event.h"
#include "util/guest-orc.h"
#include "util/machine.h"
#include "kvm-unified/format/records.h"
#include "guest.h"
#include "orc.h"

/*
 * Takes over a piece whose size was checked. What is in no order is left out, as is what another
 * layout has: callers are missing then. 0 or -ENOMEM
 */
int kvm_guest__add_orc(struct kvm_guest *guest, const struct perf_record_guest_orc *rec)
{
	struct machine *machine = guest->machine;
	int ret;

	if (!machine->guest_orc)
		machine->guest_orc = guest_orc__new();
	if (!machine->guest_orc)
		return -ENOMEM;
	ret = guest_orc__add(machine->guest_orc, rec->layout, rec->addr, rec->data,
			     rec->data + rec->nr * sizeof(s32), rec->nr);
	if (ret == -EINVAL)
		pr_debug("guest %s: its map has an ORC table that is none\n", guest->name);
	return ret == -ENOMEM ? ret : 0;
}

/* All pieces were added. */
void kvm_guest__finish_orc(struct kvm_guest *guest)
{
	size_t dropped = 0;

	if (guest->machine->guest_orc)
		dropped = guest_orc__finish(guest->machine->guest_orc);
	if (dropped)
		pr_debug("guest %s: %zu ORC tables of its map have the code of others\n",
			 guest->name, dropped);
}

void kvm_guest__free_orc(struct kvm_guest *guest)
{
	guest_orc__delete(guest->machine->guest_orc);
	guest->machine->guest_orc = NULL;
}
