// SPDX-License-Identifier: GPL-2.0
/*
 * What several looks at a guest's processes say together: who was there from when to when. A
 * process that was seen is known from its start on; what happened between two looks is not, and
 * nobody is said to have had an address space at a time when another one may have. Pure.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/zalloc.h>

#include "kvm-unified/format/spaces.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/number-map.h"
#include "lives.h"

/*
 * 104 bytes each, and 64 for a map: of the 64 MiB that a guest may cost, this is the half that
 * symbols do not take.
 */
#define MAX_LIVES	(1U << 17)
#define MAX_CODES	(1U << 18)
/* Looks for hours, a few a second */
#define MAX_MOMENTS	32768

static struct guest_life *find_open(const struct guest_lives *lives, pid_t pid)
{
	long idx = 0;

	return hashmap__find(lives->open, (long)pid, &idx) && idx ? &lives->entries[idx - 1] : NULL;
}

/*
 * Until when it surely had its address space: that is there when it was seen in the last look, if
 * that has seen all. Else it was there when it was seen, and nobody knows how long.
 */
u64 guest_life__until(const struct guest_lives *lives, const struct guest_life *life)
{
	if (life->until != GUEST_TIME_NONE)
		return life->until;
	return lives->complete && life->seen == lives->looks ? GUEST_TIME_NONE :
	       max(life->seen_at, life->from) + 1;
}

static void end_life(struct guest_life *life)
{
	life->until = max(life->seen_at, life->from) + 1;
}

/**
 * guest_lives__begin_look - the processes come that are there now
 * @now: in ns of the guest's CLOCK_BOOTTIME; not before the look before
 * @mm_ctx: of the youngest address space that there was a moment before; 0: not known
 */
int guest_lives__begin_look(struct guest_lives *lives, u64 now, u64 mm_ctx)
{
	if (!lives->open)
		lives->open = number_map__new();
	if (!lives->open)
		return -ENOMEM;
	if (lives->nr_moments < MAX_MOMENTS && mm_ctx) {
		if (grow_array(lives->moments, lives->nr_moments, lives->moments_allocated))
			return -ENOMEM;
		lives->moments[lives->nr_moments++] = (struct guest_moment) {
			.time = max(lives->last, now), .mm_ctx = mm_ctx,
		};
	}
	lives->complete = false;
	lives->looks++;
	lives->last = max(lives->last, now);
	lives->nr_unread = 0;
	return 0;
}

static bool is_same(const struct guest_code *a, const struct guest_code *b)
{
	return a->start == b->start && a->len == b->len && a->pgoff == b->pgoff &&
	       a->prot == b->prot && a->flags == b->flags && a->file == b->file;
}

static bool has_code(const struct guest_codes *codes, const struct guest_code *code)
{
	for (size_t i = codes->nr; i--;) {
		const struct guest_code *has = &codes->entries[i];

		if (is_same(has, code))
			return true;
		/* What came later has taken the place of what is alike and came before. */
		if (has->start < code->start + code->len && code->start < has->start + has->len)
			return false;
	}
	return false;
}

/* Moves those of @codes that the process has not yet to the front. Returns their number. */
static size_t keep_new(const struct guest_codes *has, struct guest_codes *codes)
{
	size_t nr = 0;

	for (size_t i = 0; i < codes->nr; i++) {
		if (!has_code(has, &codes->entries[i]))
			codes->entries[nr++] = codes->entries[i];
	}
	return nr;
}

static bool takes_a_place(const struct guest_codes *has, size_t nr, const struct guest_code *code)
{
	for (size_t i = 0; i < nr; i++) {
		const struct guest_code *old = &has->entries[i];

		if (old->start < code->start + code->len && code->start < old->start + old->len)
			return true;
	}
	return false;
}

/*
 * Takes over what is new in @codes. It is there from @now on. What was in that place is there no
 * more at some time after @before, when it was seen last; in between it is not known what is there.
 * @before: 0: all is as old as the process. 0 or -ENOMEM
 */
static int add_codes(struct guest_lives *lives, struct guest_life *life, u64 before, u64 now,
		     struct guest_codes *codes)
{
	struct guest_codes *has = &life->codes;
	size_t nr = keep_new(has, codes), old = has->nr;
	struct guest_code *grown;

