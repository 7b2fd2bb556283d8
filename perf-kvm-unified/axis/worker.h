/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_WORKER_H
#define __PERF_KVM_UNIFIED_AXIS_WORKER_H

#include <linux/types.h>

#include "gaps.h"
#include "sink.h"
#include "types.h"

/*
 * A thread that makes the steps of an axis while its caller goes on to read. What comes meanwhile
 * waits here, and so does what the thread hands out, until the caller takes it: the sink is called
 * in the caller's thread alone, and in the order in which it would be called without the thread.
 */
struct axis_worker;

enum axis_record_kind {
	AXIS_RECORD_EVENT,
	AXIS_RECORD_SAMPLE,
	AXIS_RECORD_WORK,
	AXIS_RECORD_GAP,
	AXIS_RECORD_LOOK,
	AXIS_RECORD_STEPS,
};

/* Steps of @length from @from on, and a last one to @now; ns */
struct axis_steps {
	u64	from;
	u64	length;
	u64	now;
};

/* What is to be done: to add what time_axis__add_event() and so on have, or to make steps */
struct axis_record {
	enum axis_record_kind kind;
	union {
		struct axis_event event;
		struct axis_sample sample;
		struct {
			u64 time;
			u32 vm;
		} work;
		struct axis_gap gap;
		struct axis_look look;
		struct axis_steps steps;
	};
};

/* Does it, in the thread. 0 or -errno, which is of the caller's next call */
typedef int (*axis_work_fn)(const struct axis_record *record, void *arg);

struct axis_worker *axis_worker__new(axis_work_fn work, void *arg);
struct axis_sink axis_worker__sink(struct axis_worker *worker);
int axis_worker__add(struct axis_worker *worker, const struct axis_record *record,
		     const struct axis_sink *sink);
void axis_worker__wait(struct axis_worker *worker);
int axis_worker__catch_up(struct axis_worker *worker, const struct axis_sink *sink);
void axis_worker__delete(struct axis_worker *worker);

#endif /* __PERF_KVM_UNIFIED_AXIS_WORKER_H */
