/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_GUEST_REASONS_H
#define __PERF_KVM_UNIFIED_RECORD_GUEST_REASONS_H

#include <linux/list.h>

void guest_reasons__add(struct list_head *reasons, const char *guest, const char *text);
void guest_reasons__warn(struct list_head *reasons, const char *what);
void guest_reasons__free(struct list_head *reasons);

#endif /* __PERF_KVM_UNIFIED_RECORD_GUEST_REASONS_H */
