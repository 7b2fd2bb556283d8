// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the records of a guest map, as perf kvm unified guest-map does in a guest: perf's own,
 * and those of records.h. By hand, as perf's code for that asks this machine's /proc.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/types.h>
#include <perf/event.h>

#include "kvm-unified/format/records.h"
#include "kvm-unified/format/text-record.h"
#include "kvm-unified/lib/write.h"
#include "maps.h"
#include "writer.h"

/* "PERFILE2": what a perf.data file begins with, that is a stream */
#define PERF_MAGIC	0x32454c4946524550ULL

#define RECORD_ALIGN	sizeof(u64)

static size_t aligned(size_t size)
{
	return (size + RECORD_ALIGN - 1) & ~(RECORD_ALIGN - 1);
}

static void flush(struct guest_writer *w)
{
	if (!w->ret && w->len)
		w->ret = write_all(w->fd, w->buf, w->len);
	w->len = 0;
}

/* Room for @size bytes, all zero, or NULL: writing has failed */
static void *reserve(struct guest_writer *w, size_t size)
{
	void *at;

	if (w->len + size > sizeof(w->buf))
		flush(w);
	if (w->ret)
		return NULL;
	at = w->buf + w->len;
	memset(at, 0, size);
	w->len += size;
	return at;
}

/* A record of @type and @size with what is in @rec after its header */
void guest_writer__record(struct guest_writer *w, u32 type, const void *rec, size_t size)
{
	struct perf_event_header *header = reserve(w, aligned(size));

	if (!header)
		return;
	memcpy(header, rec, size);
	header->type = type;
	header->size = aligned(size);
}

/* A dummy event, so that it is a file that perf script and so on can read */
static void write_attr(struct guest_writer *w)
{
	struct perf_record_header_attr rec = {
		.attr = {
			.size = sizeof(rec.attr),
			.type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_DUMMY,
			.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
		},
	};

	guest_writer__record(w, PERF_RECORD_HEADER_ATTR, &rec, sizeof(rec));
}

void guest_writer__head(struct guest_writer *w)
{
	u64 *head = reserve(w, 2 * sizeof(*head));

	if (!head)
		return;
	head[0] = PERF_MAGIC;
	head[1] = 2 * sizeof(*head);
	write_attr(w);
}

/* The record without which it counts as truncated, and all of it is written then. */
void guest_writer__end(struct guest_writer *w)
{
	struct perf_event_header end = { };

	guest_writer__record(w, PERF_RECORD_FINISHED_INIT, &end, sizeof(end));
	flush(w);
}

/*
 * Text of any length in as many records of @type as it takes, each with @head in front, whose
 * u32 at @len_at says how much is after it. Each ends with a line.
 */
void guest_writer__text(struct guest_writer *w, u32 type, const void *head, size_t head_size,
			size_t len_at, const char *text, size_t len)
{
	const size_t max = UINT16_MAX - RECORD_ALIGN - head_size;

	while (len) {
		size_t n = min(len, max), size;
		const char *line = n < len ? memrchr(text, '\n', n) : NULL;
		u32 *len_of;
		char *rec;

		if (line)
			n = line + 1 - text;
		size = aligned(head_size + n);
		rec = reserve(w, size);
		if (!rec)
			return;
		memcpy(rec, head, head_size);
		memcpy(rec + head_size, text, n);
		((struct perf_event_header *)rec)->type = type;
		((struct perf_event_header *)rec)->size = size;
		len_of = (u32 *)(rec + len_at);
		*len_of += n;
		text += n;
		len -= n;
	}
}

/* Sets the time of what is written from now on, of CLOCK_BOOTTIME; it never goes back. */
void guest_writer__set_time(struct guest_writer *w, u64 time)
{
	struct perf_record_guest_time rec = { .time = time };

	if (time <= w->time)
		return;
	w->time = time;
	guest_writer__record(w, PERF_RECORD_GUEST_TIME, &rec, sizeof(rec));
}

/* @exec: it is a new process, or another program: nothing that was known of @pid is true. */
void guest_writer__comm(struct guest_writer *w, pid_t pid, const char *comm, bool exec)
{
	struct perf_record_comm rec = {
		.header.misc = exec ? PERF_RECORD_MISC_COMM_EXEC : 0,
		.pid = pid,
		.tid = pid,
	};
	size_t len = strnlen(comm, sizeof(rec.comm) - 1);

	memcpy(rec.comm, comm, len);
	guest_writer__record(w, PERF_RECORD_COMM, &rec,
			     offsetof(struct perf_record_comm, comm) + len + 1);
}

void guest_writer__cgroup(struct guest_writer *w, pid_t pid, const char *path)
{
	size_t size = text_record__size(sizeof(struct perf_record_guest_cgroup), path);
	struct perf_record_guest_cgroup *rec = reserve(w, size);

	if (!rec)
		return;
	rec->header.type = PERF_RECORD_GUEST_CGROUP;
	rec->header.size = size;
	rec->pid = pid;
	memcpy(rec->path, path, text_record__len(path));
}

/* @misc: whose code it is, PERF_RECORD_MISC_*; @id: of the file, NULL: it has none */
void guest_writer__map(struct guest_writer *w, u16 misc, pid_t pid, const struct guest_code *code,
		       const char *name, const struct guest_build_id *id)
{
	static const size_t name_at = offsetof(struct perf_record_mmap2, filename);
	size_t len = strnlen(name, PATH_MAX - 1);
	struct perf_record_mmap2 *rec = reserve(w, aligned(name_at + len + 1));

	if (!rec)
		return;
	rec->header.type = PERF_RECORD_MMAP2;
	rec->header.misc = misc;
	rec->header.size = aligned(name_at + len + 1);
	rec->pid = pid;
	rec->tid = pid;
	rec->start = code->start;
	rec->len = code->len;
	rec->pgoff = code->pgoff;
	rec->prot = code->prot;
	rec->flags = code->flags;
	if (id && id->size) {
		rec->header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		rec->build_id_size = id->size;
		memcpy(rec->build_id, id->data, id->size);
	}
	memcpy(rec->filename, name, len);
}
