// SPDX-License-Identifier: GPL-2.0
/*
 * Reader of the record streams of records.h.
 *
 * A guest map comes out of a guest and is not trusted. perf's own reader of
 * pipe data trusts what it reads more than that: attributes and features of
 * the file change how the records that follow are parsed. Here a record is a
 * type, a size and that many bytes, nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/kernel.h>

#include "util/event.h"
#include "util/header.h"
#include "kvm-unified/lib/errors.h"
#include "kvm-unified/lib/write.h"
#include "stream.h"

/* Reads exactly @len bytes. 0, -EPIPE if the file ends before that, or -EIO */
static int read_whole(FILE *file, void *buf, size_t len)
{
	if (fread(buf, 1, len, file) == len)
		return 0;
	return ferror(file) ? -EIO : -EPIPE;
}

static int read_records(FILE *file, guest_stream_cb cb, void *arg, char *err, size_t errlen)
{
	struct perf_pipe_file_header file_header;
	u64 total = sizeof(file_header);
	char *buf;
	int ret;

	ret = read_whole(file, &file_header, sizeof(file_header));
	if (ret == -EPIPE)
		return fail(err, errlen, ret, "is empty or ends within its header");
	if (ret)
		return fail(err, errlen, ret, "cannot be read: %s", strerror(-ret));
	if (file_header.magic != PERF_MAGIC_LE || file_header.size != sizeof(file_header))
		return fail(err, errlen, -EINVAL,
			    "is not a stream of perf records of a little endian machine");

	/* The largest record and the zero byte after it */
	buf = malloc(UINT16_MAX + 1);
	if (!buf)
		return fail(err, errlen, -ENOMEM, "cannot be read: out of memory");

	while (1) {
		struct perf_event_header *header = (void *)buf;
		union perf_event *event = (void *)buf;

		ret = read_whole(file, header, sizeof(*header));
		if (!ret && header->size < sizeof(*header)) {
			ret = fail(err, errlen, -EINVAL,
				   "is corrupt: a record of %u bytes at offset %" PRIu64,
				   header->size, total);
			break;
		}
		if (!ret)
			ret = read_whole(file, header + 1, header->size - sizeof(*header));
		if (ret) {
			if (ret == -EPIPE)
				scnprintf(err, errlen,
					  "is truncated: no record at offset %" PRIu64, total);
			else
				scnprintf(err, errlen, "cannot be read: %s", strerror(-ret));
			break;
		}
		buf[header->size] = '\0';
		total += header->size;
		if (total > GUEST_STREAM_MAX_SIZE) {
			ret = fail(err, errlen, -EFBIG,
				   "is larger than %llu MiB, which no real one is",
				   GUEST_STREAM_MAX_SIZE >> 20);
			break;
		}
		if (header->type == PERF_RECORD_FINISHED_INIT) {
			ret = 0;
			break;
		}
		ret = cb(event, arg);
		if (ret)
			break;
	}

	free(buf);
	return ret;
}

/**
 * guest_stream__read - hand each record of a stream to @cb
 * @fd: the stream, read from where it is; where it is afterwards is not defined
 * @cb: gets a record of which all header.size bytes are there and, after them,
 *	a zero byte; the stream ends if it does not return 0
 * @err: on failure of the stream itself, a sentence for the user
 *
 * Returns 0, what @cb returned, or -EINVAL, -EPIPE (truncated), -EFBIG, -ENOMEM,
 * -EIO.
 */
int guest_stream__read(int fd, guest_stream_cb cb, void *arg,
		       char *err, size_t errlen)
{
	int ret, copy = dup(fd);
	FILE *file = copy < 0 ? NULL : fdopen(copy, "r");

	if (!file) {
		ret = fail(err, errlen, -errno, "cannot be read: %s", strerror(errno));
		if (copy >= 0)
			close(copy);
		return ret;
	}
	ret = read_records(file, cb, arg, err, errlen);
	fclose(file);
	return ret;
}

/*
 * The same of the file at @path. -ENOENT: there is none, or another -errno. What @cb has refused
 * is called corrupt.
 */
int guest_stream__read_file(const char *path, guest_stream_cb cb, void *arg,
			    char *err, size_t errlen)
{
	struct stat st;
	int fd, ret;

	scnprintf(err, errlen, "is corrupt");
	/* Nobody may ever write to a fifo. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fail(err, errlen, -errno, "cannot be opened: %s", strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return fail(err, errlen, -EINVAL, "is not a file");
	}
	ret = guest_stream__read(fd, cb, arg, err, errlen);
	close(fd);
	return ret;
}

/* Writes the record without which a stream counts as truncated. 0 or -errno */
int guest_stream__write_end(int fd)
{
	struct perf_event_header end = {
		.type = PERF_RECORD_FINISHED_INIT,
		.size = sizeof(end),
	};

	return write_all(fd, &end, sizeof(end));
}
