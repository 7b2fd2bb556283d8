/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_PRINT_H
#define __PERF_KVM_UNIFIED_REPORT_PRINT_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>

#include "kvm-unified/axis/types.h"

struct diff;
struct measurement;
struct overview;
struct profile;
struct section;
struct section_opts;
struct sections;
struct stall_lines;
struct view;

/* Room for what options say that a report is of */
#define SELECTION_LEN	512

/**
 * struct print_opts - what to print
 * @percent_limit: a table puts rows below it together
 * @exit_reasons: also, for each guest, what was stolen by exit reason
 * @overview: a line for each VM, to be in front of the tables, or NULL
 * @stalls: how long vCPUs have waited, or NULL
 * @overview_alone: what else there is to be told of each VM is left out
 * @nr_left_out: so many tables are not shown, as they are too many
 * @costs: also, what VMs cost the host
 * @selection: what options say that it is a part of, or ""
 * @rows_of: ... and which rows are shown of that, or ""
 * @thieves: in intervals, who is asked for, or NULL: who had most
 * @mode_reason: why there is no time line, or "" if there is one
 * @is_part: the end of the recording is missing
 */
struct print_opts {
	double		percent_limit;
	bool		exit_reasons;
	bool		costs;
	bool		overview_alone;
	bool		is_part;
	size_t		nr_left_out;
	const struct overview *overview;
	const struct stall_lines *stalls;
	const char	*mode_reason;
	const char	*selection;
	const char	*rows_of;
	const char	*thieves;
};

/**
 * struct report_data - what a report is made of
 * @view: of perf's own views: their state; others have its options of it
 */
struct report_data {
	const struct measurement *m;
	const struct sections *sections;
	const struct print_opts *opts;
	struct view	*view;
};

typedef int (*print_diff_fn)(const struct diff *diff, FILE *fp);

const char *vcpu_state__name(enum vcpu_state state);
void print_recorded(const struct measurement *m, FILE *fp);
void print_report_header(const struct measurement *m, const struct section_opts *section_opts,
			 const struct print_opts *opts, FILE *fp);
void print_section_title(const struct section *section, u64 period,
			 const struct section_opts *opts, FILE *fp);

void print_json_member(const char *name, const char *value, FILE *fp);
void print_json_classes(const struct profile *p, FILE *fp);
void print_json_measurement(const char *name, const struct measurement *m, u64 zero,
			    const struct section_opts *section_opts,
			    const struct print_opts *opts, FILE *fp);
void print_csv_string(const char *str, FILE *fp);
void print_csv_class_titles(FILE *fp);
void print_csv_classes(const struct profile *p, FILE *fp);

int names_width(const struct measurement *m);
int print_overview(const struct measurement *m, const struct sections *sections,
		   const struct print_opts *opts, FILE *fp);
int print_costs(const struct measurement *m, const struct sections *sections, FILE *fp);
void print_over_time(const struct measurement *m, const struct sections *sections,
		     const struct print_opts *opts, FILE *fp);
int print_stalls(const struct measurement *m, const struct sections *sections,
		 const struct print_opts *opts, FILE *fp);

void print_over_time_csv(const struct measurement *m, const struct sections *sections,
			 const struct print_opts *opts, FILE *fp);
void print_stalls_csv(const struct measurement *m, const struct sections *sections,
		      const struct print_opts *opts, FILE *fp);

/* 0 or -ENOMEM; whether all could be written is for the caller to ask. */
int print_table(const struct report_data *data, FILE *fp);
int print_json(const struct report_data *data, FILE *fp);
int print_csv(const struct report_data *data, FILE *fp);
int print_openmetrics(const struct report_data *data, FILE *fp);

int print_diff_table(const struct diff *diff, FILE *fp);
int print_diff_json(const struct diff *diff, FILE *fp);
int print_diff_csv(const struct diff *diff, FILE *fp);

#endif /* __PERF_KVM_UNIFIED_REPORT_PRINT_H */
