/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_TESTS_NAMES_H
#define __PERF_KVM_UNIFIED_TESTS_NAMES_H

struct test_suite;

/* Tests of the suite in report.c */
int test__patterns(struct test_suite *test, int subtest);
int test__near_names(struct test_suite *test, int subtest);
int test__guest_cmds(struct test_suite *test, int subtest);

#endif /* __PERF_KVM_UNIFIED_TESTS_NAMES_H */
