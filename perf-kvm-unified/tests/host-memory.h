/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_TESTS_HOST_MEMORY_H
#define __PERF_KVM_UNIFIED_TESTS_HOST_MEMORY_H

struct test_suite;

/* Tests of the suite in report.c */
int test__memory_slots(struct test_suite *test, int subtest);
int test__host_mem(struct test_suite *test, int subtest);
int test__confined(struct test_suite *test, int subtest);

#endif /* __PERF_KVM_UNIFIED_TESTS_HOST_MEMORY_H */
