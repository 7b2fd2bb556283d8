/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_FORMAT_TEXT_RECORD_H
#define __PERF_KVM_UNIFIED_FORMAT_TEXT_RECORD_H

#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include "kvm-unified/lib/write.h"

/* Records that end with a text, padded with zeros to so many bytes: one at least */
#define TEXT_RECORD_ALIGN	sizeof(u64)
/* Bytes of a text with its zero byte; what is longer is cut. */
#define TEXT_RECORD_MAX		PATH_MAX

static inline size_t text_record__len(const char *text)
{
	return strnlen(text, TEXT_RECORD_MAX - 1);
}

/* Bytes of a record with @head_size bytes in front of @text */
static inline size_t text_record__size(size_t head_size, const char *text)
{
	return PERF_ALIGN(head_size + text_record__len(text) + 1, TEXT_RECORD_ALIGN);
}

/* Writes a record whose first @head_size bytes are @head, and sets its size. 0 or -errno */
static inline int text_record__write(int fd, struct perf_event_header *head, size_t head_size,
				     const char *text)
{
	static const char zeros[TEXT_RECORD_ALIGN];
	size_t len = text_record__len(text);

	head->size = text_record__size(head_size, text);
	return write_all(fd, head, head_size) ?:
	       write_all(fd, text, len) ?:
	       write_all(fd, zeros, head->size - head_size - len);
}

#endif /* __PERF_KVM_UNIFIED_FORMAT_TEXT_RECORD_H */
