/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIVE_TOP_H
#define __PERF_KVM_UNIFIED_LIVE_TOP_H

int cmd_kvm_unified_top(int argc, const char **argv);

#endif /* __PERF_KVM_UNIFIED_LIVE_TOP_H */
