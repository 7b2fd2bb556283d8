// SPDX-License-Identifier: GPL-2.0
/*
 * What options choose names by: lists of names, and of patterns as perf has them for events.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "util/debug.h"
#include "util/string2.h"
#include "array.h"
#include "patterns.h"
#include "sort.h"

/* As in perf's lists, whose reading of files takes lines apart and leaves \\r in them */
#define FILE_PREFIX	"file://"

/*
 * Names that begin with a bracket are many here, such as [kernel] and [idle] (halt_exit): a
 * class of characters can be anywhere else.
 */
bool pattern__is_glob(const char *text)
{
	if (*text == '[')
		text++;
	return strisglob(text) || strchr(text, '\\');
}

/* A name is chosen by itself, too, whatever is in it. */
bool pattern__match(const char *text, const char *name)
{
	if (!strcmp(text, name))
		return true;
	if (*text == '[') {
		if (*name != '[')
			return false;
		text++;
		name++;
	}
	return strglobmatch(name, text);
}

/**
 * list__next_item - what is in front of the next comma
 * @list: moves after that, or becomes NULL at the end
 *
 * A comma after a backslash is of the item; the backslash stays, it is so in patterns. Not by
 * strpbrk_esc(), which reads in front of a list that begins with the two.
 *
 * Return: to be freed, or NULL: no memory
 */
char *list__next_item(const char **list)
{
	const char *start = *list;
	size_t len = 0;

	while (start[len] && start[len] != ',')
		len += start[len] == '\\' && start[len + 1] ? 2 : 1;
	*list = start[len] ? start + len + 1 : NULL;
	return strndup(start, len);
}

/* Takes the text of @pattern. 0 or -errno */
static int patterns__add(struct patterns *patterns, struct pattern pattern)
{
	int ret = !pattern.text ? -ENOMEM : !*pattern.text ? -EINVAL : 0;

	if (!ret)
		ret = grow_array(patterns->entries, patterns->nr, patterns->allocated);
	if (ret) {
		free(pattern.text);
		return ret;
	}
	patterns->entries[patterns->nr++] = pattern;
	return 0;
}

/* Not those of no characters but blanks. 0 or -ENOMEM */
static int patterns__add_line(struct patterns *patterns, char *line)
{
	line[strcspn(line, "\r\n")] = '\0';
	if (!line[strspn(line, " \t")])
		return 0;
	return patterns__add(patterns, (struct pattern) { .text = strdup(line), .in_file = true });
}

/* A line each. 0 or -errno */
static int patterns__add_lines(struct patterns *patterns, FILE *file)
{
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	errno = 0;
	while (!ret && getline(&line, &size, file) >= 0)
		ret = patterns__add_line(patterns, line);
	if (!ret && !feof(file))
		ret = errno ? -errno : -EIO;
	free(line);
	return ret;
}

/* 0 or -errno; @why: gets what is wrong */
static int patterns__add_file(struct patterns *patterns, const char *path, char *why, size_t size)
{
	size_t nr = patterns->nr;
	FILE *file = fopen(path, "r");
	int ret = file ? patterns__add_lines(patterns, file) : -errno;

	if (file)
		fclose(file);
	if (ret) {
		scnprintf(why, size, "Cannot read %s: %s", path, strerror(-ret));
	} else if (patterns->nr == nr) {
		scnprintf(why, size, "There is no name in %s", path);
		ret = -EINVAL;
	}
	return ret;
}

static int pattern__cmp(const void *_a, const void *_b)
{
	const struct pattern *a = _a, *b = _b;
	bool a_is_glob = pattern__is_glob(a->text), b_is_glob = pattern__is_glob(b->text);

	return a_is_glob != b_is_glob ? b_is_glob - a_is_glob : strcmp(a->text, b->text);
}

static bool pattern__is_before(const void *entry, const void *name)
{
	return strcmp(((const struct pattern *)entry)->text, name) < 0;
}

/* Each once. 0, or -EEXIST: one is given twice, and not in a file */
static int patterns__sort(struct patterns *patterns)
{
	size_t nr = 0;
	int ret = 0;

	sort_array(patterns->entries, patterns->nr, sizeof(*patterns->entries), pattern__cmp);
	for (size_t i = 0; i < patterns->nr; i++) {
		struct pattern *last = nr ? &patterns->entries[nr - 1] : NULL;
		struct pattern *pattern = &patterns->entries[i];

		if (!last || strcmp(last->text, pattern->text)) {
			patterns->nr_globs += pattern__is_glob(pattern->text);
			patterns->entries[nr++] = *pattern;
			continue;
		}
		if (!last->in_file && !pattern->in_file)
			ret = -EEXIST;
		last->in_file &= pattern->in_file;
		free(pattern->text);
	}
	patterns->nr = nr;
	return ret;
}

