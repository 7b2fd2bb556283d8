/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_STALL_LINES_H
#define __PERF_KVM_UNIFIED_REPORT_STALL_LINES_H

#include <stddef.h>
#include <linux/types.h>

#include "stalls.h"
#include "thieves.h"

struct measurement;
struct sections;

/**
 * struct stall_line - the waits of one kind of a VM, or of one of its vCPUs
 * @vm: its number
 * @vcpu: an index, or TIME_AXIS_NONE: of all that are wanted
 * @nr: @ns: of all of them; @p50, @p99: ns that so many of them have not taken longer than
 * @longest: how long it was, and when, or NULL: there was none
 * @longest_vcpu: whose that was
 * @thief: who had most of that
 */
struct stall_line {
	u32		vm;
	u32		vcpu;
	enum stall_kind kind;
	u64		nr;
	u64		ns;
	u64		p50;
	u64		p99;
	const struct stall *longest;
	u32		longest_vcpu;
	struct thief_sum thief;
};

/**
 * struct stall_lines
 * @lines: those of a VM, then those of its vCPUs, each by kind, @nr of them
 */
struct stall_lines {
	struct stall_line *lines;
	u32		nr;
	size_t		allocated;
};

int stall_lines__build(struct stall_lines *lines, struct sections *sections,
		       const struct measurement *m);
void stall_lines__exit(struct stall_lines *lines);

#endif /* __PERF_KVM_UNIFIED_REPORT_STALL_LINES_H */
