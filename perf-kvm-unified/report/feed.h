/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_FEED_H
#define __PERF_KVM_UNIFIED_REPORT_FEED_H

struct measurement;
struct perf_session;

void measurement__set_tool(struct measurement *m);
int measurement__open(struct measurement *m, struct perf_session *session);
int measurement__finish(struct measurement *m);

#endif /* __PERF_KVM_UNIFIED_REPORT_FEED_H */
