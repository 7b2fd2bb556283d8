// SPDX-License-Identifier: GPL-2.0
/*
 * Call chains of samples: each that is different once, resolved when it was taken.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "util/callchain.h"
#include "util/event.h"
#include "util/evlist.h"
#include "util/machine.h"
#include "util/map.h"
#include "util/map_symbol.h"
#include "util/sample.h"
#include "util/session.h"
#include "util/symbol.h"
#include "util/thread.h"
#include "util/unwind.h"
#include "kvm-unified/lib/hash-map.h"
#include "kvm-unified/lib/patterns.h"
#include "chains.h"

static size_t chain__hash(long key, void *ctx __maybe_unused)
{
	const struct chain *chain = (const struct chain *)key;
	u64 hash = chain->nr;

	for (u32 i = 0; i < chain->nr; i++)
		hash = hash_64(hash ^ chain->nodes[i].ip, 32) ^
		       (unsigned long)chain->nodes[i].ms.sym;
	return hash_64(hash, 32);
}

static bool chain__equal(long _a, long _b, void *ctx __maybe_unused)
{
	const struct chain *a = (const struct chain *)_a, *b = (const struct chain *)_b;

	if (a->nr != b->nr || a->parent != b->parent)
		return false;
	for (u32 i = 0; i < a->nr; i++) {
		if (a->nodes[i].ip != b->nodes[i].ip ||
		    a->nodes[i].ms.sym != b->nodes[i].ms.sym ||
		    a->nodes[i].ms.map != b->nodes[i].ms.map)
			return false;
	}
	return true;
}

/* 0 or -ENOMEM */
int chains__init(struct chains *chains)
{
	chains->table = hash_map__new(chain__hash, chain__equal, NULL);
	return chains->table ? 0 : -ENOMEM;
}

static void chain__delete(struct chain *chain)
{
	for (u32 i = 0; i < chain->nr; i++)
		map_symbol__exit(&chain->nodes[i].ms);
	free(chain);
}

void chains__exit(struct chains *chains)
{
	struct hashmap_entry *entry;
	size_t bkt;

	if (chains->table) {
		hashmap__for_each_entry(chains->table, entry, bkt)
			chain__delete(entry->pvalue);
	}
	hashmap__free(chains->table);
	chains->table = NULL;
}

/* Has one of them a function that @pattern stands for? */
bool chains__have_caller(const struct chains *chains, const char *pattern)
{
	struct hashmap_entry *entry;
	size_t bkt;

	hashmap__for_each_entry(chains->table, entry, bkt) {
		const struct chain *chain = entry->pvalue;

		for (u32 i = 0; i < chain->nr; i++) {
			const struct symbol *sym = chain->nodes[i].ms.sym;

			if (sym && pattern__match(pattern, sym->name))
				return true;
		}
	}
	return false;
}

/* Is it code of a program? On x86-64; callers that are not known have no address. */
static bool is_user(u64 ip)
{
	return ip && !(ip >> 63);
}

bool chain__has_user(const struct chain *chain)
{
	for (u32 i = 0; i < chain->nr; i++) {
		if (is_user(chain->nodes[i].ip))
			return true;
	}
	return false;
}

/* The one of @chains that is in perf's cursor; NULL: no memory */
static const struct chain *chains__findnew(struct chains *chains, struct callchain_cursor *cursor,
					   struct symbol *parent)
{
	struct callchain_cursor_node *node;
	struct chain *chain = zalloc(sizeof(*chain) + cursor->nr * sizeof(*chain->nodes)), *known;

	if (!chain)
		return NULL;
	chain->parent = parent;
	callchain_cursor_commit(cursor);
	while ((node = callchain_cursor_current(cursor))) {
		struct chain_node *copy = &chain->nodes[chain->nr++];

		map_symbol__copy(&copy->ms, &node->ms);
		copy->ip = node->ip;
		callchain_cursor_advance(cursor);
	}
	if (hashmap__find(chains->table, chain, &known)) {
		chain__delete(chain);
		return known;
	}
	if (!hashmap__add(chains->table, chain, chain))
		return chain;
	chain__delete(chain);
	return NULL;
}

/**
 * chains__resolve - the call chain of a sample
 * @thread: that it was taken in
 * @max_stack: no more callers than that
 * @chain: gets it, or NULL if there is none
 *
 * 0 or -ENOMEM
 */
int chains__resolve(struct chains *chains, struct thread *thread, struct perf_sample *sample,
		    int max_stack, const struct chain **chain)
{
	struct callchain_cursor *cursor = get_tls_callchain_cursor();
	struct symbol *parent = NULL;

	*chain = NULL;
	if (!cursor)
		return -ENOMEM;
	/* What cannot be resolved has no callers; perf has said so. */
	if (thread__resolve_callchain(thread, cursor, sample, &parent, NULL, max_stack) ||
	    !cursor->nr)
		return 0;
	*chain = chains__findnew(chains, cursor, parent);
	return *chain ? 0 : -ENOMEM;
}

/*
 * symbol_conf has whether chains are wanted. Copies of stacks are unwound, if the profile has any,
 * also if they are not.
 */
void chains__setup(struct perf_session *session)
{
	u64 sample_type = evlist__combined_sample_type(session->evlist);

	callchain_param_setup(sample_type, perf_session__e_machine(session, /*e_flags=*/NULL));
	if (sample_type & PERF_SAMPLE_REGS_USER && sample_type & PERF_SAMPLE_STACK_USER)
		dwarf_callchain_users = true;
}

/*
 * Does the chain of a sample, all of it, have code of a program? If the sample is of a guest's
 * kernel, it worked for that program, and for no kernel thread that has borrowed the address space.
 */
bool sample__leads_to_user(struct perf_sample *sample, struct thread *thread)
{
	struct callchain_cursor *cursor = get_tls_callchain_cursor();
	const struct callchain_cursor_node *node;
	struct symbol *parent = NULL;
	bool found = false;

	if (!cursor || thread__resolve_callchain(thread, cursor, sample, &parent, NULL,
						 PERF_MAX_STACK_DEPTH))
		return false;
	callchain_cursor_commit(cursor);
	while (!found && (node = callchain_cursor_current(cursor))) {
		found = is_user(node->ip);
		callchain_cursor_advance(cursor);
	}
	return found;
}

/* Puts @chain, which may be NULL, where perf's histograms take it from. 0 or -ENOMEM */
int chain__to_cursor(const struct chain *chain, struct callchain_cursor *cursor)
{
	int ret = 0;

	callchain_cursor_reset(cursor);
	for (u32 i = 0; chain && !ret && i < chain->nr; i++) {
		struct map_symbol ms = chain->nodes[i].ms;

		ret = callchain_cursor_append(cursor, chain->nodes[i].ip, &ms, /*branch=*/false,
					      NULL, 0, 0, 0, NULL);
	}
	return ret;
}
