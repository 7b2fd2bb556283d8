/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_PRINT_LIMITS_H
#define __PERF_KVM_UNIFIED_REPORT_PRINT_LIMITS_H

#include <stdio.h>
#include <linux/types.h>

struct kvm_limit;
struct measurement;
struct overview;

void print_limit(const char *vm, const struct kvm_limit *limit, FILE *fp);
void print_limits(const struct measurement *m, const struct overview *overview, FILE *fp);
void print_stopped(const struct measurement *m, const struct overview *overview, FILE *fp);
void print_json_limits(const struct measurement *m, u32 vm, FILE *fp);

#endif /* __PERF_KVM_UNIFIED_REPORT_PRINT_LIMITS_H */
