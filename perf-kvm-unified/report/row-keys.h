/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_ROW_KEYS_H
#define __PERF_KVM_UNIFIED_REPORT_ROW_KEYS_H

struct perf_hpp_fmt;
struct perf_hpp_list;

int row_keys__setup(unsigned int *sort);
char *row_keys__wrong(const char *list);
void row_keys__setup_reasons(struct perf_hpp_list *list, struct perf_hpp_fmt *key);

#endif /* __PERF_KVM_UNIFIED_REPORT_ROW_KEYS_H */
