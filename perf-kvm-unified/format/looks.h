/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_FORMAT_LOOKS_H
#define __PERF_KVM_UNIFIED_FORMAT_LOOKS_H

#include <stddef.h>

struct perf_record_guest_vcpu_look;

typedef int (*vcpu_look_cb)(const struct perf_record_guest_vcpu_look *look, void *arg);

int vcpu_looks__read(const char *path, vcpu_look_cb cb, void *arg, char *err, size_t errlen);

#endif /* __PERF_KVM_UNIFIED_FORMAT_LOOKS_H */
