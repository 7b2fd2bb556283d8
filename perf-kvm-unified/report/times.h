/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_TIMES_H
#define __PERF_KVM_UNIFIED_REPORT_TIMES_H

#include <stdbool.h>
#include <linux/types.h>

struct axis_span;
struct measurement;
struct perf_session;
struct perf_time_interval;
struct strbuf;

/* The text of a part has less characters: see times__to_text() */
#define TIMES_TEXT_LEN	64

/**
 * struct recorded - when the first and the last sample of a profile were, ns; 0: it does not say
 */
struct recorded {
	u64	first;
	u64	last;
};

/**
 * struct chosen_time - the time that is shown
 * @start: when it begins, ns
 * @duration: all parts of it, ns
 */
struct chosen_time {
	u64	start;
	u64	duration;
};

struct chosen_time times__chosen(const struct perf_time_interval *times, int nr,
				 const struct axis_span *span);
struct recorded recorded__of(const struct perf_session *session);
u64 measurement__zero(const struct measurement *m);

int parse_duration(const char *str, u64 *ns);
bool times__are_own(const char *str);
int times__parse_relative(const char *str, const struct recorded *rec,
			  struct perf_time_interval **times);
bool times__end_too_early(const char *str, const struct recorded *rec);
int times__parse(const char *str, struct perf_session *session,
		 struct perf_time_interval **times);
int times__to_text(const struct perf_time_interval *times, int nr, struct strbuf *text);
int times__check(const char *str, const struct perf_time_interval *times, int nr,
		 const struct axis_span *span, u64 zero);
int times__check_recorded(const char *str, const struct perf_time_interval *times, int nr,
			  const struct perf_session *session);

#endif /* __PERF_KVM_UNIFIED_REPORT_TIMES_H */
