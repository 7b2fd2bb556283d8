// SPDX-License-Identifier: GPL-2.0
/*
 * What a VM costs the host: CPU time, of each interval of each CPU. Whose a task is may be
 * known only later, so it is summed up by tasks first.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/zalloc.h>

#include "util/evsel.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/sort.h"
#include "kvm-unified/measure/measurement.h"
#include "kvm-unified/measure/who.h"
#include "costs.h"
#include "profile.h"
#include "thieves.h"

static int add_vcpu(struct costs *costs, u32 vcpu, enum vm_cost cost, u64 time)
{
	while (costs->nr_vcpus <= vcpu) {
		if (grow_array(costs->vcpus, costs->nr_vcpus, costs->allocated_vcpus))
			return -ENOMEM;
		costs->vcpus[costs->nr_vcpus++] = (struct vcpu_cost) { };
	}
	costs->vcpus[vcpu].ns[cost] += time;
	return 0;
}

static int add_task(struct costs *costs, u32 task, u64 time)
{
	while (costs->nr_tasks <= task) {
		if (grow_array(costs->tasks, costs->nr_tasks, costs->allocated_tasks))
			return -ENOMEM;
		costs->tasks[costs->nr_tasks++] = 0;
	}
	costs->tasks[task] += time;
	return 0;
}

/* A sample stands for it. 0 or -ENOMEM */
static int add_sample(struct costs *costs, const struct measurement *m,
		      const struct axis_sample *sample, u64 time)
{
	enum profile_class class;

	if (sample->vcpu != TIME_AXIS_NONE)
		return add_vcpu(costs, sample->vcpu, sample->kind == AXIS_SAMPLE_EXIT ?
				VM_COST_EXITS : VM_COST_VCPU_THREADS, time);
	/* Interrupts, too, come in the idle task; and of a VM's time, it may not be known whose. */
	class = m->hits.by_idx[sample->hit]->key.class;
	if (class == PROFILE_IDLE || class == PROFILE_VM) {
		costs->host[class == PROFILE_IDLE ? HOST_COST_IDLE : HOST_COST_GUESTS] += time;
		return 0;
	}
	if (sample->task != TIME_AXIS_NONE)
		return add_task(costs, sample->task, time);
	costs->host[HOST_COST_OWN] += time;
	return 0;
}

/* @time ns of @interval are to be told of. 0 or -ENOMEM */
int costs__add(struct costs *costs, const struct measurement *m,
	       const struct cpu_interval *interval, u64 time)
{
	switch (interval->kind) {
	case CPU_TIME_GUEST:
		return add_vcpu(costs, interval->vcpu, VM_COST_GUEST, time);
	case CPU_TIME_SAMPLE:
		return add_sample(costs, m, interval->sample, time);
	case CPU_TIME_UNCOUNTED:
		costs->host[evsel__is_clock(m->evsel) ? HOST_COST_UNKNOWN : HOST_COST_IDLE] += time;
		return 0;
	case CPU_TIME_LOST:
	default:
		costs->host[HOST_COST_UNKNOWN] += time;
		return 0;
	}
}

void costs__exit(struct costs *costs)
{
	zfree(&costs->vcpus);
	zfree(&costs->tasks);
	*costs = (struct costs) { };
}

/* Most first, and the same order every time */
static int vm_costs__cmp(const void *_a, const void *_b)
{
	const struct vm_costs *a = _a, *b = _b;

	return sort_cmp(b->sum, a->sum) ?: sort_cmp(a->vm, b->vm);
}

/* The kind of cost that a task is to the VM that it works for */
static enum vm_cost task__cost(const struct measured_task *task)
{
	if (task->vcpu != TIME_AXIS_NONE)
		return VM_COST_VCPU_THREADS;
	return measured_task__is_kernels(task) ? VM_COST_KERNEL : VM_COST_VMM;
}

/**
 * costs__by_vm - whose it was
 * @host: gets what was of no known vCPU and its VM
 *
 * When all is known. @m->nr_vms of them, those with most first; to be freed. All that was
 * added is in them or in @host. NULL: no memory
 */
