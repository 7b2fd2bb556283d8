// SPDX-License-Identifier: GPL-2.0
/*
 * What a guest calls its files, made names on the host. No file of the host is
 * opened because a guest has named it: only what is below a directory that the
 * user has named for that guest, and has the build-id that the guest says, or, of
 * a file without one, the same names.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/zalloc.h>

#include "util/build-id.h"
#include "util/debug.h"
#include "util/dso.h"
#include "util/symbol.h"
#include "util/util.h"
#include "util/modest-elf.h"
#include "kvm-unified/lib/file-print.h"
#include "kvm-unified/lib/hash-map.h"
#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/warnings.h"
#include "files.h"
#include "guest.h"

/* Was the file deleted after it was mapped, as the guest's kernel has it? */
bool guest_file__is_deleted(const char *name)
{
	const size_t len = strlen(name), end = strlen(GUEST_FILE_DELETED);

	return len > end && !strcmp(name + len - end, GUEST_FILE_DELETED);
}

/* perf would unpack those, however large they get. */
static bool is_compressed(const char *name)
{
	const char *ext = strrchr(name, '.');

	return ext && (!strcmp(ext, ".gz") || !strcmp(ext, ".xz"));
}

/*
 * So much time is spent on looking for a guest's files. Thousands are found in a
 * tenth of that, but a path may lead through 40 links of a thousand directories each.
 */
#define GUEST_FILES_MAX_NS	(2 * NSEC_PER_SEC)
#define GUEST_FILES_MAX		16384

static u64 cpu_time_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* So many files that are over a limit are told of: a guest may have made any number of them. */
#define LARGE_FILES_SAID	4

/* @path: on the host, of which the guest has chosen a part */
static void warn_large(struct kvm_guest *guest, const char *path, const char *limit)
{
	char name[PATH_MAX];

	guest->nr_large_files++;
	if (guest->nr_large_files == LARGE_FILES_SAID + 1)
		unified_warning("Guest %s: there are more files that are over a limit, -v names each.\n",
				guest->name);
	if (guest->nr_large_files > LARGE_FILES_SAID)
		return;
	strlcpy(name, path, sizeof(name));
	text__make_printable(name);
	unified_warning("Guest %s: %s has more than %s, which is the limit:\n"
			"it is not used. If you trust it, 'perf buildid-cache --add' it for the names of its functions.\n",
			guest->name, name, limit);
}

/* @path: a regular file */
static bool has_build_id(const char *path, const struct build_id *bid)
{
	struct build_id found;

	return filename__read_build_id(path, &found) > 0 && found.size == bid->size &&
	       !memcmp(found.data, bid->data, bid->size);
}

/* @path: a regular file; if it is none any more, it is not waited for */
static bool has_print(const char *path, const struct build_id *print)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	u8 found[FILE_PRINT_SIZE];
	bool same;

	if (fd < 0)
		return false;
	same = file_print(fd, FILE_PRINT_MAX_READ, found) >= 0 && print->size == sizeof(found) &&
	       !memcmp(found, print->data, sizeof(found));
	close(fd);
	return same;
}

/*
 * The file below the guest's root, if it has that build-id, or without one that print; to be
 * freed. Or NULL
 */
static char *find_called(struct kvm_guest *guest, const char *name, const struct build_id *bid,
			 const struct build_id *print)
{
	char path[PATH_MAX], *real = NULL;
	const char *limit;

	if ((size_t)snprintf(path, sizeof(path), "%s%s", guest->root, name) < sizeof(path))
		real = realpath(path, NULL);

	/* Symbolic links are the guest's too: they must not lead out of the root. */
	if (!real || !strstarts(real, guest->root) || !is_regular_file(real) ||
	    is_compressed(real) ||
	    (real[strlen(guest->root)] != '/' && strcmp(guest->root, "/"))) {
		free(real);
		return NULL;
	}
	if (!elf_file__is_modest(real, &limit)) {
		pr_debug("Guest %s: %s has more than %s, not used\n", guest->name, real,
			 limit ?: "a program");
		if (limit)
			warn_large(guest, real, limit);
		goto out_free;
	}
	if (bid ? has_build_id(real, bid) : has_print(real, print))
		return real;

	if (bid)
		guest->nr_foreign_files++;
	else
		guest->nr_other_files++;
	pr_debug("Guest %s: %s %s the guest has, not used\n", guest->name, real,
		 bid ? "has not the build-id that" : "is not the file without a build-id that");
out_free:
	free(real);
	return NULL;
}

/* As find_called(); what was deleted since it was mapped may still be here. */
static char *find_file(struct kvm_guest *guest, const char *name, const struct build_id *bid,
		       const struct build_id *print)
{
	char *real = find_called(guest, name, bid, print), *old_name;

	if (real || !guest_file__is_deleted(name))
		return real;
	old_name = strndup(name, strlen(name) - strlen(GUEST_FILE_DELETED));
	if (old_name)
		real = find_called(guest, old_name, bid, print);
	free(old_name);
	return real;
}

