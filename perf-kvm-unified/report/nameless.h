/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_NAMELESS_H
#define __PERF_KVM_UNIFIED_REPORT_NAMELESS_H

#include <stddef.h>
#include <linux/types.h>

struct sections;

/**
 * struct nameless_files - a guest's files that have no build-id, and the time in them
 * @entries: @nr of them, a file more than once until they are described
 * @ns: of all of them
 */
struct nameless_files {
	struct nameless_file {
		const char *name;	/* to stay */
		u64	ns;
	} *entries;
	size_t	nr;
	size_t	allocated;
	u64	ns;
};

int nameless_files__add(struct nameless_files *files, const char *name, u64 ns);
void nameless_files__describe(struct nameless_files *files, const char *guest, u64 all_ns,
			      u64 nr_others, bool advise, char *buf, size_t size);
void nameless_files__exit(struct nameless_files *files);

void sections__warn_nameless(const struct sections *sections);

#endif /* __PERF_KVM_UNIFIED_REPORT_NAMELESS_H */
