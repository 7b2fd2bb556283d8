// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of kallsyms, found in a kernel's read-only data by their own shape, as no symbol
 * says where they are: it is they that say it. scripts/kallsyms.c writes them; what they are
 * one after the other, each aligned to 8 bytes, since 7.0 to 4:
 *
 *	5.10	offsets base num names markers		 tokens index
 *	6.2	offsets base num names markers sequences tokens index
 *	6.4		     num names markers		 tokens index offsets base sequences
 *	7.0		     num names markers		 tokens index offsets	   sequences
 *
 * It begins with the tokens: those of the ten digits stand for themselves, in any kernel. All
 * else has to agree with what was found before: the index with the tokens, to the last of
 * 256, the names with each of their markers, and the addresses have to ascend.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/zalloc.h>

#include "kvm-unified/lib/x86.h"
#include "kallsyms.h"

#define NR_TOKENS		256
#define INDEX_SIZE		(NR_TOKENS * sizeof(u16))

/* A name, before and after it is expanded, is shorter: KSYM_NAME_LEN is 512 since 6.1. */
#define MAX_NAME		512

/* The least distance of the first and the last symbol: a kernel has 8 MiB of code at least. */
#define MIN_SPAN		(4ULL << 20)

/* There is a marker for so many names. */
#define NAMES_PER_MARKER	256

/* A kernel with less has no modules, no network and no perf: any has 20,000. */
#define MIN_MARKERS		16

/* A kernel with all that there is built in has half of that, 30 bytes each. */
#define MAX_SYMBOLS		(1U << 20)
#define MAX_NAMES_SIZE		(32U << 20)

/* Between markers and tokens, there may be three bytes for each symbol. */
#define SEQUENCE_SIZE		3

/* What all tries may cost, in markers, names and addresses that are stepped over */
#define MAX_STEPS		(32U << 20)

/* So many places look like tokens at most: one is right. */
#define MAX_TOKEN_TABLES	64

struct tables {
	const u8 *image;
	size_t	len;
	u64	va;
	size_t	tokens;			/* offsets in the image of these: */
	size_t	index;
	size_t	markers;
	size_t	names;
	size_t	num;
	u32	nr;			/* symbols */
	u32	nr_markers;
	u32	steps;
	u16	token[NR_TOKENS];	/* where each is in the table */
};

static u32 get_u32(const struct tables *t, size_t at)
{
	u32 v;

	memcpy(&v, t->image + at, sizeof(v));
	return v;
}

static u64 get_u64(const struct tables *t, size_t at)
{
	u64 v;

	memcpy(&v, t->image + at, sizeof(v));
	return v;
}

static bool has(const struct tables *t, size_t at, size_t size)
{
	return at <= t->len && size <= t->len - at;
}

/* The tokens of the ten digits */
static const char digits[] = "0\0001\0002\0003\0004\0005\0006\0007\0008\0009";

/* The token of a character is the string that stands for it: go back over those before '0'. */
static bool find_token_table(struct tables *t, size_t digit0)
{
	size_t at = digit0;

	for (int i = '0'; i > 0; i--) {
		size_t limit = at > MAX_NAME ? at - MAX_NAME : 0;

		/* The byte before this token is the end of the one before it. */
		if (at < 2 || t->image[at - 1])
			return false;
		for (at--; at > limit && t->image[at - 1]; at--)
			;
	}
	t->tokens = at;
	return true;
}

/* Do tokens and index say the same? @align: of the index */
static bool check_index(struct tables *t, size_t align)
{
	size_t at = t->tokens;

	for (int i = 0; i < NR_TOKENS; i++) {
		const u8 *end = at < t->len ? memchr(t->image + at, '\0',
						     min_t(size_t, MAX_NAME, t->len - at)) : NULL;

		if (!end || at - t->tokens > UINT16_MAX)
			return false;
		t->token[i] = at - t->tokens;
		at = end + 1 - t->image;
	}
	at = (at + align - 1) & ~(align - 1);
	if (!has(t, at, INDEX_SIZE) || memcmp(t->image + at, t->token, INDEX_SIZE))
		return false;
	t->index = at;
	return true;
}

