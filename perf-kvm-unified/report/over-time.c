// SPDX-License-Identifier: GPL-2.0
/*
 * Where the time of each VM's vCPUs went, and who has stolen of it, in intervals of the same
 * length. No session, no I/O.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "over-time.h"

void over_time__exit(struct over_time *over)
{
	for (u32 i = 0; i < over->nr_vms; i++) {
		for (size_t part = 0; part < over->vms[i].nr; part++) {
			takers__exit(&over->vms[i].parts[part].takers);
			free(over->vms[i].parts[part].thief);
		}
		free(over->vms[i].parts);
	}
	zfree(&over->vms);
	over->nr_vms = 0;
	over->nr_parts = 0;
	over->first = 0;
	over->end = 0;
}

/* Makes sure that there is a VM of number @vm. 0 or -ENOMEM */
static int over_time__add_vm(struct over_time *over, u32 vm)
{
	struct vm_over_time *vms;

	if (vm < over->nr_vms)
		return 0;
	vms = reallocarray(over->vms, (size_t)vm + 1, sizeof(*vms));
	if (!vms)
		return -ENOMEM;
	memset(vms + over->nr_vms, 0, ((size_t)vm + 1 - over->nr_vms) * sizeof(*vms));
	over->vms = vms;
	over->nr_vms = vm + 1;
	return 0;
}

/* @front: room before the first one; else after the last. 0 or -ENOMEM */
static int vm_over_time__grow(struct vm_over_time *vm, size_t more, bool front)
{
	size_t want = vm->nr + more;

	if (want > vm->allocated) {
		struct time_part *parts;

		want = max(want, 2 * vm->allocated);
		parts = reallocarray(vm->parts, want, sizeof(*parts));
		if (!parts)
			return -ENOMEM;
		vm->parts = parts;
		vm->allocated = want;
	}
	if (front)
		memmove(vm->parts + more, vm->parts, vm->nr * sizeof(*vm->parts));
	memset(front ? vm->parts : vm->parts + vm->nr, 0, more * sizeof(*vm->parts));
	vm->nr += more;
	return 0;
}

/*
 * Makes sure that a VM has an interval of number @nr: the first one that comes need not be the
 * first in time. 0, -ENOMEM or -E2BIG: they are too many
 */
static int over_time__add_part(struct over_time *over, struct vm_over_time *vm, u64 nr)
{
	u64 first = over->end ? min(over->first, nr) : nr, end = max(over->end, nr + 1), more;
	bool front;

	if (!vm->nr)
		vm->first = nr;
	front = nr < vm->first;
	if (!front && nr - vm->first < vm->nr)
		return 0;
	more = front ? vm->first - nr : nr + 1 - vm->first - vm->nr;
	if (end - first > OVER_TIME_MAX || over->nr_parts + more > OVER_TIME_MAX)
		return -E2BIG;
	if (vm_over_time__grow(vm, more, front))
		return -ENOMEM;
	vm->first = min(vm->first, nr);
	over->nr_parts += more;
	over->first = first;
	over->end = end;
	return 0;
}

/* @ns of the piece in the interval of number @nr. 0 or -errno */
static int over_time__add_to(struct over_time *over, const struct time_piece *piece, u64 nr, u64 ns)
{
	struct vm_over_time *vm = &over->vms[piece->vm];
	int ret = over_time__add_part(over, vm, nr);
	struct time_part *part;

	if (ret)
		return ret;
	part = &vm->parts[nr - vm->first];
	profile__add(&part->profile, piece->class, PROFILE_TIME, ns);
	return piece->class == PROFILE_STEAL ? takers__add(&part->takers, piece->taker, ns) : 0;
}

/**
 * over_time__add - some time of a vCPU, which may be of several intervals
 *
 * 0, -ENOMEM, or -E2BIG if there would be too many intervals
 */
int over_time__add(struct over_time *over, const struct time_piece *piece)
{
	int ret = over_time__add_vm(over, piece->vm);

	for (u64 pos = piece->start; !ret && pos < piece->end; ) {
		u64 nr = pos > over->zero ? (pos - over->zero) / over->interval : 0;
		u64 left = over->zero + (nr + 1) * over->interval - pos;
		u64 ns = min(left, piece->end - pos);

		ret = over_time__add_to(over, piece, nr, ns);
		pos += ns;
	}
	return ret;
}

/* The interval of number @nr, or NULL if nothing is known of the VM then */
const struct time_part *over_time__part(const struct over_time *over, u32 vm, u64 nr)
{
	const struct vm_over_time *of = vm < over->nr_vms ? &over->vms[vm] : NULL;
	const struct time_part *part;

	if (!of || nr < of->first || nr - of->first >= of->nr)
		return NULL;
	part = &of->parts[nr - of->first];
	return part->profile.totals[PROFILE_TIME] ? part : NULL;
}

/* Is there any time of that class? */
bool over_time__has(const struct over_time *over, enum profile_class class)
{
	for (u32 i = 0; i < over->nr_vms; i++) {
		for (size_t part = 0; part < over->vms[i].nr; part++) {
			if (over->vms[i].parts[part].profile.classes[class])
				return true;
		}
	}
	return false;
}