/**
 * patterns__new - the patterns of a list
 * @list: with commas between them; file://FILE stands for the lines of that file
 * @why: gets what is wrong with a file, or nothing
 *
 * Return: to be given to patterns__delete(). NULL: no memory, no such file or nothing in it, one
 * is empty, or is given twice
 */
struct patterns *patterns__new(const char *list, char *why, size_t size)
{
	struct patterns *patterns = zalloc(sizeof(*patterns));
	int ret = 0;

	*why = '\0';
	if (!patterns)
		return NULL;
	while (!ret && list) {
		char *item = list__next_item(&list);

		if (!item || !strstarts(item, FILE_PREFIX)) {
			ret = patterns__add(patterns, (struct pattern) { .text = item });
			continue;
		}
		ret = patterns__add_file(patterns, item + strlen(FILE_PREFIX), why, size);
		free(item);
	}
	if (!ret)
		ret = patterns__sort(patterns);
	if (!ret)
		return patterns;
	patterns__delete(patterns);
	return NULL;
}

/* The patterns of --@option. NULL, with a message: see patterns__new() */
struct patterns *patterns__parse(const char *option, const char *list)
{
	char why[PATH_MAX + 64];
	struct patterns *patterns = patterns__new(list, why, sizeof(why));

	if (patterns)
		return patterns;
	if (*why)
		pr_err("--%s: %s\n", option, why);
	else
		pr_err("--%s wants names or patterns, each once, with commas between them, not '%s'\n",
		       option, list);
	return NULL;
}

void patterns__delete(struct patterns *patterns)
{
	if (!patterns)
		return;
	for (size_t i = 0; i < patterns->nr; i++)
		free(patterns->entries[i].text);
	free(patterns->entries);
	free(patterns);
}

/*
 * Does one of them stand for @name? What has none is chosen by no pattern. Those that do are
 * marked, all of them: so it is known at the end which did not.
 */
bool patterns__match(struct patterns *patterns, const char *name)
{
	bool found = false;
	size_t i;

	if (!*name)
		return false;
	for (i = 0; i < patterns->nr_globs; i++) {
		struct pattern *pattern = &patterns->entries[i];

		if ((found && pattern->matched) || !pattern__match(pattern->text, name))
			continue;
		pattern->matched = true;
		found = true;
	}
	i += sort_find(patterns->entries + i, patterns->nr - i, sizeof(*patterns->entries), name,
		       pattern__is_before);
	if (i == patterns->nr || strcmp(patterns->entries[i].text, name))
		return found;
	patterns->entries[i].matched = true;
	return true;
}

static const struct named *find_whole(const struct named *all, size_t nr, const char *text)
{
	char *end;
	long number;

	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(all[i].name, text))
			return &all[i];
	}
	errno = 0;
	number = strtol(text, &end, 10);
	for (size_t i = 0; !errno && *text && !*end && i < nr; i++) {
		if (all[i].number == number)
			return &all[i];
	}
	return NULL;
}

/**
 * named__find - which of @all, @nr of them, is meant by @text
 *
 * The one with that name, else with that number, else the only one whose name begins so: several
 * with one name are one. NULL: none is, or more than one may be
 */
const struct named *named__find(const struct named *all, size_t nr, const char *text)
{
	const struct named *found = find_whole(all, nr, text);

	if (found || !*text)
		return found;
	for (size_t i = 0; i < nr; i++) {
		if (!strstarts(all[i].name, text) || (found && !strcmp(found->name, all[i].name)))
			continue;
		if (found)
			return NULL;
		found = &all[i];
	}
	return found;
}

/**
 * patterns__complete - whole names in place of what is short for them
 * @all: those that there are, @nr of them: see named__find()
 *
 * 0 or -ENOMEM
 */
int patterns__complete(struct patterns *patterns, const struct named *all, size_t nr)
{
	for (size_t i = patterns->nr_globs; i < patterns->nr; i++) {
		struct pattern *pattern = &patterns->entries[i];
		const struct named *found = named__find(all, nr, pattern->text);
		char *name;

		if (!found || !strcmp(found->name, pattern->text))
			continue;
		name = strdup(found->name);
		if (!name)
			return -ENOMEM;
		free(pattern->text);
		pattern->text = name;
	}
	/* Two that mean the same are no reason to stop. */
	patterns->nr_globs = 0;
	patterns__sort(patterns);
	return 0;
}
