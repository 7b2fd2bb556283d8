/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_EXPORT_EXPORT_H
#define __PERF_KVM_UNIFIED_EXPORT_EXPORT_H

int cmd_kvm_unified_export(int argc, const char **argv);

#endif /* __PERF_KVM_UNIFIED_EXPORT_EXPORT_H */
