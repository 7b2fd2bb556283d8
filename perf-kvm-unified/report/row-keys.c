// SPDX-License-Identifier: GPL-2.0
/*
 * The keys of --sort with --format: what tells apart the rows of tables, JSON and CSV. By
 * names, so that what has the same name is one row, wherever perf has found it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "util/hist.h"
#include "util/sort.h"
#include "key-list.h"
#include "row-keys.h"
#include "tables.h"

/* Rows that differ in this are never one; the user's keys follow. */
#define CLASS_KEY	"class"
#define DEFAULT_KEYS	"sym,dso,comm,pid"

static const struct profile_key *entry__key(const struct hist_entry *he)
{
	return &table_entry__info(he)->key;
}

/* Without their functions, VMs are told apart by what they are called. */
static int64_t class_cmp(struct perf_hpp_fmt *fmt __maybe_unused, struct hist_entry *he_a,
			 struct hist_entry *he_b)
{
	const struct profile_key *a = entry__key(he_a), *b = entry__key(he_b);

	if (a->class != b->class)
		return (int64_t)b->class - a->class;
	return a->class == PROFILE_VM ? strcmp(b->function, a->function) : 0;
}

static int64_t sym_cmp(struct perf_hpp_fmt *fmt __maybe_unused, struct hist_entry *a,
		       struct hist_entry *b)
{
	return strcmp(entry__key(b)->function, entry__key(a)->function);
}

static int64_t dso_cmp(struct perf_hpp_fmt *fmt __maybe_unused, struct hist_entry *a,
		       struct hist_entry *b)
{
	return strcmp(entry__key(b)->module, entry__key(a)->module);
}

static int64_t comm_cmp(struct perf_hpp_fmt *fmt __maybe_unused, struct hist_entry *a,
			struct hist_entry *b)
{
	return strcmp(entry__key(b)->comm, entry__key(a)->comm);
}

static int64_t pid_cmp(struct perf_hpp_fmt *fmt __maybe_unused, struct hist_entry *he_a,
		       struct hist_entry *he_b)
{
	const struct profile_key *a = entry__key(he_a), *b = entry__key(he_b);

	/* Of one number, two that are in different cgroups are not the same. */
	return (int64_t)b->pid - a->pid ?: (int64_t)b->ns_pid - a->ns_pid ?:
	       strcmp(b->cgroup ?: "", a->cgroup ?: "");
}

static int64_t cgroup_cmp(struct perf_hpp_fmt *fmt __maybe_unused, struct hist_entry *a,
			  struct hist_entry *b)
{
	return strcmp(entry__key(b)->cgroup ?: "", entry__key(a)->cgroup ?: "");
}

static bool is_same(struct perf_hpp_fmt *a, struct perf_hpp_fmt *b)
{
	return a->cmp == b->cmp;
}

/* These are not shown by perf. */
static int no_column(struct perf_hpp_fmt *fmt __maybe_unused, struct perf_hpp *hpp __maybe_unused,
		     struct hists *hists __maybe_unused)
{
	return 0;
}

#define ROW_KEY(_name, _cmp)			\
	{					\
		.name = (_name),		\
		.width = no_column,		\
		.cmp = (_cmp),			\
		.collapse = (_cmp),		\
		.sort = (_cmp),			\
		.equal = is_same,		\
	}

static struct perf_hpp_fmt class_key = ROW_KEY("Class", class_cmp);
static struct perf_hpp_fmt sym_key = ROW_KEY("Function", sym_cmp);
static struct perf_hpp_fmt symbol_key = ROW_KEY("Function", sym_cmp);
static struct perf_hpp_fmt dso_key = ROW_KEY("Module", dso_cmp);
static struct perf_hpp_fmt comm_key = ROW_KEY("Comm", comm_cmp);
static struct perf_hpp_fmt pid_key = ROW_KEY("Pid", pid_cmp);
static struct perf_hpp_fmt cgroup_key = ROW_KEY("Cgroup", cgroup_cmp);

