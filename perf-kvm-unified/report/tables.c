// SPDX-License-Identifier: GPL-2.0
/*
 * The report as perf's histograms: one event for each table, so that perf's views have a
 * menu of them. An interval goes in as a sample whose period is its ns; what is no code has
 * a symbol that is made for it.
 */
#include <elf.h>
#include <dwarf-regs.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/zalloc.h>

#include "util/addr_location.h"
#include "util/callchain.h"
#include "util/dso.h"
#include "util/evlist.h"
#include "util/evsel.h"
#include "util/hist.h"
#include "util/machine.h"
#include "util/map.h"
#include "util/sample.h"
#include "util/session.h"
#include "util/symbol.h"
#include "util/symbol_conf.h"
#include "util/thread.h"
#include "kvm-unified/guests/guest.h"
#include "kvm-unified/lib/hash-map.h"
#include "kvm-unified/lib/name-map.h"
#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/patterns.h"
#include "kvm-unified/measure/chains.h"
#include "kvm-unified/measure/code.h"
#include "kvm-unified/measure/hits.h"
#include "kvm-unified/measure/measurement.h"
#include "tables.h"
#include "tally.h"

/*
 * A symbol that is in no file. @level: perf's letter for where it runs
 * @module: a map of that name; @map: the file's, if there is one, else that. Rows that perf takes
 *	for the same have the same: else it looks the symbol up in the other one's file
 */
struct made_symbol {
	struct map	*module;
	struct map	*map;
	char		*function;
	char		level;
	struct symbol	*sym;
};

static size_t made__hash(long key, void *ctx __maybe_unused)
{
	const struct made_symbol *made = (const struct made_symbol *)key;

	return str_hash(made->function) ^ (size_t)made->module * 31 ^ made->level;
}

static bool made__equal(long _a, long _b, void *ctx __maybe_unused)
{
	const struct made_symbol *a = (const struct made_symbol *)_a;
	const struct made_symbol *b = (const struct made_symbol *)_b;

	return a->module == b->module && a->level == b->level && !strcmp(a->function, b->function);
}

static void made__delete(struct made_symbol *made)
{
	/* The symbol is its file's. */
	map__put(made->module);
	map__put(made->map);
	free(made->function);
	free(made);
}

void tables__exit(struct tables *tables)
{
	struct hashmap_entry *entry;
	size_t bkt;

	evlist__put(tables->evlist);
	evlist__put(tables->reasons);
	if (tables->made) {
		hashmap__for_each_entry(tables->made, entry, bkt)
			made__delete(entry->pvalue);
	}
	hashmap__free(tables->made);
	if (tables->made_maps) {
		hashmap__for_each_entry(tables->made_maps, entry, bkt) {
			free((void *)entry->pkey);
			map__put(entry->pvalue);
		}
	}
	hashmap__free(tables->made_maps);
	thread__put(tables->nobody);
	for (u32 i = 0; tables->vms_nobody && i < tables->m->nr_vms; i++)
		thread__put(tables->vms_nobody[i]);
	free(tables->vms_nobody);
	*tables = (struct tables) { };
}

/* The thread of what is no thread's in @machine; NULL: no memory */
static struct thread *new_nobody(struct machine *machine)
{
	/* Not the idle tasks of CPUs, which are 0 */
	struct thread *nobody = thread__new(-1, -1);

	if (!nobody)
		return NULL;
	if (thread__set_comm(nobody, "-", 0) || thread__init_maps(nobody, machine)) {
		thread__put(nobody);
		return NULL;
	}
	/* What it is executed by is not to be looked for. */
	thread__set_e_machine(nobody, EM_HOST);
	return nobody;
}

/* @vm: or TABLE_NO_VM; one that is not known as a guest is as the host. NULL: no memory */
static struct thread *tables__nobody(struct tables *tables, u32 vm)
{
	const struct kvm_guest *guest = vm == TABLE_NO_VM ? NULL : tables->m->vms[vm].guest;

	if (!guest)
		return tables->nobody;
	if (!tables->vms_nobody[vm])
		tables->vms_nobody[vm] = new_nobody(guest->machine);
	return tables->vms_nobody[vm];
}

