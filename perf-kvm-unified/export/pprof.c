// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks as pprof reads them: a message of its profile.proto, compressed by gzip. No session.
 *
 * A page of varints instead of a library of protocol buffers, which perf does not have.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_ZLIB_SUPPORT
#include <zlib.h>
#endif
#include <linux/kernel.h>
#include <linux/string.h>

#include "util/hashmap.h"
#include "util/strbuf.h"
#include "kvm-unified/lib/name-map.h"
#include "pprof.h"
#include "stacks.h"

/* Protocol buffers: the low bits of a field's key tell how it is encoded. */
#define WIRE_VARINT		0
#define WIRE_BYTES		2
#define WIRE_BITS		3
#define VARINT_BITS		7
#define VARINT_MORE		0x80

/* The fields of each message in profile.proto */
enum {
	PROFILE_SAMPLE_TYPE	= 1,
	PROFILE_SAMPLE		= 2,
	PROFILE_LOCATION	= 4,
	PROFILE_FUNCTION	= 5,
	PROFILE_STRING		= 6,
	PROFILE_DURATION	= 10,
	PROFILE_PERIOD_TYPE	= 11,
	PROFILE_PERIOD		= 12,
	PROFILE_DEFAULT_TYPE	= 14,
};

enum { VALUE_TYPE = 1, VALUE_UNIT = 2 };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_STRING = 2 };
enum { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2 };

static const char *const values[] = { PPROF_CPU, PPROF_IDLE, PPROF_STEAL, PPROF_OTHER };

static const char *const labels[PPROF_VALUE] = {
	[PPROF_LEVEL]	= "level",
	[PPROF_VM]	= "vm",
	[PPROF_VCPU]	= "vcpu",
	[PPROF_COMM]	= "comm",
	[PPROF_PID]	= "pid",
	[PPROF_CGROUP]	= "cgroup",
};

/**
 * struct pprof - a message that is being put together
 * @out: of it, what there is; @part: and of a message in it
 * @strings: their numbers, by text, and so @functions
 * @host: its name as that of a frame, or empty
 * @ret: 0 or -ENOMEM: then nothing more is written
 */
struct pprof {
	struct strbuf	*out;
	struct strbuf	part;
	struct strbuf	inner;
	struct hashmap	*strings;
	struct hashmap	*functions;
	struct strbuf	host;
	int		ret;
};

static void put_varint(struct pprof *p, struct strbuf *to, u64 value)
{
	do {
		u8 byte = value & (VARINT_MORE - 1);

		value >>= VARINT_BITS;
		if (!p->ret && strbuf_addch(to, value ? byte | VARINT_MORE : byte))
			p->ret = -ENOMEM;
	} while (value);
}

static void put_number(struct pprof *p, struct strbuf *to, u32 field, u64 value)
{
	put_varint(p, to, field << WIRE_BITS | WIRE_VARINT);
	put_varint(p, to, value);
}

static void put_bytes(struct pprof *p, struct strbuf *to, u32 field, const void *data, size_t len)
{
	put_varint(p, to, field << WIRE_BITS | WIRE_BYTES);
	put_varint(p, to, len);
	if (!p->ret && strbuf_add(to, data, len))
		p->ret = -ENOMEM;
}

/* Ends a message in another one: @part is empty again. */
static void put_message(struct pprof *p, struct strbuf *to, u32 field, struct strbuf *part)
{
	put_bytes(p, to, field, part->buf, part->len);
	strbuf_setlen(part, 0);
}

/* The number of @text in @map, the first of which is @first; @is_new: it has none so far */
static u64 number_of(struct pprof *p, struct hashmap *map, const char *text, u64 first,
		     bool *is_new)
{
	u64 number = hashmap__size(map) + first;
	long known;
	char *copy;

	*is_new = false;
	if (hashmap__find(map, text, &known))
		return known;
	copy = strdup(text);
	if (!copy || hashmap__add(map, copy, (long)number)) {
		free(copy);
		p->ret = -ENOMEM;
		return 0;
	}
	*is_new = true;
	return number;
}

