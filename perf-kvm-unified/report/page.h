/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_PAGE_H
#define __PERF_KVM_UNIFIED_REPORT_PAGE_H

#include <stdbool.h>

bool page__is_wanted(int argc, const char **argv);
int page__run(int argc, const char **argv);

#endif /* __PERF_KVM_UNIFIED_REPORT_PAGE_H */
