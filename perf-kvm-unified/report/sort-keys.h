/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_SORT_KEYS_H
#define __PERF_KVM_UNIFIED_REPORT_SORT_KEYS_H

#include <stdbool.h>

struct measurement;

void sort_keys__add(void);
bool sort_keys__lack_ipc(const struct measurement *m);
const char *sort_keys__default(const struct measurement *m);
char *sort_keys__help(const char *about);
bool sort_keys__are_known(const char *option, const char *list);
bool sort_keys__have_vm(void);
bool sort_keys__have_exit_reason(void);
bool sort_keys__have_cpu(void);
bool sort_keys__have_addr(void);
bool sort_keys__ask_for_process(void);

#endif /* __PERF_KVM_UNIFIED_REPORT_SORT_KEYS_H */
