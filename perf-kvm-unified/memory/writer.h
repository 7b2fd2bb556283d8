/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_WRITER_H
#define __PERF_KVM_UNIFIED_MEMORY_WRITER_H

#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

#include "note.h"

struct guest_code;

/* Room for several of the longest records */
#define GUEST_WRITER_SIZE	(256U << 10)

/**
 * struct guest_writer - a guest map that is being written
 * @ret: 0, or why nothing more is written, as -errno
 * @time: that the records are of which are written now, 0: before the first look
 */
struct guest_writer {
	int	fd;
	int	ret;
	u64	time;
	size_t	len;
	char	buf[GUEST_WRITER_SIZE];
};

void guest_writer__head(struct guest_writer *w);
void guest_writer__end(struct guest_writer *w);
void guest_writer__record(struct guest_writer *w, u32 type, const void *rec, size_t size);
void guest_writer__text(struct guest_writer *w, u32 type, const void *head, size_t head_size,
			size_t len_at, const char *text, size_t len);
void guest_writer__set_time(struct guest_writer *w, u64 time);
void guest_writer__comm(struct guest_writer *w, pid_t pid, const char *comm, bool exec);
void guest_writer__cgroup(struct guest_writer *w, pid_t pid, const char *path);
void guest_writer__map(struct guest_writer *w, u16 misc, pid_t pid, const struct guest_code *code,
		       const char *name, const struct guest_build_id *id);

#endif /* __PERF_KVM_UNIFIED_MEMORY_WRITER_H */
