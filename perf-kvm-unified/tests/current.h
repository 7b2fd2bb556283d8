/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_TESTS_CURRENT_H
#define __PERF_KVM_UNIFIED_TESTS_CURRENT_H

struct test_suite;

/* Tests of the suite in report.c */
int test__guest_current(struct test_suite *test, int subtest);
int test__current_tasks(struct test_suite *test, int subtest);

#endif /* __PERF_KVM_UNIFIED_TESTS_CURRENT_H */
