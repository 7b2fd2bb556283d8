/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_TESTS_EXPORT_H
#define __PERF_KVM_UNIFIED_TESTS_EXPORT_H

struct test_suite;

/* Tests of the suite in report.c */
int test__stacks(struct test_suite *test, int subtest);
int test__frames(struct test_suite *test, int subtest);
int test__rows(struct test_suite *test, int subtest);
int test__speedscope(struct test_suite *test, int subtest);
int test__trace(struct test_suite *test, int subtest);

#endif /* __PERF_KVM_UNIFIED_TESTS_EXPORT_H */
