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

#include "util/config.h"
#include "util/debug.h"
#include "util/string2.h"
#include "util/strlist.h"
#include "kvm-unified/lib/config.h"
#include "kvm-unified/lib/patterns.h"
#include "kvm-unified/lib/warnings.h"
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

static void guest_root__delete(struct guest_root *root)
{
	free(root->name);
	free(root->dir);
	free(root);
}

void kvm_guests_options__exit(struct kvm_guests_options *options)
{
	struct guest_root *root, *tmp;
	struct given_map *map, *next;

	patterns__delete(options->left_out);
	options->left_out = NULL;
	strlist__delete(options->skipped_maps);
	options->skipped_maps = NULL;
	list_for_each_entry_safe(map, next, &options->given_maps, node) {
		list_del(&map->node);
		given_map__delete(map);
	}
	list_for_each_entry_safe(root, tmp, &options->roots, node) {
		list_del(&root->node);
		guest_root__delete(root);
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

/* --no-guest-maps[=PATTERN,...], or --guest-maps: the last one counts. */
int kvm_guests_options__parse_no_maps(const struct option *opt, const char *arg, int unset)
{
	struct kvm_guests_options *options = opt->value;

	patterns__delete(options->left_out);
	options->left_out = NULL;
	options->use_maps = unset || arg;
	if (!arg)
		return 0;
	options->left_out = patterns__parse(opt->long_name, arg);
	return options->left_out ? 0 : -EINVAL;
}

/* Is the map in the profile, of guest @name, not to be used? @options: or NULL */
bool kvm_guests_options__skips_map(const struct kvm_guests_options *options, const char *name)
{
	if (!options)
		return false;
	return !options->use_maps ||
	       (options->left_out && patterns__match(options->left_out, name)) ||
	       (options->skipped_maps && strlist__has_entry(options->skipped_maps, name));
}

/* The first that was given for guest @name, or, if that is NULL, for all guests; or NULL */
static struct guest_root *find_root(const struct kvm_guests_options *options, const char *name)
{
	struct guest_root *root;

	list_for_each_entry(root, &options->roots, node) {
		if (name && root->name ? !strcmp(root->name, name) : root->name == name)
			return root;
	}
	return NULL;
}

static int resolve_dir(const char *path, char **dir)
{
	struct stat st;

	*dir = realpath(path, NULL);
	if (!*dir || stat(*dir, &st))
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

/*
 * @arg: "NAME=DIR", or "DIR" for every guest without one of its own. NULL: no memory, or it is
 * neither, see errno. Whether there is such a directory is in @guest_root.err
 */
static struct guest_root *guest_root__new(const char *arg)
{
	const char *eq = strchr(arg, '='), *slash = strchr(arg, '/');
	struct guest_root *root = zalloc(sizeof(*root));

	if (slash && eq > slash)
		eq = NULL;
	if (!root || (eq && (eq == arg || !eq[1]))) {
		errno = root ? EINVAL : ENOMEM;
		free(root);
		return NULL;
	}
	root->err = resolve_dir(eq ? eq + 1 : arg, &root->dir);
	if (eq)
		root->name = strndup(arg, eq - arg);
	if (!eq || root->name)
		return root;
	guest_root__delete(root);
	errno = ENOMEM;
	return NULL;
}

static int add_root(struct kvm_guests_options *options, const char *arg)
{
	struct guest_root *root = guest_root__new(arg);

	if (!root)
		return -errno;
	root->given = arg;
	list_add_tail(&root->node, &options->roots);
	return 0;
}

/* --guest-root [NAME=]DIR. Whether there is a DIR is for kvm_guests_options__check(). */
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

/*
 * @item: "[NAME=]DIR", with backslashes in front of what would be something else. Not one that
 * depends on where perf is run. NULL: see errno
 */
static struct guest_root *parse_config_root(const char *item)
{
	char *arg = strdup_esc(item);
	const char *slash = arg ? strchr(arg, '/') : NULL;
	struct guest_root *root = NULL;

	errno = arg ? EINVAL : ENOMEM;
	if (slash && (slash == arg || slash[-1] == '='))
		root = guest_root__new(arg);
	free(arg);
	return root;
}

/* A directory that is not there is said to be missing when there is a guest that it is for. */
static int read_config(const char *var, const char *value, void *_options)
{
	struct kvm_guests_options *options = _options;

	config__check_name(var);
	if (strcmp(var, CONFIG_GUEST_ROOT))
		return 0;
	while (value) {
		char *item = list__next_item(&value);
		struct guest_root *root = item ? parse_config_root(item) : NULL;

		if (root)
			list_add_tail(&root->node, &options->roots);
		else
			unified_warning(CONFIG_GUEST_ROOT " wants /DIR or NAME=/DIR, not '%s'\n",
					item ?: "");
		free(item);
	}
	return 0;
}

/**
 * kvm_guests_options__read_config - what perfconfig says for all of perf's commands
 *
 * It is the user's, or root's, which perf checks. No such thing is kept in a profile: who unpacks
 * one that was handed over owns all of its files, and whoever has made it could have perf parse
 * any file as a guest's.
 */
void kvm_guests_options__read_config(struct kvm_guests_options *options)
{
	perf_config(read_config, options);
}

/* Checks what is wrong whatever the profile is. 0 or -errno with a message */
int kvm_guests_options__check(const struct kvm_guests_options *options)
{
	const struct guest_root *root;

	list_for_each_entry(root, &options->roots, node) {
		if (root->err) {
			pr_err("--guest-root %s: %s\n", root->given, strerror(-root->err));
			return root->err;
		}
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
	struct guest_root *root;

	if (!options)
		return NULL;
	root = find_root(options, name) ?: find_root(options, NULL);
	if (!root)
		return NULL;
	if (root->err && !root->said)
		unified_warning(CONFIG_GUEST_ROOT ": the directory of %s: %s\n",
				root->name ?: "all guests", strerror(-root->err));
	root->said = true;
	return root->err ? NULL : root->dir;
}
