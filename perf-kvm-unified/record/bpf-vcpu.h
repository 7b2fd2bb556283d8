/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_BPF_VCPU_H
#define __PERF_KVM_UNIFIED_RECORD_BPF_VCPU_H

#include <stdbool.h>
#include <stddef.h>

#include <sys/types.h>

struct evlist;
struct guest_current;
struct kvm_memory;
struct target;

void bpf_vcpu__want_tasks(void);
int bpf_vcpu__open(char *err, size_t errlen);
void bpf_vcpu__close(void);
bool bpf_vcpu__knows_cr3(void);
int bpf_vcpu__add_guest(pid_t vmm, const struct guest_current *current,
			const struct kvm_memory *mem);
int bpf_vcpu__prepare(struct evlist *evlist, const struct target *target);
int bpf_vcpu__attach(struct evlist *evlist);

#endif /* __PERF_KVM_UNIFIED_RECORD_BPF_VCPU_H */
