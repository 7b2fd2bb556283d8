/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_CONFIG_H
#define __PERF_KVM_UNIFIED_LIB_CONFIG_H

#include <string.h>
#include <linux/string.h>

#include "util/debug.h"

/* The section of perfconfig, and all that it has */
#define CONFIG_SECTION		"kvm-unified."
/* As --guest-root, with commas between several */
#define CONFIG_GUEST_ROOT	CONFIG_SECTION "guest-root"
/* Is guests' memory looked at without --guest-memory? */
#define CONFIG_GUEST_MEMORY	CONFIG_SECTION "guest-memory"

/* A typing error is told of, once. */
static inline void config__check_name(const char *var)
{
	if (!quiet && strstarts(var, CONFIG_SECTION) && strcmp(var, CONFIG_GUEST_ROOT) &&
	    strcmp(var, CONFIG_GUEST_MEMORY))
		pr_warning_once("perfconfig: there is no %s, but " CONFIG_GUEST_ROOT " and "
				CONFIG_GUEST_MEMORY "\n", var);
}

#endif /* __PERF_KVM_UNIFIED_LIB_CONFIG_H */