static struct hpp_dimension keys[] = {
	{ .name = CLASS_KEY,	.fmt = &class_key },
	{ .name = "sym",	.fmt = &sym_key },
	{ .name = "symbol",	.fmt = &symbol_key },
	{ .name = "dso",	.fmt = &dso_key },
	{ .name = "comm",	.fmt = &comm_key },
	{ .name = "pid",	.fmt = &pid_key },
	{ .name = "cgroup",	.fmt = &cgroup_key },
};

/* PROFILE_SORT_* of a key; 0: it is none of these */
static unsigned int key__bit(const struct perf_hpp_fmt *fmt)
{
	static const struct {
		int64_t (*cmp)(struct perf_hpp_fmt *fmt, struct hist_entry *a,
			       struct hist_entry *b);
		unsigned int bit;
	} bits[] = {
		{ sym_cmp, PROFILE_SORT_SYM }, { dso_cmp, PROFILE_SORT_DSO },
		{ comm_cmp, PROFILE_SORT_COMM }, { pid_cmp, PROFILE_SORT_PID },
		{ cgroup_cmp, PROFILE_SORT_CGROUP },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bits); i++) {
		if (fmt->cmp == bits[i].cmp)
			return bits[i].bit;
	}
	return 0;
}

/* The first key of @list that is none of these, @len long, or NULL: perf would name others */
static const char *find_unknown(const char *list, size_t *len)
{
	key_list__for_each(list, key, *len) {
		size_t i = 0;

		while (i < ARRAY_SIZE(keys) && (strlen(keys[i].name) != *len ||
						strncasecmp(keys[i].name, key, *len)))
			i++;
		if (i == ARRAY_SIZE(keys))
			return key;
	}
	return NULL;
}

/* What to tell of a @list that is refused: its first unknown key, or all of it. For free() */
char *row_keys__wrong(const char *list)
{
	size_t len;
	const char *key = find_unknown(list, &len);

	return key ? strndup(key, len) : strdup(list);
}

/**
 * row_keys__setup - have perf's histograms tell rows apart as --sort says
 * @sort: gets PROFILE_SORT_* of what was asked for
 *
 * 0 or -errno: -EINVAL if there is a key that is none of these
 */
int row_keys__setup(unsigned int *sort)
{
	const char *asked = sort_order;
	bool is_class = asked && !strcmp(asked, CLASS_KEY);
	size_t len;
	struct perf_hpp_fmt *fmt;
	char *order;
	int ret;

	*sort = 0;
	if (asked && find_unknown(asked, &len))
		return -EINVAL;
	/* Chains are no part of a row. */
	symbol_conf.cumulate_callchain = false;
	symbol_conf.enable_latency = false;
	sort__set_command_dimensions(keys, ARRAY_SIZE(keys));
	if (asprintf(&order, CLASS_KEY ",%s", asked ?: DEFAULT_KEYS) < 0)
		return -ENOMEM;
	sort_order = order;
	/* None of these keys is of certain events, or machines. */
	ret = setup_sorting(/*evlist=*/NULL, /*env=*/NULL);
	sort_order = asked;
	free(order);
	perf_hpp_list__for_each_sort_list(&perf_hpp_list, fmt) {
		if (ret < 0)
			break;
		*sort |= key__bit(fmt);
	}
	return ret >= 0 && (*sort || is_class) ? 0 : -EINVAL;
}

/**
 * row_keys__setup_reasons - the same for tables of exit reasons, which have only names
 * @list: @key: of one set of tables, to stay as long as they: a key is in one list
 */
void row_keys__setup_reasons(struct perf_hpp_list *list, struct perf_hpp_fmt *key)
{
	static const struct perf_hpp_fmt reason_key = ROW_KEY("Exit reason", sym_cmp);

	*key = reason_key;
	perf_hpp_list__init(list);
	perf_hpp_list__column_register(list, key);
	perf_hpp_list__register_sort_field(list, key);
}
