// SPDX-License-Identifier: GPL-2.0
/*
 * Names in messages: of many, a few, and of those that there are, the ones that are like one
 * that there is not.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "util/hashmap.h"
#include "util/levenshtein.h"
#include "names.h"

/*
 * As perf does it for its commands: two letters that are swapped cost nothing, one that is
 * another counts as one less and one more, and from SIMILARITY_FLOOR on it is no likeness. Nor
 * is it if that is as much as all of the name.
 */
#define SWAPPED			0
#define SUBSTITUTED		2
#define ADDED			1
#define SIMILARITY_FLOOR	6

/* Shorter names are part of many others. */
#define PART_MIN_LEN		3

/* @c if a terminal takes it for text, whatever its character set, else '?' */
char char__printable(char c)
{
	return isascii(c) && isprint(c) ? c : '?';
}

/* Whatever it came from, and whatever prints it: leaves what a terminal takes for text. */
void text__make_printable(char *text)
{
	for (; *text; text++)
		*text = char__printable(*text);
}

/* Whatever it came from */
static void append(struct name_list *list, const char *str, size_t max)
{
	size_t at = strlen(list->text);

	for (; *str && max && at < sizeof(list->text) - 1; str++, max--)
		list->text[at++] = char__printable(*str);
	list->text[at] = '\0';
}

/* @list: begins as { } */
void name_list__add(struct name_list *list, const char *name)
{
	if (list->nr++ >= NAMES_SHOWN)
		return;
	if (list->nr > 1)
		append(list, ", ", sizeof(", ") - 1);
	append(list, name, NAME_SHOWN_LEN);
}

/* All have been added: the text */
const char *name_list__end(struct name_list *list)
{
	char more[NAMES_MORE_LEN];

	if (list->nr > NAMES_SHOWN) {
		scnprintf(more, sizeof(more), ", ... %zu more", list->nr - NAMES_SHOWN);
		append(list, more, sizeof(more));
	}
	return list->text;
}

static int cost_of(const char *wanted, const char *name)
{
	return levenshtein(wanted, name, SWAPPED, SUBSTITUTED, ADDED, ADDED);
}

/* How far @name is from what is wanted, or -1: it is not near */
static int distance(const char *wanted, const char *name)
{
	size_t len = strlen(wanted);
	char head[NAME_SHOWN_LEN];
	int cost;

	if (len >= PART_MIN_LEN && strcasestr(name, wanted))
		return 0;
	/* All that is missing costs something, and names that are long cost time. */
	if (strlen(name) + SIMILARITY_FLOOR <= len || len >= sizeof(head))
		return -1;
	if (strlen(name) < len + SIMILARITY_FLOOR) {
		cost = cost_of(wanted, name);
	} else {
		/* Compilers put something after the names of functions. */
		scnprintf(head, len + 1, "%s", name);
		cost = cost_of(wanted, head);
	}
	return cost < SIMILARITY_FLOOR && cost < (int)len ? cost : -1;
}

/* @near: begins with what is wanted, and nothing else */
void near_names__add(struct near_names *near, const char *name)
{
	int cost;
	size_t at;

	name_list__add(&near->all, name);
	if (strstarts(name, near->wanted))
		name_list__add(&near->begin_so, name);
	if (!*name)
		return;
	for (at = 0; at < near->nr; at++) {
		if (!strcmp(near->names[at].name, name))
			return;
	}
	cost = distance(near->wanted, name);
	if (cost < 0)
		return;
	for (at = near->nr; at && near->names[at - 1].distance > cost; at--) {
		if (at < NAMES_SHOWN)
			near->names[at] = near->names[at - 1];
	}
	if (at == NAMES_SHOWN)
		return;
	near->names[at] = (struct near_name) { .name = name, .distance = cost };
	if (near->nr < NAMES_SHOWN)
		near->nr++;
}

/* As near_names__add(), but for a name that is in @seen, by name_map__new(). Was it not? */
bool near_names__add_once(struct near_names *near, struct hashmap *seen, const char *name)
{
	if (hashmap__add(seen, name, 1))
		return false;
	near_names__add(near, name);
	return true;
}

/* All have been added: "a, b" of those that are like it */
const char *near_names__list(struct near_names *near)
{
	near->list = (struct name_list) { };
	for (size_t i = 0; i < near->nr; i++)
		name_list__add(&near->list, near->names[i].name);
	return name_list__end(&near->list);
}

/*
 * All have been added, each once: those that are like it, or if it is like none, or there are
 * few, those that there are. What they are, and in @names, which
 */
const char *near_names__sentence(struct near_names *near, const char **names)
{
	if (near->nr && near->all.nr > NAMES_SHOWN) {
		*names = near_names__list(near);
		return " Like it: ";
	}
	*names = name_list__end(&near->all);
	return near->all.nr ? " There is: " : " There is none.";
}
