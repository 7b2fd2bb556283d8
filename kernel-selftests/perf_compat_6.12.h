/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of perf have from a later library than that of Linux 6.12. The Makefile
 * puts it before each of them (-include).
 */
#ifndef SELFTEST_KVM_PERF_COMPAT_H
#define SELFTEST_KVM_PERF_COMPAT_H

#include "kvm_util.h"
#include "processor.h"
#include "svm_util.h"
#include "vmx.h"

#define gpa_t			vm_paddr_t
#define gva_t			vm_vaddr_t

#define X86_EFLAGS_IF		BIT(9)

static u64 __maybe_unused l2_stack[256];

#define vm_alloc_page(vm)		vm_vaddr_alloc_page(vm)
#define vm_unused_gva_gap(vm, size, min) vm_vaddr_unused_gap(vm, size, min)
#define pin_self_to_cpu(cpu)		kvm_pin_this_task_to_pcpu(cpu)
#define generic_svm_setup(svm, code)	\
	generic_svm_setup(svm, code, l2_stack + ARRAY_SIZE(l2_stack))
#define prepare_vmcs(vmx, code)		\
	prepare_vmcs(vmx, code, l2_stack + ARRAY_SIZE(l2_stack))

#endif /* SELFTEST_KVM_PERF_COMPAT_H */
