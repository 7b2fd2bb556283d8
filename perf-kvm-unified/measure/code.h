/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEASURE_CODE_H
#define __PERF_KVM_UNIFIED_MEASURE_CODE_H

#include <sys/types.h>
#include <linux/types.h>

#include "kvm-unified/format/vms.h"
#include "profile-key.h"

struct axis_sample;
struct kvm_guest;
struct machine;
struct map;
struct measurement;
struct perf_sample;

/* A function, or a module, that is not known */
#define UNKNOWN_NAME		"[unknown]"

/* Memory for the names of a VM's row */
struct vm_row {
	char		function[KVM_VM_NAME_LEN + 2];
	char		module[32];
};

const char *map__module_name(const struct map *map);
struct profile_key vm_row__key(struct vm_row *row, const char *name, pid_t pid);

int measurement__resolve(struct measurement *m, struct perf_sample *sample,
			 struct machine *machine, const struct kvm_guest *guest, u32 column,
			 u32 *hit);
int measurement__hit_vm(struct measurement *m, const struct perf_sample *sample,
			const struct kvm_guest *guest, pid_t pid, struct axis_sample *as);
int measurement__relabel(struct measurement *m, const struct perf_sample *sample,
			 struct axis_sample *as);

#endif /* __PERF_KVM_UNIFIED_MEASURE_CODE_H */
