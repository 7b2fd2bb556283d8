/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEASURE_WHO_H
#define __PERF_KVM_UNIFIED_MEASURE_WHO_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>

struct kvm_guest;
struct machine;
struct measured_task;
struct measurement;
struct memo_thread;

int measurement__findnew_vcpu(struct measurement *m, struct kvm_guest *guest, u64 id);
u32 measurement__vcpu_of_tid(const struct measurement *m, pid_t tid);
struct memo_thread *measurement__thread(const struct measurement *m, bool in_guest, pid_t pid,
					pid_t tid);
int measurement__vcpu(struct measurement *m, struct memo_thread *thread, struct kvm_guest *guest,
		      u64 id);

u32 measurement__findnew_task(struct measurement *m, struct machine *machine, pid_t pid,
			      pid_t tid);
u32 measurement__task(struct measurement *m, struct memo_thread *thread, struct machine *machine,
		      u32 vcpu);
u32 measurement__next_task(struct measurement *m, struct machine *machine, pid_t tid);
void measurement__new_thread(struct measurement *m, pid_t tid);
void measurement__end_thread(struct measurement *m, struct machine *machine, pid_t tid);

int measured_task__rename(struct measured_task *task, struct measurement *m, const char *comm);
bool measured_task__is_vhost(const struct measured_task *task);
bool measured_task__is_kernels(const struct measured_task *task);
u32 measured_task__vm(const struct measurement *m, const struct measured_task *task);

#endif /* __PERF_KVM_UNIFIED_MEASURE_WHO_H */
