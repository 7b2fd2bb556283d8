/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_MACHINE_H
#define __PERF_KVM_UNIFIED_AXIS_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "intervals.h"
#include "types.h"

/**
 * struct vcpu_machine - what a vCPU is at
 * @state: since when it is at what, if @begun; it may go on
 * @done: what is before it has been handed out
 * @lost: the last stretch in which it is not known what it did; may end after @done
 * @sign: when the vCPU was seen last, of the events and samples that were dropped
 * @longest_wait: for a CPU, that has ended, ns
 * @throttled: a limit has held it back before
 * @looked: @state is what a look has seen, and no event has told of its begin
 * @run: when a sample was in KVM_RUN last, of those that looks have passed
 * @nr_passed: so many samples have the looks passed
 * @nr_used: so many samples have been used: they can not contradict @state any more
 * @prev: without events: the last sample, if @has_prev
 * @blank: without events: it has not been seen for so long that it did not run
 */
struct vcpu_machine {
	struct vcpu_interval state;
	struct vcpu_interval lost;
	struct axis_sample prev;
	u64	done;
	u64	sign;
	u64	longest_wait;
	u64	run;
	size_t	nr_passed;
	size_t	nr_used;
	bool	throttled;
	bool	looked;
	bool	begun;
	bool	has_prev;
	bool	blank;
};

#endif /* __PERF_KVM_UNIFIED_AXIS_MACHINE_H */
