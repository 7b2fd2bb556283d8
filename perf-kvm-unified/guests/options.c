// SPDX-License-Identifier: GPL-2.0
/*
 * What the user wants of the guests of a session: which maps, and whose files are where.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "util/strlist.h"
#include "options.h"

void kvm_guests_options__init(struct kvm_guests_options *options)
{
	*options = (struct kvm_guests_options) { .use_maps = true };
	INIT_LIST_HEAD(&options->roots);
}

void kvm_guests_options__exit(struct kvm_guests_options *options)
{
	struct guest_root *root, *tmp;

	strlist__delete(options->skipped_maps);
	options->skipped_maps = NULL;
	list_for_each_entry_safe(root, tmp, &options->roots, node) {
		list_del(&root->node);
		free(root->name);
		free(root->dir);
		free(root);
	}
}

/* Do without the map of guest @name. 0 or -ENOMEM */
int kvm_guests_options__skip_map(struct kvm_guests_options *options, const char *name)
{
	int ret;

	if (!options->skipped_maps)
		options->skipped_maps = strlist__new(NULL, NULL);
	if (!options->skipped_maps)
		return -ENOMEM;
	ret = strlist__add(options->skipped_maps, name);
	return ret == -EEXIST ? 0 : ret;
}

bool kvm_guests_options__skips_map(const struct kvm_guests_options *options, const char *name)
{
	return options && (!options->use_maps || (options->skipped_maps &&
						strlist__has_entry(options->skipped_maps, name)));
}

/* The first that was given for guest @name, or, if that is NULL, for all guests; or NULL */
static const struct guest_root *find_root(const struct kvm_guests_options *options,
					  const char *name)
{
	const struct guest_root *root;

	list_for_each_entry(root, &options->roots, node) {
		if (name && root->name ? !strcmp(root->name, name) : root->name == name)
			return root;
	}
	return NULL;
}

/**
 * kvm_guests_options__add_root - use a directory as the root of a guest's file system
 * @arg: "NAME=DIR", or "DIR" for every guest without one of its own
 *
 * 0 or -errno
 */
int kvm_guests_options__add_root(struct kvm_guests_options *options, const char *arg)
{
	const char *eq = strchr(arg, '='), *slash = strchr(arg, '/');
	struct guest_root *root;
	struct stat st;

	if (slash && eq > slash)
		eq = NULL;
	if (eq && (eq == arg || !eq[1]))
		return -EINVAL;
	if (!stat(eq ? eq + 1 : arg, &st) && !S_ISDIR(st.st_mode))
		return -ENOTDIR;

	root = zalloc(sizeof(*root));
	if (!root)
		return -ENOMEM;

	root->dir = realpath(eq ? eq + 1 : arg, NULL);
	if (!root->dir) {
		int ret = -errno;

		free(root);
		return ret;
	}
	if (eq) {
		root->name = strndup(arg, eq - arg);
		if (!root->name) {
			free(root->dir);
			free(root);
			return -ENOMEM;
		}
	}
	list_add_tail(&root->node, &options->roots);
	return 0;
}

/* Whether a guest, or all guests (@name: NULL), were given two */
bool kvm_guests_options__has_two_roots(const struct kvm_guests_options *options,
				       const char **name)
{
	const struct guest_root *root;

	list_for_each_entry(root, &options->roots, node) {
		*name = root->name;
		if (find_root(options, root->name) != root)
			return true;
	}
	return false;
}

/* The directory for guest @name, or NULL */
const char *kvm_guests_options__root(const struct kvm_guests_options *options, const char *name)
{
	const struct guest_root *root;

	if (!options)
		return NULL;
	root = find_root(options, name) ?: find_root(options, NULL);
	return root ? root->dir : NULL;
}