/* Strings are numbered as they come, and the first one is empty. */
static u64 string_number(struct pprof *p, const char *text)
{
	bool is_new;
	u64 number = number_of(p, p->strings, text, 0, &is_new);

	if (is_new)
		put_bytes(p, p->out, PROFILE_STRING, text, strlen(text));
	return number;
}

/* A location for each function, of the same number: from 1 on */
static u64 location_number(struct pprof *p, const char *function)
{
	bool is_new;
	u64 number = number_of(p, p->functions, function, 1, &is_new), name;

	if (!is_new)
		return number;
	name = string_number(p, function);
	put_number(p, &p->inner, FUNCTION_ID, number);
	put_number(p, &p->inner, FUNCTION_NAME, name);
	put_message(p, p->out, PROFILE_FUNCTION, &p->inner);

	put_number(p, &p->inner, LINE_FUNCTION, number);
	put_number(p, &p->part, LOCATION_ID, number);
	put_message(p, &p->part, LOCATION_LINE, &p->inner);
	put_message(p, p->out, PROFILE_LOCATION, &p->part);
	return number;
}

static void put_value_type(struct pprof *p, u32 field, const char *type)
{
	u64 name = string_number(p, type), unit = string_number(p, "nanoseconds");

	put_number(p, &p->part, VALUE_TYPE, name);
	put_number(p, &p->part, VALUE_UNIT, unit);
	put_message(p, p->out, field, &p->part);
}

static void put_label(struct pprof *p, struct strbuf *sample, const char *label, const char *text)
{
	u64 key = string_number(p, label), value = string_number(p, text);

	put_number(p, &p->inner, LABEL_KEY, key);
	put_number(p, &p->inner, LABEL_STRING, value);
	put_message(p, sample, SAMPLE_LABEL, &p->inner);
}

/* Cuts the last frame off @stack, if it has several; NULL: it is the only one */
static char *pop_frame(char *stack)
{
	char *last = strrchr(stack, ';');

	if (last)
		*last++ = '\0';
	return last;
}

/**
 * struct pprof_sample - all samples of a stack
 * @labels: as enum pprof_label has them
 * @frames: after these
 */
struct pprof_sample {
	char *labels[PPROF_NR_LABELS];
	char *frames;
};

/* @text is cut into its parts. False: it has not all of them. */
static bool pprof_sample__cut(struct pprof_sample *sample, char *text)
{
	for (int i = 0; i < PPROF_NR_LABELS; i++) {
		sample->labels[i] = strsep(&text, ";");
		if (!text)
			return false;
	}
	sample->frames = text;
	return true;
}

static void put_sample(struct pprof *p, const struct pprof_sample *sample, u64 ns)
{
	struct strbuf message = STRBUF_INIT;
	char *frame;

	/* The innermost one is the first. */
	do {
		frame = pop_frame(sample->frames);
		put_number(p, &message, SAMPLE_LOCATION,
			   location_number(p, frame ?: sample->frames));
	} while (frame);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		put_number(p, &message, SAMPLE_VALUE,
			   strcmp(values[i], sample->labels[PPROF_VALUE]) ? 0 : ns);
	if (p->host.len)
		put_label(p, &message, "host", p->host.buf);
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		if (sample->labels[i][0] == PPROF_LABEL[0])
			put_label(p, &message, labels[i], sample->labels[i] + 1);
	}
	put_message(p, p->out, PROFILE_SAMPLE, &message);
	strbuf_release(&message);
}

/* 0 or -errno */
static int put_stack(void *arg, const char *text, u64 ns)
{
	struct pprof *p = arg;
	struct pprof_sample sample;
	char *copy = strdup(text);
	int ret;

	if (!copy)
		return -ENOMEM;
	ret = pprof_sample__cut(&sample, copy) ? 0 : -EINVAL;
	if (!ret) {
		put_sample(p, &sample, ns);
		ret = p->ret;
	}
	free(copy);
	return ret;
}

