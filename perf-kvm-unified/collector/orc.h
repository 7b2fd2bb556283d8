/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_ORC_H
#define __PERF_KVM_UNIFIED_COLLECTOR_ORC_H

int guest_orc__write_own(int fd);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_ORC_H */
