/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_EXPORT_OPTIONS_H
#define __PERF_KVM_UNIFIED_EXPORT_OPTIONS_H

#include "kvm-unified/report/options.h"

struct export_format;

/**
 * struct export_options - what the user wants for another tool
 * @report: of which profile, and which part of it
 * @format: of which tool
 * @output: where to; "-": standard output
 */
struct export_options {
	struct report_options report;
	const struct export_format *format;
	const char	*output;
};

int export_options__parse(struct export_options *opts, int argc, const char **argv);

#endif /* __PERF_KVM_UNIFIED_EXPORT_OPTIONS_H */
