/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_AXIS_LABELS_H
#define __PERF_KVM_UNIFIED_AXIS_LABELS_H

#include <stddef.h>

#include "cells.h"
#include "intervals.h"
#include "types.h"

struct axis_until;

/**
 * struct run_labels - how far time in KVM_RUN has been split by what the samples in it hit
 * @carry: the last sample that was in it
 * @nr_used: so many samples of the vCPU are before the states that are to be split
 */
struct run_labels {
	struct cells_carry carry;
	size_t	nr_used;
};

/**
 * struct run_labels_input - what is to be split
 * @states: in the order of time; those that have been split are taken out
 * @samples: of the vCPU, by time
 * @done: @states end there, or would
 */
struct run_labels_input {
	struct vcpu_intervals *states;
	const struct axis_samples *samples;
	u64	done;
};

int run_labels__advance(struct run_labels *labels, const struct axis_span *span,
			const struct run_labels_input *in, bool final,
			struct vcpu_intervals *out);

#endif /* __PERF_KVM_UNIFIED_AXIS_LABELS_H */
