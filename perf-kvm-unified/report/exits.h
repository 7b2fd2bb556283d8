/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_EXITS_H
#define __PERF_KVM_UNIFIED_REPORT_EXITS_H

#include <stddef.h>
#include <linux/types.h>

const char *kvm_exit__name(s32 why, char *buf, size_t size);

#endif /* __PERF_KVM_UNIFIED_REPORT_EXITS_H */
