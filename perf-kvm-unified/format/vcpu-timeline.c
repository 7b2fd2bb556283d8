// SPDX-License-Identifier: GPL-2.0
/*
 * States of vCPUs that have ended, as BPF programs tell them.
 */
#include <string.h>
#include <byteswap.h>

#include "vcpu-timeline.h"

/* Swaps the bytes of what a machine of the other byte order has written. */
static void swap_record(struct vcpu_timeline *record)
{
	record->magic = bswap_32(record->magic);
	record->ns = bswap_64(record->ns);
	record->wait = bswap_64(record->wait);
	record->exit_reason = bswap_64(record->exit_reason);
	record->vcpu_id = bswap_32(record->vcpu_id);
	record->seq = bswap_32(record->seq);
	record->why = bswap_32(record->why);
	record->next_pid = bswap_32(record->next_pid);
	record->cpu = bswap_32(record->cpu);
}

/* @raw: @size bytes. false: it is no such record */
bool vcpu_timeline__read(struct vcpu_timeline *record, const void *raw, size_t size)
{
	if (size < sizeof(*record))
		return false;
	memcpy(record, raw, sizeof(*record));
	if (record->magic == bswap_32(VCPU_TIMELINE_MAGIC))
		swap_record(record);
	return record->magic == VCPU_TIMELINE_MAGIC;
}
