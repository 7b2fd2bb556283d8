// SPDX-License-Identifier: GPL-2.0
/*
 * The cgroups of a guest's processes, as its map tells them: containers and services by their
 * paths.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <linux/string.h>

#include "util/thread.h"
#include "kvm-unified/lib/name-map.h"
#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/number-map.h"
#include "cgroups.h"
#include "guest.h"
#include "machine.h"

/* Of a guest, with different paths */
#define MAX_CGROUPS	(1U << 14)

/* @thread stays, so that no other one gets its address. */
struct member {
	struct thread *thread;
	const char *path;
};

/* What a thread is, whoever holds it */
static long thread_key(struct thread *thread)
{
	return (long)RC_CHK_ACCESS(thread);
}

/* 0 or -ENOMEM */
static int init(struct kvm_guest *guest)
{
	if (guest->cgroups)
		return 0;
	guest->cgroups = name_map__new();
	guest->cgroup_of = number_map__new();
	if (guest->cgroups && guest->cgroup_of)
		return 0;
	hashmap__free(guest->cgroups);
	hashmap__free(guest->cgroup_of);
	guest->cgroups = NULL;
	guest->cgroup_of = NULL;
	return -ENOMEM;
}

/* @path, as one that stays. 0, -ENOMEM or -E2BIG */
static int findnew(struct kvm_guest *guest, const char *path, const char **stays)
{
	char *copy;
	int ret;

	if (hashmap__find(guest->cgroups, path, stays))
		return 0;
	if (hashmap__size(guest->cgroups) >= MAX_CGROUPS)
		return -E2BIG;
	copy = strdup(path);
	ret = copy ? hashmap__add(guest->cgroups, copy, copy) : -ENOMEM;
	if (ret)
		free(copy);
	else
		*stays = copy;
	return ret;
}

/* 0 or -ENOMEM */
static int add_member(struct kvm_guest *guest, struct thread *thread, const char *path)
{
	struct member *member;
	int ret;

	if (hashmap__find(guest->cgroup_of, thread_key(thread), &member)) {
		member->path = path;
		return 0;
	}
	member = malloc(sizeof(*member));
	if (!member)
		return -ENOMEM;
	member->thread = thread__get(thread);
	member->path = path;
	ret = hashmap__add(guest->cgroup_of, thread_key(thread), member);
	if (ret) {
		thread__put(member->thread);
		free(member);
	}
	return ret;
}

/**
 * kvm_guest__set_cgroup - process @pid, if it is known, is in this cgroup
 * @path: as the guest calls it; what does not begin with a slash is ignored
 *
 * 0, -ENOMEM or -E2BIG
 */
int kvm_guest__set_cgroup(struct kvm_guest *guest, pid_t pid, const char *path)
{
	struct thread *thread;
	char name[PATH_MAX];
	const char *stays;
	int ret;

	if (*path != '/')
		return 0;
	thread = machine__find_thread(guest->machine, -1, pid);
	if (!thread)
		return 0;
	strlcpy(name, path, sizeof(name));
	text__make_printable(name);
	ret = init(guest);
	if (!ret)
		ret = findnew(guest, name, &stays);
	if (!ret)
		ret = add_member(guest, thread, stays);
	thread__put(thread);
	return ret;
}

/* The cgroup of a process, which stays as long as the guest; NULL: not known */
const char *kvm_guest__cgroup(const struct kvm_guest *guest, struct thread *thread)
{
	const struct member *member;

	return guest->cgroup_of && hashmap__find(guest->cgroup_of, thread_key(thread), &member) ?
	       member->path : NULL;
}

void kvm_guest__free_cgroups(struct kvm_guest *guest)
{
	struct hashmap_entry *entry;
	size_t bkt;

	if (!guest->cgroups)
		return;
	hashmap__for_each_entry(guest->cgroup_of, entry, bkt) {
		struct member *member = entry->pvalue;

		thread__put(member->thread);
		free(member);
	}
	hashmap__for_each_entry(guest->cgroups, entry, bkt)
		free(entry->pvalue);
	hashmap__free(guest->cgroup_of);
	hashmap__free(guest->cgroups);
	guest->cgroup_of = NULL;
	guest->cgroups = NULL;
}
