/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_PRINT_H
#define __PERF_KVM_UNIFIED_REPORT_PRINT_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>

struct measurement;
struct section;
struct section_opts;
struct sections;

/**
 * struct print_opts - what to print
 * @percent_limit: a table puts rows below it together
 * @exit_reasons: also, for each guest, what was stolen by exit reason
 * @selection: what options say that it is a part of, or ""
 * @mode_reason: why there is no time line, or "" if there is one
 */
struct print_opts {
	double		percent_limit;
	bool		exit_reasons;
	const char	*mode_reason;
	const char	*selection;
};

/* 0 or -ENOMEM; whether all could be written is for the caller to ask. */
typedef int (*print_fn)(const struct measurement *m, const struct sections *sections,
			const struct section_opts *section_opts, const struct print_opts *opts,
			FILE *fp);

void print_report_header(const struct measurement *m, const struct print_opts *opts, FILE *fp);
void print_section_title(const struct section *section, u64 period,
			 const struct section_opts *opts, FILE *fp);

int print_table(const struct measurement *m, const struct sections *sections,
		const struct section_opts *section_opts, const struct print_opts *opts, FILE *fp);
int print_json(const struct measurement *m, const struct sections *sections,
	       const struct section_opts *section_opts, const struct print_opts *opts, FILE *fp);
int print_csv(const struct measurement *m, const struct sections *sections,
	      const struct section_opts *section_opts, const struct print_opts *opts, FILE *fp);

#endif /* __PERF_KVM_UNIFIED_REPORT_PRINT_H */
