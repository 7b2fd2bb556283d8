/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_DIFF_H
#define __PERF_KVM_UNIFIED_REPORT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "changes.h"
#include "options.h"
#include "print.h"
#include "reading.h"
#include "sections.h"

/**
 * struct diff_level - the host, or a VM, in both profiles
 * @name: of the VM; "": it is the host
 * @sections: its tables; NULL: it is not in that profile
 * @nr_vcpus: of a VM
 * @changes: its rows; what is in one profile alone has become more or less by all of it
 */
struct diff_level {
	const char	*name;
	const struct section *sections[DIFF_NR_SIDES];
	u32		nr_vcpus[DIFF_NR_SIDES];
	struct changes	changes;
};

/**
 * struct diff - two profiles, compared
 * @levels: the host, and then VMs by name, @nr of them
 * @rows_of: which rows are shown, if not all: options
 * @unread: nobody reads the output any more
 */
struct diff {
	struct diff_options opts;
	struct reading readings[DIFF_NR_SIDES];
	struct diff_level *levels;
	size_t		nr;
	char		rows_of[SELECTION_LEN];
	bool		unread;
};

bool diff_level__is_host(const struct diff_level *level);
bool diff_level__is_in_both(const struct diff_level *level);
bool diff__knows_processes(const struct diff *diff);
struct print_opts diff__print_opts(const struct diff *diff, enum diff_side side, char *selection,
				   size_t size);

#endif /* __PERF_KVM_UNIFIED_REPORT_DIFF_H */
