// SPDX-License-Identifier: GPL-2.0
/*
 * What has changed from one profile to another: rows that have the same name in both. No
 * session, no I/O.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "kvm-unified/guests/guest.h"
#include "kvm-unified/lib/sort.h"
#include "changes.h"

/* Names with a number that is of one boot; what is told instead has none. */
static const struct {
	const char *start;
	const char *instead;
} numbered[] = {
	{ PROFILE_VM_MODULE, "(VM)" },
	{ GUEST_JIT_MODULE, "[JIT]" },
	{ GUEST_UNNAMED_COMM, "[cr3]" },
};

static const char *without_number(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(numbered); i++) {
		if (strstarts(name, numbered[i].start))
			return numbered[i].instead;
	}
	return name;
}

/* A process in one of the profiles */
struct process {
	const char	*name;		/* of @comm without the number of one boot */
	const char	*comm;
	pid_t		pid;
	enum diff_side	side;
};

static int process__cmp(const struct process *a, const struct process *b)
{
	return strcmp(a->name, b->name) ?: strcmp(a->comm, b->comm) ?: sort_cmp(a->pid, b->pid);
}

static int process__cmp_sides(const void *_a, const void *_b)
{
	const struct process *a = _a, *b = _b;

	return process__cmp(a, b) ?: sort_cmp(a->side, b->side);
}

/**
 * struct process_name - what processes are called
 * @nr: so many are called so
 * @same: and these are the same in both profiles, by their pids
 */
struct process_name {
	const char	*name;
	size_t		nr;
	bool		same;
};

/* @nr names of processes, in order */
struct process_names {
	struct process_name *entries;
	size_t		nr;
};

/* All processes of both profiles, each once for each, in order. NULL: no memory */
static struct process *list_processes(const struct diff_rows sides[DIFF_NR_SIDES], size_t *nr)
{
	/* One more: none is not an error */
	struct process *all = calloc(sides[DIFF_OLD].nr + sides[DIFF_NEW].nr + 1, sizeof(*all));
	size_t nr_all = 0, nr_once = 0;

	if (!all)
		return NULL;
	for (int side = 0; side < DIFF_NR_SIDES; side++) {
		for (size_t i = 0; i < sides[side].nr; i++) {
			const struct profile_key *key = &sides[side].rows[i].key;

			if (!key->comm[0] && key->pid < 0)
				continue;
			all[nr_all++] = (struct process) {
				.name = without_number(key->comm),
				.comm = key->comm,
				.pid = key->pid,
				.side = side,
			};
		}
	}
	sort_array(all, nr_all, sizeof(*all), process__cmp_sides);
	for (size_t i = 0; i < nr_all; i++) {
		if (!nr_once || process__cmp_sides(&all[nr_once - 1], &all[i]))
			all[nr_once++] = all[i];
	}
	*nr = nr_once;
	return all;
}

/* 0 or -ENOMEM */
static int process_names__init(struct process_names *names,
			       const struct diff_rows sides[DIFF_NR_SIDES])
{
	size_t nr;
	struct process *all = list_processes(sides, &nr);

	*names = (struct process_names) { };
	if (!all)
		return -ENOMEM;
	names->entries = calloc(nr + 1, sizeof(*names->entries));
	if (!names->entries) {
		free(all);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; ) {
		struct process_name *name = names->nr ? &names->entries[names->nr - 1] : NULL;
		bool in_both = i + 1 < nr && !process__cmp(&all[i], &all[i + 1]);

		if (!name || strcmp(name->name, all[i].name)) {
			name = &names->entries[names->nr++];
			*name = (struct process_name) { .name = all[i].name, .same = true };
		}
		name->nr++;
		name->same &= in_both;
		i += in_both ? DIFF_NR_SIDES : 1;
	}
	free(all);
	return 0;
}

static bool process_name__is_before(const void *entry, const void *key)
{
	return strcmp(((const struct process_name *)entry)->name, key) < 0;
}

static const struct process_name *process_names__find(const struct process_names *names,
						      const char *name)
{
	return &names->entries[sort_find(names->entries, names->nr, sizeof(*names->entries), name,
					 process_name__is_before)];
}

/*
 * What a row is told by in both. Pids are of one boot; but where several processes have a name
 * and all of them are in both profiles, it is the same boot, or one that went the same way.
 */
