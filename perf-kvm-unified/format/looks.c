// SPDX-License-Identifier: GPL-2.0
/*
 * Reader of the looks at vCPU threads that a recording has taken.
 */
#include <errno.h>
#include <linux/kernel.h>

#include "util/event.h"
#include "looks.h"
#include "records.h"
#include "stream.h"

struct reader {
	vcpu_look_cb cb;
	void	*arg;
};

static int process(const union perf_event *event, void *arg)
{
	const struct perf_record_guest_vcpu_look *look = (const void *)event;
	const struct reader *reader = arg;

	if (event->header.type != PERF_RECORD_GUEST_VCPU_LOOK)
		return 0;
	if (event->header.size < sizeof(*look))
		return -EINVAL;
	return reader->cb(look, reader->arg);
}

/**
 * vcpu_looks__read - hand each look in the file at @path to @cb
 * @err: on failure, the rest of a sentence about the file
 *
 * They come in the order of time. What comes before a place where the file is damaged, or
 * ends too early, is handed on. 0, -ENOENT, another -errno, or what @cb has returned
 */
int vcpu_looks__read(const char *path, vcpu_look_cb cb, void *arg, char *err, size_t errlen)
{
	struct reader reader = { .cb = cb, .arg = arg };

	return guest_stream__read_file(path, process, &reader, err, errlen);
}
