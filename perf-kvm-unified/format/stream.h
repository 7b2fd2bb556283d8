/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_FORMAT_STREAM_H
#define __PERF_KVM_UNIFIED_FORMAT_STREAM_H

#include <stddef.h>

/* "PERFILE2" as a little endian u64, which is how x86 guests write it */
#define PERF_MAGIC_LE		0x32454c4946524550ULL

/* A map of 10,000 processes has 40 MB; what is larger is no map but an attack. */
#define GUEST_STREAM_MAX_SIZE	(256ULL << 20)

union perf_event;

typedef int (*guest_stream_cb)(const union perf_event *event, void *arg);

int guest_stream__read(int fd, guest_stream_cb cb, void *arg,
		       char *err, size_t errlen);
int guest_stream__read_file(const char *path, guest_stream_cb cb, void *arg,
			    char *err, size_t errlen);
int guest_stream__write_end(int fd);

#endif /* __PERF_KVM_UNIFIED_FORMAT_STREAM_H */
