// SPDX-License-Identifier: GPL-2.0
/*
 * What samples have hit: each thing once. Samples of the same file, function and thread
 * have one number, so that memory does not grow with them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "util/addr_location.h"
#include "util/dso.h"
#include "util/map.h"
#include "util/maps.h"
#include "util/symbol.h"
#include "util/thread.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/hash-map.h"
#include "hits.h"

/* Maps of the same file are the same; its functions are compared by their addresses. */
static const struct dso *hit__dso(const struct hit *hit)
{
	return hit->map ? map__dso(hit->map) : NULL;
}

static size_t hit__hash(long _key, void *ctx __maybe_unused)
{
	const struct hit *hit = (const struct hit *)_key;
	const struct dso *dso = hit__dso(hit);
	u64 hash = (unsigned long)dso ^ hash_64((unsigned long)hit->sym, 32);

	hash = hash_64(hash, 32) ^ (unsigned long)hit->thread;
	hash = hash_64(hash, 32) ^ (unsigned long)hit->chain;
	hash = hash_64(hash, 32) ^ hit->key.pid ^ str_hash(hit->key.comm);
	hash = hash_64(hash, 32) ^ hit->addr ^ (u32)hit->cpu;
	if (!hit->map)
		hash ^= str_hash(hit->key.function) ^ str_hash(hit->key.module) * 31;
	return hash_64(hash, 32);
}

static bool hit__equal(long _a, long _b, void *ctx __maybe_unused)
{
	const struct hit *a = (const struct hit *)_a, *b = (const struct hit *)_b;

	return a->sym == b->sym && hit__dso(a) == hit__dso(b) && a->thread == b->thread &&
	       a->chain == b->chain && a->addr == b->addr && a->cpu == b->cpu &&
	       a->key.class == b->key.class && a->key.pid == b->key.pid &&
	       a->key.ns_pid == b->key.ns_pid && a->key.cgroup == b->key.cgroup &&
	       a->cpumode == b->cpumode &&
	       !strcmp(a->key.comm, b->key.comm) &&
	       (a->map || (!strcmp(a->key.function, b->key.function) &&
			   !strcmp(a->key.module, b->key.module)));
}

static size_t thread__hash(long key, void *ctx __maybe_unused)
{
	struct thread *thread = (struct thread *)key;
	struct maps *maps = thread__maps(thread);

	return hash_64((u64)thread__tid(thread) ^ (unsigned long)maps, 32) ^
	       str_hash(thread__comm_str(thread));
}

static bool thread__equal(long _a, long _b, void *ctx __maybe_unused)
{
	struct thread *a = (struct thread *)_a, *b = (struct thread *)_b;

	return thread__tid(a) == thread__tid(b) && thread__pid(a) == thread__pid(b) &&
	       thread__maps(a) == thread__maps(b) &&
	       !strcmp(thread__comm_str(a), thread__comm_str(b));
}

static const struct machine *thread__machine(struct thread *thread)
{
	struct maps *maps = thread__maps(thread);

	return maps ? maps__machine(maps) : NULL;
}

/* Whatever it is called, and whatever it executes */
static size_t tid__hash(long key, void *ctx __maybe_unused)
{
	struct thread *thread = (struct thread *)key;
	const struct machine *machine = thread__machine(thread);

	return hash_64((u64)thread__tid(thread) ^ (unsigned long)machine, 32);
}

static bool tid__equal(long _a, long _b, void *ctx __maybe_unused)
{
	struct thread *a = (struct thread *)_a, *b = (struct thread *)_b;

	return thread__tid(a) == thread__tid(b) && thread__machine(a) == thread__machine(b);
}

/* 0 or -ENOMEM */
static int new_table(struct hashmap **table, hashmap_hash_fn hash, hashmap_equal_fn equal)
{
	*table = hash_map__new(hash, equal, NULL);
	return *table ? 0 : -ENOMEM;
}

/* 0 or -ENOMEM */
int hits__init(struct hits *hits)
{
	return new_table(&hits->table, hit__hash, hit__equal) ?:
	       new_table(&hits->thread_table, thread__hash, thread__equal) ?:
	       new_table(&hits->newest, tid__hash, tid__equal);
}

static void hit__delete(struct hit *hit)
{
	free((void *)hit->key.function);
	free((void *)hit->key.module);
	free((void *)hit->key.comm);
	map__put(hit->map);
	thread__put(hit->thread);
	free(hit);
}

void hits__exit(struct hits *hits)
{
	hashmap__free(hits->table);
	for (u32 i = 0; i < hits->nr; i++)
		hit__delete(hits->by_idx[i]);
	free(hits->by_idx);
	hashmap__free(hits->thread_table);
	hashmap__free(hits->newest);
	for (u32 i = 0; i < hits->nr_threads; i++)
		thread__put(hits->threads[i]);
	free(hits->threads);
	*hits = (struct hits) { };
}

/* perf calls a thread so until its name is known, and if it has ended. */
static bool is_unnamed(struct thread *thread)
{
	const char *comm = thread__comm_str(thread);

	return comm[0] == ':' && atoi(comm + 1) == thread__tid(thread);
}

/* A copy of a thread is made: it is the newest one of its tid. 0 or -ENOMEM */
static int hits__set_newest(struct hits *hits, struct thread *copy)
{
	if (is_unnamed(copy) && hashmap__find(hits->newest, copy, NULL))
		return 0;
	return hashmap__set(hits->newest, copy, copy, NULL, NULL);
}

