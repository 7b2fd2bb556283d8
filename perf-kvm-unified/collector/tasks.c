// SPDX-License-Identifier: GPL-2.0
/*
 * The processes of a guest, as they are known after one or more walks over its task list.
 * Pure: literal input will do.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/zalloc.h>

#include "kvm-unified/lib/sort.h"
#include "tasks.h"

static int task__cmp(const void *_a, const void *_b)
{
	const struct guest_task *a = _a, *b = _b;

	/* the youngest user of a pid first */
	return sort_cmp(a->pid, b->pid) ?: sort_cmp(b->start_ns, a->start_ns);
}

static int task__cmp_pid(const void *_a, const void *_b)
{
	const struct guest_task *a = _a, *b = _b;

	return sort_cmp(a->pid, b->pid);
}

/**
 * guest_tasks__sort - by pid, and each pid once
 * @t: of two entries with one pid, the younger is kept
 */
void guest_tasks__sort(struct guest_tasks *t)
{
	size_t i, nr = 0;

	if (!t->nr)
		return;

	qsort(t->entries, t->nr, sizeof(*t->entries), task__cmp);
	for (i = 1; i < t->nr; i++) {
		if (t->entries[i].pid != t->entries[nr].pid)
			t->entries[++nr] = t->entries[i];
	}
	t->nr = nr + 1;
}

/* The process @pid, or NULL */
struct guest_task *guest_tasks__find(const struct guest_tasks *t, pid_t pid)
{
	const struct guest_task key = { .pid = pid };

	/* bsearch() wants an array even if it has nothing in it. */
	return t->nr ? bsearch(&key, t->entries, t->nr, sizeof(key), task__cmp_pid) : NULL;
}

/**
 * guest_tasks__merge - take the result of one more pass into the whole
 * @t: the result so far, zeroed before the first pass
 * @pass: result of one walk; emptied
 * @complete: the walk saw the whole list
 *
 * A complete pass replaces what was known: entries from before may be of
 * processes that are gone, and whose page table is another's by now. An
 * incomplete one adds the processes that were not known, and roots that
 * could not be read.
 *
 * Return: 0 or -ENOMEM, @t and @pass are then as before
 */
int guest_tasks__merge(struct guest_tasks *t, struct guest_tasks *pass, bool complete)
{
	struct guest_task *entries;
	size_t i, nr;

	if (complete) {
		free(t->entries);
		t->entries = pass->entries;
		t->nr = pass->nr;
		t->passes += pass->passes;
		*pass = (struct guest_tasks) { 0 };
		return 0;
	}

	if (pass->nr) {
		entries = realloc(t->entries, (t->nr + pass->nr) * sizeof(*entries));
		if (!entries)
			return -ENOMEM;
		t->entries = entries;

		for (i = 0, nr = t->nr; i < pass->nr; i++) {
			const struct guest_task *new = &pass->entries[i];
			struct guest_task *old = guest_tasks__find(t, new->pid);

			if (!old)
				t->entries[nr++] = *new;
			else if (old->unread || old->start_ns != new->start_ns)
				*old = *new;
		}
		t->nr = nr;
		guest_tasks__sort(t);
	}

	t->passes += pass->passes;
	guest_tasks__exit(pass);
	return 0;
}

/**
 * guest_tasks__count_unread - how many processes with a root have none in @t
 * @t: result so far, or of one pass
 * @before: pids that /proc listed before the walk, ascending
 * @nr_before: number of pids in @before
 * @after: the same after the walk
 * @nr_after: number of pids in @after
 *
 * A pid that was there before and after was there during the walk. What came
 * or went in between may be missing: no list of it can be complete.
 *
 * Return: the number, for guest_tasks.nr_unread
 */
size_t guest_tasks__count_unread(const struct guest_tasks *t,
				 const pid_t *before, size_t nr_before,
				 const pid_t *after, size_t nr_after)
{
	size_t i, j = 0, k = 0, nr = 0;

	for (i = 0; i < t->nr; i++)
		nr += t->entries[i].unread;

	for (i = 0; i < nr_before; i++) {
		while (j < nr_after && after[j] < before[i])
			j++;
		if (j == nr_after || after[j] != before[i])
			continue;
		while (k < t->nr && t->entries[k].pid < before[i])
			k++;
		if (k == t->nr || t->entries[k].pid != before[i])
			nr++;
	}

	return nr;
}

/**
 * guest_tasks__exit - release what a walk or guest_tasks__read() allocated
 * @t: may be zeroed or released already
 */
void guest_tasks__exit(struct guest_tasks *t)
{
	zfree(&t->entries);
	t->nr = 0;
}
