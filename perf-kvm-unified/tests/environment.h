/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_TESTS_ENVIRONMENT_H
#define __PERF_KVM_UNIFIED_TESTS_ENVIRONMENT_H

#include <stdbool.h>

struct test_suite;

bool run_in_dir(const char *dir, const char *commands);
int check_in_dir(int (*check)(const char *dir));

/* Tests of the suite in report.c */
int test__whole_records(struct test_suite *test, int subtest);
int test__environment(struct test_suite *test, int subtest);

#endif /* __PERF_KVM_UNIFIED_TESTS_ENVIRONMENT_H */