/*
 * The first token is not always that of one character: it may be empty, and then it cannot be
 * told from what is before the table. It begins at a multiple of four.
 */
static bool find_tokens(struct tables *t, size_t digit0)
{
	if (!find_token_table(t, digit0))
		return false;
	for (size_t at = t->tokens & ~3ULL; at <= t->tokens + 4; at += 4) {
		struct tables try = *t;

		try.tokens = at;
		if (check_index(&try, 8) || check_index(&try, 4)) {
			*t = try;
			return true;
		}
	}
	return false;
}

/* Is the distance of two markers that of so many names? */
static bool is_marker_step(u32 from, u32 to)
{
	return to > from && to - from >= 2 * NAMES_PER_MARKER &&
	       to - from <= (MAX_NAME + 2) * NAMES_PER_MARKER;
}

/* Do markers end just before @end? They ascend from 0. */
static bool find_markers_before(struct tables *t, size_t end)
{
	size_t at = end - sizeof(u32);
	u32 n = 1, last = get_u32(t, at);

	while (last) {
		u32 before;

		if (at < sizeof(u32) || n > MAX_SYMBOLS / NAMES_PER_MARKER ||
		    t->steps++ > MAX_STEPS)
			return false;
		at -= sizeof(u32);
		before = get_u32(t, at);
		if (!is_marker_step(before, last))
			return false;
		last = before;
		n++;
	}
	if (n < MIN_MARKERS)
		return false;
	t->markers = at;
	t->nr_markers = n;
	return true;
}

/* Finds the markers, before the tokens or before sequences of as many names as they are for. */
static bool find_markers(struct tables *t)
{
	size_t longest = (size_t)SEQUENCE_SIZE * MAX_SYMBOLS, end = t->tokens & ~3ULL;
	size_t limit = end > longest ? end - longest : 0;

	for (; end > limit + sizeof(u32); end -= sizeof(u32)) {
		if (find_markers_before(t, end))
			return true;
	}
	return false;
}

/* The length of a name before it is expanded, in one byte or two, at *@at, which is moved on */
static bool read_length(const struct tables *t, size_t *at, u32 *length)
{
	u32 n;

	if (!has(t, *at, 2))
		return false;
	n = t->image[(*at)++];
	if (n & 0x80)
		n = (n & 0x7f) | t->image[(*at)++] << 7;
	*length = n;
	return n && n <= MAX_NAME && has(t, *at, n);
}

/* Do @t->nr names begin at @t->names, with each marker right, and end before the markers? */
static bool check_names(struct tables *t)
{
	size_t at = t->names;

	for (u32 i = 0; i < t->nr; i++) {
		u32 length;

		if (i % NAMES_PER_MARKER == 0 &&
		    at - t->names != get_u32(t, t->markers + i / NAMES_PER_MARKER * sizeof(u32)))
			return false;
		if (t->steps++ > MAX_STEPS || !read_length(t, &at, &length))
			return false;
		at += length;
	}
	return at <= t->markers && t->markers - at < sizeof(u64);
}

/* The number of names, and then they, so far before the markers as the last of these says */
static bool find_names(struct tables *t)
{
	u32 last = get_u32(t, t->markers + (t->nr_markers - 1) * sizeof(u32));
	size_t most = last + (size_t)NAMES_PER_MARKER * (MAX_NAME + 2);
	size_t limit = t->markers > most ? t->markers - most : sizeof(u64);
	size_t at;

	if (t->markers < last + sizeof(u64))
		return false;
	for (at = (t->markers - last) & ~3ULL; at >= limit && at >= sizeof(u64); at -= 4) {
		for (size_t before = 4; before <= 8; before += 4) {
			u32 nr = get_u32(t, at - before);

			/* Padding, if there is any, is zero. */
			if ((nr + NAMES_PER_MARKER - 1) / NAMES_PER_MARKER != t->nr_markers ||
			    nr > MAX_SYMBOLS || (before == 8 && get_u32(t, at - 4)))
				continue;
			t->names = at;
			t->num = at - before;
			t->nr = nr;
			if (check_names(t))
				return true;
		}
	}
	return false;
}

