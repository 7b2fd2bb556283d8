/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_VM_LIMITS_H
#define __PERF_KVM_UNIFIED_RECORD_VM_LIMITS_H

#include <linux/types.h>

struct hashmap;
struct kvm_vms;

/**
 * struct limits_scan - what limits the CPU time of VMs
 * @proc: where procfs is mounted
 * @mount: where the hierarchy of cgroups is mounted that has the CPU controller
 * @cgroups: by its path, each that was looked at; NULL: none as yet
 * @nr: how often all was looked at
 */
struct limits_scan {
	const char	*proc;
	const char	*mount;
	struct hashmap	*cgroups;
	u32		nr;
};

int limits_scan__look(struct limits_scan *scan, struct kvm_vms *vms);
void limits_scan__exit(struct limits_scan *scan);

#endif /* __PERF_KVM_UNIFIED_RECORD_VM_LIMITS_H */
