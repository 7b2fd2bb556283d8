// SPDX-License-Identifier: GPL-2.0
/*
 * speedscope's own format (JSON): a profile for each vCPU, in the order of time. So its time line
 * has functions, and between them what the vCPU did otherwise, and who had its CPU.
 *
 * Names are known when all has been read: until then a piece of time has a number for what it was.
 * Pieces are kept in a file, so that memory does not grow with the profile.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "util/hashmap.h"
#include "util/json.h"
#include "util/strbuf.h"
#include "kvm-unified/axis/intervals.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/name-map.h"
#include "kvm-unified/lib/number-map.h"
#include "kvm-unified/measure/hits.h"
#include "kvm-unified/measure/measurement.h"
#include "kvm-unified/report/over-time.h"
#include "kvm-unified/report/profile.h"
#include "kvm-unified/report/vcpu-rows.h"
#include "frames.h"
#include "speedscope.h"
#include "stacks.h"

#define SCHEMA		"https://www.speedscope.app/file-format-schema.json"

/* Pieces of a vCPU that are written at once: 4 KiB */
#define BLOCK_PIECES	256

/* Between two pieces that do not touch, as --time may leave some out: no stack */
#define NOTHING		(~0U)

struct piece {
	u64	ns;
	u32	what;
	u32	unused;
};

/* @hit: number of what a sample has hit; TIME_AXIS_NONE: no code, but what @name tells */
struct speedscope_thing {
	u32	hit;
	char	*name;
};

/**
 * struct speedscope_track - the time of a vCPU
 * @start: of the first piece, @end: of the last one; none if both are 0
 * @blocks: the numbers of its blocks, in the order of time, @nr_blocks of them
 * @pieces: those that are in no block yet, @nr of them
 */
struct speedscope_track {
	u64	start;
	u64	end;
	u32	*blocks;
	u32	nr_blocks;
	size_t	allocated_blocks;
	struct piece *pieces;
	u32	nr;
};

void speedscope__exit(struct speedscope *scope)
{
	temp_file__close(&scope->pieces);
	for (u32 i = 0; i < scope->nr_things; i++)
		free(scope->things[i].name);
	free(scope->things);
	for (u32 i = 0; i < scope->nr_tracks; i++) {
		free(scope->tracks[i].blocks);
		free(scope->tracks[i].pieces);
	}
	free(scope->tracks);
	hashmap__free(scope->by_hit);
	hashmap__free(scope->by_name);
	*scope = (struct speedscope) { };
}

/* The profile is read now, from its start. 0 or -errno */
int speedscope__begin(struct speedscope *scope)
{
	speedscope__exit(scope);
	scope->by_hit = number_map__new();
	scope->by_name = name_map__new();
	if (!scope->by_hit || !scope->by_name)
		return -ENOMEM;
	return temp_file__open(&scope->pieces);
}

/* A new one, and its number, -ENOMEM */
static int add_what(struct speedscope *scope, u32 hit, const char *name)
{
	struct speedscope_thing *what;
	int ret;

	if (grow_array(scope->things, scope->nr_things, scope->allocated_things))
		return -ENOMEM;
	what = &scope->things[scope->nr_things];
	*what = (struct speedscope_thing) { .hit = hit, .name = name ? strdup(name) : NULL };
	if (name && !what->name)
		return -ENOMEM;
	ret = name ? hashmap__add(scope->by_name, what->name, (long)scope->nr_things) :
		     hashmap__add(scope->by_hit, (long)hit, (long)scope->nr_things);
	if (ret) {
		free(what->name);
		return -ENOMEM;
	}
	return scope->nr_things++;
}

/* The number of what a vCPU did in @interval, or -ENOMEM */
static int find_what(struct speedscope *scope, const struct measurement *m, u32 vcpu,
		     const struct vcpu_interval *interval)
{
	char name[VCPU_ROW_NAME_LEN];
	struct profile_key key;
	long nr;

	if (vcpu_interval__is_guest(interval)) {
		if (hashmap__find(scope->by_hit, (long)interval->hit, &nr))
			return nr;
		return add_what(scope, interval->hit, NULL);
	}
	key = vcpu_interval__key(m, ATTRIBUTION_CPU_SWITCH, &m->axis.vcpus[vcpu],
				 /*thieves=*/NULL, interval, name);
	/* Whose the short waits are is known when all has been read, and not when. */
	if (interval->shared != TIME_AXIS_NONE)
		key.function = "[steal] (on several tasks)";
	if (hashmap__find(scope->by_name, key.function, &nr))
		return nr;
	return add_what(scope, TIME_AXIS_NONE, key.function);
}

/* NULL: no memory */
static struct speedscope_track *findnew_track(struct speedscope *scope, u32 vcpu)
{
	while (scope->nr_tracks <= vcpu) {
		if (grow_array(scope->tracks, scope->nr_tracks, scope->allocated_tracks))
			return NULL;
		scope->tracks[scope->nr_tracks++] = (struct speedscope_track) { };
	}
	return &scope->tracks[vcpu];
}

