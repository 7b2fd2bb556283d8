/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_UNMATCHED_H
#define __PERF_KVM_UNIFIED_REPORT_UNMATCHED_H

#include <linux/types.h>

struct measurement;
struct section_opts;

void section_opts__warn_unmatched(const struct section_opts *opts,
				  const struct measurement *const ms[], u32 nr);

#endif /* __PERF_KVM_UNIFIED_REPORT_UNMATCHED_H */
