// SPDX-License-Identifier: GPL-2.0
/*
 * A profile that is a stream: what a file has in its header comes in records, and what has to
 * be decided by it is decided as soon as it is known.
 */
#include <errno.h>
#include <stdio.h>
#include <linux/bitops.h>
#include <linux/kernel.h>

#include "util/debug.h"
#include "util/event.h"
#include "util/header.h"
#include "util/session.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/guests/guests.h"
#include "measurement.h"
#include "stream.h"

/* perf's reader ends, as it does with Ctrl-C, and says nothing. Returns @err */
static int stop(struct profile_stream *stream, int err)
{
	stream->err = err;
	stream->m->tool.no_warn = true;
	session_done = 1;
	return err;
}

/* Features come one by one, and the last of them is marked. VMs are in front of them. */
static int process_feature(const struct perf_tool *tool, struct perf_session *session,
			   union perf_event *event)
{
	struct profile_stream *stream = container_of(tool, struct measurement, tool)->stream;
	u64 id = event->feat.feat_id;
	int ret;

	/* perf forgets what it knew of one that comes again, and does not free it. */
	if (id < HEADER_LAST_FEATURE && __test_and_set_bit(id, stream->features))
		return 0;
	ret = perf_event__process_feature(tool, session, event);
	if (ret || stream->begun || event->header.size != sizeof(event->feat) ||
	    (int)event->feat.feat_id < session->header.last_feat)
		return ret;
	stream->begun = true;
	if (stream->header) {
		kvm_guests__fprintf_info(session, stream->header);
		fputs("# ========\n#\n", stream->header);
	}
	ret = stream->begin ? stream->begin(stream) : 0;
	if (ret || !stream->begin)
		stop(stream, ret);
	return 0;
}

/**
 * profile_stream__open - before the stream is read
 * @m: gets its session, and its tool, from elsewhere
 */
void profile_stream__open(struct profile_stream *stream, struct measurement *m)
{
	stream->m = m;
	m->stream = stream;
	m->tool.feature = process_feature;
}

/* The first record of an event has come, or the end. 0 or -errno with a message */
int profile_stream__begin_events(struct profile_stream *stream)
{
	int ret;

	if (stream->err || stream->begun_events)
		return stream->err;
	if (!stream->begun) {
		pr_err("%s does not say what was recorded: it is cut off, damaged, or something else\n",
		       profile__name(stream->m->session->data));
		return stop(stream, -EINVAL);
	}
	stream->begun_events = true;
	ret = stream->begin_events(stream);
	return ret ? stop(stream, ret) : 0;
}

/* All has been read that there is, or that was to be. 0 or -errno with a message */
int profile_stream__end(struct profile_stream *stream)
{
	return stream->begun && !stream->begin ? 0 : profile_stream__begin_events(stream);
}