struct vm_costs *costs__by_vm(const struct costs *costs, const struct measurement *m,
			      u64 host[HOST_COST_NR])
{
	/* One more: none is not an error */
	struct vm_costs *vms = calloc(m->nr_vms + 1, sizeof(*vms));

	if (!vms)
		return NULL;
	for (u32 vm = 0; vm < m->nr_vms; vm++)
		vms[vm].vm = vm;
	for (int i = 0; i < HOST_COST_NR; i++)
		host[i] = costs->host[i];
	for (u32 vcpu = 0; vcpu < costs->nr_vcpus; vcpu++) {
		for (int i = 0; i < VM_COST_NR; i++)
			vms[m->axis.vcpus[vcpu].vm].ns[i] += costs->vcpus[vcpu].ns[i];
	}
	for (u32 i = 0; i < costs->nr_tasks; i++) {
		const struct measured_task *task = m->tasks[i];
		u32 vm = measured_task__vm(m, task);

		if (vm == TIME_AXIS_NONE)
			host[HOST_COST_OWN] += costs->tasks[i];
		else
			vms[vm].ns[task__cost(task)] += costs->tasks[i];
	}
	for (u32 vm = 0; vm < m->nr_vms; vm++) {
		for (int i = 0; i < VM_COST_NR; i++)
			vms[vm].sum += vms[vm].ns[i];
	}
	sort_array(vms, m->nr_vms, sizeof(*vms), vm_costs__cmp);
	return vms;
}

/* Is anything known? A VM that was not recorded may have been seen by its threads. */
bool vm_costs__is_told(const struct vm_costs *costs, const struct measurement *m)
{
	return costs->sum || !m->vms[costs->vm].left_out;
}

/* 0 or -ENOMEM */
int costs__host_shares(const struct costs *costs, const struct measurement *m,
		       struct host_shares *shares)
{
	u64 host[HOST_COST_NR], vms = 0, total;
	struct vm_costs *by_vm = costs__by_vm(costs, m, host);

	if (!by_vm)
		return -ENOMEM;
	for (u32 i = 0; i < m->nr_vms; i++)
		vms += by_vm[i].sum;
	free(by_vm);
	total = vms;
	for (int i = 0; i < HOST_COST_NR; i++)
		total += host[i];
	shares->vms = percent_of(vms + host[HOST_COST_GUESTS], total);
	for (int i = 0; i < HOST_COST_NR; i++)
		shares->host[i] = percent_of(host[i], total);
	return 0;
}

const char *vm_cost__name(enum vm_cost cost)
{
	static const char *const names[VM_COST_NR] = {
		[VM_COST_GUEST]		= "guest",
		[VM_COST_EXITS]		= "exits",
		[VM_COST_VCPU_THREADS]	= "vCPU threads",
		[VM_COST_VMM]		= "VMM",
		[VM_COST_KERNEL]	= "kernel threads",
	};

	return names[cost];
}

/* As programs have it */
const char *vm_cost__id(enum vm_cost cost)
{
	static const char *const ids[VM_COST_NR] = {
		[VM_COST_GUEST]		= "guest",
		[VM_COST_EXITS]		= "exits",
		[VM_COST_VCPU_THREADS]	= "vcpu_threads",
		[VM_COST_VMM]		= "vmm",
		[VM_COST_KERNEL]	= "kernel_threads",
	};

	return ids[cost];
}

/* The same */
const char *host_cost__id(enum host_cost cost)
{
	static const char *const ids[HOST_COST_NR] = {
		[HOST_COST_OWN]		= "own_work",
		[HOST_COST_IDLE]	= "idle",
		[HOST_COST_GUESTS]	= "guests",
		[HOST_COST_UNKNOWN]	= "unknown",
	};

	return ids[cost];
}

/* Where it is not known, idle time is in what is the host's own work or idle. */
bool host_cost__is_known(enum host_cost cost, const struct measurement *m)
{
	return cost != HOST_COST_IDLE || measurement__knows_idle(m);
}

/* Without symbols of its kernel, where the host idles is work like any other. */
const char *host_cost__name(enum host_cost cost, const struct measurement *m)
{
	static const char *const names[HOST_COST_NR] = {
		[HOST_COST_OWN]		= "own work",
		[HOST_COST_IDLE]	= "idle",
		[HOST_COST_GUESTS]	= "guests, vCPU not known",
		[HOST_COST_UNKNOWN]	= "lost or unknown",
	};

	return cost == HOST_COST_OWN && !measurement__knows_idle(m) ? "own work or idle" :
								      names[cost];
}
