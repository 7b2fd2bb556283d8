/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_KILLED_H
#define __PERF_KVM_UNIFIED_GUESTS_KILLED_H

#include <stdbool.h>
#include <stddef.h>

struct perf_session;

size_t whole_records(const void *data, size_t size, bool *compressed);
bool profile__was_killed(const char *path);
void killed_session__mend(struct perf_session *session);

#endif /* __PERF_KVM_UNIFIED_GUESTS_KILLED_H */
