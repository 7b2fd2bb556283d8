/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_OUTPUT_H
#define __PERF_KVM_UNIFIED_REPORT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct measure_wants;
struct measurement;
struct perf_session;
struct report_data;
struct section_opts;
struct view;

/**
 * struct output - a form that a report can have
 * @name: as --format has it; NULL: perf's own views
 * @for_people: text with a header, and not all tables if they are many; else for programs
 * @is_view: its rows and columns are those that --sort and --fields of perf know
 * @has_no_rows: it has sums of VMs and vCPUs alone
 * @has_one_table: ... where --interval, --stalls, --costs or --summary ask for these
 * @has_reasons: exit reasons are in it, without --exit-reasons, too
 * @has_stalls: stalls are in it, without --stalls, too
 * @prepare: reserves what symbols need room for, before they are set up. 0 or -ENOMEM
 * @open: what has to be known before samples are read; 0 or -errno, with a message
 * @reopen: the same, where the profile is read once more
 * @show: 0 or -errno; whether all could be written is for the caller to find out
 * @end: all has been shown, or something has failed
 */
struct output {
	const char *name;
	bool for_people;
	bool is_view;
	bool has_no_rows;
	bool has_one_table;
	bool has_reasons;
	bool has_stalls;
	int (*prepare)(const struct view *view);
	int (*open)(struct view *view, const struct measurement *m, struct section_opts *opts,
		    struct measure_wants *wants);
	int (*reopen)(struct view *view, struct perf_session *session, struct measure_wants *wants);
	int (*show)(const struct report_data *data, FILE *fp);
	void (*end)(struct view *view);
};

const struct output *output__views(void);
const struct output *output__find(const char *name);
void outputs__names(char *buf, size_t size);

#endif /* __PERF_KVM_UNIFIED_REPORT_OUTPUT_H */