static void free_names(struct hashmap *names)
{
	struct hashmap_entry *entry;
	size_t bkt;

	if (!names)
		return;
	hashmap__for_each_entry(names, entry, bkt)
		free((char *)entry->pkey);
	hashmap__free(names);
}

/**
 * pprof__message - the profile of @stacks, not compressed
 * @message: gets it, and may have a part of it after an error
 *
 * 0, -ENOMEM, or -EINVAL: a stack has no frames besides its labels
 */
int pprof__message(const struct stacks *stacks, const struct pprof_about *about,
		   struct strbuf *message)
{
	struct pprof p = {
		.out = message,
		.part = STRBUF_INIT,
		.inner = STRBUF_INIT,
		.strings = name_map__new(),
		.functions = name_map__new(),
		.host = STRBUF_INIT,
	};
	int ret = -ENOMEM;

	/* What is in a profile's header is not trusted more than names. */
	if (about->host && about->host[0])
		p.ret = stack__push(&p.host, "%s", about->host);

	if (p.strings && p.functions) {
		string_number(&p, "");
		for (size_t i = 0; i < ARRAY_SIZE(values); i++)
			put_value_type(&p, PROFILE_SAMPLE_TYPE, values[i]);
		put_value_type(&p, PROFILE_PERIOD_TYPE, PPROF_CPU);
		/* Else readers show the last one. */
		put_number(&p, message, PROFILE_DEFAULT_TYPE, string_number(&p, PPROF_CPU));
		put_number(&p, message, PROFILE_PERIOD, about->period);
		put_number(&p, message, PROFILE_DURATION, about->duration);
		ret = stacks__for_each(stacks, put_stack, &p) ?: p.ret;
	}
	free_names(p.strings);
	free_names(p.functions);
	strbuf_release(&p.part);
	strbuf_release(&p.inner);
	strbuf_release(&p.host);
	return ret;
}

#ifdef HAVE_ZLIB_SUPPORT

/* deflateInit2() makes the largest window and gzip's header by it. */
#define GZIP_WINDOW		(MAX_WBITS + 16)

/* @to: gets @from, compressed. 0, -ENOMEM, or -EFBIG: from some 4 GiB on */
static int compress_message(const struct strbuf *from, struct strbuf *to)
{
	z_stream stream = { .next_in = (void *)from->buf, .avail_in = from->len };
	int ret = -ENOMEM;
	unsigned long bound;

	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MAX_MEM_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return ret;
	bound = deflateBound(&stream, from->len);
	if (bound > UINT_MAX) {
		ret = -EFBIG;
	} else if (!strbuf_grow(to, bound)) {
		stream.next_out = (void *)to->buf;
		stream.avail_out = bound;
		if (deflate(&stream, Z_FINISH) == Z_STREAM_END) {
			strbuf_setlen(to, stream.total_out);
			ret = 0;
		}
	}
	deflateEnd(&stream);
	return ret;
}

#else

/* pprof reads it so, too. */
static int compress_message(const struct strbuf *from, struct strbuf *to)
{
	return strbuf_add(to, from->buf, from->len) ? -ENOMEM : 0;
}

#endif /* HAVE_ZLIB_SUPPORT */

/* 0 or -errno: what is still in the buffer of @fp may fail later. */
int pprof__print(const struct stacks *stacks, const struct pprof_about *about, FILE *fp)
{
	struct strbuf message = STRBUF_INIT, compressed = STRBUF_INIT;
	int ret = pprof__message(stacks, about, &message) ?:
		  compress_message(&message, &compressed);

	if (!ret && fwrite(compressed.buf, 1, compressed.len, fp) != compressed.len)
		ret = -errno;
	strbuf_release(&message);
	strbuf_release(&compressed);
	return ret;
}
