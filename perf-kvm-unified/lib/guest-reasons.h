/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_GUEST_REASONS_H
#define __PERF_KVM_UNIFIED_LIB_GUEST_REASONS_H

#include <stdio.h>
#include <linux/list.h>

void guest_reasons__add(struct list_head *reasons, const char *guest, const char *text);
void guest_reasons__warn(struct list_head *reasons, const char *what);
void guest_reasons__fprintf(struct list_head *reasons, const char *what, FILE *fp);
void guest_reasons__free(struct list_head *reasons);

#endif /* __PERF_KVM_UNIFIED_LIB_GUEST_REASONS_H */