/*
 * @thread as it is called now: a copy, as its name may change, and it may end and its
 * number be another's. NULL: no memory
 */
static struct thread *hits__thread(struct hits *hits, struct thread *thread)
{
	struct thread *copy;

	if (hashmap__find(hits->thread_table, thread, &copy))
		return copy;
	copy = thread__new(thread__pid(thread), thread__tid(thread));
	if (!copy)
		return NULL;
	thread__set_maps(copy, maps__get(thread__maps(thread)));
	if (thread__set_comm(copy, thread__comm_str(thread), 0) ||
	    grow_array(hits->threads, hits->nr_threads, hits->allocated_threads) ||
	    hashmap__add(hits->thread_table, copy, copy)) {
		thread__put(copy);
		return NULL;
	}
	hits->threads[hits->nr_threads++] = copy;
	return hits__set_newest(hits, copy) ? NULL : copy;
}

/*
 * @thread has got a name: if it had that before, it is the newest one again, and nothing new is
 * made of it. 0 or -ENOMEM
 */
int hits__rename_thread(struct hits *hits, struct thread *thread)
{
	struct thread *copy;

	return hashmap__find(hits->thread_table, thread, &copy) ? hits__set_newest(hits, copy) : 0;
}

/*
 * Whose the rows are that hits of @thread are in. As in perf, a thread that they do not tell apart
 * @by_name has its last name, and so has what was sampled before it had any.
 */
struct thread *hits__thread_of_rows(const struct hits *hits, struct thread *thread, bool by_name)
{
	struct thread *newest;

	if (by_name && !is_unnamed(thread))
		return thread;
	return hashmap__find(hits->newest, thread, &newest) ? newest : thread;
}

/**
 * hits__name_threads - what a thread has hit before its name was known gets the name
 *
 * When all is read: nothing is looked up or added afterwards. 0 or -ENOMEM
 */
int hits__name_threads(struct hits *hits)
{
	for (u32 i = 0; i < hits->nr; i++) {
		struct hit *hit = hits->by_idx[i];
		struct thread *named;
		const char *comm;

		if (!hit->thread || !is_unnamed(hit->thread) ||
		    strcmp(hit->key.comm, thread__comm_str(hit->thread)))
			continue;
		named = hits__thread_of_rows(hits, hit->thread, /*by_name=*/true);
		/* The number may be another process's by then. */
		if (thread__pid(named) != thread__pid(hit->thread))
			continue;
		comm = strdup(thread__comm_str(named));
		if (!comm)
			return -ENOMEM;
		free((void *)hit->key.comm);
		hit->key.comm = comm;
	}
	return 0;
}

/* The one that is as @like; NULL: no memory */
static struct hit *hits__findnew_like(struct hits *hits, const struct hit *like)
{
	struct hit *hit;

	if (hashmap__find(hits->table, like, &hit))
		return hit;
	if (grow_array(hits->by_idx, hits->nr, hits->allocated))
		return NULL;
	hit = memdup(like, sizeof(*like));
	if (!hit)
		return NULL;
	hit->idx = hits->nr;
	hit->map = map__get(like->map);
	hit->thread = thread__get(like->thread);
	hit->key.function = strdup(like->key.function);
	hit->key.module = strdup(like->key.module);
	hit->key.comm = strdup(like->key.comm);
	if (!hit->key.function || !hit->key.module || !hit->key.comm ||
	    hashmap__add(hits->table, hit, hit)) {
		hit__delete(hit);
		return NULL;
	}
	hits->by_idx[hits->nr++] = hit;
	return hit;
}

/**
 * hits__findnew - the one of these names
 * @key: copied
 * @cpu: of the host
 * @al: what perf knows of it, or NULL: it is not code
 *
 * NULL: no memory
 */
struct hit *hits__findnew(struct hits *hits, const struct profile_key *key, u32 cpu,
			  const struct addr_location *al)
{
	struct hit like = { .key = *key, .cpu = hits->keep_cpus ? (s32)cpu : HIT_NO_CPU };

	if (al) {
		like.map = al->map;
		like.sym = al->sym;
		like.cpumode = al->cpumode;
		like.level = al->level;
		like.addr = hits->keep_addrs ? al->addr : 0;
	}
	if (al && al->thread) {
		like.thread = hits__thread(hits, al->thread);
		if (!like.thread)
			return NULL;
	}
	return hits__findnew_like(hits, &like);
}

/* The same on another CPU of the host, where CPUs are kept. NULL: no memory */
struct hit *hits__on_cpu(struct hits *hits, const struct hit *hit, u32 cpu)
{
	struct hit like = *hit;

	like.cpu = cpu;
	return hits__findnew_like(hits, &like);
}

/**
 * hits__with_chain - a hit, when these have called it
 * @key: its names, as far as @chain tells more of them than @hit has
 * @thread: whose it was by @chain, or NULL: as @hit has it
 *
 * NULL: no memory
 */
struct hit *hits__with_chain(struct hits *hits, const struct hit *hit, const struct chain *chain,
			     const struct profile_key *key, struct thread *thread)
{
	struct hit like = *hit;

	like.key = *key;
	like.chain = chain;
	if (thread) {
		like.thread = hits__thread(hits, thread);
		if (!like.thread)
			return NULL;
	}
	return hits__findnew_like(hits, &like);
}
