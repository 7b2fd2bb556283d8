/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_TESTS_CGROUPS_H
#define __PERF_KVM_UNIFIED_TESTS_CGROUPS_H

struct test_suite;

/* A test of the suite in report.c */
int test__guest_cgroups(struct test_suite *test, int subtest);

#endif /* __PERF_KVM_UNIFIED_TESTS_CGROUPS_H */
