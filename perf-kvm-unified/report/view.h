/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_VIEW_H
#define __PERF_KVM_UNIFIED_REPORT_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "tables.h"

struct evlist;
struct evsel;
struct measurement;
struct perf_session;
struct print_opts;
struct section_opts;
struct sections;

/**
 * struct view - the report in perf's own views
 * @tui: in the terminal's whole screen, not as text
 * @inverted: callers first
 * @max_stack: callers of a sample, at most
 * @min_percent: what is below is not shown
 * @tables: what is shown
 * @addr_evlist: @addr_evsels: the latter in the former, see view__count_addrs()
 * @messages: where what would be written over the screen is kept
 * @stderr_fd: where it belongs, or -1
 */
struct view {
	bool		tui;
	bool		inverted;
	int		max_stack;
	double		min_percent;
	struct tables	tables;
	struct evlist	*addr_evlist;
	struct evsel	*addr_evsels[PROFILE_MAX_COLUMNS];
	FILE		*messages;
	int		stderr_fd;
};

int view__open(struct view *view, struct perf_session *session, struct measurement *m,
	       struct section_opts *opts);
int view__show(struct view *view, const struct measurement *m, struct sections *sections,
	       const struct section_opts *section_opts, const struct print_opts *opts);
void view__end(struct view *view);

#endif /* __PERF_KVM_UNIFIED_REPORT_VIEW_H */