/* 0 or -ENOMEM */
int tables__init(struct tables *tables, const struct measurement *m)
{
	tables->made = hash_map__new(made__hash, made__equal, NULL);
	tables->made_maps = name_map__new();
	if (!tables->made || !tables->made_maps)
		return -ENOMEM;
	tables->m = m;
	tables->evlist = evlist__new();
	tables->reasons = evlist__new();
	tables->nobody = new_nobody(&m->session->machines.host);
	tables->vms_nobody = calloc(m->nr_vms + 1, sizeof(struct thread *));
	if (!tables->evlist || !tables->reasons || !tables->nobody || !tables->vms_nobody)
		return -ENOMEM;
	evlist__set_session(tables->evlist, m->session);
	return 0;
}

/* What the tables keep for @he; nothing, if it is an entry of another table */
const struct table_info *table_entry__info(const struct hist_entry *he)
{
	static const struct table_info none = {
		.key = { .function = "", .module = "", .comm = "", .pid = -1 },
		.vcpu = TABLE_NO_VCPU,
	};

	return he->raw_size == sizeof(none) ? he->raw_data : &none;
}

/* Is its symbol one of its file? One that was made for it has no length. */
bool table_entry__has_symbol(const struct hist_entry *he)
{
	return he->ms.sym && he->ms.sym->end > he->ms.sym->start;
}

/* Replaces escapes in @str, which may come out of a guest. NULL stays NULL. */
static char *without_escapes(char *str)
{
	if (str)
		text__make_printable(str);
	return str;
}

static bool has_escapes(const char *str)
{
	for (; *str; str++) {
		if (char__printable(*str) != *str)
			return true;
	}
	return false;
}

/* An event of the table's; @name: copied. NULL: no memory */
static struct evsel *tables__new_column(struct tables *tables, struct evlist *evlist, u32 column,
					const char *name)
{
	const struct evsel *like = column == PROFILE_TIME ? tables->m->evsel :
							    tables->m->columns[column];
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
	};
	struct evsel *evsel;

	if (like)
		attr = like->core.attr;
	evsel = evsel__new(&attr);
	if (!evsel)
		return NULL;
	evlist__add(evlist, evsel);
	/* Samples by address are not by table, but by column: see view__open(). */
	evsel->core.idx = column;
	zfree(&evsel->name);
	evsel->name = without_escapes(strdup(name));
	return evsel->name ? evsel : NULL;
}

/* A table; @name: copied. NULL: no memory */
struct evsel *tables__new(struct tables *tables, const char *name)
{
	const struct measurement *m = tables->m;
	struct evsel *table = tables__new_column(tables, tables->evlist, PROFILE_TIME, name);

	for (u32 column = PROFILE_TIME + 1; table && column < m->nr_columns; column++) {
		struct evsel *evsel = tables__new_column(tables, tables->evlist, column,
							 evsel__name(m->columns[column]));

		if (!evsel)
			return NULL;
		evsel__set_leader(evsel, table);
		table->core.nr_members = column + 1;
	}
	if (table && table->core.nr_members > 1) {
		table->group_name = strdup(table->name);
		if (!table->group_name)
			return NULL;
	}
	return table;
}

/* A table of time by exit reasons. NULL: no memory */
struct evsel *tables__new_reasons(struct tables *tables)
{
	struct evsel *evsel = tables__new_column(tables, tables->reasons, PROFILE_TIME,
						 "exit reasons");

	if (evsel)
		evsel__hists(evsel)->hpp_list = &tables->reason_keys;
	return evsel;
}

/* That of a module which is in no file: perf tells modules apart by it. NULL: no memory */
static struct map *tables__made_map(struct tables *tables, const char *module)
{
	char *name = without_escapes(strdup(module));
	struct map *map = NULL;
	struct dso *dso;

