// SPDX-License-Identifier: GPL-2.0
/*
 * What --pid, --thief, --comms, --dsos and --symbols ask for and no row has: a typing error, as
 * a rule.
 */
#include <stdbool.h>
#include <string.h>
#include <linux/kernel.h>

#include "util/intlist.h"
#include "util/strlist.h"
#include "util/thread.h"
#include "kvm-unified/lib/name-map.h"
#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/patterns.h"
#include "kvm-unified/lib/warnings.h"
#include "kvm-unified/measure/measurement.h"
#include "sections.h"
#include "unmatched.h"

static const char *comm_of(const struct hit *hit)
{
	return hit->key.comm;
}

static const char *module_of(const struct hit *hit)
{
	return hit->key.module;
}

static const char *function_of(const struct hit *hit)
{
	return hit->key.function;
}

/* Profiles in which names are looked for */
struct measurements {
	const struct measurement *const *ms;
	u32		nr;
};

/*
 * The samples' names: of other VMs and times, too. @known: there is one that is called so. Names
 * are many times in them, and are looked at once.
 */
static void find_near(const struct measurements *of, const char *(*name_of)(const struct hit *hit),
		      struct near_names *near, bool *known)
{
	struct hashmap *seen = name_map__new();

	*known = false;
	if (!seen)
		return;
	for (u32 i = 0; i < of->nr; i++) {
		const struct hits *hits = &of->ms[i]->hits;

		for (u32 hit = 0; hit < hits->nr; hit++) {
			const char *name = name_of(hits->by_idx[hit]);

			if (near_names__add_once(near, seen, name))
				*known |= *name && pattern__match(near->wanted, name);
		}
	}
	hashmap__free(seen);
}

static void warn(const char *option, const char *what, struct near_names *near, bool known)
{
	const char *list = near_names__list(near);

	if (known)
		unified_warning("--%s: %s '%s' is not in what the other options ask for\n",
				option, what, near->wanted);
	else
		unified_warning("--%s: there is no %s '%s'%s%s\n", option, what, near->wanted,
				near->nr ? ". Like it: " : "", list);
}

/* Is @wanted in no row of its own, but has called what is? */
static bool is_caller(const struct measurements *of, const char *wanted)
{
	for (u32 i = 0; i < of->nr; i++) {
		if (chains__have_caller(&of->ms[i]->chains, wanted))
			return true;
	}
	return false;
}

/*
 * struct option_names - the names that an option is for
 * @what: a thing with such a name
 * @is_file: what is wanted may be a path, and what has a name here is its last part
 * @is_other: does the text name another thing, that this option is not for?
 * @other: what is said of one then
 */
struct option_names {
	const char	*option;
	const char	*what;
	const char	*(*name_of)(const struct hit *hit);
	bool		is_file;
	bool		(*is_other)(const struct measurements *of, const char *wanted);
	const char	*other;
};

static const struct option_names comm_names = {
	.option		= "comms",
	.what		= "process",
	.name_of	= comm_of,
};

static const struct option_names dso_names = {
	.option		= "dsos",
	.what		= "module",
	.name_of	= module_of,
	.is_file	= true,
};

static const struct option_names symbol_names = {
	.option		= "symbols",
	.what		= "function",
	.name_of	= function_of,
	.is_other	= is_caller,
	.other		= "has called what was sampled, and was not sampled itself: for callers, give its name without --symbols",
};

/* What is like @near->wanted, and if it is there, but in no row that the other options leave */
static void find_near_option(const struct measurements *of, const struct option_names *names,
			     struct near_names *near, bool *known)
{
	const char *wanted = near->wanted;
	const char *slash = names->is_file ? strrchr(wanted, '/') : NULL;

	if (slash)
		near->wanted = slash + 1;
	find_near(of, names->name_of, near, known);
	near->wanted = wanted;
	if (slash)
		*known = false;
}

static void warn_patterns(const struct measurements *of, const struct patterns *patterns,
			  const struct option_names *names)
{
	size_t nr = 0;

	for (size_t i = 0; patterns && i < patterns->nr; i++) {
		struct near_names near = { .wanted = patterns->entries[i].text };
		bool known;

		/* A file can have thousands, and to look for what is like them takes time. */
		if (patterns->entries[i].matched || nr++ >= NAMES_SHOWN)
			continue;
		find_near_option(of, names, &near, &known);
		if (!known && names->is_other && names->is_other(of, near.wanted))
			unified_warning("--%s: '%s' %s\n", names->option, near.wanted,
					names->other);
		else
			warn(names->option, names->what, &near, known);
	}
	if (nr > NAMES_SHOWN)
		unified_warning("--%s: nor are there %zu more\n", names->option, nr - NAMES_SHOWN);
}

