/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_MACHINE_H
#define __PERF_KVM_UNIFIED_LIB_MACHINE_H

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "util/debug.h"

/*
 * Page table roots, memory layouts and KVM's structures are those of x86-64 alone. @what: runs
 * on such machines. 0, or -ENOTSUP or uname(2)'s error with a message
 */
static inline int machine__check(const char *what)
{
	struct utsname machine;

	if (uname(&machine)) {
		int ret = -errno;

		pr_err("uname: %s\n", strerror(-ret));
		return ret;
	}
	if (!strcmp(machine.machine, "x86_64"))
		return 0;
	pr_err("%s is for x86-64, and this is %s.\n", what, machine.machine);
	return -ENOTSUP;
}

#endif /* __PERF_KVM_UNIFIED_LIB_MACHINE_H */
