/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples that wait for the callchain of a guest, and the record that has it.
 */
#ifndef SELFTEST_KVM_GUEST_CALLCHAIN_H
#define SELFTEST_KVM_GUEST_CALLCHAIN_H

#include <linux/perf_event.h>
#include <linux/types.h>

/* With PERF_SAMPLE_IP and PERF_SAMPLE_CALLCHAIN */
struct callchain_sample {
	struct perf_event_header header;
	u64 ip;
	u64 nr;
	u64 ips[];
};

/* PERF_RECORD_GUEST_CALLCHAIN: a stack may follow the addresses. */
struct guest_callchain {
	struct perf_event_header header;
	u64 cookie;
	u32 end;
	u32 flags;
	u64 words[2];
	u64 nr;
	u64 ips[];
};

/* What a sample waits for, or 0 */
static inline __u64 callchain_cookie(const struct callchain_sample *sample)
{
	bool waits = sample->nr == 2 && sample->ips[0] == PERF_CONTEXT_GUEST_DEFERRED;

	return waits ? sample->ips[1] : 0;
}

#endif /* SELFTEST_KVM_GUEST_CALLCHAIN_H */
