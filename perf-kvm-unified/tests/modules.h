/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_TESTS_MODULES_H
#define __PERF_KVM_UNIFIED_TESTS_MODULES_H

struct test_suite;

/* Tests of the suite in report.c */
int test__modules(struct test_suite *test, int subtest);
int test__bpf_programs(struct test_suite *test, int subtest);

#endif /* __PERF_KVM_UNIFIED_TESTS_MODULES_H */
