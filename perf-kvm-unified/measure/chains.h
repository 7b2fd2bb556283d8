/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEASURE_CHAINS_H
#define __PERF_KVM_UNIFIED_MEASURE_CHAINS_H

#include <stdbool.h>
#include <linux/types.h>

#include "util/map_symbol.h"

struct callchain_cursor;
struct hashmap;
struct perf_sample;
struct perf_session;
struct thread;

struct chain_node {
	struct map_symbol ms;
	u64		ip;
};

/**
 * struct chain - a call chain, resolved
 * @parent: the symbol that --parent looks for, or NULL
 * @nodes: in the order of the cursor, @nr of them
 */
struct chain {
	struct symbol	*parent;
	u32		nr;
	struct chain_node nodes[];
};

/* All of them, each once */
struct chains {
	struct hashmap	*table;
};

int chains__init(struct chains *chains);
void chains__exit(struct chains *chains);
void chains__setup(struct perf_session *session);
int chains__resolve(struct chains *chains, struct thread *thread, struct perf_sample *sample,
		    int max_stack, const struct chain **chain);
bool chains__have_caller(const struct chains *chains, const char *pattern);
bool chain__has_user(const struct chain *chain);
bool sample__leads_to_user(struct perf_sample *sample, struct thread *thread);
int chain__to_cursor(const struct chain *chain, struct callchain_cursor *cursor);

#endif /* __PERF_KVM_UNIFIED_MEASURE_CHAINS_H */
