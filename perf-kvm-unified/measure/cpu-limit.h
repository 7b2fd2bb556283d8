/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEASURE_CPU_LIMIT_H
#define __PERF_KVM_UNIFIED_MEASURE_CPU_LIMIT_H

#include <linux/types.h>

struct perf_env;

/**
 * struct cpu_limit - how many CPUs the header of a profile has
 * @in_header: as many; 0: not known, or not raised
 */
struct cpu_limit {
	u32	in_header;
};

int cpu_limit__raise(struct cpu_limit *limit, struct perf_env *env);
void cpu_limit__restore(const struct cpu_limit *limit, struct perf_env *env);

#endif /* __PERF_KVM_UNIFIED_MEASURE_CPU_LIMIT_H */
