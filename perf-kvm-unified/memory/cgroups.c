// SPDX-License-Identifier: GPL-2.0
/*
 * The cgroup that a process of the guest is in, in cgroup v2's hierarchy: its path tells the
 * container or the service. Pure: it sees memory only through struct guest_mem.
 *
 * A task holds its css_set, that its cgroup, and that its directory and those above it, whose names
 * never change there. So all of it belongs together if the task has the same css_set afterwards.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/zalloc.h>

#include "kvm-unified/collector/guest-mem.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/number-map.h"
#include "cgroups.h"
#include "offsets.h"
#include "ram.h"

/* include/uapi/linux/limits.h: NAME_MAX and its end */
#define NAME_SIZE	256

/* Directories on one path: as many as PATH_MAX has room for */
#define MAX_DEPTH	2048

/* A host of containers has some thousand, of 100 to 200 bytes. */
#define MAX_CGROUPS	(1U << 14)
#define MAX_SIZE	(4U << 20)

static int read_ptr(struct guest_mem *mem, u64 at, u64 *ptr)
{
	int ret = mem->read(mem, at, ptr, sizeof(*ptr));

	return ret || kernel_ptr(*ptr) ? ret : -EAGAIN;
}

/* The directory of the cgroup of css_set @set, and the id of that */
static int read_cgroup(const struct guest_offsets *o, struct guest_mem *mem, u64 set,
		       u64 *dir, u64 *id)
{
	u64 cgroup;
	int ret = read_ptr(mem, set + o->css_set_cgroup, &cgroup);

	if (!ret)
		ret = read_ptr(mem, cgroup + o->cgroup_dir, dir);
	return ret ?: mem->read(mem, *dir + o->dir_id, id, sizeof(*id));
}

/* A name may stand at the end of what there is of memory: no more is read than it takes. */
static int read_name(struct guest_mem *mem, u64 at, char name[NAME_SIZE])
{
	size_t len = 0;

	if (at >> 56 != 0xff)
		return -EAGAIN;
	while (len < NAME_SIZE) {
		size_t n = min_t(size_t, guest_page__part(at + len, NAME_SIZE - len), 32);
		int ret = mem->read(mem, at + len, name + len, n);

		if (ret)
			return ret;
		if (memchr(name + len, '\0', n))
			return strchr(name, '/') ? -EAGAIN : 0;
		len += n;
	}
	return -EAGAIN;
}

/*
 * Writes the path of directory @dir to the end of @path. Returns where it begins, or NULL: the
 * memory is something else, or the path is too long
 */
static char *read_path(const struct guest_offsets *o, struct guest_mem *mem, u64 dir,
		       char path[PATH_MAX])
{
	char *at = path + PATH_MAX - 1;

	*at = '\0';
	for (int i = 0; i < MAX_DEPTH; i++) {
		char name[NAME_SIZE];
		u64 parent, name_at;
		size_t len;

		if (mem->read(mem, dir + o->dir_parent, &parent, sizeof(parent)))
			return NULL;
		/* The root's name is empty. */
		if (!parent) {
			if (!*at)
				*--at = '/';
			return at;
		}
		if (!kernel_ptr(parent) ||
		    mem->read(mem, dir + o->dir_name, &name_at, sizeof(name_at)) ||
		    read_name(mem, name_at, name))
			return NULL;
		len = strlen(name);
		if (!len || (size_t)(at - path) < len + 1)
			return NULL;
		at -= len;
		memcpy(at, name, len);
		*--at = '/';
		dir = parent;
	}
	return NULL;
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
 * guest_cgroups__find - the cgroup that a task is in
 * @task: address of its task_struct
 *
 * Return: its number, for guest_cgroups__path(); 0: not known
 */
u32 guest_cgroups__find(struct guest_cgroups *c, const struct guest_offsets *o,
			struct guest_mem *mem, u64 task)
{
	u64 set, again, dir, id;
	char buf[PATH_MAX];
	const char *path = NULL;
	long nr = 0;

	if (!c->numbers) {
		c->numbers = number_map__new();
		if (IS_ERR(c->numbers)) {
			c->numbers = NULL;
			return 0;
		}
	}
	if (!has_cgroups(o) || read_ptr(mem, task + o->task_cgroups, &set) ||
	    read_cgroup(o, mem, set, &dir, &id))
		return 0;
	if (!hashmap__find(c->numbers, (long)id, &nr)) {
		path = read_path(o, mem, dir, buf);
		if (!path)
			return 0;
	}
	guest_mem__forget(mem);
	if (mem->read(mem, task + o->task_cgroups, &again, sizeof(again)) || again != set)
		return 0;
	return path ? add_path(c, id, path) : (u32)nr;
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
	if (c->numbers)
		hashmap__free(c->numbers);
	*c = (struct guest_cgroups) { };
}
