/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_VIEW_H
#define __PERF_KVM_UNIFIED_REPORT_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "messages.h"
#include "profile.h"

struct evlist;
struct evsel;
struct measure_wants;
struct measurement;
struct perf_session;
struct report_data;
struct section_opts;

/**
 * struct view_options - what the user wants of it
 * @tui: in the terminal's whole screen, not as text
 * @pager: show text that is longer than the terminal in a pager
 * @inverted: callers first
 * @children_given: by an option, callers are charged, or not
 * @limit_given: so was @min_percent
 * @max_stack: callers of a sample, at most
 * @min_percent: what is below is not shown
 */
struct view_options {
	bool		tui;
	bool		pager;
	bool		inverted;
	bool		children_given;
	bool		limit_given;
	int		max_stack;
	double		min_percent;
};

/**
 * struct view - the report in perf's own views
 * @opts: what is wanted
 * @tui: it has the terminal's whole screen, or is going to
 * @min_percent: what is below is not shown
 * @addr_evlist: @addr_evsels: the latter in the former, see view__count_addrs()
 * @messages: what would be written over the screen
 */
struct view {
	const struct view_options *opts;
	bool		tui;
	double		min_percent;
	struct evlist	*addr_evlist;
	struct evsel	*addr_evsels[PROFILE_MAX_COLUMNS];
	struct messages	messages;
};

void view__init(struct view *view, const struct view_options *opts);
int view__prepare(const struct view *view);
int view__open(struct view *view, const struct measurement *m, struct section_opts *opts,
	       struct measure_wants *wants);
int view__reopen(struct view *view, struct perf_session *session, struct measure_wants *wants);
int view__show(const struct report_data *data, FILE *fp);
void view__end(struct view *view);

#endif /* __PERF_KVM_UNIFIED_REPORT_VIEW_H */
