/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_CONTEXTS_H
#define __PERF_KVM_UNIFIED_GUESTS_CONTEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "util/sample.h"
#include "told-task.h"

struct evsel;
struct perf_session;
struct vcpu_contexts;
union perf_event;

/**
 * struct told_context - the vCPU of a sample
 * @time: the sample's, 0: not known yet
 * @tid: the thread's
 * @cpumode: PERF_RECORD_MISC_GUEST_USER or _KERNEL, 0: as the sample says
 */
struct told_context {
	u64		   time;
	u32		   tid;
	u16		   cpumode;
	struct vcpu_sample vcpu;
	struct told_task   task;
};

struct vcpu_contexts *vcpu_contexts__new(void);
void vcpu_contexts__delete(struct vcpu_contexts *contexts);
int vcpu_contexts__add(struct vcpu_contexts *contexts, u32 cpu, u32 tid, const void *raw,
		       size_t size);
int vcpu_contexts__read_sample(struct vcpu_contexts *contexts, u32 cpu, u32 tid, u64 time);
void vcpu_contexts__lost(struct vcpu_contexts *contexts, u32 cpu);
bool vcpu_contexts__take(struct vcpu_contexts *contexts, u32 cpu, u32 tid, u64 time,
			 struct told_context *told);

bool evsel__is_vcpu_context(struct evsel *evsel);

int perf_session__open_contexts(struct perf_session *session);
int perf_session__note_context(struct perf_session *session, union perf_event *event);
void perf_session__apply_context(struct perf_session *session, struct perf_sample *sample);

#endif /* __PERF_KVM_UNIFIED_GUESTS_CONTEXTS_H */
