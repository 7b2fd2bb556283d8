// SPDX-License-Identifier: GPL-2.0
/*
 * How long vCPUs have stood still each time, in a few numbers for each VM and vCPU.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "kvm-unified/lib/array.h"
#include "kvm-unified/measure/measurement.h"
#include "sections.h"
#include "stall-lines.h"
#include "takers.h"

/* What add_vm() needs */
struct lines_arg {
	struct stall_lines *lines;
	const struct stalls *stalls;
	const struct measurement *m;
};

/* @idx: of a vCPU; NULL: it has never waited */
static const struct vcpu_stalls *stalls__of(const struct stalls *stalls, u32 idx)
{
	return idx < stalls->nr_vcpus ? &stalls->vcpus[idx] : NULL;
}

/* Adds what a vCPU has, also to @hist. 0 or -ENOMEM */
static int stall_line__add(struct stall_line *line, struct stall_hist *hist,
			   const struct stalls *stalls, u32 idx)
{
	const struct vcpu_stalls *vcpu = stalls__of(stalls, idx);
	const struct stall *longest;

	if (!vcpu)
		return 0;
	longest = &vcpu->longest[line->kind];
	if (longest->ns && (!line->longest || longest->ns > line->longest->ns)) {
		line->longest = longest;
		line->longest_vcpu = idx;
	}
	return stall_hist__merge(hist, &vcpu->hists[line->kind]);
}

/*
 * A line of @nr vCPUs of a VM: @vcpu, if it is of one. Who waits for CPUs has one, if only to tell
 * that it never waited; few VMs are stopped, or have limits. 0 or -ENOMEM
 */
static int add_line(const struct lines_arg *la, u32 vm, u32 vcpu, enum stall_kind kind,
		    const struct axis_vcpu **vcpus, u32 nr)
{
	struct stall_line line = { .vm = vm, .vcpu = vcpu, .kind = kind };
	struct stall_lines *lines = la->lines;
	bool has_thief = kind < STALL_NR_OF_THIEVES;
	struct stall_hist hist = { };
	int ret = 0;

	for (u32 i = 0; !ret && i < nr; i++)
		ret = stall_line__add(&line, &hist, la->stalls, vcpus[i] - la->m->axis.vcpus);
	line.nr = hist.nr;
	line.ns = hist.ns;
	line.p50 = stall_hist__quantile(&hist, 0.5);
	line.p99 = stall_hist__quantile(&hist, 0.99);
	stall_hist__exit(&hist);
	if (ret || (!line.nr && !has_thief))
		return ret;
	if (line.longest && has_thief)
		ret = takers__top(&line.longest->takers, la->m, /*exact=*/true, &line.thief);
	if (!ret)
		ret = grow_array(lines->lines, lines->nr, lines->allocated);
	if (ret)
		free(line.thief.owner);
	else
		lines->lines[lines->nr++] = line;
	return ret;
}

static int add_vm(const struct vm_vcpus *vcpus, void *arg)
{
	const struct lines_arg *la = arg;
	int ret = 0;

	for (int kind = 0; !ret && kind < STALL_NR; kind++)
		ret = add_line(la, vcpus->vm, TIME_AXIS_NONE, kind, vcpus->vcpus, vcpus->nr);
	for (u32 i = 0; i < vcpus->nr; i++) {
		for (int kind = 0; !ret && kind < STALL_NR; kind++)
			ret = add_line(la, vcpus->vm, vcpus->vcpus[i] - la->m->axis.vcpus, kind,
				       vcpus->vcpus + i, 1);
	}
	return ret;
}

/**
 * stall_lines__build - of the VMs and vCPUs that are wanted
 *
 * When the axis is at its end. 0 or -ENOMEM; the caller ends @lines in any case.
 */
int stall_lines__build(struct stall_lines *lines, struct sections *sections,
		       const struct measurement *m)
{
	struct lines_arg arg = {
		.lines = lines, .stalls = &sections->moments.stalls, .m = m,
	};

	return sections__each_vm(sections, m, add_vm, &arg);
}

void stall_lines__exit(struct stall_lines *lines)
{
	for (u32 i = 0; i < lines->nr; i++)
		free(lines->lines[i].thief.owner);
	zfree(&lines->lines);
	lines->nr = 0;
}
