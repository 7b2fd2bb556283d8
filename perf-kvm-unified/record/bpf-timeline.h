/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_BPF_TIMELINE_H
#define __PERF_KVM_UNIFIED_RECORD_BPF_TIMELINE_H

#include <stddef.h>

struct evlist;
struct target;

int bpf_timeline__open(char *err, size_t errlen);
void bpf_timeline__close(void);
int bpf_timeline__prepare(struct evlist *evlist, const struct target *target);
int bpf_timeline__attach(struct evlist *evlist);

#endif /* __PERF_KVM_UNIFIED_RECORD_BPF_TIMELINE_H */
