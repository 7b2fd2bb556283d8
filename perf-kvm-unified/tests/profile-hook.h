/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_TESTS_PROFILE_HOOK_H
#define __PERF_KVM_UNIFIED_TESTS_PROFILE_HOOK_H

struct test_suite;

/* A case of the suite in report.c */
int test__profile_hook(struct test_suite *test, int subtest);

#endif /* __PERF_KVM_UNIFIED_TESTS_PROFILE_HOOK_H */
