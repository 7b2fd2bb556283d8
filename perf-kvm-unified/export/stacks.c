// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks in the folded format: a line is "outer;inner;innermost 1234". No session; what is put
 * into frames may come out of a guest.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "util/hashmap.h"
#include "util/strbuf.h"
#include "kvm-unified/lib/name-map.h"
#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/sort.h"
#include "stacks.h"

/* A frame without a name is called so: readers do not expect an empty one. */
#define NAMELESS_FRAME	"[unknown]"

struct folded_stack {
	u64	ns;
	char	text[];
};

/* As stackcollapse-perf.pl has a semicolon in a name, and all printers here what is no ASCII */
static char frame_char(char c)
{
	if (c == ';')
		return ':';
	return char__printable(c);
}

/**
 * stack__push - put a frame inside of those that there are
 * @fmt: its name, in which any character may be
 *
 * 0 or -ENOMEM
 */
int stack__push(struct strbuf *stack, const char *fmt, ...)
{
	va_list args;
	char *name;
	int ret;

	va_start(args, fmt);
	ret = vasprintf(&name, fmt, args);
	va_end(args);
	if (ret < 0)
		return -ENOMEM;
	for (char *c = name; *c; c++)
		*c = frame_char(*c);
	ret = stack->len ? strbuf_addch(stack, ';') : 0;
	if (!ret)
		ret = strbuf_addstr(stack, name[0] ? name : NAMELESS_FRAME);
	free(name);
	return ret ? -ENOMEM : 0;
}

/*
 * All frames are there. flamegraph.pl and inferno take a line with two numbers at its end for the
 * difference of two profiles: a number at the end of a name is joined to the word before it.
 */
void stack__end(struct strbuf *stack)
{
	char *blank = strrchr(stack->buf, ' '), *word;

	if (!blank)
		return;
	word = blank + 1;
	if (isdigit((unsigned char)*word) && !word[strspn(word, "0123456789.")])
		*blank = '_';
}

/* 0 or -ENOMEM */
int stacks__init(struct stacks *stacks)
{
	stacks->by_text = name_map__new();
	return stacks->by_text ? 0 : -ENOMEM;
}

void stacks__exit(struct stacks *stacks)
{
	struct hashmap_entry *entry;
	size_t bkt;

	if (stacks->by_text) {
		hashmap__for_each_entry(stacks->by_text, entry, bkt)
			free(entry->pvalue);
	}
	hashmap__free(stacks->by_text);
	stacks->by_text = NULL;
}

/* @text: copied. 0 or -ENOMEM */
int stacks__add(struct stacks *stacks, const char *text, u64 ns)
{
	size_t size = strlen(text) + 1;
	struct folded_stack *stack;

	if (hashmap__find(stacks->by_text, text, &stack)) {
		stack->ns += ns;
		return 0;
	}
	stack = malloc(sizeof(*stack) + size);
	if (!stack)
		return -ENOMEM;
	stack->ns = ns;
	memcpy(stack->text, text, size);
	if (!hashmap__add(stacks->by_text, stack->text, stack))
		return 0;
	free(stack);
	return -ENOMEM;
}

/* Most time first, and the same order for the same profile */
static int stack__cmp(const void *_a, const void *_b)
{
	const struct folded_stack *a = *(const struct folded_stack **)_a;
	const struct folded_stack *b = *(const struct folded_stack **)_b;

	return sort_cmp(b->ns, a->ns) ?: strcmp(a->text, b->text);
}

/* The one with most time first. 0, -ENOMEM, or what @fn has returned if that is not 0 */
int stacks__for_each(const struct stacks *stacks, stack_fn fn, void *arg)
{
	size_t nr = hashmap__size(stacks->by_text), bkt, i = 0;
	/* One more: no stack is not an error */
	const struct folded_stack **sorted = calloc(nr + 1, sizeof(*sorted));
	struct hashmap_entry *entry;
	int ret = 0;

	if (!sorted)
		return -ENOMEM;
	hashmap__for_each_entry(stacks->by_text, entry, bkt)
		sorted[i++] = entry->pvalue;
	sort_array(sorted, nr, sizeof(*sorted), stack__cmp);
	for (i = 0; !ret && i < nr; i++)
		ret = fn(arg, sorted[i]->text, sorted[i]->ns);
	free(sorted);
	return ret;
}

static int print_stack(void *fp, const char *text, u64 ns)
{
	return fprintf(fp, "%s %" PRIu64 "\n", text, ns) < 0 ? -errno : 0;
}

/* Prints the folded format. 0 or -errno: what is still in the buffer of @fp may fail later. */
int stacks__print(const struct stacks *stacks, FILE *fp)
{
	return stacks__for_each(stacks, print_stack, fp);
}
