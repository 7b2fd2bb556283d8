// SPDX-License-Identifier: GPL-2.0
/*
 * The cgroup that a process of the guest is in, in cgroup v2's hierarchy: its path tells the
 * container or the service. Pure: it sees memory only through struct guest_kernel.
 *
 * A task holds its css_set, that its cgroup, and that its directory and those above it, whose names
 * never change there. So all of it belongs together if the task has the same css_set afterwards.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/zalloc.h>

#include "kvm-unified/collector/guest-mem.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/number-map.h"
#include "cgroups.h"
#include "kernel.h"
#include "path.h"

/* Directories on one path: as many as PATH_MAX has room for */
#define MAX_DEPTH	2048

/* A host of containers has some thousand, of 100 to 200 bytes. */
#define MAX_CGROUPS	(1U << 14)
#define MAX_SIZE	(4U << 20)

static int read_ptr(struct guest_kernel *k, u64 at, u64 *ptr)
{
	int ret = guest_kernel__read_u64(k, at, ptr);

	return ret || kernel_ptr(*ptr) ? ret : -EAGAIN;
}

/* The directory of the cgroup of css_set @set, and the id of that */
static int read_dir(struct guest_kernel *k, u64 set, u64 *dir, u64 *id)
{
	const struct guest_offsets *o = &k->offsets;
	u64 cgroup;
	int ret = read_ptr(k, set + o->css_set_cgroup, &cgroup);

	if (!ret)
		ret = read_ptr(k, cgroup + o->cgroup_dir, dir);
	return ret ?: guest_kernel__read_u64(k, *dir + o->dir_id, id);
}

/* The path of directory @dir. 0 or -errno: the memory is something else, or the path is too long */
static int read_path(struct guest_kernel *k, u64 dir, struct guest_path *path)
{
	const struct guest_offsets *o = &k->offsets;

	for (int i = 0; i < MAX_DEPTH; i++) {
		u64 parent, name;
		int ret = guest_kernel__read_u64(k, dir + o->dir_parent, &parent);

		if (ret)
			return ret;
		/* The root's name is empty. */
		if (!parent)
			return *path->at ? 0 : guest_path__prepend(path, "/");
		ret = kernel_ptr(parent) ?
		      guest_kernel__read_u64(k, dir + o->dir_name, &name) : -EAGAIN;
		if (!ret)
			ret = guest_path__prepend_name(path, k, name);
		if (ret)
			return ret;
		dir = parent;
	}
	return -ELOOP;
}

/* The number of @path, which is new; 0: there is no room, or no memory */
static u32 add_path(struct guest_cgroups *c, u64 id, const char *path)
{
	size_t size = strlen(path) + 1;

	if (c->nr >= MAX_CGROUPS || c->size + size > MAX_SIZE ||
	    grow_array(c->paths, c->nr, c->allocated))
		return 0;
	c->paths[c->nr] = strdup(path);
	if (!c->paths[c->nr])
		return 0;
	if (hashmap__add(c->numbers, (long)id, (long)c->nr + 1)) {
		zfree(&c->paths[c->nr]);
		return 0;
	}
	c->size += size;
	return ++c->nr;
}

static bool has_cgroups(const struct guest_offsets *o)
{
	return o->task_cgroups != GUEST_NO_MEMBER && o->css_set_cgroup != GUEST_NO_MEMBER &&
	       o->cgroup_dir != GUEST_NO_MEMBER && o->dir_id != GUEST_NO_MEMBER &&
	       o->dir_name != GUEST_NO_MEMBER && o->dir_parent != GUEST_NO_MEMBER;
}

/**
 * guest_cgroup__read - the cgroup that a task is in
 * @cgroup: result; to be believed if guest_cgroup__has() is true after guest_ram__forget()
 * @known: those whose paths need not be read
 * @task: address of its task_struct
 */
void guest_cgroup__read(struct guest_cgroup *cgroup, const struct guest_cgroups *known,
			struct guest_kernel *k, u64 task)
{
	struct guest_path path;
	u64 set, dir;
	long nr;

	cgroup->set = 0;
	cgroup->nr = 0;
	if (!has_cgroups(&k->offsets) || read_ptr(k, task + k->offsets.task_cgroups, &set) ||
	    read_dir(k, set, &dir, &cgroup->id))
		return;
	if (known->numbers && hashmap__find(known->numbers, (long)cgroup->id, &nr)) {
		cgroup->nr = nr;
	} else {
		guest_path__begin(&path, cgroup->buf, sizeof(cgroup->buf));
		if (read_path(k, dir, &path))
			return;
		cgroup->path = path.at;
	}
	cgroup->set = set;
}

/* Is @task in it, as far as it is known? */
bool guest_cgroup__has(const struct guest_cgroup *cgroup, struct guest_kernel *k, u64 task)
{
	u64 set;

	return !cgroup->set ||
	       (!guest_kernel__read_u64(k, task + k->offsets.task_cgroups, &set) &&
		set == cgroup->set);
}

/* Its number, for guest_cgroups__path(); 0: it is not known, or there is no room */
u32 guest_cgroups__findnew(struct guest_cgroups *c, const struct guest_cgroup *cgroup)
{
	if (!cgroup->set || cgroup->nr)
		return cgroup->nr;
	if (!c->numbers)
		c->numbers = number_map__new();
	if (!c->numbers)
		return 0;
	return add_path(c, cgroup->id, cgroup->path);
}

/* NULL: @nr is 0 */
const char *guest_cgroups__path(const struct guest_cgroups *c, u32 nr)
{
	return nr ? c->paths[nr - 1] : NULL;
}

void guest_cgroups__exit(struct guest_cgroups *c)
{
	for (size_t i = 0; i < c->nr; i++)
		free(c->paths[i]);
	free(c->paths);
	hashmap__free(c->numbers);
	*c = (struct guest_cgroups) { };
}
