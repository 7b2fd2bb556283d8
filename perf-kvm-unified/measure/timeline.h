/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEASURE_TIMELINE_H
#define __PERF_KVM_UNIFIED_MEASURE_TIMELINE_H

#include <stdbool.h>
#include <linux/types.h>

struct evsel;
struct machine;
struct measurement;
struct perf_sample;

bool evsel__is_timeline(struct evsel *evsel);
bool measurement__is_timeline(struct measurement *m, struct evsel *evsel);
int measurement__add_event(struct measurement *m, struct perf_sample *sample,
			   struct machine *machine, bool ahead);
int measurement__end_vcpu(struct measurement *m, struct perf_sample *sample, pid_t tid);
u64 measurement__guest_steal(const struct measurement *m, u32 vcpu);
u64 measurement__vcpu_cgroup(const struct measurement *m, u32 vcpu);
int measurement__find_long_states(struct measurement *m);
int measurement__add_long_states(struct measurement *m, u64 now);

#endif /* __PERF_KVM_UNIFIED_MEASURE_TIMELINE_H */
