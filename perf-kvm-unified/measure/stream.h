/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEASURE_STREAM_H
#define __PERF_KVM_UNIFIED_MEASURE_STREAM_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/bitmap.h>

#include "util/header.h"

struct measurement;

/**
 * struct profile_stream - how far a profile that is a stream has come
 * @begin: done when it is known on which machine it was recorded, and which guests there are;
 *	NULL: that is all that is wanted
 * @begin_events: ... and which events, with the first record that is of one
 * @header: print what the stream says of the machine to it, or NULL
 * @m: gets what the stream holds
 * @features: those of the header that have come
 * @begun: @begun_events: these have been called
 * @err: why no more is to be read, or 0
 *
 * The functions return 0 or -errno, with a message: then nothing more is read.
 */
struct profile_stream {
	int		(*begin)(struct profile_stream *stream);
	int		(*begin_events)(struct profile_stream *stream);
	FILE		*header;
	struct measurement *m;
	DECLARE_BITMAP(features, HEADER_FEAT_BITS);
	bool		begun;
	bool		begun_events;
	int		err;
};

void profile_stream__open(struct profile_stream *stream, struct measurement *m);
int profile_stream__begin_events(struct profile_stream *stream);
int profile_stream__end(struct profile_stream *stream);

#endif /* __PERF_KVM_UNIFIED_MEASURE_STREAM_H */
