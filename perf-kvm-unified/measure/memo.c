// SPDX-License-Identifier: GPL-2.0
/*
 * What samples at the same place have hit: samples come to the same places again and
 * again, and a look-up of thread, map, symbol and row costs more than all the rest.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/hash.h>
#include <linux/zalloc.h>

#include "memo.h"

/* 64 Ki entries, 4 MiB: more than there are places that most of the time is spent at */
#define MEMO_BITS	16
/* 16 Ki entries, 768 KiB: more than there are threads that are busy at the same time */
#define THREAD_BITS	14

/* 0 or -ENOMEM */
int memo__init(struct memo *memo)
{
	memo->entries = calloc(1UL << MEMO_BITS, sizeof(*memo->entries));
	memo->threads = calloc(1UL << THREAD_BITS, sizeof(*memo->threads));
	return memo->entries && memo->threads ? 0 : -ENOMEM;
}

void memo__exit(struct memo *memo)
{
	zfree(&memo->entries);
	zfree(&memo->threads);
}

static struct memo_entry *memo__entry(const struct memo *memo, const struct memo_key *key)
{
	u64 hash = hash_64(key->ip, 32) ^ (u64)(unsigned long)key->machine ^
		   ((u64)key->pid << 32 | (u32)key->tid);

	hash ^= (u64)key->cpu << MEMO_BITS;
	return &memo->entries[hash_64(hash, MEMO_BITS)];
}

/* NULL: it was not seen, or others of the same hash have been seen since */
const struct memo_entry *memo__find(const struct memo *memo, const struct memo_key *key)
{
	const struct memo_entry *entry = memo__entry(memo, key);
	const struct memo_key *found = &entry->key;

	if (entry->is_used && found->ip == key->ip && found->tid == key->tid &&
	    found->pid == key->pid && found->machine == key->machine &&
	    found->cpumode == key->cpumode && found->knows_task == key->knows_task &&
	    found->ns_pid == key->ns_pid && found->cpu == key->cpu &&
	    found->changes == key->changes)
		return entry;
	return NULL;
}

void memo__set(struct memo *memo, const struct memo_key *key, u32 hit, u64 addr,
	       bool has_symbol)
{
	*memo__entry(memo, key) = (struct memo_entry) {
		.key = *key,
		.hit = hit,
		.addr = addr,
		.is_used = true,
		.has_symbol = has_symbol,
	};
}

/**
 * memo__thread - what is known of a thread
 * @changes: what was found out before is not known any more
 *
 * If nothing is: an entry for it that is not used yet, instead of another's.
 */
struct memo_thread *memo__thread(const struct memo *memo, pid_t pid, pid_t tid, u64 changes)
{
	u64 hash = (u64)pid << 32 | (u32)tid;
	struct memo_thread *thread = &memo->threads[hash_64(hash, THREAD_BITS)];

	if (!thread->is_used || thread->pid != pid || thread->tid != tid ||
	    thread->changes != changes)
		*thread = (struct memo_thread) { .pid = pid, .tid = tid, .changes = changes };
	return thread;
}
