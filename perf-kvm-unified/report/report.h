/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_REPORT_H
#define __PERF_KVM_UNIFIED_REPORT_REPORT_H

int cmd_kvm_unified_report(int argc, const char **argv);
int cmd_kvm_unified_diff(int argc, const char **argv);

#endif /* __PERF_KVM_UNIFIED_REPORT_REPORT_H */