	if (!name)
		return NULL;
	if (hashmap__find(tables->made_maps, name, &map)) {
		free(name);
		return map;
	}
	dso = dso__new(name);
	if (dso) {
		dso__set_loaded(dso);
		/* There are no instructions of it to be looked at. */
		dso__set_annotate_warned(dso);
		map = map__new2(0, dso);
		dso__put(dso);
	}
	if (map && !hashmap__add(tables->made_maps, name, map))
		return map;
	map__put(map);
	free(name);
	return NULL;
}

/*
 * The symbol of a row that has none of its own; @file: the map of its code, or NULL: it has none;
 * @level: where it runs. NULL: no memory
 */
static const struct made_symbol *tables__made(struct tables *tables, const char *module,
					      struct map *file, const char *function, char level)
{
	struct made_symbol *made = zalloc(sizeof(*made)), *known;
	u64 addr = hashmap__size(tables->made) + 1;

	if (!made)
		return NULL;
	made->level = level;
	made->module = map__get(tables__made_map(tables, module));
	made->map = map__get(file ?: made->module);
	made->function = without_escapes(strdup(function));
	if (!made->map || !made->function)
		goto no_memory;
	if (hashmap__find(tables->made, made, &known)) {
		made__delete(made);
		return known;
	}

	/* Symbols are told apart by their addresses. This one has no instructions. */
	made->sym = symbol__new(addr, 0, STB_GLOBAL, STT_FUNC, made->function);
	if (!made->sym)
		goto no_memory;
	dso__insert_symbol(map__dso(made->module), made->sym);
	if (!hashmap__add(tables->made, made, made))
		return made;
no_memory:
	made__delete(made);
	return NULL;
}

/* Whose @row is; NULL: no memory */
static struct thread *tables__thread(struct tables *tables, const struct table_row *row)
{
	struct thread *thread = row->hit ? row->hit->thread : NULL;

	if (!thread || thread__tid(thread) < 0)
		return tables__nobody(tables, row->vm);
	return hits__thread_of_rows(&tables->m->hits, thread, perf_hpp_list.comm);
}

/* @cpu: of the host; less than 0: none */
static void addr_location__set_cpu(struct addr_location *al, s32 cpu, const struct measurement *m)
{
	struct perf_env *env = perf_session__env(m->session);
	const struct cpu_topology_map *topology = NULL;

	al->cpu = cpu;
	if (cpu >= 0 && cpu < env->nr_cpus_avail)
		topology = perf_env__get_cpu_topology(env, (struct perf_cpu){ cpu });
	al->socket = topology ? topology->socket_id : -1;
}

/* Where @row is, as perf has it; @key: gets names that stay. 0 or -ENOMEM */
static int tables__locate(struct tables *tables, const struct table_row *row,
			  struct addr_location *al, struct profile_key *key)
{
	const struct made_symbol *made;
	const struct hit *hit = row->hit;
	const char *module = row->key->module[0] ? row->key->module :
			     profile_key__class_row(row->key);
	const char *function = row->key->function;
	bool is_unknown = !hit && !strcmp(function, UNKNOWN_NAME);
	struct thread *thread = tables__thread(tables, row);
	struct map *file = NULL;

	if (!thread)
		return -ENOMEM;
	al->level = TABLE_NO_CODE;
	al->filtered = row->filtered;
	addr_location__set_cpu(al, hit ? hit->cpu : (s32)row->cpu, tables->m);
	if (hit && hit->level) {
		al->level = hit->level;
		al->cpumode = hit->cpumode;
	}
	al->thread = thread__get(thread);

	if (hit && hit->map && hit->sym && !has_escapes(hit->sym->name) &&
	    !has_escapes(dso__short_name(map__dso(hit->map)))) {
		al->map = map__get(hit->map);
		al->sym = hit->sym;
		al->addr = hit->addr ?: hit->sym->start;
		return 0;
	}
	/* Code without a name is called so, too. */
	if (is_unknown) {
		function = "[unknown time]";
		module = function;
	}
	/* As those that have symbols, of the same file */
	if (hit && hit->map && !has_escapes(dso__short_name(map__dso(hit->map)))) {
		file = hit->map;
		module = dso__short_name(map__dso(file));
	}
	made = tables__made(tables, module, file, function, al->level);
	if (!made)
		return -ENOMEM;
	if (!hit) {
		key->function = is_unknown ? UNKNOWN_NAME : made->function;
		key->module = row->key->module[0] ? dso__name(map__dso(made->module)) : "";
	}
	al->map = map__get(made->map);
	al->sym = made->sym;
	al->addr = hit && hit->addr ? hit->addr : made->sym->start;
	/* There is no line of source to be looked for. */
	al->srcline = made->function;
	return 0;
}

