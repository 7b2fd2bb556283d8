// SPDX-License-Identifier: GPL-2.0
/*
 * Profiles whose recorder was killed, or had no room left on its disk. perf record writes how
 * much data there is, and all that it knows of the events and the machine, when it ends. Until
 * then its header has a size of 0.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#ifdef HAVE_LIBTRACEEVENT
#include <event-parse.h>
#endif

#include "util/data.h"
#include "util/debug.h"
#include "util/event.h"
#include "util/evlist.h"
#include "util/evsel.h"
#include "util/header.h"
#include "util/session.h"
#include "util/trace-event.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/format/stream.h"
#include "killed.h"

/*
 * What a compressed record becomes at most: what perf record has read of a buffer at once. Its size
 * (-m) would be in the header; one of 64 KiB that is as small as events can be has less.
 */
#define COMPRESSED_MAX_SIZE	(16 << 20)

/* The time line's format has 3 KB. */
#define FORMAT_MAX_SIZE		(64 << 10)

/* The bytes of the record at @data, with the data that comes after it; 0: it is not whole */
static size_t record_size(const void *data, size_t left)
{
	struct perf_record_auxtrace aux;
	size_t len, more = 0;

	if (left < sizeof(aux.header))
		return 0;
	memcpy(&aux, data, min(left, sizeof(aux)));
	len = aux.header.size;
	if (len < sizeof(aux.header) || len > left || aux.header.type >= PERF_RECORD_HEADER_MAX)
		return 0;
	/* The only record that has data after it */
	if (aux.header.type == PERF_RECORD_AUXTRACE && len >= sizeof(aux))
		more = aux.size;
	return more > left - len ? 0 : len + more;
}

/* Do zeros come next, as where the host crashed before it had written what was there? */
static bool is_zeroed(const void *data, size_t left)
{
	static const char zeros[sizeof(struct perf_event_header)];

	return left && !memcmp(data, zeros, min(left, sizeof(zeros)));
}

/**
 * whole_records - how much of perf.data can be read where it is not known where it ends
 * @data: records, the last of which may be cut; anything may come after them
 * @size: bytes
 * @compressed: set if there are compressed ones among them (perf record -z)
 *
 * One that ends in a zero, in front of zeros, may have lost its end to them: it does not count.
 *
 * Return: the bytes of the records at the beginning of @data that are whole
 */
size_t whole_records(const void *data, size_t size, bool *compressed)
{
	bool last_compressed = false;
	size_t at = 0, last = 0, len;

	*compressed = false;
	while ((len = record_size(data + at, size - at))) {
		struct perf_event_header header;

		*compressed |= last_compressed;
		memcpy(&header, data + at, sizeof(header));
		last_compressed = header.type == PERF_RECORD_COMPRESSED ||
				  header.type == PERF_RECORD_COMPRESSED2;
		last = at;
		at += len;
	}
	if (is_zeroed(data + at, size - at) && at && !((const char *)data)[at - 1])
		return last;
	*compressed |= last_compressed;
	return at;
}

/* The perf.data of a profile that is a directory, or that is this file alone. Or -1 */
static int open_data(const char *path)
{
	char data[PATH_MAX];
	int fd;

	scnprintf(data, sizeof(data), "%s/data", path);
	/* Nobody may ever write to a fifo. */
	fd = open(data, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd >= 0 ? fd : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* Is the size of the data 0 in the header of the profile at @path, as it is at first? */
bool profile__was_killed(const char *path)
{
	struct perf_file_header header;
	int fd = open_data(path);
	bool killed;

	if (fd < 0)
		return false;
	killed = read(fd, &header, sizeof(header)) == sizeof(header) &&
		 header.magic == PERF_MAGIC_LE && header.size == sizeof(header) &&
		 !header.data.size;
	close(fd);
	return killed;
}

static void find_end(struct perf_session *session)
{
	u64 offset = session->header.data_offset;
	bool compressed;
	int fd = perf_data__fd(session->data);
	struct stat st;
	void *map;

	if (session->header.needs_swap || fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    offset >= (u64)st.st_size)
		return;
	map = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return;
	session->header.data_size = whole_records(map + offset, st.st_size - offset, &compressed);
	if (compressed) {
		perf_header__set_feat(&session->header, HEADER_COMPRESSED);
		session->header.env.comp_mmap_len = COMPRESSED_MAX_SIZE;
	}
	munmap(map, st.st_size);
}

#ifdef HAVE_LIBTRACEEVENT
/* Text of @size bytes and a zero byte, to be freed, or NULL */
static char *read_format(const char *dir, size_t *size)
{
	char path[PATH_MAX], *format = NULL;
	struct stat st;
	ssize_t len;
	int fd;

	scnprintf(path, sizeof(path), "%s/" KVM_TIMELINE_FORMAT_FILE, dir);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= FORMAT_MAX_SIZE)
		format = zalloc(FORMAT_MAX_SIZE + 1);
	len = format ? read(fd, format, FORMAT_MAX_SIZE) : -1;
	close(fd);
	if (len <= 0)
		zfree(&format);
	*size = len;
	return format;
}

static struct tep_event *parse_timeline(struct trace_event *tevent, char *format, size_t size)
{
	char sys[] = KVM_TIMELINE_SYSTEM;

	if (trace_event__init(tevent))
		return NULL;
	tep_set_flag(tevent->pevent, TEP_NSEC_OUTPUT);
	tep_set_file_bigendian(tevent->pevent, TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(tevent->pevent, tep_is_bigendian());
	if (parse_event_file(tevent->pevent, format, size, sys))
		return NULL;
	return tep_find_event_by_name(tevent->pevent, sys, KVM_TIMELINE_NAME);
}

/* Finds the fields of the time line, which would be in the header else. */
static void find_timeline(struct perf_session *session)
{
	struct tep_event *event;
	struct evsel *evsel;
	char *format;
	size_t size;

	if (session->tevent.pevent || !session->data->is_dir)
		return;
	format = read_format(session->data->path, &size);
	if (!format)
		return;
	event = parse_timeline(&session->tevent, format, size);
	free(format);
	if (!event)
		return;
	evlist__for_each_entry(session->evlist, evsel) {
		if (evsel->core.attr.type != PERF_TYPE_TRACEPOINT ||
		    evsel->core.attr.config != (u64)event->id || evsel->name)
			continue;
		evsel->name = strdup(KVM_TIMELINE_EVENT);
		evsel->tp_format = event;
	}
}
#else
static void find_timeline(struct perf_session *session __maybe_unused)
{
}
#endif

/**
 * killed_session__mend - find what is missing in the header of a session that is read
 * @session: is left alone if its header has the size of its data
 *
 * Its data ends with the last record that is whole. If there is none, its size stays 0.
 */
void killed_session__mend(struct perf_session *session)
{
	if (perf_data__is_pipe(session->data) || session->header.data_size)
		return;
	find_end(session);
	find_timeline(session);
	/* Else perf takes the machine that it reads it on for the one that it is of. */
	if (!session->header.env.arch)
		session->header.env.arch = strdup("x86_64");
}
