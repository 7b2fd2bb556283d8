/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_PERF_ONLY_H
#define __PERF_KVM_UNIFIED_REPORT_PERF_ONLY_H

struct option;

/* The parent of a table of options */
extern const struct option perf_only_options[];
extern const struct option perf_diff_only_options[];
extern const struct option report_only_options[];

#endif /* __PERF_KVM_UNIFIED_REPORT_PERF_ONLY_H */