static struct profile_key stable_key(const struct profile_key *key,
				     const struct process_names *names, bool keep_pids)
{
	struct profile_key stable = *key;
	const struct process_name *name;

	stable.ns_pid = 0;
	stable.cgroup = NULL;
	stable.module = without_number(key->module);
	if (keep_pids || (!key->comm[0] && key->pid < 0))
		return stable;
	name = process_names__find(names, without_number(key->comm));
	if (!name->same)
		stable.comm = name->name;
	if (!name->same || name->nr == 1)
		stable.pid = -1;
	return stable;
}

static int key__cmp(const struct profile_key *a, const struct profile_key *b)
{
	return sort_cmp(a->class, b->class) ?: strcmp(a->function, b->function) ?:
	       strcmp(a->module, b->module) ?: strcmp(a->comm, b->comm) ?:
	       (a->pid < b->pid ? -1 : a->pid > b->pid);
}

static int change__cmp_keys(const void *a, const void *b)
{
	return key__cmp(&((const struct change *)a)->key, &((const struct change *)b)->key);
}

static bool is_idle(enum profile_class class)
{
	return class == PROFILE_IDLE || class == PROFILE_HALT_POLL;
}

/*
 * The largest change first. What is idle is what all others leave: it changes with any of them,
 * and by more than each, so it comes after them.
 */
int change__cmp(const struct change *a, const struct change *b)
{
	double size_a = fabs(a->points), size_b = fabs(b->points);

	if (is_idle(a->key.class) != is_idle(b->key.class))
		return is_idle(a->key.class) ? 1 : -1;
	if (size_a != size_b)
		return size_a > size_b ? -1 : 1;
	return key__cmp(&a->key, &b->key);
}

static int change__cmp_size(const void *a, const void *b)
{
	return change__cmp(a, b);
}

/* A change for each row, as if each were in one of the profiles alone. 0 or -ENOMEM */
static int changes__fill(struct changes *changes, const struct diff_rows sides[DIFF_NR_SIDES],
			 bool keep_pids)
{
	struct process_names names;
	int ret = process_names__init(&names, sides);

	changes->entries = calloc(sides[DIFF_OLD].nr + sides[DIFF_NEW].nr + 1,
				  sizeof(*changes->entries));
	if (!changes->entries)
		ret = -ENOMEM;
	for (int side = 0; !ret && side < DIFF_NR_SIDES; side++) {
		for (size_t i = 0; i < sides[side].nr; i++) {
			const struct profile_row *row = &sides[side].rows[i];
			struct change *change = &changes->entries[changes->nr++];

			change->key = stable_key(&row->key, &names, keep_pids);
			change->ns[side] = row->sums[PROFILE_TIME];
			change->nr_processes[side] = row->key.comm[0] || row->key.pid >= 0;
		}
	}
	free(names.entries);
	return ret;
}

/* Merges changes that have the same name. */
static void changes__merge(struct changes *changes)
{
	size_t nr = 0;

	sort_array(changes->entries, changes->nr, sizeof(*changes->entries), change__cmp_keys);
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *add = &changes->entries[i];
		struct change *to;

		if (!nr || key__cmp(&changes->entries[nr - 1].key, &add->key)) {
			changes->entries[nr++] = *add;
			continue;
		}
		to = &changes->entries[nr - 1];
		for (int side = 0; side < DIFF_NR_SIDES; side++) {
			to->ns[side] += add->ns[side];
			to->nr_processes[side] += add->nr_processes[side];
		}
	}
	changes->nr = nr;
}

/**
 * changes__find - compare the rows of a table in two profiles
 * @changes: names in it are those of @sides; to be ended by changes__exit() in any case
 * @keep_pids: tell processes apart by their pids, whatever the boots are
 *
 * 0 or -ENOMEM
 */
int changes__find(struct changes *changes, const struct diff_rows sides[DIFF_NR_SIDES],
		  bool keep_pids)
{
	int ret;

	*changes = (struct changes) { };
	ret = changes__fill(changes, sides, keep_pids);
	if (ret)
		return ret;
	changes__merge(changes);
	for (size_t i = 0; i < changes->nr; i++) {
		struct change *change = &changes->entries[i];

		for (int side = 0; side < DIFF_NR_SIDES; side++)
			change->percent[side] = percent_of(change->ns[side], sides[side].total);
		change->points = change->percent[DIFF_NEW] - change->percent[DIFF_OLD];
	}
	sort_array(changes->entries, changes->nr, sizeof(*changes->entries), change__cmp_size);
	return 0;
}

void changes__exit(struct changes *changes)
{
	zfree(&changes->entries);
	changes->nr = 0;
}
