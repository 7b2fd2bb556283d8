/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_OPTION_VALUES_H
#define __PERF_KVM_UNIFIED_REPORT_OPTION_VALUES_H

#include <stdbool.h>

struct option;

/* @str: gets the list as it was given */
#define OPT_LIST(s, l, v, str, a, h, fn)							\
	{ .type = OPTION_CALLBACK, .short_name = (s), .long_name = (l), .value = (v),		\
	  .data = (str), .argh = (a), .help = (h), .callback = (fn) }

/* For tables of options. 0, or -EINVAL with a message */
int parse_option_numbers(const struct option *opt, const char *arg, int unset);
int parse_option_names(const struct option *opt, const char *arg, int unset);
int parse_option_cpus(const struct option *opt, const char *arg, int unset);
int parse_option_levels(const struct option *opt, const char *arg, int unset);
int parse_option_attribution(const struct option *opt, const char *arg, int unset);

#endif /* __PERF_KVM_UNIFIED_REPORT_OPTION_VALUES_H */
