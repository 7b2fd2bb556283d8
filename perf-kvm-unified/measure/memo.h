/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEASURE_MEMO_H
#define __PERF_KVM_UNIFIED_MEASURE_MEMO_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>

struct kvm_guest;
struct machine;

/**
 * struct memo_key - what a symbol look-up depends on, and with it the hit of a sample
 * @cpu: if a hit is that of one CPU, else 0
 * @changes: how often processes and maps of the machine have changed; what was found
 *	before the last time is not found any more
 * @knows_task: @pid is the process that a guest's kernel works for
 */
struct memo_key {
	const struct machine *machine;
	u64	ip;
	u64	changes;
	pid_t	pid;
	pid_t	tid;
	pid_t	ns_pid;
	u32	cpu;
	u8	cpumode;
	bool	knows_task;
};

struct memo_entry {
	struct memo_key	key;
	u64		addr;	/* in the file */
	u32		hit;
	bool		is_used;
	bool		has_symbol;
};

/**
 * struct memo_thread - what was found out of a thread of the host
 * @changes: as in struct memo_key, and new guests
 * @guest: what its process runs, or NULL
 * @task: its number, if @has_task
 * @vcpu_id: @vcpu: which it was seen to run, and its index, if @has_vcpu
 * @run_vcpu: the index of the vCPU that it runs by an event, if @runs_vcpu
 */
struct memo_thread {
	u64	changes;
	struct kvm_guest *guest;
	pid_t	pid;
	pid_t	tid;
	u32	task;
	u32	vcpu_id;
	u32	vcpu;
	u32	run_vcpu;
	bool	is_used;
	bool	has_task;
	bool	has_vcpu;
	bool	runs_vcpu;
};

/**
 * struct memo - the hits of the samples that were seen last, and their threads
 *
 * Of a fixed size: one entry for each hash, and the last one stays.
 */
struct memo {
	struct memo_entry *entries;
	struct memo_thread *threads;
};

int memo__init(struct memo *memo);
void memo__exit(struct memo *memo);
const struct memo_entry *memo__find(const struct memo *memo, const struct memo_key *key);
void memo__set(struct memo *memo, const struct memo_key *key, u32 hit, u64 addr,
	       bool has_symbol);

struct memo_thread *memo__thread(const struct memo *memo, pid_t pid, pid_t tid, u64 changes);

#endif /* __PERF_KVM_UNIFIED_MEASURE_MEMO_H */
