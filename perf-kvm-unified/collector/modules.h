/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_MODULES_H
#define __PERF_KVM_UNIFIED_COLLECTOR_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "kvm-unified/format/records.h"

/**
 * struct guest_module - a module of the kernel that this runs on
 * @start: address of its code
 * @len: bytes that may be its code: up to the next module at most
 */
struct guest_module {
	char	name[GUEST_MODULE_NAME_LEN];
	u64	start;
	u64	len;
};

/**
 * struct module_look - the modules that there are at a time
 * @entries: by address
 * @kallsyms: the lines of /proc/kallsyms that are of modules; ends with a zero byte
 */
struct module_look {
	struct guest_module *entries;
	size_t	nr;
	char	*kallsyms;
};

/* A module came or went at @time, in ns of CLOCK_BOOTTIME */
struct guest_module_event {
	u64	time;
	bool	gone;
	char	name[GUEST_MODULE_NAME_LEN];
};

/**
 * struct guest_module_events - what has happened to modules since the first look at them
 * @entries: by time
 * @known: all that has happened is there
 */
struct guest_module_events {
	struct guest_module_event *entries;
	size_t	nr;
	size_t	allocated;
	bool	known;
};

int module_look__list(struct module_look *modules, const char *modules_path);
int module_look__read(struct module_look *modules, const char *modules_path,
		      const char *kallsyms_path);
int module_looks__write_changes(const struct module_look *before,
				const struct module_look *after,
				const struct guest_module_events *events, int fd);
void module_look__exit(struct module_look *modules);

int guest_module_events__add(struct guest_module_events *events,
			     const struct guest_module_event *event);
void guest_module_events__exit(struct guest_module_events *events);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_MODULES_H */
