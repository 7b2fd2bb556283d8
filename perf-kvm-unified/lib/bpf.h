/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_BPF_H
#define __PERF_KVM_UNIFIED_LIB_BPF_H

#include <stddef.h>

int bpf__explain_refusal(int ret, const char *what, const char *rights, const char *needs,
			 char *err, size_t errlen);

#endif /* __PERF_KVM_UNIFIED_LIB_BPF_H */
