/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_ERRORS_H
#define __PERF_KVM_UNIFIED_LIB_ERRORS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <linux/compiler.h>

/*
 * Says in @err, which has room for @errlen bytes, what is wrong. Returns @code: a function
 * that cannot go on can end with it.
 */
static inline int __printf(4, 5) fail(char *err, size_t errlen, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, errlen, fmt, ap);
	va_end(ap);
	return code;
}

#endif /* __PERF_KVM_UNIFIED_LIB_ERRORS_H */