/* Writes the pieces of @track as a block. 0 or -ENOMEM: a file that cannot be is told of later. */
static int write_block(struct speedscope *scope, struct speedscope_track *track)
{
	if (grow_array(track->blocks, track->nr_blocks, track->allocated_blocks))
		return -ENOMEM;
	fwrite(track->pieces, sizeof(struct piece), BLOCK_PIECES, scope->pieces.fp);
	temp_file__check(&scope->pieces);
	track->blocks[track->nr_blocks++] = scope->nr_blocks++;
	track->nr = 0;
	return 0;
}

static int add_piece(struct speedscope *scope, struct speedscope_track *track, u32 what, u64 ns)
{
	struct piece *last = track->nr ? &track->pieces[track->nr - 1] : NULL;
	int ret = 0;

	if (last && last->what == what) {
		last->ns += ns;
		return 0;
	}
	if (!track->pieces)
		track->pieces = calloc(BLOCK_PIECES, sizeof(*track->pieces));
	if (!track->pieces)
		return -ENOMEM;
	if (track->nr == BLOCK_PIECES)
		ret = write_block(scope, track);
	if (!ret)
		track->pieces[track->nr++] = (struct piece) { .ns = ns, .what = what };
	return ret;
}

/* What vCPU number @vcpu did, after all that is known of it. 0 or -errno */
int speedscope__add(struct speedscope *scope, const struct measurement *m, u32 vcpu,
		    const struct vcpu_interval *interval, const struct time_piece *piece)
{
	struct speedscope_track *track = findnew_track(scope, vcpu);
	int what = track ? find_what(scope, m, vcpu, interval) : -ENOMEM, ret = 0;

	if (what < 0)
		return what;
	if (!track->end)
		track->start = piece->start;
	else if (piece->start > track->end)
		ret = add_piece(scope, track, NOTHING, piece->start - track->end);
	track->end = piece->end;
	return ret ?: add_piece(scope, track, what, piece->end - piece->start);
}

/* The frames of the stacks: each name once, as they are numbered, and what each stack is of them */
struct frames {
	struct hashmap *by_name;
	char	**names;
	u32	nr;
	size_t	allocated;
};

static void frames__exit(struct frames *frames)
{
	for (u32 i = 0; i < frames->nr; i++)
		free(frames->names[i]);
	free(frames->names);
	hashmap__free(frames->by_name);
}

/* The number of a frame, or -ENOMEM */
static int frames__findnew(struct frames *frames, const char *name, size_t len)
{
	char *copy = strndup(name, len);
	long nr;

	if (!copy)
		return -ENOMEM;
	if (hashmap__find(frames->by_name, copy, &nr)) {
		free(copy);
		return nr;
	}
	if (grow_array(frames->names, frames->nr, frames->allocated) ||
	    hashmap__add(frames->by_name, copy, (long)frames->nr)) {
		free(copy);
		return -ENOMEM;
	}
	frames->names[frames->nr] = copy;
	return frames->nr++;
}

/* Puts the frames of @what onto @stack, as stack__push() does. 0 or -ENOMEM */
static int push_what(struct strbuf *stack, const struct measurement *m,
		     const struct speedscope_thing *what)
{
	strbuf_setlen(stack, 0);
	return what->name ? frames__push_state(stack, what->name) :
			    frames__push_hit(stack, m->hits.by_idx[what->hit]);
}

/* Makes "0,3,7" of the frames in @stack. 0 or -ENOMEM */
static int number_frames(struct frames *frames, const char *stack, struct strbuf *numbers)
{
	int ret = 0;

	strbuf_setlen(numbers, 0);
	while (!ret) {
		size_t len = strcspn(stack, ";");
		int nr = frames__findnew(frames, stack, len);

		if (nr < 0)
			return nr;
		ret = strbuf_addf(numbers, "%s%d", numbers->len ? "," : "", nr);
		stack += len;
		if (!*stack++)
			break;
	}
	return ret ? -ENOMEM : 0;
}

/* What the numbers of all things stand for, in their order; NULL: no memory */
static char **number_things(const struct speedscope *scope, const struct measurement *m,
			    struct frames *frames)
{
	struct strbuf stack = STRBUF_INIT, numbers = STRBUF_INIT;
	/* One more: none is not an error */
	char **stacks = calloc(scope->nr_things + 1, sizeof(*stacks));
	bool failed = !stacks;

	for (u32 i = 0; !failed && i < scope->nr_things; i++) {
		failed = push_what(&stack, m, &scope->things[i]) ||
			 number_frames(frames, stack.buf, &numbers);
		stacks[i] = failed ? NULL : strdup(numbers.buf);
		failed |= !stacks[i];
	}
	strbuf_release(&stack);
	strbuf_release(&numbers);
	if (!failed)
		return stacks;
	for (u32 i = 0; stacks && i < scope->nr_things; i++)
		free(stacks[i]);
	free(stacks);
	return NULL;
}

