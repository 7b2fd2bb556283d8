/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEASURE_WANTS_H
#define __PERF_KVM_UNIFIED_MEASURE_WANTS_H

#include <stdbool.h>
#include <linux/types.h>

#include "kvm-unified/axis/sink.h"

struct evsel;

/* Takes what a sample of an event of @column has counted; 0 or -ENOMEM */
struct count_sink {
	int (*count)(const struct axis_sample *sample, u32 column, u64 count, void *arg);
	void *arg;
};

/**
 * struct measure_wants - what is to be found out; complete before measurement__open()
 * @timeline: what vCPUs did by the events of kvm:kvm_vcpu_timeline, if there are any
 * @chains: who called what was hit; @max_stack callers at most
 * @addrs: @cpus: tell hits of several addresses, of several CPUs of the host, apart
 * @addr_evsels: for annotation, the events that samples are counted for by address, by
 *	column, or NULL
 * @times: gets the pieces of the time axis
 * @counts: gets what samples of other events have counted
 */
struct measure_wants {
	bool		timeline;
	bool		chains;
	int		max_stack;
	bool		addrs;
	bool		cpus;
	struct evsel	**addr_evsels;
	struct axis_sink times;
	struct count_sink counts;
};

#endif /* __PERF_KVM_UNIFIED_MEASURE_WANTS_H */
