// SPDX-License-Identifier: GPL-2.0
/*
 * What a guest calls its files, made names on the host. No file of the host is
 * opened because a guest has named it: only what is below a directory that the
 * user has named for that guest, and has the build-id that the guest says.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "util/build-id.h"
#include "util/debug.h"
#include "util/symbol.h"
#include "util/util.h"
#include "guest-files.h"
#include "kvm-guests.h"

struct guest_root {
	struct list_head node;
	char		 *name;		/* NULL: all guests */
	char		 *dir;		/* as realpath() gives it */
};

static LIST_HEAD(guest_roots);

/**
 * kvm_guests__add_root - use a directory as the root of a guest's file system
 * @arg: "NAME=DIR", or "DIR" for every guest without one of its own
 *
 * For the sessions that are opened after this. 0 or -errno.
 */
int kvm_guests__add_root(const char *arg)
{
	const char *eq = strchr(arg, '='), *slash = strchr(arg, '/');
	struct guest_root *root;
	struct stat st;

	if (slash && eq > slash)
		eq = NULL;
	if (eq == arg)
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
	list_add_tail(&root->node, &guest_roots);
	return 0;
}

/* A name for which there is a root, and no guest in @session; or NULL */
const char *kvm_guests__unused_root(struct perf_session *session)
{
	struct guest_root *root;

	list_for_each_entry(root, &guest_roots, node) {
		if (root->name && !kvm_guests__find_name(session, root->name))
			return root->name;
	}
	return NULL;
}

const char *kvm_guests__root(const char *name)
{
	struct guest_root *root;
	const char *dir = NULL;

	list_for_each_entry(root, &guest_roots, node) {
		if (root->name && !strcmp(root->name, name))
			return root->dir;
		if (!root->name)
			dir = root->dir;
	}
	return dir;
}

/* Whatever prints it later: nothing in @str but what a terminal takes as text */
void guest_text__sanitize(char *str)
{
	for (; *str; str++) {
		if (!isprint((unsigned char)*str))
			*str = '?';
	}
}

/* perf would unpack those, however large they get. */
static bool is_compressed(const char *name)
{
	const char *ext = strrchr(name, '.');

	return ext && (!strcmp(ext, ".gz") || !strcmp(ext, ".xz"));
}

/*
 * The guest's name of a file made a name on the host: that of the file below
 * the guest's root directory if it is there and has the build-id that the guest
 * says, and otherwise one in a directory that nobody makes. Symbols come from
 * perf's build-id cache then, which goes by build-id alone.
 */
void guest_file_name(struct kvm_guest *guest, const char *name,
		     const struct build_id *bid, char *buf, size_t size)
{
	char path[PATH_MAX], *real = NULL;
	struct build_id found;

	if (guest->root && name[0] == '/' && name[1] != '/' && build_id__is_defined(bid) &&
	    (size_t)snprintf(path, sizeof(path), "%s%s", guest->root, name) < sizeof(path))
		real = realpath(path, NULL);

	/* Symbolic links are the guest's too: they must not lead out of the root. */
	if (real && strstarts(real, guest->root) && is_regular_file(real) &&
	    !is_compressed(real) &&
	    (real[strlen(guest->root)] == '/' || !strcmp(guest->root, "/"))) {
		if (filename__read_build_id(real, &found) > 0 && found.size == bid->size &&
		    !memcmp(found.data, bid->data, bid->size)) {
			strlcpy(buf, real, size);
			free(real);
			return;
		}
		guest->nr_foreign_files++;
		pr_debug("%s: %s has not the build-id that guest %s says, not used\n",
			 __func__, real, guest->name);
	}
	free(real);

	/* Not just "[name]": a VM may be called "heap", which perf takes for one. */
	scnprintf(buf, size, "/[guest:%s]%s%s", guest->name, name[0] == '/' ? "" : "/", name);
	guest_text__sanitize(buf);
	/* Nor may it lead anywhere else. */
	for (char *p = buf; (p = strstr(p, ".."));)
		*p = '?';
}

/* A module's map is called "[name]" on any host: no file is looked for then. */
void guest_module_name(const char *name, char *buf, size_t size)
{
	const char *base = strrchr(name, '/');
	size_t len;

	base = base ? base + 1 : name;
	if (*base == '[')
		base++;
	len = strcspn(base, ".]");
	scnprintf(buf, size, "[%.*s]", (int)len, base);
	strreplace(buf, '-', '_');
	guest_text__sanitize(buf);
}

