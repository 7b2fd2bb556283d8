/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEASURE_FEED_H
#define __PERF_KVM_UNIFIED_MEASURE_FEED_H

#include <stdbool.h>

struct evsel;
struct measure_wants;
struct measurement;
struct perf_session;

void measurement__set_tool(struct measurement *m);
void measurement__set_stream(struct measurement *m);
void measurement__choose_events(struct measurement *m, struct perf_session *session);
int measurement__open(struct measurement *m, const struct measure_wants *wants);
int measurement__finish(struct measurement *m);

bool evsel__counts_no_time(const struct evsel *evsel);

#endif /* __PERF_KVM_UNIFIED_MEASURE_FEED_H */
