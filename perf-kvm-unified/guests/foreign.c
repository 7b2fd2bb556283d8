// SPDX-License-Identifier: GPL-2.0
/*
 * Maps that are of another guest, or of another boot of it. Where a kernel is at a random place,
 * its samples tell, when all of them are read: then the profile is read again without such a map,
 * as each name that it has given may be a wrong one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "util/debug.h"
#include "util/session.h"
#include "kvm-unified/lib/patterns.h"
#include "kvm-unified/lib/warnings.h"
#include "foreign.h"
#include "guests.h"

/* From how many samples on it counts that a map does not explain them */
#define FOREIGN_MIN_USER	100
#define FOREIGN_MIN_KERNEL	20

/* It may be, or all processes of the measurement ended before it was made. */
bool kvm_guest__map_names_nobody(const struct kvm_guest *guest)
{
	return guest->has_map && !guest->nr_user_named &&
	       guest->nr_user - guest->nr_user_told >= FOREIGN_MIN_USER;
}

/*
 * Does the map belong to another guest, or to another boot of this one? The
 * kernel is at a random place, so its text tells. A guest without KASLR has to
 * be trusted, as has one of whose kernel there are hardly any samples. One that
 * was booting ran code that is not there any more, but not as another's map has
 * it: there, the kernel may be close by, and then no process is of the map.
 */
bool kvm_guest__map_is_foreign(const struct kvm_guest *guest)
{
	u64 most_outside = guest->nr_kernel / (kvm_guest__map_names_nobody(guest) ? 10 : 2);

	return guest->has_map && guest->nr_kernel >= FOREIGN_MIN_KERNEL &&
	       guest->nr_kernel - guest->nr_kernel_named > most_outside;
}

/*
 * Is all of it from before the boot that the map is of? A map of another guest has another's clock;
 * or the guest was booted after the recording, before the map was made.
 */
static bool map_is_of_later(const struct kvm_guest *guest, const struct kvm_guest *earlier)
{
	return earlier && !guest->nr_samples;
}

/*
 * A map that was given by hand, where the guest's TSC was set while it was recorded, as a reboot
 * does: the map's clock does not tell of which boot it is. -EINVAL with a message if so, else 0
 */
static int check_given_map(struct perf_session *session, const struct kvm_guest *guest)
{
	const struct kvm_vm *vm = kvm_vms__find_pid(&session->kvm_guests->vms, guest->pid);

	if (!guest->given_map || !vm || !vm->tsc_changed)
		return 0;
	pr_err("--guest-map: guest %s was booted again while it was recorded, or its TSC was set otherwise: of\n"
	       "which boot the map is, is not known. Give none, and let 'record' make it, with --guest-cmd.\n",
	       guest->name);
	return -EINVAL;
}

static int foreign_maps__add(struct foreign_maps *maps, const struct kvm_guest *guest,
			     const struct kvm_guest *earlier)
{
	struct foreign_map *grown = reallocarray(maps->entries, maps->nr + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	maps->entries = grown;
	grown[maps->nr++] = (struct foreign_map) {
		.pid = guest->pid,
		.nr_kernel = guest->nr_kernel + (earlier ? earlier->nr_kernel : 0),
		.nr_kernel_named = guest->nr_kernel_named,
	};
	return 0;
}

/**
 * foreign_maps__find - the maps of a session that are of something else, when it has been read
 * @maps: empty; to be given to foreign_maps__exit(), whatever comes of this
 *
 * 0, -ENOMEM, or with a message -EINVAL: the user has given one of them by hand, which is a
 * mistake that the user can mend, or one of a guest that has booted meanwhile.
 */
int foreign_maps__find(struct foreign_maps *maps, struct perf_session *session)
{
	struct kvm_guest *guest;
	int ret = 0;

	if (!session->kvm_guests)
		return 0;
	list_for_each_entry(guest, &session->kvm_guests->guests, node) {
		const struct kvm_guest *earlier = kvm_guests__find_earlier(session, guest);

		ret = check_given_map(session, guest);
		if (ret)
			break;
		if (!guest->has_map ||
		    (!kvm_guest__map_is_foreign(guest) && !map_is_of_later(guest, earlier)))
			continue;
		if (guest->given_map) {
			pr_err("--guest-map: the map of guest %s is of another guest, or of another boot of this one:\n"
			       "only %" PRIu64 " of %" PRIu64 " samples of its kernel are where the map has it.\n"
			       "Give the right one, or none.\n",
			       guest->name, guest->nr_kernel_named,
			       guest->nr_kernel + (earlier ? earlier->nr_kernel : 0));
			return -EINVAL;
		}
		ret = foreign_maps__add(maps, guest, earlier);
		if (ret)
			break;
	}
	return ret;
}

/**
 * foreign_map__describe - why the map of @guest was not used, what that costs, and what to do
 * @nr_all: samples of all guests
 */
void foreign_map__describe(const struct foreign_map *map, const struct kvm_guest *guest,
			   u64 nr_all, char *buf, size_t size)
{
	scnprintf(buf, size,
		  "Guest %s: its map is of another guest, or of another boot of this one, and is not used:\n"
		  "only %" PRIu64 " of %" PRIu64 " samples of its kernel are where the map has it. So %.1f %% of the samples of\n"
		  "guests have no names. Give a map of the boot that was recorded: --guest-map %s=FILE.\n",
		  guest->name, map->nr_kernel_named, map->nr_kernel,
		  100.0 * guest->nr_samples / (nr_all ?: 1), guest->name);
}

/* @session: was read without these maps; @vms: of these VMs alone, or NULL: of all */
void foreign_maps__warn(const struct foreign_maps *maps, struct perf_session *session,
			struct patterns *vms)
{
	struct kvm_guest *guest;
	u64 nr_all = 0;
	char buf[1024];

	if (!maps->nr)
		return;
	list_for_each_entry(guest, &session->kvm_guests->guests, node)
		nr_all += guest->nr_samples;
	for (size_t i = 0; i < maps->nr; i++) {
		guest = kvm_guests__find(session, maps->entries[i].pid);
		if (!guest || (vms && !patterns__match(vms, guest->name)))
			continue;
		foreign_map__describe(&maps->entries[i], guest, nr_all, buf, sizeof(buf));
		unified_warning("%s", buf);
	}
}

void foreign_maps__exit(struct foreign_maps *maps)
{
	zfree(&maps->entries);
	maps->nr = 0;
}
