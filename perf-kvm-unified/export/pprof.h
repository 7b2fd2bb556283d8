/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_EXPORT_PPROF_H
#define __PERF_KVM_UNIFIED_EXPORT_PPROF_H

#include <stdio.h>
#include <linux/types.h>

struct stacks;
struct strbuf;

/* The first frames of a stack: labels of the sample, and last, which of its values it is */
enum pprof_label {
	PPROF_LEVEL,
	PPROF_VM,
	PPROF_VCPU,
	PPROF_COMM,
	PPROF_PID,
	PPROF_CGROUP,
	PPROF_VALUE,
	PPROF_NR_LABELS,
};

/* What a label begins with, and one that a sample does not have */
#define PPROF_LABEL		"="
#define PPROF_NO_LABEL		"-"

/* The values of a sample: one is its ns, the others are 0. */
#define PPROF_CPU		"cpu"
#define PPROF_IDLE		"idle"
#define PPROF_STEAL		"steal"
#define PPROF_OTHER		"other"

/**
 * struct pprof_about - what is the same for all samples
 * @host: its name, or NULL
 * @duration: @period: of the measurement and of its sampling, ns
 */
struct pprof_about {
	const char *host;
	u64	   duration;
	u64	   period;
};

int pprof__message(const struct stacks *stacks, const struct pprof_about *about,
		   struct strbuf *message);
int pprof__print(const struct stacks *stacks, const struct pprof_about *about, FILE *fp);

#endif /* __PERF_KVM_UNIFIED_EXPORT_PPROF_H */
