/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_BPF_PROGRAMS_H
#define __PERF_KVM_UNIFIED_COLLECTOR_BPF_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "kvm-unified/format/records.h"

union perf_event;

/**
 * struct guest_bpf_event - a BPF program came or went
 * @time: ns of CLOCK_BOOTTIME
 * @start: address of its code
 * @len: bytes of code
 */
struct guest_bpf_event {
	u64	time;
	u64	start;
	u32	len;
	bool	gone;
	char	name[GUEST_MODULE_NAME_LEN];
};

/**
 * struct guest_bpf_events - what has happened to BPF programs since the guest is followed
 * @known: all that has happened is there
 */
struct guest_bpf_events {
	struct guest_bpf_event *entries;
	size_t	nr;
	size_t	allocated;
	bool	known;
};

int guest_bpf_events__add(struct guest_bpf_events *events, const union perf_event *event,
			  u64 time);
int guest_bpf_events__write(struct guest_bpf_events *events, int fd);
void guest_bpf_events__exit(struct guest_bpf_events *events);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_BPF_PROGRAMS_H */
