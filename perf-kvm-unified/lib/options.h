/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_OPTIONS_H
#define __PERF_KVM_UNIFIED_LIB_OPTIONS_H

#include <stdbool.h>
#include <linux/compiler.h>
#include <subcmd/parse-options.h>

/* The exit code of a usage error: usage_with_options() ends perf with it. */
#define EXIT_USAGE	129

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
		if (option__takes_arg(opt) &&
		    !(opt->flags & (PARSE_OPT_OPTARG | PARSE_OPT_LASTARG_DEFAULT)))
			opt->flags |= PARSE_OPT_NONEG;
	}
}

void __noreturn __printf(2, 3) usage_error(const char *const usage[], const char *fmt, ...);

#endif /* __PERF_KVM_UNIFIED_LIB_OPTIONS_H */
