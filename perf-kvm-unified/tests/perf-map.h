/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_TESTS_PERF_MAP_H
#define __PERF_KVM_UNIFIED_TESTS_PERF_MAP_H

struct test_suite;

int test__perf_maps(struct test_suite *test, int subtest);

#endif /* __PERF_KVM_UNIFIED_TESTS_PERF_MAP_H */
