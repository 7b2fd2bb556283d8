/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_NAMES_H
#define __PERF_KVM_UNIFIED_LIB_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct hashmap;

/* Names in a message: so many of them, and how many there are besides */
#define NAMES_SHOWN	4
/* Names of C++ have kilobytes. */
#define NAME_SHOWN_LEN	64
#define NAMES_MORE_LEN	32

/**
 * struct name_list - "a, b, c, d, ... 9 more"
 * @nr: how many were added
 */
struct name_list {
	size_t nr;
	char text[NAMES_SHOWN * (NAME_SHOWN_LEN + sizeof(", ")) + NAMES_MORE_LEN];
};

char char__printable(char c);
void text__make_printable(char *text);
void name_list__add(struct name_list *list, const char *name);
const char *name_list__end(struct name_list *list);

/**
 * struct near_names - those that are most like one that there is not
 * @wanted: that
 * @all: of those that there are
 * @begin_so: of those that begin like it
 * @nr: that are like it, the nearest first; the strings are to stay
 */
struct near_names {
	const char *wanted;
	struct name_list all;
	struct name_list begin_so;
	size_t nr;
	struct near_name {
		const char *name;
		int distance;
	} names[NAMES_SHOWN];
	struct name_list list;
};

void near_names__add(struct near_names *near, const char *name);
bool near_names__add_once(struct near_names *near, struct hashmap *seen, const char *name);
const char *near_names__list(struct near_names *near);
const char *near_names__sentence(struct near_names *near, const char **names);

#endif /* __PERF_KVM_UNIFIED_LIB_NAMES_H */
