// SPDX-License-Identifier: GPL-2.0
/*
 * Functions as a guest's map tells of them: lines of text, which come in pieces.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "util/dso.h"
#include "util/symbol.h"
#include "kvm-unified/lib/names.h"
#include "symbol-text.h"

/* The longest name of a function that a JIT compiler gives */
#define GUEST_SYMBOL_MAX_LEN	1024

/* "start size name", start and size in hex, and @name is after them. Does it make sense? */
bool guest_symbol__parse_range(const char *line, u64 *start, u64 *size, const char **name)
{
	char *at;

	*start = strtoull(line, &at, 16);
	if (*at != ' ')
		return false;
	*size = strtoull(at, &at, 16);
	*name = at + 1;
	return *at == ' ' && *size && *start + *size >= *start;
}

/**
 * guest_symbol__parse - make a symbol of what a guest says
 * @line: "start size name", start and size in hex; changed
 * @sym: the result; NULL: it makes none
 *
 * 0 or -ENOMEM
 */
int guest_symbol__parse(char *line, struct symbol **sym)
{
	const char *behind;
	u64 start, size;
	char *name;

	*sym = NULL;
	if (!guest_symbol__parse_range(line, &start, &size, &behind))
		return 0;
	name = line + (behind - line);
	if (strlen(name) >= GUEST_SYMBOL_MAX_LEN)
		name[GUEST_SYMBOL_MAX_LEN - 1] = '\0';
	text__make_printable(name);

	*sym = symbol__new(start, size, STB_GLOBAL, STT_FUNC, name);
	return *sym ? 0 : -ENOMEM;
}

u32 guest_text__count_lines(const char *text, u32 len)
{
	u32 nr = 0;

	for (u32 i = 0; i < len; i++)
		nr += text[i] == '\n';
	return nr;
}

/* Adds @len bytes of @more to *@text, which ends with a 0 after its *@text_len. 0 or -ENOMEM */
int guest_text__append(char **text, size_t *text_len, const char *more, size_t len)
{
	char *grown = realloc(*text, *text_len + len + 1);

	if (!grown)
		return -ENOMEM;
	memcpy(grown + *text_len, more, len);
	*text = grown;
	*text_len += len;
	grown[*text_len] = '\0';
	return 0;
}

/* @dso gets the functions of @text, of @len bytes and a 0. 0 or -ENOMEM */
int guest_text__load_symbols(struct dso *dso, const char *text, size_t len)
{
	char *copy = memdup(text, len + 1), *at = copy, *line;
	int ret = copy ? 0 : -ENOMEM;

	while (!ret && (line = strsep(&at, "\n"))) {
		struct symbol *sym;

		ret = guest_symbol__parse(line, &sym);
		if (sym)
			symbols__insert(dso__symbols(dso), sym);
	}
	free(copy);
	if (ret)
		return ret;
	/* As in a file: of several names of a place, the one that perf would take */
	symbols__fixup_duplicate(dso__symbols(dso));
	dso__set_loaded(dso);
	return 0;
}
