/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_WARNINGS_H
#define __PERF_KVM_UNIFIED_LIB_WARNINGS_H

#include "util/debug.h"

/* All that -q keeps back, in every file of the command: what it says but errors and progress */
#define unified_warning(fmt, ...)			\
	do {						\
		if (!quiet)				\
			pr_warning(fmt, ##__VA_ARGS__);	\
	} while (0)

#endif /* __PERF_KVM_UNIFIED_LIB_WARNINGS_H */
