/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_ARGS_H
#define __PERF_KVM_UNIFIED_RECORD_ARGS_H

#include <stdbool.h>

struct option;

/**
 * struct record_args - the command line that perf record gets
 * @argv: its arguments, and a NULL after them
 * @argc: how many there are
 * @pids: those of -p, or NULL
 * @clock: that of -k, or NULL
 * @of_once: the name of an option that is of one measurement, or NULL
 * @cgroup: that of -G, which has to wait for the events, or NULL
 * @has_event: the user has chosen events
 * @has_target: ... or what to record
 * @has_cpus: ... and that is some CPUs
 * @per_task: ... or not whole CPUs
 * @has_callers: ... and call chains
 */
struct record_args {
	const char	**argv;
	int		 argc;
	const char	*pids;
	const char	*clock;
	const char	*of_once;
	const char	*cgroup;
	bool		 has_event;
	bool		 has_target;
	bool		 has_cpus;
	bool		 per_task;
	bool		 has_callers;
};

void record_args__add(struct record_args *args, const char *arg);
struct option *record_args__merge_options(struct record_args *args, const struct option *own);

#endif /* __PERF_KVM_UNIFIED_RECORD_ARGS_H */
