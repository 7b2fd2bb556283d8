/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEASURE_SAMPLES_H
#define __PERF_KVM_UNIFIED_MEASURE_SAMPLES_H

#include <linux/types.h>

struct machine;
struct measurement;
struct perf_sample;

int measurement__place(struct measurement *m, struct perf_sample *sample);
int measurement__end_throttle(struct measurement *m, u32 cpu, u64 time);
int measurement__add_sample(struct measurement *m, struct perf_sample *sample,
			    struct machine *machine);
int measurement__add_count(struct measurement *m, struct perf_sample *sample,
			   struct machine *machine);

#endif /* __PERF_KVM_UNIFIED_MEASURE_SAMPLES_H */