	nr = min_t(size_t, nr, (MAX_CODES - lives->nr_codes) / 2);
	if (!nr)
		return 0;
	/* Thousands of processes have a few each: no more room than they take. */
	grown = reallocarray(has->entries, old + 2 * nr, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	has->entries = grown;
	for (size_t i = 0; i < nr; i++) {
		struct guest_code *code = &codes->entries[i];

		if (before && takes_a_place(has, old, code)) {
			grown[has->nr] = *code;
			grown[has->nr].file = GUEST_MAP_ANON;
			grown[has->nr++].since = before + 1;
		}
		code->since = before ? now : 0;
		grown[has->nr++] = *code;
	}
	lives->nr_codes += has->nr - old;
	return 0;
}

static int add_life(struct guest_lives *lives, const struct guest_task *task, u64 from,
		    struct guest_life **life)
{
	*life = NULL;
	if (lives->nr >= MAX_LIVES) {
		lives->nr_dropped++;
		return 0;
	}
	if (grow_array(lives->entries, lives->nr, lives->allocated) ||
	    hashmap__set(lives->open, (long)task->pid, (long)lives->nr + 1, NULL, NULL))
		return -ENOMEM;
	*life = &lives->entries[lives->nr++];
	**life = (struct guest_life) {
		.task = *task,
		.from = from,
		.until = GUEST_TIME_NONE,
		.first = lives->looks == 1 && !lives->late,
	};
	return 0;
}

/*
 * Since when the process surely has had its address space, which it was not seen with before. After
 * an execve() that is younger than the process, and before, its page tables may have been another
 * one's: it is there since the first look that had as young a one.
 */
static u64 has_space_since(const struct guest_lives *lives, const struct guest_task *task,
			   u64 mm_ctx, u64 now)
{
	size_t low = 0, high = lives->nr_moments;

	/* What was there at the first look: nobody asks of a time before that. */
	if (!task->execed || (lives->looks == 1 && !lives->late))
		return task->start_ns;
	while (mm_ctx && low < high) {
		size_t mid = low + (high - low) / 2;

		if (lives->moments[mid].mm_ctx < mm_ctx)
			low = mid + 1;
		else
			high = mid;
	}
	if (mm_ctx && low < lives->nr_moments)
		now = lives->moments[low].time;
	return max(now, task->start_ns);
}

/**
 * guest_lives__see - a process is there
 * @task: what it is; of one that is unread nothing is known
 * @mm_ctx: the number of its address space; 0: not known
 * @now: a time when all of this was so
 * @codes: what it has mapped; changed
 *
 * Return: 0 or -ENOMEM
 */
int guest_lives__see(struct guest_lives *lives, const struct guest_task *task, u64 mm_ctx,
		     u64 now, struct guest_codes *codes)
{
	struct guest_life *life = find_open(lives, task->pid);
	struct guest_task as_seen = *task;
	u64 before = life ? life->seen_at : 0;
	int ret = 0;

	if (task->unread) {
		lives->nr_unread++;
		return 0;
	}
	if (life && (life->task.start_ns != task->start_ns ||
		     life->task.pt_root != task->pt_root)) {
		/* Another address space is another program. */
		as_seen.execed |= life->task.start_ns == task->start_ns;
		end_life(life);
		life = NULL;
		before = 0;
	}
	if (!life)
		ret = add_life(lives, &as_seen, has_space_since(lives, &as_seen, mm_ctx, now),
			       &life);
	if (ret || !life)
		return ret;
	/* It was in the middle of a move. */
	if (!as_seen.cgroup)
		as_seen.cgroup = life->task.cgroup;
	life->task = as_seen;
	life->seen = lives->looks;
	life->seen_at = lives->last;
	return add_codes(lives, life, before, now, codes);
}

/* @complete: who was not seen in this look is gone. */
void guest_lives__end_look(struct guest_lives *lives, bool complete)
{
	lives->complete = complete;
	for (size_t i = 0; complete && i < lives->nr; i++) {
		struct guest_life *life = &lives->entries[i];

		if (life->until != GUEST_TIME_NONE || life->seen == lives->looks)
			continue;
		end_life(life);
		hashmap__delete(lives->open, (long)life->task.pid, NULL, NULL);
	}
}

void guest_lives__exit(struct guest_lives *lives)
{
	for (size_t i = 0; i < lives->nr; i++)
		guest_codes__exit(&lives->entries[i].codes);
	zfree(&lives->entries);
	zfree(&lives->moments);
	hashmap__free(lives->open);
	*lives = (struct guest_lives) { };
}
