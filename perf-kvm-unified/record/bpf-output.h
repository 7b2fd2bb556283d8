/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_BPF_OUTPUT_H
#define __PERF_KVM_UNIFIED_RECORD_BPF_OUTPUT_H

#include <stddef.h>

struct bpf_map;
struct evlist;
struct evsel;
struct target;

int bpf_output__prepare(struct evlist *evlist, const struct target *target, const char *option,
			const char *name, int (*load)(char *err, size_t errlen));
struct evsel *bpf_output__connect(struct evlist *evlist, const char *name,
				  const struct bpf_map *map);

#endif /* __PERF_KVM_UNIFIED_RECORD_BPF_OUTPUT_H */
