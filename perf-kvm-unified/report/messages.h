/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_MESSAGES_H
#define __PERF_KVM_UNIFIED_REPORT_MESSAGES_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/**
 * struct messages - what is written to standard error is kept, to be said later
 * @file: where it is kept, or NULL: nothing is
 * @stderr_fd: where it belongs
 */
struct messages {
	FILE	*file;
	int	stderr_fd;
};

void messages__keep(struct messages *messages);
ssize_t messages__peek(const struct messages *messages, char *buf, size_t size);
void messages__release(struct messages *messages, const char *title);

#endif /* __PERF_KVM_UNIFIED_REPORT_MESSAGES_H */
