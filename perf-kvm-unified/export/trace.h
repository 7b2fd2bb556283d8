/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_EXPORT_TRACE_H
#define __PERF_KVM_UNIFIED_EXPORT_TRACE_H

#include <stdio.h>
#include <linux/types.h>

#include "kvm-unified/lib/temp-file.h"

struct cpu_interval;
struct measurement;
struct time_piece;
struct trace_track;
struct vcpu_interval;

/* The tracks of vCPUs, or of CPUs, by number; there need not be one of each. */
struct trace_tracks {
	struct trace_track *entries;
	u32		nr;
	size_t		allocated;
};

/**
 * struct trace - who did what when, as Chrome's trace events have it
 * @slices: those that have ended
 * @flows: arrows from what was stolen to who had the CPU, @nr_flows of them
 */
struct trace {
	struct temp_file slices;
	struct temp_file flows;
	u64		nr_flows;
	struct trace_tracks vcpus;
	struct trace_tracks cpus;
};

int trace__begin(struct trace *trace);
void trace__exit(struct trace *trace);
int trace__add_vcpu(struct trace *trace, const struct measurement *m, u32 vcpu,
		    const struct vcpu_interval *interval, const struct time_piece *piece);
int trace__add_cpu(struct trace *trace, const struct measurement *m,
		   const struct cpu_interval *interval, u64 start, u64 end);
int trace__print(struct trace *trace, const struct measurement *m, FILE *fp);

#endif /* __PERF_KVM_UNIFIED_EXPORT_TRACE_H */
