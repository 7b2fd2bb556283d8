// SPDX-License-Identifier: GPL-2.0
/*
 * What the user wants of the guests of a session: which maps, and whose files are where.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include <subcmd/parse-options.h>

#include "util/debug.h"
#include "util/strlist.h"
#include "options.h"

void kvm_guests_options__init(struct kvm_guests_options *options)
{
	*options = (struct kvm_guests_options) { .use_maps = true };
	INIT_LIST_HEAD(&options->given_maps);
	INIT_LIST_HEAD(&options->roots);
}

static void given_map__delete(struct given_map *map)
{
	if (map->kallsyms_fd >= 0)
		close(map->kallsyms_fd);
	free(map->name);
	free(map);
}

void kvm_guests_options__exit(struct kvm_guests_options *options)
{
	struct guest_root *root, *tmp;
	struct given_map *map, *next;

	strlist__delete(options->skipped_maps);
	options->skipped_maps = NULL;
	list_for_each_entry_safe(map, next, &options->given_maps, node) {
		list_del(&map->node);
		given_map__delete(map);
	}
	list_for_each_entry_safe(root, tmp, &options->roots, node) {
		list_del(&root->node);
		free(root->name);
		free(root->dir);
		free(root);
	}
}

/* Do without the map of guest @name. 0 or -ENOMEM */
static int skip_map(struct kvm_guests_options *options, const char *name)
{
	int ret;

	if (!options->skipped_maps)
		options->skipped_maps = strlist__new(NULL, NULL);
	if (!options->skipped_maps)
		return -ENOMEM;
	ret = strlist__add(options->skipped_maps, name);
	return ret == -EEXIST ? 0 : ret;
}

/* --guest-map NAME=FILE */
int kvm_guests_options__parse_map(const struct option *opt, const char *arg,
				  int unset __maybe_unused)
{
	struct kvm_guests_options *options = opt->value;
	const char *eq = strchr(arg, '=');
	struct given_map *map;

	if (!eq || eq == arg || !eq[1]) {
		pr_err("--guest-map wants NAME=FILE, not '%s'\n", arg);
		return -EINVAL;
	}
	map = zalloc(sizeof(*map));
	if (!map)
		return -ENOMEM;
	map->kallsyms_fd = -1;
	map->file = eq + 1;
	map->name = strndup(arg, eq - arg);
	if (!map->name || skip_map(options, map->name)) {
		given_map__delete(map);
		return -ENOMEM;
	}
	list_add_tail(&map->node, &options->given_maps);
	return 0;
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

/* @arg: "NAME=DIR", or "DIR" for every guest without one of its own. 0 or -errno */
static int add_root(struct kvm_guests_options *options, const char *arg)
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

/* --guest-root [NAME=]DIR */
int kvm_guests_options__parse_root(const struct option *opt, const char *arg,
				   int unset __maybe_unused)
{
	int ret = add_root(opt->value, arg);

	if (ret == -EINVAL)
		pr_err("--guest-root wants DIR or NAME=DIR, not '%s'\n", arg);
	else if (ret)
		pr_err("--guest-root %s: %s\n", arg, strerror(-ret));
	return ret;
}

/* What is wrong whatever the profile is. 0 or -EEXIST with a message */
int kvm_guests_options__check(const struct kvm_guests_options *options)
{
	const struct guest_root *root;

	list_for_each_entry(root, &options->roots, node) {
		if (find_root(options, root->name) == root)
			continue;
		if (root->name)
			pr_err("--guest-root: guest %s was given two directories\n", root->name);
		else
			pr_err("--guest-root: all guests were given two directories: say whose they are, NAME=DIR\n");
		return -EEXIST;
	}
	return 0;
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