static u64 symbol_address(const struct tables *t, enum kallsyms_encoding encoding, size_t offsets,
			  u64 base, u32 i)
{
	size_t at = offsets + i * sizeof(u32);
	s32 offset = get_u32(t, at);

	switch (encoding) {
	case KALLSYMS_ABSOLUTE_PERCPU:
		return offset >= 0 ? (u64)offset : base - 1 - offset;
	case KALLSYMS_BASE_RELATIVE:
		return base + (u32)offset;
	case KALLSYMS_PLACE_RELATIVE:
		return t->va + at + offset;
	case KALLSYMS_NONE:
	default:
		return 0;
	}
}

/*
 * Do the addresses ascend, as kallsyms has them sorted, and are most within the image, and all over
 * it? Only per-CPU symbols, which are numbers of their own, are not.
 */
static bool check_addresses(struct tables *t, enum kallsyms_encoding encoding,
			    size_t offsets, u64 base)
{
	u64 last = 0, first_inside = 0, last_inside = 0;
	u32 inside = 0;

	for (u32 i = 0; i < t->nr; i++) {
		u64 addr = symbol_address(t, encoding, offsets, base, i);

		if (addr < last || t->steps++ > MAX_STEPS)
			return false;
		last = addr;
		if (addr < X86_KERNEL_IMAGE_START || addr >= X86_KERNEL_IMAGE_END)
			continue;
		if (!inside++)
			first_inside = addr;
		last_inside = addr;
	}
	return inside >= t->nr / 2 && last_inside - first_inside >= MIN_SPAN;
}

/*
 * The one encoding and place of the offsets that make sense. Those with a base have it after them,
 * or before the number of names. They are told from those with per-CPU symbols by the order of the
 * addresses: one of them has them descend. What is relative to its place comes last, as what is
 * relative to a base ascends as that, too.
 */
