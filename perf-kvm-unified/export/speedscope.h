/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_EXPORT_SPEEDSCOPE_H
#define __PERF_KVM_UNIFIED_EXPORT_SPEEDSCOPE_H

#include <stddef.h>
#include <stdio.h>
#include <linux/types.h>

#include "kvm-unified/lib/temp-file.h"

struct hashmap;
struct measurement;
struct speedscope_track;
struct speedscope_thing;
struct time_piece;
struct vcpu_interval;

/**
 * struct speedscope - what vCPUs did, one thing after the other
 * @pieces: of time, in blocks of one vCPU each
 * @nr_blocks: in there
 * @things: what they did, @nr_things things, each once
 * @by_hit: @by_name: the number of one, by that of what was hit, and by its name
 * @tracks: by number of the vCPU, @nr_tracks of them
 */
struct speedscope {
	struct temp_file pieces;
	u32	nr_blocks;
	struct speedscope_thing *things;
	u32	nr_things;
	size_t	allocated_things;
	struct hashmap *by_hit;
	struct hashmap *by_name;
	struct speedscope_track *tracks;
	u32	nr_tracks;
	size_t	allocated_tracks;
};

int speedscope__begin(struct speedscope *scope);
void speedscope__exit(struct speedscope *scope);
int speedscope__add(struct speedscope *scope, const struct measurement *m, u32 vcpu,
		    const struct vcpu_interval *interval, const struct time_piece *piece);
int speedscope__print(struct speedscope *scope, const struct measurement *m, FILE *fp);

#endif /* __PERF_KVM_UNIFIED_EXPORT_SPEEDSCOPE_H */
