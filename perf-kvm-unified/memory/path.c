// SPDX-License-Identifier: GPL-2.0
/*
 * The path of a file of the guest, as its /proc/PID/maps shows it to the guest's first process:
 * dentries up to the root of a mount, and on from where that is mounted.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "kvm-unified/collector/guest-mem.h"
#include "kernel.h"
#include "path.h"

/* include/uapi/linux/limits.h: NAME_MAX and its end; a memfd's may be as long. */
#define NAME_SIZE	256

/* Directories and mounts on one path: as many as PATH_MAX has room for */
#define MAX_STEPS	2048

#define DELETED		" (deleted)"

struct dentry {
	u64	parent;
	u64	name;
	u64	pprev;
};

static int read_dentry(struct guest_kernel *k, u64 at, struct dentry *d)
{
	int ret;

	if (!kernel_ptr(at))
		return -EAGAIN;
	ret = guest_kernel__read_u64(k, at + k->offsets.dentry_parent, &d->parent);
	if (!ret)
		ret = guest_kernel__read_u64(k, at + k->offsets.dentry_name, &d->name);
	if (!ret)
		ret = guest_kernel__read_u64(k, at + k->offsets.dentry_pprev, &d->pprev);
	return ret;
}

/* Of nothing yet, in @size bytes at @buf */
void guest_path__begin(struct guest_path *p, char *buf, size_t size)
{
	*p = (struct guest_path) { .start = buf, .at = buf + size - 1 };
	*p->at = '\0';
}

/* 0 or -ENAMETOOLONG */
int guest_path__prepend(struct guest_path *p, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(p->at - p->start) < len)
		return -ENAMETOOLONG;
	p->at -= len;
	memcpy(p->at, text, len);
	return 0;
}

/* The name at kernel address @at, and a slash in front of it. 0 or -errno as guest_path__read() */
int guest_path__prepend_name(struct guest_path *p, struct guest_kernel *k, u64 at)
{
	char name[NAME_SIZE];
	int ret = guest_kernel__read_string(k, at, name, sizeof(name));

	if (ret)
		return ret;
	/* One without a name, or with a slash in it, is none: the memory is something else. */
	if (!name[0] || strchr(name, '/'))
		return -EAGAIN;
	return guest_path__prepend(p, name) ?: guest_path__prepend(p, "/");
}

/* 0, or -ENOENT: @mnt is the top one */
static int mount_up(struct guest_kernel *k, u64 *mnt, u64 *dentry)
{
	u64 mount = *mnt - k->offsets.mount_mnt, parent;
	int ret = guest_kernel__read_u64(k, mount + k->offsets.mount_parent, &parent);

	if (ret)
		return ret;
	if (!kernel_ptr(parent))
		return -EAGAIN;
	if (parent == mount)
		return -ENOENT;
	*mnt = parent + k->offsets.mount_mnt;
	return guest_kernel__read_u64(k, mount + k->offsets.mount_mountpoint, dentry);
}

/* Up to the root of all. 0 or -errno */
static int walk_up(struct guest_kernel *k, struct guest_path *p, u64 dentry, u64 mnt)
{
	for (int i = 0; i < MAX_STEPS; i++) {
		struct dentry d;
		u64 root;
		int ret;

		if (!kernel_ptr(mnt))
			return -EAGAIN;
		ret = guest_kernel__read_u64(k, mnt - k->offsets.mount_mnt + k->offsets.mnt_root,
					     &root);
		if (!ret && dentry == root) {
			ret = mount_up(k, &mnt, &dentry);
			if (ret == -ENOENT)
				return 0;
			if (!ret)
				continue;
		}
		if (!ret)
			ret = read_dentry(k, dentry, &d);
		if (ret)
			return ret;
		/* A file that was never in a directory, such as a memfd, has a name of its own. */
		ret = guest_path__prepend_name(p, k, d.name);
		if (ret || d.parent == dentry)
			return ret;
		dentry = d.parent;
	}
	return -ELOOP;
}

/* A memfd was never linked, and others are not any more: the kernel says so of both. */
static int is_deleted(struct guest_kernel *k, u64 dentry, bool *deleted)
{
	struct dentry d;
	int ret = read_dentry(k, dentry, &d);

	*deleted = !ret && !d.pprev;
	return ret;
}

/**
 * guest_path__read - the path of a file
 * @dentry: @mnt: as struct path has them
 * @buf: the result, 0-terminated; any bytes may be in it
 *
 * Return: 0; -ENAMETOOLONG: @size is not enough; -ELOOP: it has no end; -EAGAIN: it has
 * changed, or is none; or as guest_kernel__read()
 */
int guest_path__read(struct guest_kernel *k, u64 dentry, u64 mnt, char *buf, size_t size)
{
	struct guest_path p;
	bool deleted;
	int ret;

	guest_path__begin(&p, buf, size);
	ret = is_deleted(k, dentry, &deleted);
	if (!ret && deleted)
		ret = guest_path__prepend(&p, DELETED);
	if (!ret)
		ret = walk_up(k, &p, dentry, mnt);
	if (ret)
		return ret;
	if (!*p.at)
		guest_path__prepend(&p, "/");
	memmove(buf, p.at, strlen(p.at) + 1);
	return 0;
}
