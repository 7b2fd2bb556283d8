// SPDX-License-Identifier: GPL-2.0
/*
 * From what happened to the processes of a guest, and a look at all of them in
 * between, to whose each address space was, and when. Pure: literal input will do.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <linux/zalloc.h>

#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/number-map.h"
#include "kvm-unified/lib/sort.h"
#include "history.h"
#include "tasks.h"

/* An execve() does not take longer, with its program on whatever disk it may be. */
#define EXEC_MAX_NS	NSEC_PER_SEC

/**
 * struct owner - whose an address space was
 * @exec: it got it by execve(), and was there since @alive
 * @shared: it is not known that it was new then
 */
struct owner {
	struct guest_space space;
	bool	exec;
	bool	shared;
	u64	alive;
};

struct owners {
	struct owner *entries;
	size_t	nr;
	size_t	allocated;
	struct hashmap *open;		/* of a pid: 1 + the index of its entry, 0: gone */
};

int guest_history__add(struct guest_history *history, const struct guest_task_event *event)
{
	if (grow_array(history->events, history->nr, history->allocated))
		return -ENOMEM;
	history->events[history->nr++] = *event;
	return 0;
}

static int event__cmp(const void *_a, const void *_b)
{
	const struct guest_task_event *a = _a, *b = _b;

	/* What happened to a process in the same ns is in the order of a life. */
	return sort_cmp(a->time, b->time) ?: sort_cmp(a->kind, b->kind);
}

static int owners__add(struct owners *owners, const struct owner *owner)
{
	if (grow_array(owners->entries, owners->nr, owners->allocated))
		return -ENOMEM;
	owners->entries[owners->nr++] = *owner;
	return 0;
}

/*
 * The processes that were there before their first event. The look at all of them
 * says what each ran on then, unless it was later than that event.
 */
static int owners__add_earlier(struct owners *owners, const struct guest_tasks *tasks,
			       struct hashmap *first, const struct guest_history *history)
{
	for (size_t i = 0; i < tasks->nr; i++) {
		const struct guest_task *task = &tasks->entries[i];
		const struct guest_task_event *event;
		struct owner owner = {
			.space = {
				.pt_root = task->pt_root,
				.from = task->start_ns,
				.until = GUEST_TIME_NONE,
				.pid = task->pid,
				.ns_pid = task->ns_pid,
			},
			.shared = true,
		};
		long idx;
		int ret;

		if (hashmap__find(first, (long)task->pid, &idx)) {
			event = &history->events[idx];
			if (event->kind == GUEST_TASK_FORK ||
			    (event->kind == GUEST_TASK_EXEC && event->pt_root == task->pt_root))
				continue;
		}
		ret = owners__add(owners, &owner);
		if (!ret)
			ret = hashmap__set(owners->open, (long)task->pid, (long)owners->nr,
					   NULL, NULL);
		if (ret)
			return ret;
	}
	return 0;
}

static int owners__add_event(struct owners *owners, const struct guest_task_event *event)
{
	struct owner owner = {
		.space = {
			.pt_root = event->pt_root,
			.from = event->time,
			.until = GUEST_TIME_NONE,
			.pid = event->pid,
			.ns_pid = event->ns_pid,
		},
		.exec = event->kind == GUEST_TASK_EXEC,
		.shared = event->shared,
		.alive = event->time,
	};
	long idx = 0;
	int ret;

	hashmap__find(owners->open, (long)event->pid, &idx);
	if (idx) {
		struct owner *before = &owners->entries[idx - 1];

		before->space.until = event->time;
		owner.alive = before->space.from;
	}
	if (event->kind == GUEST_TASK_EXIT)
		return hashmap__set(owners->open, (long)event->pid, 0, NULL, NULL);

	ret = owners__add(owners, &owner);
	if (!ret)
		ret = hashmap__set(owners->open, (long)event->pid, (long)owners->nr, NULL, NULL);
	return ret;
}

static int owner__cmp(const void *_a, const void *_b)
{
	const struct owner *a = _a, *b = _b;

	return sort_cmp(a->space.pt_root, b->space.pt_root) ?:
	       sort_cmp(a->space.from, b->space.from);
}

/*
 * An execve() is known of when it has succeeded; the process has let go of its old
 * address space before, and another one may have it by then: it was its from when it
 * is first heard of with it.
 */
static void owners__end_earlier(struct owners *owners)
{
	for (size_t i = 1; i < owners->nr; i++) {
		const struct owner *owner = &owners->entries[i];

		if (owner->shared)
			continue;
		for (size_t j = i; j--;) {
			struct owner *before = &owners->entries[j];

			if (before->space.pt_root != owner->space.pt_root)
				break;
			before->space.until = min(before->space.until, owner->space.from);
			/* Those before it have been seen to, when it was its turn. */
			if (!before->shared)
				break;
		}
	}
}

/*
 * Until an execve() is known of, the kernel has set up the new address space, and run
 * on it for a while. Nobody else can have had it since its previous owners have gone;
 * of those before @first nothing is known.
 */
static void owners__begin_earlier(struct owners *owners, u64 first)
{
	u64 until = 0;

	for (size_t i = 0; i < owners->nr; i++) {
		struct owner *owner = &owners->entries[i];
		u64 at = owner->space.from;

		if (!i || owner[-1].space.pt_root != owner->space.pt_root)
			until = 0;
		if (owner->exec) {
			u64 from = max(owner->alive, until);

			from = max(from, first);
			if (at > EXEC_MAX_NS)
				from = max(from, at - EXEC_MAX_NS);
			owner->space.from = min(at, from);
		}
		until = max(until, owner->space.until);
	}
}

/**
 * guest_history__spaces - whose each address space was, and when
 * @history: gets sorted
 * @tasks: a look at all processes, when events were taken down already
 * @spaces: the result is added to it
 *
 * Returns 0 or -ENOMEM.
 */
int guest_history__spaces(struct guest_history *history, const struct guest_tasks *tasks,
			  struct guest_spaces *spaces)
{
	struct hashmap *first = number_map__new();
	struct owners owners = { .open = number_map__new() };
	int ret = first && owners.open ? 0 : -ENOMEM;

	sort_array(history->events, history->nr, sizeof(*history->events), event__cmp);
	for (size_t i = 0; !ret && i < history->nr; i++) {
		ret = hashmap__add(first, (long)history->events[i].pid, (long)i);
		if (ret == -EEXIST)
			ret = 0;
	}

	if (!ret)
		ret = owners__add_earlier(&owners, tasks, first, history);
	for (size_t i = 0; !ret && i < history->nr; i++)
		ret = owners__add_event(&owners, &history->events[i]);
	if (!ret) {
		sort_array(owners.entries, owners.nr, sizeof(*owners.entries), owner__cmp);
		owners__end_earlier(&owners);
		owners__begin_earlier(&owners, history->nr ? history->events[0].time : 0);
	}
	for (size_t i = 0; !ret && i < owners.nr; i++)
		ret = guest_spaces__add(spaces, &owners.entries[i].space);

	hashmap__free(first);
	hashmap__free(owners.open);
	free(owners.entries);
	return ret;
}

void guest_history__exit(struct guest_history *history)
{
	zfree(&history->events);
	history->nr = 0;
	history->allocated = 0;
}