static enum kallsyms_encoding find_offsets(struct tables *t, size_t *offsets, u64 *base)
{
	size_t size = (t->nr * sizeof(u32) + 7) & ~7ULL, behind = t->index + INDEX_SIZE;
	const struct {
		enum kallsyms_encoding encoding;
		size_t offsets, base;
		bool possible;
	} tries[] = {
		{ KALLSYMS_ABSOLUTE_PERCPU, behind, behind + size,
		  has(t, behind, size + sizeof(u64)) },
		{ KALLSYMS_BASE_RELATIVE, behind, behind + size,
		  has(t, behind, size + sizeof(u64)) },
		{ KALLSYMS_ABSOLUTE_PERCPU, t->num - sizeof(u64) - size, t->num - sizeof(u64),
		  t->num >= size + sizeof(u64) },
		{ KALLSYMS_BASE_RELATIVE, t->num - sizeof(u64) - size, t->num - sizeof(u64),
		  t->num >= size + sizeof(u64) },
		{ KALLSYMS_PLACE_RELATIVE, behind, 0, has(t, behind, size) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(tries); i++) {
		if (!tries[i].possible)
			continue;
		*offsets = tries[i].offsets;
		*base = tries[i].base ? get_u64(t, tries[i].base) : X86_KERNEL_IMAGE_START;
		if (*base >= X86_KERNEL_IMAGE_START && *base < X86_KERNEL_IMAGE_END &&
		    check_addresses(t, tries[i].encoding, *offsets, *base))
			return tries[i].encoding;
	}
	return KALLSYMS_NONE;
}

/* The name at *@at of the image into @name of MAX_NAME + 1 bytes, with its type in front */
static bool expand_name(const struct tables *t, size_t *at, char *name, size_t *name_len)
{
	size_t n = 0;
	u32 length;

	if (!read_length(t, at, &length))
		return false;
	for (u32 i = 0; i < length; i++) {
		const char *token = (const char *)t->image + t->tokens +
				    t->token[t->image[*at + i]];
		size_t token_len = strlen(token);

		if (n + token_len > MAX_NAME)
			return false;
		memcpy(name + n, token, token_len);
		n += token_len;
	}
	name[n] = '\0';
	*at += length;
	*name_len = n;
	/* A type, and a name */
	return n > 1;
}

static int add_name(struct kernel_symbols *s, size_t *allocated, const char *name, size_t len)
{
	if (s->names_len + len + 1 > *allocated) {
		size_t more = max_t(size_t, *allocated * 2, 1U << 20);
		char *grown;

		if (more > MAX_NAMES_SIZE)
			return -E2BIG;
		grown = realloc(s->names, more);
		if (!grown)
			return -ENOMEM;
		s->names = grown;
		*allocated = more;
	}
	memcpy(s->names + s->names_len, name, len + 1);
	s->names_len += len + 1;
	return 0;
}

static int read_symbols(const struct tables *t, struct kernel_symbols *s, size_t offsets, u64 base)
{
	size_t at = t->names, allocated = 0;
	char name[MAX_NAME + 1];

	s->entries = calloc(t->nr, sizeof(*s->entries));
	if (!s->entries)
		return -ENOMEM;
	for (s->nr = 0; s->nr < t->nr; s->nr++) {
		size_t len;
		int ret;

		if (!expand_name(t, &at, name, &len))
			return -EBADMSG;
		s->entries[s->nr] = (struct kernel_symbol) {
			.addr = symbol_address(t, s->encoding, offsets, base, s->nr),
			.name = s->names_len,
			.type = name[0],
		};
		ret = add_name(s, &allocated, name + 1, len - 1);
		if (ret)
			return ret;
	}
	return 0;
}

static int decode_at(struct tables *t, size_t digit0, struct kernel_symbols *s)
{
	size_t offsets;
	u64 base;

	if (!find_tokens(t, digit0) || !find_markers(t) || !find_names(t))
		return -ENOENT;
	s->encoding = find_offsets(t, &offsets, &base);
	if (s->encoding == KALLSYMS_NONE)
		return -ENOENT;
	return read_symbols(t, s, offsets, base);
}

/**
 * kernel_symbols__decode - find kallsyms in a kernel's read-only data, and read them
 * @s: the result, to be released with kernel_symbols__exit()
 * @image: the bytes of it, @len of them, that stand at the guest's address @va
 *
 * Return: 0; -ENOENT: they are not there, or in a form that is not known; -EBADMSG: a name is
 * longer than any; -E2BIG: there are more symbols, or longer names, than any kernel has; -ENOMEM
 */
int kernel_symbols__decode(struct kernel_symbols *s, const void *image, size_t len, u64 va)
{
	struct tables t = { .image = image, .len = len, .va = va };
	const u8 *at = image, *end = at + len;
	int ret = -ENOENT;

	*s = (struct kernel_symbols) { };
	for (int i = 0; ret == -ENOENT && i < MAX_TOKEN_TABLES; i++) {
		at = memmem(at, end - at, digits, sizeof(digits));
		if (!at)
			break;
		ret = decode_at(&t, at - t.image, s);
		at++;
	}
	if (ret)
		kernel_symbols__exit(s);
	return ret;
}

/* The address of the first symbol that is called @name, or 0 */
u64 kernel_symbols__find(const struct kernel_symbols *s, const char *name)
{
	for (size_t i = 0; i < s->nr; i++) {
		const char *known = kernel_symbols__name(s, i);

		/* Most are not worth a call. */
		if (*known == *name && !strcmp(known, name))
			return s->entries[i].addr;
	}
	return 0;
}

void kernel_symbols__exit(struct kernel_symbols *s)
{
	zfree(&s->entries);
	zfree(&s->names);
	*s = (struct kernel_symbols) { };
}
