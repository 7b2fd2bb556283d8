/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of the later library's header that the tests of perf use
 */
#ifndef SELFTEST_KVM_SMM_H
#define SELFTEST_KVM_SMM_H

#include "kvm_util.h"
#include "processor.h"

#define SMRAM_SIZE		65536
#define SMRAM_MEMSLOT		((1 << 16) | 1)
#define SMRAM_PAGES		(SMRAM_SIZE / PAGE_SIZE)
#define SMI_HANDLER_OFFSET	0x8000

static inline void setup_smram(struct kvm_vm *vm, struct kvm_vcpu *vcpu, u64 smram_gpa,
			       const void *smi_handler, size_t handler_size)
{
	vm_userspace_mem_region_add(vm, VM_MEM_SRC_ANONYMOUS, smram_gpa, SMRAM_MEMSLOT,
				    SMRAM_PAGES, 0);
	TEST_ASSERT_EQ(vm_phy_pages_alloc(vm, SMRAM_PAGES, smram_gpa, SMRAM_MEMSLOT), smram_gpa);
	memcpy(addr_gpa2hva(vm, smram_gpa) + SMI_HANDLER_OFFSET, smi_handler, handler_size);
	vcpu_set_msr(vcpu, MSR_IA32_SMBASE, smram_gpa);
}

#endif /* SELFTEST_KVM_SMM_H */