/*
 * As hist_entry_iter__add(), with callers that are resolved already, of @nr samples. 0 or -errno
 */
static int add_entry(struct perf_sample *sample, struct addr_location *al,
		     const struct chain *chain, u64 nr)
{
	struct callchain_cursor *cursor = get_tls_callchain_cursor();
	struct hist_entry_iter iter = {
		.sample = sample,
		.parent = chain ? chain->parent : NULL,
		.hide_unresolved = symbol_conf.hide_unresolved,
		.ops = symbol_conf.cumulate_callchain ? &hist_iter_cumulative : &hist_iter_normal,
	};
	int ret = cursor ? chain__to_cursor(chain, cursor) : -ENOMEM, err;

	if (!ret)
		ret = iter.ops->prepare_entry(&iter, al);
	if (ret)
		return ret;
	ret = iter.ops->add_single_entry(&iter, al);
	/* One is counted for each that is added. */
	if (!ret && iter.he)
		iter.he->stat.nr_events += nr - 1;
	while (!ret && iter.ops->next_entry(&iter, al))
		ret = iter.ops->add_next_entry(&iter, al);
	err = iter.ops->finish_entry(&iter, al);
	return ret ?: err;
}

/* Add to a column of @row; how many samples its time is, set_samples() finds. 0 or -ENOMEM */
int tables__add(struct tables *tables, struct evsel *table, const struct table_row *row, u32 column,
		const struct tally_sum *sum)
{
	static struct ip_callchain no_chain;
	struct table_info info = row->info;
	struct perf_sample sample = {
		.period = sum->sum,
		.raw_data = &info,
		.raw_size = sizeof(info),
		.callchain = &no_chain,
	};
	struct addr_location al;
	int ret;

	while (column--)
		table = evsel__next(table);
	sample.evsel = table;
	addr_location__init(&al);
	info.key = *row->key;
	ret = tables__locate(tables, row, &al, &info.key);
	sample.cpumode = al.cpumode;
	if (!ret)
		ret = add_entry(&sample, &al, row->hit ? row->hit->chain : NULL, sum->nr);
	addr_location__exit(&al);
	return ret;
}

/* Rows of the columns of a table that are the same are one. 0 or -errno */
static int link_columns(struct evsel *evsel)
{
	struct hists *leader = evsel__hists(evsel__leader(evsel));

	if (evsel__is_group_leader(evsel))
		return 0;
	hists__match(leader, evsel__hists(evsel));
	return hists__link(leader, evsel__hists(evsel));
}

/*
 * How many samples a row's time is, of all that is in it: its parts are not rounded, each.
 * @entries: not yet sorted, and those below them, in a hierarchy. @period: ns, or 0: not known
 */
static void set_samples(struct rb_root_cached *entries, u64 period)
{
	for (struct rb_node *node = rb_first_cached(entries); node; node = rb_next(node)) {
		struct hist_entry *he = rb_entry(node, struct hist_entry, rb_node_in);

		he->stat.nr_events = profile__samples(he->stat.period, period);
		if (symbol_conf.cumulate_callchain)
			he->stat_acc->nr_events = profile__samples(he->stat_acc->period, period);
		if (symbol_conf.report_hierarchy && !he->leaf)
			set_samples(&he->hroot_in, period);
	}
}

/* Rows that are the same are one, of whole samples. @period: ns, or 0. 0 or -errno */
static int collapse_entries(struct evsel *evsel, u64 period)
{
	struct hists *hists = evsel__hists(evsel);
	int ret = hists__collapse_resort(hists, NULL);

	if (ret < 0)
		return ret;
	if (evsel__is_group_leader(evsel))
		set_samples(hists__has(hists, need_collapse) ? &hists->entries_collapsed :
							       hists->entries_in, period);
	return link_columns(evsel);
}

