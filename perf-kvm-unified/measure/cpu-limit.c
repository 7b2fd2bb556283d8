// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs that the header of a profile does not have, such as those that came while it was
 * recorded. perf takes their samples for those of CPU 0, and all that many CPUs did would be
 * on one.
 */
#include <errno.h>
#include <stdlib.h>

#include "perf.h"
#include "util/env.h"
#include "cpu-limit.h"

/* Where CPUs are that the header does not have, is not known. 0 or -ENOMEM */
static int extend_topology(struct perf_env *env, u32 from, u32 until)
{
	struct cpu_topology_map *cpus;

	if (!env->cpu)
		return 0;
	cpus = reallocarray(env->cpu, until, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	for (u32 i = from; i < until; i++)
		cpus[i] = (struct cpu_topology_map) {
			.socket_id = -1, .die_id = -1, .cluster_id = -1, .core_id = -1,
		};
	env->cpu = cpus;
	return 0;
}

/* Has perf take samples of all CPUs, until cpu_limit__restore(). 0 or -ENOMEM */
int cpu_limit__raise(struct cpu_limit *limit, struct perf_env *env)
{
	if (env->nr_cpus_avail <= 0 || env->nr_cpus_avail >= MAX_NR_CPUS)
		return 0;
	if (extend_topology(env, env->nr_cpus_avail, MAX_NR_CPUS))
		return -ENOMEM;
	limit->in_header = env->nr_cpus_avail;
	env->nr_cpus_avail = MAX_NR_CPUS;
	return 0;
}

/* The header is as it was. */
void cpu_limit__restore(const struct cpu_limit *limit, struct perf_env *env)
{
	if (limit->in_header)
		env->nr_cpus_avail = limit->in_header;
}
