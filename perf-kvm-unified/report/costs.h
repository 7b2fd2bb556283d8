/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_COSTS_H
#define __PERF_KVM_UNIFIED_REPORT_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct cpu_interval;
struct measurement;

/* What CPUs of the host did for a VM */
enum vm_cost {
	VM_COST_GUEST,		/* what the guest executed */
	VM_COST_EXITS,		/* KVM, and interrupts that met the guest */
	VM_COST_VCPU_THREADS,	/* the VMM, in the threads of vCPUs */
	VM_COST_VMM,		/* the VMM's other threads */
	VM_COST_KERNEL,		/* vhost, and other threads of the kernel that are named for it */
	VM_COST_NR
};

/* What they did otherwise, or for whom is not known */
enum host_cost {
	HOST_COST_OWN,
	HOST_COST_IDLE,
	HOST_COST_GUESTS,	/* guests' code, of which no vCPU is known */
	HOST_COST_UNKNOWN,	/* lost, or not known */
	HOST_COST_NR
};

/**
 * struct costs - CPU time, ns, while intervals come in
 * @vcpus: for each vCPU, by its number, @nr_vcpus of them
 * @tasks: of each task that is no vCPU's, by its number, @nr_tasks of them
 * @host: what no task is known of
 */
struct costs {
	struct vcpu_cost { u64 ns[VM_COST_NR]; } *vcpus;
	u32		nr_vcpus;
	size_t		allocated_vcpus;
	u64		*tasks;
	u32		nr_tasks;
	size_t		allocated_tasks;
	u64		host[HOST_COST_NR];
};

/* What a VM has cost, ns, and all together */
struct vm_costs {
	u32		vm;
	u64		ns[VM_COST_NR];
	u64		sum;
};

/*
 * In percent of the time of the host's CPUs: what they did for VMs, with what is of @host for them,
 * too, and otherwise
 */
struct host_shares {
	double		vms;
	double		host[HOST_COST_NR];
};

int costs__add(struct costs *costs, const struct measurement *m,
	       const struct cpu_interval *interval, u64 time);
void costs__exit(struct costs *costs);
struct vm_costs *costs__by_vm(const struct costs *costs, const struct measurement *m,
			      u64 host[HOST_COST_NR]);
int costs__host_shares(const struct costs *costs, const struct measurement *m,
		       struct host_shares *shares);
bool vm_costs__is_told(const struct vm_costs *costs, const struct measurement *m);
const char *vm_cost__name(enum vm_cost cost);
const char *vm_cost__id(enum vm_cost cost);
const char *host_cost__id(enum host_cost cost);
bool host_cost__is_known(enum host_cost cost, const struct measurement *m);
const char *host_cost__name(enum host_cost cost, const struct measurement *m);

#endif /* __PERF_KVM_UNIFIED_REPORT_COSTS_H */
