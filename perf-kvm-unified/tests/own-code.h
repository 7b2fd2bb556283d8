/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_TESTS_OWN_CODE_H
#define __PERF_KVM_UNIFIED_TESTS_OWN_CODE_H

struct test_suite;

/* Tests of the suite in report.c */
int test__own_code(struct test_suite *test, int subtest);

#endif /* __PERF_KVM_UNIFIED_TESTS_OWN_CODE_H */