/**
 * struct pieces_walk - goes over all pieces of a vCPU
 * @stack: @ns: what is to be printed next, unless more of the same stack comes: that may be of
 *	other addresses. NULL: nothing
 * @some: something was printed
 */
struct pieces_walk {
	struct speedscope *scope;
	const struct speedscope_track *track;
	char	**stacks;
	FILE	*fp;
	const char *stack;
	u64	ns;
	bool	some;
};

typedef void (*piece_fn)(const struct pieces_walk *walk);

static void print_stack(const struct pieces_walk *walk)
{
	fprintf(walk->fp, "%s[%s]", walk->some ? "," : "", walk->stack);
}

static void print_weight(const struct pieces_walk *walk)
{
	fprintf(walk->fp, "%s%" PRIu64, walk->some ? "," : "", walk->ns);
}

static void end_stack(struct pieces_walk *walk, piece_fn print)
{
	if (!walk->stack)
		return;
	print(walk);
	walk->some = true;
	walk->stack = NULL;
}

static void add_to_stack(struct pieces_walk *walk, piece_fn print, const struct piece *piece)
{
	const char *stack = piece->what == NOTHING ? "" : walk->stacks[piece->what];

	if (walk->stack && !strcmp(walk->stack, stack)) {
		walk->ns += piece->ns;
		return;
	}
	end_stack(walk, print);
	walk->stack = stack;
	walk->ns = piece->ns;
}

/* 0 or -errno */
static int walk_pieces(struct pieces_walk *walk, piece_fn print)
{
	const struct speedscope_track *track = walk->track;
	struct piece pieces[BLOCK_PIECES];
	FILE *from = walk->scope->pieces.fp;

	walk->some = false;
	walk->stack = NULL;
	for (u32 i = 0; i < track->nr_blocks; i++) {
		if (fseeko(from, (off_t)track->blocks[i] * sizeof(pieces), SEEK_SET))
			return -errno;
		if (fread(pieces, sizeof(*pieces), BLOCK_PIECES, from) != BLOCK_PIECES)
			return -EIO;
		for (u32 p = 0; p < BLOCK_PIECES; p++)
			add_to_stack(walk, print, &pieces[p]);
	}
	for (u32 p = 0; p < track->nr; p++)
		add_to_stack(walk, print, &track->pieces[p]);
	end_stack(walk, print);
	return 0;
}

/* 0 or -errno */
static int print_profile(struct pieces_walk *walk, const struct measurement *m, u32 vcpu)
{
	const struct axis_vcpu *of = &m->axis.vcpus[vcpu];
	char name[KVM_VM_NAME_LEN + 32];
	int ret;

	scnprintf(name, sizeof(name), "%s vCPU %u", m->vms[of->vm].name, of->id);
	fputs("{\"type\":\"sampled\",\"name\":", walk->fp);
	json__fputs(name, walk->fp);
	fprintf(walk->fp, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":%" PRIu64
		",\"samples\":[", walk->track->end - walk->track->start);
	ret = walk_pieces(walk, print_stack);
	fputs("],\"weights\":[", walk->fp);
	if (!ret)
		ret = walk_pieces(walk, print_weight);
	fputs("]}", walk->fp);
	return ret;
}

/* 0 or -errno: what is still in the buffer of @fp may fail later. */
int speedscope__print(struct speedscope *scope, const struct measurement *m, FILE *fp)
{
	struct frames frames = { .by_name = name_map__new() };
	struct pieces_walk walk = { .scope = scope, .fp = fp };
	const char *between = "";
	int ret = temp_file__end(&scope->pieces);

	if (frames.by_name)
		walk.stacks = number_things(scope, m, &frames);
	if (!walk.stacks) {
		frames__exit(&frames);
		return -ENOMEM;
	}
	fputs("{\"$schema\":\"" SCHEMA "\",\"exporter\":\"perf kvm unified\",\"shared\":{\"frames\":[",
	      fp);
	for (u32 i = 0; i < frames.nr; i++) {
		fputs(i ? ",{\"name\":" : "{\"name\":", fp);
		json__fputs(frames.names[i], fp);
		fputs("}", fp);
	}
	fputs("]},\"profiles\":[", fp);
	for (u32 i = 0; !ret && i < scope->nr_tracks; i++) {
		walk.track = &scope->tracks[i];
		if (!walk.track->end)
			continue;
		fprintf(fp, "%s\n", between);
		ret = print_profile(&walk, m, i);
		between = ",";
	}
	fputs("\n]}\n", fp);
	for (u32 i = 0; i < scope->nr_things; i++)
		free(walk.stacks[i]);
	free(walk.stacks);
	frames__exit(&frames);
	return ret;
}
