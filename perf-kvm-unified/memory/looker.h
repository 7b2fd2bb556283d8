/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_LOOKER_H
#define __PERF_KVM_UNIFIED_MEMORY_LOOKER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

#include "host-mem.h"
#include "look.h"

/**
 * struct looker - perf's side of the confined process that looks at a guest
 * @mem: the guest's memory
 * @pid: of the confined process, 0: there is none
 * @control: the socket to it
 * @maps: the end of the pipe that maps come by
 * @max_cpu_ns: CPU time that a look may take: its own, and perf's for it
 * @stats: what it says that it has found
 * @cpu_ns: CPU time that all looks took
 * @own_ns: of which its own
 * @last_ns: ... that the last order took
 * @nr_looks: orders that it has fulfilled
 */
struct looker {
	struct host_mem mem;
	pid_t	pid;
	int	control;
	int	maps;
	u64	max_cpu_ns;
	struct guest_look_stats stats;
	u64	cpu_ns;
	u64	own_ns;
	u64	last_ns;
	u64	nr_looks;
};

/* CPU time that a look may take if nothing else is wanted, s */
#define LOOK_CPU_SECONDS	2U
/* What it may take on the wall, where CPUs are busy, is so many times as much. */
#define LOOK_WALL_RATIO		10U
/* One of many looks at a guest's processes may take such a part of it. */
#define LOOK_TASKS_PART		4U

struct guest_current;
struct guest_tsc;

int looker__start(struct looker *looker, struct kvm_reader *reader, pid_t vmm,
		  const struct guest_tsc *tsc, bool late, unsigned int seconds, char *err,
		  size_t errlen);
int looker__find_kernel(struct looker *looker, char *err, size_t errlen);
int looker__all(struct looker *looker, char *err, size_t errlen);
int looker__tasks(struct looker *looker, char *err, size_t errlen);
int looker__write(struct looker *looker, int fd, bool orc, char *err, size_t errlen);
int looker__current(struct looker *looker, struct guest_current *current, char *err,
		    size_t errlen);
void looker__end(struct looker *looker);

#endif /* __PERF_KVM_UNIFIED_MEMORY_LOOKER_H */
