/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUEST_MAP_H
#define __PERF_KVM_UNIFIED_GUEST_MAP_H

int cmd_kvm_unified_guest_map(int argc, const char **argv);

#endif /* __PERF_KVM_UNIFIED_GUEST_MAP_H */
