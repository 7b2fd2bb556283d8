/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_TESTS_ORC_TABLE_H
#define __PERF_KVM_UNIFIED_TESTS_ORC_TABLE_H

struct test_suite;

int test__orc_table(struct test_suite *test, int subtest);

#endif /* __PERF_KVM_UNIFIED_TESTS_ORC_TABLE_H */