static void warn_filter(const struct measurements *of, const struct pattern *filter)
{
	struct near_names near = { };
	bool known;

	if (!filter || filter->matched)
		return;
	near.wanted = filter->text;
	find_near(of, function_of, &near, &known);
	unified_warning("No function here has '%s' in its name%s%s\n", filter->text,
			near.nr ? ". Like it: " : "", near_names__list(&near));
}

static void add_pids(struct strlist *pids, const struct measurement *m)
{
	for (u32 i = 0; i < m->hits.nr; i++) {
		pid_t pid = m->hits.by_idx[i]->key.pid;
		char text[16];

		scnprintf(text, sizeof(text), "%d", pid);
		if (pid >= 0)
			strlist__add(pids, text);
	}
}

/* The pids of all processes, as text, each once. NULL: no memory */
static struct strlist *known_pids(const struct measurements *of)
{
	struct strlist *pids = strlist__new(NULL, NULL);

	for (u32 i = 0; pids && i < of->nr; i++)
		add_pids(pids, of->ms[i]);
	return pids;
}

/* The process of a thread of the host that was sampled, and is no process; -1: there is none */
static pid_t process_of_thread(const struct measurements *of, pid_t tid)
{
	for (u32 i = 0; i < of->nr; i++) {
		const struct hits *hits = &of->ms[i]->hits;

		for (u32 hit = 0; hit < hits->nr; hit++) {
			struct thread *thread = hits->by_idx[hit]->thread;

			if (thread && thread__tid(thread) == tid && thread__pid(thread) != tid &&
			    thread__pid(thread) >= 0)
				return thread__pid(thread);
		}
	}
	return -1;
}

/* A number that looks like another one is nothing like it: none is proposed. */
static void warn_pid(const struct measurements *of, struct strlist *known, unsigned long pid)
{
	char text[32];
	struct near_names near = { .wanted = text };
	pid_t process;

	scnprintf(text, sizeof(text), "%lu", pid);
	process = strlist__has_entry(known, text) ? -1 : process_of_thread(of, pid);
	if (process >= 0)
		unified_warning("--pid: %s is a thread of process %d: --pid %d\n", text, process,
				process);
	else
		warn("pid", "process", &near, strlist__has_entry(known, text));
}

static void warn_pids(const struct measurements *of, struct intlist *pids)
{
	struct strlist *known = pids ? known_pids(of) : NULL;
	struct int_node *node;
	size_t nr = 0;

	if (!known)
		return;
	intlist__for_each_entry(node, pids) {
		if (!node->priv && nr++ < NAMES_SHOWN)
			warn_pid(of, known, node->i);
	}
	if (nr > NAMES_SHOWN)
		unified_warning("--pid: nor are there %zu more\n", nr - NAMES_SHOWN);
	strlist__delete(known);
}

/* Other names of VMs, and of threads of the host: many times the same, which is looked at once. */
static void find_near_thieves(const struct measurement *m, struct near_names *near)
{
	struct hashmap *seen = name_map__new();

	if (!seen || hashmap__add(seen, near->wanted, 0))
		goto out;
	for (u32 i = 0; i < m->nr_vms; i++)
		near_names__add_once(near, seen, m->vms[i].name);
	for (u32 i = 0; i < m->nr_tasks; i++)
		near_names__add_once(near, seen, m->tasks[i]->comm);
out:
	hashmap__free(seen);
}

static void warn_thieves(const struct measurements *of, const struct patterns *thieves)
{
	for (size_t i = 0; thieves && i < thieves->nr; i++) {
		struct near_names near = { .wanted = thieves->entries[i].text };

		if (thieves->entries[i].matched)
			continue;
		for (u32 side = 0; side < of->nr; side++)
			find_near_thieves(of->ms[side], &near);
		unified_warning("--thief: '%s' had no CPU that one of these VMs wanted%s%s\n",
				near.wanted, near.nr ? ". Like it: " : "",
				near_names__list(&near));
	}
}

/*
 * When all rows of @ms, @nr of them, are made: of what is in none of them. The report is the same
 * without these words.
 */
void section_opts__warn_unmatched(const struct section_opts *opts,
				  const struct measurement *const ms[], u32 nr)
{
	const struct measurements of = { .ms = ms, .nr = nr };

	warn_pids(&of, opts->pids);
	warn_patterns(&of, opts->comms, &comm_names);
	warn_patterns(&of, opts->dsos, &dso_names);
	warn_patterns(&of, opts->syms, &symbol_names);
	warn_filter(&of, opts->filter);
	warn_thieves(&of, opts->thieves);
}
