/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_PATTERNS_H
#define __PERF_KVM_UNIFIED_LIB_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct pattern - what names are chosen by
 * @text: as it was given
 * @matched: there was such a name
 * @in_file: not given on the command line itself
 */
struct pattern {
	char *text;
	bool matched;
	bool in_file;
};

/**
 * struct named - what is chosen by its name, or by what is short for it
 * @number: of it alone
 */
struct named {
	const char *name;
	long number;
};

/**
 * struct patterns - names and patterns of an option
 * @entries: @nr of them; first the @nr_globs patterns, then whole names, in order
 */
struct patterns {
	struct pattern *entries;
	size_t nr;
	size_t nr_globs;
	size_t allocated;
};

struct patterns *patterns__new(const char *list, char *why, size_t size);
struct patterns *patterns__parse(const char *option, const char *list);
void patterns__delete(struct patterns *patterns);
bool patterns__match(struct patterns *patterns, const char *name);

const struct named *named__find(const struct named *all, size_t nr, const char *text);
int patterns__complete(struct patterns *patterns, const struct named *all, size_t nr);

bool pattern__is_glob(const char *text);
bool pattern__match(const char *text, const char *name);

char *list__next_item(const char **list);

#endif /* __PERF_KVM_UNIFIED_LIB_PATTERNS_H */
