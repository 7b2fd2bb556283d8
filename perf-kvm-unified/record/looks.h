/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_LOOKS_H
#define __PERF_KVM_UNIFIED_RECORD_LOOKS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "kvm-unified/format/vms.h"
#include "background.h"

struct perf_cpu_map;
struct thread_look;

/**
 * struct vcpu_looks - the looks at vCPU threads during a recording
 * @proc: @debugfs: where they are mounted; they have to stay
 * @vms: the VMs as they were found last
 * @threads: what was seen of the @nr_threads threads at the last look
 * @online: the CPUs that were online at the start, or NULL
 * @cpus_came: ... and others were, later
 * @lock: one look at a time: @bg's, and that before the events are disabled
 * @bg: the thread that looks
 * @failed: errno of what could not be written: there are no looks from then on
 */
struct vcpu_looks {
	const char	*proc;
	const char	*debugfs;
	struct kvm_vms	vms;
	struct thread_look *threads;
	u32		nr_threads;
	u32		nr_looks;
	int		fd;
	int		failed;
	const struct perf_cpu_map *online;
	bool		cpus_came;
	pthread_mutex_t	lock;
	struct background bg;
};

int vcpu_looks__open(struct vcpu_looks *looks, const char *path, const char *proc,
		     const char *debugfs);
int vcpu_looks__look(struct vcpu_looks *looks, u64 tsc);
int vcpu_looks__look_before_pause(struct vcpu_looks *looks, u64 tsc);
int vcpu_looks__close(struct vcpu_looks *looks);

int vcpu_looks__start(struct vcpu_looks *looks);
void vcpu_looks__stop(struct vcpu_looks *looks);

bool cpus__have_come(const struct perf_cpu_map *before);

#endif /* __PERF_KVM_UNIFIED_RECORD_LOOKS_H */
