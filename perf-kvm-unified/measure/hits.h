/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEASURE_HITS_H
#define __PERF_KVM_UNIFIED_MEASURE_HITS_H

#include <stdbool.h>
#include <linux/types.h>

#include "profile-key.h"

struct addr_location;
struct chain;
struct hashmap;
struct machine;
struct map;
struct symbol;
struct thread;

#define HIT_NO_CPU	(-1)

/**
 * struct hit - what samples have hit, for all samples of the same
 * @key: its names
 * @idx: its number
 * @map: one that its file is mapped by, or NULL: not code of a file
 * @sym: the function, or NULL: not known
 * @thread: whose it was, as it was called then; NULL if it is no code
 * @chain: its callers, or NULL
 * @addr: where in @map, if addresses are kept
 * @cpu: of the host, on which it was; HIT_NO_CPU if CPUs are not kept
 * @cpumode: PERF_RECORD_MISC_*
 * @level: perf's letter for it
 */
struct hit {
	struct profile_key key;
	u32		idx;
	struct map	*map;
	struct symbol	*sym;
	struct thread	*thread;
	const struct chain *chain;
	u64		addr;
	s32		cpu;
	u8		cpumode;
	char		level;
};

/**
 * struct hits - all of them
 * @keep_addrs: @keep_cpus: a hit is that of one address, of one CPU: rows are told apart by it
 * @by_idx: by number, @nr of them
 * @threads: of the hits, as they were called, @nr_threads of them
 * @newest: of these, the last one of each tid that has a name, if any has
 */
struct hits {
	bool		keep_addrs;
	bool		keep_cpus;
	struct hashmap	*table;
	struct hit	**by_idx;
	u32		nr;
	size_t		allocated;
	struct thread	**threads;
	struct hashmap	*thread_table;
	struct hashmap	*newest;
	u32		nr_threads;
	size_t		allocated_threads;
};

int hits__init(struct hits *hits);
void hits__exit(struct hits *hits);
int hits__name_threads(struct hits *hits);
int hits__rename_thread(struct hits *hits, struct thread *thread);
struct thread *hits__thread_of_rows(const struct hits *hits, struct thread *thread, bool by_name);
struct hit *hits__findnew(struct hits *hits, const struct profile_key *key, u32 cpu,
			  const struct addr_location *al);
struct hit *hits__on_cpu(struct hits *hits, const struct hit *hit, u32 cpu);
struct hit *hits__with_chain(struct hits *hits, const struct hit *hit, const struct chain *chain,
			     const struct profile_key *key, struct thread *thread);

#endif /* __PERF_KVM_UNIFIED_MEASURE_HITS_H */
