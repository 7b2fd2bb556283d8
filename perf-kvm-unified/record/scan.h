/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_SCAN_H
#define __PERF_KVM_UNIFIED_RECORD_SCAN_H

#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

struct kvm_vms;

int kvm_vms__scan(struct kvm_vms *vms, const char *proc, const char *debugfs, u32 flag);
int kvm_vms__scan_debugfs(struct kvm_vms *vms, const char *proc, const char *debugfs);

u32 kvm_vcpu__end_flag(const char *proc, pid_t pid, u32 tid);
void kvm_vm__name_from_cmdline(const char *cmdline, size_t len, char *name, size_t size);

#endif /* __PERF_KVM_UNIFIED_RECORD_SCAN_H */
