/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_RESOLVE_H
#define __PERF_KVM_UNIFIED_GUESTS_RESOLVE_H

#include <stdbool.h>

struct guest_space;
struct perf_sample;
struct perf_session;
struct perf_tsc_conversion;
struct told_task;

void kvm_guests__tell_task(struct perf_session *session, const struct told_task *task);
bool kvm_guests__know_task(const struct perf_session *session);
bool told_task__takes(const struct told_task *task, const struct guest_space *owner, bool user,
		      bool ambiguous);
void kvm_guests__resolve(struct perf_session *session, struct perf_sample *sample);

struct perf_tsc_conversion kvm_guests__tsc_conversion(const struct perf_session *session);

#endif /* __PERF_KVM_UNIFIED_GUESTS_RESOLVE_H */
