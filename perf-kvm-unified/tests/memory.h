/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_TESTS_MEMORY_H
#define __PERF_KVM_UNIFIED_TESTS_MEMORY_H

struct test_suite;

/* Tests of the suite in report.c */
int test__guest_paging(struct test_suite *test, int subtest);
int test__guest_kallsyms(struct test_suite *test, int subtest);
int test__guest_instant(struct test_suite *test, int subtest);
int test__guest_lives(struct test_suite *test, int subtest);
int test__guest_torn(struct test_suite *test, int subtest);

#endif /* __PERF_KVM_UNIFIED_TESTS_MEMORY_H */
