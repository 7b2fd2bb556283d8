/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_NAMELESS_H
#define __PERF_KVM_UNIFIED_REPORT_NAMELESS_H

struct sections;

void sections__warn_nameless(const struct sections *sections);

#endif /* __PERF_KVM_UNIFIED_REPORT_NAMELESS_H */
