/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_WRITE_H
#define __PERF_KVM_UNIFIED_LIB_WRITE_H

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <internal/lib.h>

/* What a command ends with that nobody reads on, as head does not: as one that SIGPIPE has ended */
#define EXIT_UNREAD	(128 + SIGPIPE)

/* As writen(), of all @len bytes or it has failed. 0 or -errno */
static inline int write_all(int fd, const void *buf, size_t len)
{
	return writen(fd, buf, len) == (ssize_t)len ? 0 : -errno;
}

/* All that was printed to @file is written, or that failed. 0 or -errno; -EPIPE: nobody reads on */
static inline int write_printed(FILE *file)
{
	if (fflush(file))
		return -errno;
	return ferror(file) ? -EIO : 0;
}

#endif /* __PERF_KVM_UNIFIED_LIB_WRITE_H */
