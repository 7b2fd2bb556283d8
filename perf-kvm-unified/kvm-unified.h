/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_H
#define __PERF_KVM_UNIFIED_H

#include <stdbool.h>
#include <subcmd/parse-options.h>

#include "util/debug.h"

int cmd_kvm_unified(int argc, const char **argv);

int cmd_kvm_unified_guest_map(int argc, const char **argv);
int cmd_kvm_unified_record(int argc, const char **argv);
int cmd_kvm_unified_report(int argc, const char **argv);

/* What vCPUs did when they did not run, if the kernel has it */
#define KVM_TIMELINE_EVENT	"kvm:kvm_vcpu_timeline"

/* All that -q keeps back, in every file of the command: what it says but errors and progress */
#define unified_warning(fmt, ...)			\
	do {						\
		if (!quiet)				\
			pr_warning(fmt, ##__VA_ARGS__);	\
	} while (0)

/* The types that can have a value are the last ones of enum parse_opt_type. */
static inline bool option__takes_arg(const struct option *opt)
{
	return opt->type >= OPTION_STRING && !(opt->flags & PARSE_OPT_NOARG);
}

/*
 * --no- in front of what has to have a value is a NULL or 0 of it for parse_options(), and
 * there is nothing that it could mean.
 */
static inline void options__no_negation(struct option *options)
{
	for (struct option *opt = options; opt->type != OPTION_END; opt++) {
		if (option__takes_arg(opt) && !(opt->flags & PARSE_OPT_OPTARG))
			opt->flags |= PARSE_OPT_NONEG;
	}
}

#endif /* __PERF_KVM_UNIFIED_H */
