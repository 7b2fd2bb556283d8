/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_H
#define __PERF_KVM_UNIFIED_H

int cmd_kvm_unified(int argc, const char **argv);

int cmd_kvm_unified_guest_map(int argc, const char **argv);
int cmd_kvm_unified_record(int argc, const char **argv);
int cmd_kvm_unified_report(int argc, const char **argv);

/* What vCPUs did when they did not run, if the kernel has it */
#define KVM_TIMELINE_EVENT	"kvm:kvm_vcpu_timeline"

#endif /* __PERF_KVM_UNIFIED_H */