static int sort_entries(struct evlist *evlist, u64 period)
{
	struct evsel *evsel;

	evlist__for_each_entry(evlist, evsel) {
		int ret = collapse_entries(evsel, period);

		if (ret < 0)
			return ret;
	}
	evlist__for_each_entry(evlist, evsel)
		evsel__output_resort(evsel, NULL);
	return 0;
}

/* By symbol_conf.group_sort_idx, which has changed */
void tables__sort_again(struct tables *tables)
{
	struct evsel *evsel;

	evlist__for_each_entry(tables->evlist, evsel)
		evsel__output_resort(evsel, NULL);
}

/* Has one of these rows passed the symbol filter? */
static bool has_named(const struct hists *hists)
{
	for (struct rb_node *node = rb_first_cached(&hists->entries); node; node = rb_next(node)) {
		const struct hist_entry *he = rb_entry(node, struct hist_entry, rb_node);

		if (!(he->filtered & (1 << HIST_FILTER__SYMBOL)))
			return true;
	}
	return false;
}

/* Rows of callers, too, are shown only if @filter is in their names. 0 or -ENOMEM */
static int tables__filter(struct tables *tables, struct pattern *filter)
{
	struct evsel *evsel;

	evlist__for_each_entry(tables->evlist, evsel) {
		struct hists *hists = evsel__hists(evsel);

		hists->symbol_filter_str = strdup(filter->text);
		if (!hists->symbol_filter_str)
			return -ENOMEM;
		hists__filter_by_symbol(hists);
		filter->matched |= has_named(hists);
	}
	return 0;
}

/* All is in them: sort them. @filter: of symbols, is told if it matches; or NULL. 0 or -errno */
int tables__finish(struct tables *tables, struct pattern *filter)
{
	u64 period = tables->m->period;
	struct evsel *evsel;
	int ret;

	if (perf_hpp__setup_hists_formats(&perf_hpp_list, tables->evlist) < 0)
		return -ENOMEM;
	ret = sort_entries(tables->evlist, period) ?: sort_entries(tables->reasons, period);
	/* Without callers, what is added has been filtered. */
	if (!ret && filter && symbol_conf.cumulate_callchain)
		ret = tables__filter(tables, filter);
	if (ret)
		return ret;
	evlist__for_each_entry(tables->evlist, evsel) {
		struct hists_stats *stats = &evsel__hists(evsel)->stats;
		u64 of = evsel__is_group_leader(evsel) ? period : 0;

		stats->nr_samples = profile__samples(stats->total_period, of);
		stats->nr_non_filtered_samples =
			profile__samples(stats->total_non_filtered_period, of);
	}
	return 0;
}

/**
 * tables__rows - the rows of a table that are not filtered, most time first
 * @sort: with only what these are sorted by: PROFILE_SORT_*
 * @nr: gets how many
 *
 * To be freed. NULL: no memory
 */
struct profile_row *tables__rows(const struct tables *tables, struct evsel *table,
				 unsigned int sort, size_t *nr)
{
	const struct hists *hists = evsel__hists(table);
	/* One more: an empty table is not an error */
	struct profile_row *rows = calloc(hists->nr_entries + 1, sizeof(*rows)), *row = rows;
	struct hist_entry *pair;

	if (!rows)
		return NULL;
	for (struct rb_node *node = rb_first_cached(&hists->entries); node; node = rb_next(node)) {
		const struct hist_entry *he = rb_entry(node, struct hist_entry, rb_node);

		if (he->filtered)
			continue;
		row->key = profile_key__reduce(&table_entry__info(he)->key, sort);
		row->sums[PROFILE_TIME] = he->stat.period;
		list_for_each_entry(pair, &he->pairs.head, pairs.node)
			row->sums[hists_to_evsel(pair->hists)->core.idx] = pair->stat.period;
		row++;
	}
	*nr = row - rows;
	if (!profile_rows__sort(rows, *nr, tables->m->period))
		return rows;
	free(rows);
	return NULL;
}
