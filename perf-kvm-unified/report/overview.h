/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_OVERVIEW_H
#define __PERF_KVM_UNIFIED_REPORT_OVERVIEW_H

#include <stdbool.h>
#include <linux/types.h>

#include "profile.h"
#include "thieves.h"

struct measurement;
struct sections;

/* Where the time of a vCPU went */
struct overview_vcpu {
	u32		id;
	struct profile	profile;
};

/**
 * struct overview_vm - where the time of a VM's vCPUs went
 * @vm: its number
 * @vcpus: those that are told of, @nr_vcpus of them, by their ids
 * @profile: all of their time
 * @worst: @least: the one of them that was stolen most from, and the one that was least
 * @guest_steal: ns of steal that the guest was told of, in the whole measurement
 * @thieves: who has stolen, most first, @nr_thieves of them
 */
struct overview_vm {
	u32		vm;
	u32		nr_vcpus;
	struct overview_vcpu *vcpus;
	struct profile	profile;
	u32		worst;
	u32		least;
	u64		guest_steal;
	struct thief_sum *thieves;
	size_t		nr_thieves;
};

/**
 * struct overview - a line for each VM
 * @knows_guest_steal: what guests were told is known; it is of the whole measurement
 * @vms: the one first that wanted a CPU most while another had it, or a limit of its own
 *	forbade it; @nr of them
 * @thieves: who has stolen from all of them, most first, @nr_thieves of them
 * @cgroups: those of all VMs
 */
struct overview {
	struct overview_vm *vms;
	u32		nr;
	struct thief_sum *thieves;
	size_t		nr_thieves;
	struct vm_cgroups cgroups;
	bool		knows_guest_steal;
};

int overview__build(struct overview *overview, struct sections *sections,
		    const struct measurement *m);
void overview__exit(struct overview *overview);
double overview_vcpu__percent(const struct overview_vcpu *vcpu);

#endif /* __PERF_KVM_UNIFIED_REPORT_OVERVIEW_H */
