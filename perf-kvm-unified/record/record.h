/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_RECORD_H
#define __PERF_KVM_UNIFIED_RECORD_RECORD_H

int cmd_kvm_unified_record(int argc, const char **argv);

#endif /* __PERF_KVM_UNIFIED_RECORD_RECORD_H */
