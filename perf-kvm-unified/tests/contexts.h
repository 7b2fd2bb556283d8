/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_TESTS_CONTEXTS_H
#define __PERF_KVM_UNIFIED_TESTS_CONTEXTS_H

struct test_suite;

/* Tests of the suite in report.c */
int test__vcpu_contexts(struct test_suite *test, int subtest);

#endif /* __PERF_KVM_UNIFIED_TESTS_CONTEXTS_H */