static size_t file__hash(long key, void *ctx __maybe_unused)
{
	return str_hash((const char *)key);
}

static bool file__equal(long a, long b, void *ctx __maybe_unused)
{
	return !strcmp((const char *)a, (const char *)b);
}

/* As find_file(), but each is looked for once, however often it is mapped. Not freed */
static const char *kvm_guest__file(struct kvm_guest *guest, const char *name,
				   const struct build_id *bid, const struct build_id *print)
{
	char id[SBUILD_ID_SIZE], key[SBUILD_ID_SIZE + 1 + PATH_MAX], *copy, *real = NULL;
	u64 start;

	build_id__snprintf(bid ?: print, id, sizeof(id));
	scnprintf(key, sizeof(key), "%s%c%s", id, bid ? '/' : '?', name);
	if (!guest->files)
		guest->files = hash_map__new(file__hash, file__equal, NULL);
	if (!guest->files)
		return NULL;
	if (hashmap__find(guest->files, key, &real))
		return real;

	if (guest->files_ns > GUEST_FILES_MAX_NS || hashmap__size(guest->files) >= GUEST_FILES_MAX)
		return NULL;
	start = cpu_time_ns();
	real = find_file(guest, name, bid, print);
	guest->files_ns += cpu_time_ns() - start;
	if (guest->files_ns > GUEST_FILES_MAX_NS)
		unified_warning("Guest %s: it takes too long to find its files below %s, the rest is not looked for\n",
				guest->name, guest->root);

	copy = strdup(key);
	if (!copy || hashmap__add(guest->files, copy, real)) {
		free(copy);
		zfree(&real);
	}
	return real;
}

void kvm_guest__free_files(struct kvm_guest *guest)
{
	struct hashmap_entry *entry;
	size_t bkt;

	if (!guest->files)
		return;
	hashmap__for_each_entry(guest->files, entry, bkt) {
		free((void *)entry->pkey);
		free(entry->pvalue);
	}
	hashmap__free(guest->files);
	guest->files = NULL;
}

/*
 * The guest's name of a file made a name on the host: that of the file below
 * the guest's root directory if it is there and has the build-id that the guest
 * says, and otherwise one in a directory that nobody makes. Symbols come from
 * perf's build-id cache then, which goes by build-id alone. @bid, @print: may be
 * NULL. Is it a file of the host?
 */
bool guest_file_name(struct kvm_guest *guest, const char *name, const struct build_id *bid,
		     const struct build_id *print, char *buf, size_t size)
{
	const char *real = NULL;

	if (guest->root && name[0] == '/' && name[1] != '/' && (bid || print) &&
	    strnlen(name, PATH_MAX) < PATH_MAX)
		real = kvm_guest__file(guest, name, bid, print);
	if (real) {
		strlcpy(buf, real, size);
		return true;
	}

	/* Not just "[name]": a VM may be called "heap", which perf takes for one. */
	scnprintf(buf, size, GUEST_FILE_PREFIX "%s]%s%s", guest->name, name[0] == '/' ? "" : "/",
		  name);
	text__make_printable(buf);
	/* Nor may it lead anywhere else. */
	for (char *p = buf; (p = strstr(p, ".."));)
		*p = '?';
	return false;
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
	text__make_printable(buf);
}

/* The path of @dso's file in the guest, a part of the dso's name; NULL: it is of no such file */
const char *guest_file__path(const struct kvm_guest *guest, const struct dso *dso)
{
	const char *name = dso__long_name(dso), *root = guest->root ?: "";
	size_t len = strlen(root);

	if (strstarts(name, GUEST_FILE_PREFIX)) {
		name += strlen(GUEST_FILE_PREFIX);
		len = strlen(guest->name);
		return strstarts(name, guest->name) && name[len] == ']' ? name + len + 1 : NULL;
	}
	if (!strcmp(root, "/"))
		return name;
	return len && strstarts(name, root) && name[len] == '/' ? name + len : NULL;
}

/**
 * guest_file__elsewhere - how a guest calls a file that the host has not got
 * @dso: of that guest
 *
 * A part of the dso's name, or NULL: it is a file of the host, or in memory alone.
 */
const char *guest_file__elsewhere(const struct kvm_guest *guest, const struct dso *dso)
{
	const char *name = strstarts(dso__long_name(dso), GUEST_FILE_PREFIX) ?
			   guest_file__path(guest, dso) : NULL;

	if (!name)
		return NULL;
	/* [vdso] and what a process has made itself have the names of their own code. */
	return name[0] == '/' && name[1] != '[' && !strstarts(name, "/memfd:") ? name : NULL;
}

/* The same of a file for which nobody can find symbols; NULL, too: it has a build-id */
const char *guest_file__without_build_id(const struct kvm_guest *guest, const struct dso *dso)
{
	const struct build_id *bid = dso__bid(dso);

	for (size_t i = 0; i < bid->size; i++) {
		if (bid->data[i] != GUEST_NO_BUILD_ID_BYTE)
			return NULL;
	}
	return bid->size ? guest_file__elsewhere(guest, dso) : NULL;
}
