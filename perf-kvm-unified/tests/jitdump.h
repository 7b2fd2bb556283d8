/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_TESTS_JITDUMP_H
#define __PERF_KVM_UNIFIED_TESTS_JITDUMP_H

struct test_suite;

int test__jitdump(struct test_suite *test, int subtest);

#endif /* __PERF_KVM_UNIFIED_TESTS_JITDUMP_H */
