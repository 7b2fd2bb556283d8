/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_TRACKS_H
#define __PERF_KVM_UNIFIED_AXIS_TRACKS_H

#include <linux/types.h>

struct time_axis;
struct vcpu_interval;
struct vcpu_intervals;

int cpu_tracks__init(struct time_axis *ta);
void cpu_tracks__exit(struct time_axis *ta);
int cpu_tracks__split_wait(const struct time_axis *ta, const struct vcpu_interval *wait,
			   u32 self, struct vcpu_intervals *out);

#endif /* __PERF_KVM_UNIFIED_AXIS_TRACKS_H */
