// SPDX-License-Identifier: GPL-2.0
/*
 * Why KVM_RUN returned to the VMM.
 */
#include <errno.h>
#include <linux/kernel.h>
#include <uapi/linux/kvm.h>

#include "exits.h"

#define EXIT(name)	{ KVM_EXIT_##name, #name }

static const struct {
	s32		why;
	const char	*name;
} exits[] = {
	EXIT(UNKNOWN), EXIT(EXCEPTION), EXIT(IO), EXIT(HYPERCALL), EXIT(DEBUG), EXIT(HLT),
	EXIT(MMIO), EXIT(IRQ_WINDOW_OPEN), EXIT(SHUTDOWN), EXIT(FAIL_ENTRY), EXIT(INTR),
	EXIT(SET_TPR), EXIT(TPR_ACCESS), EXIT(S390_SIEIC), EXIT(S390_RESET), EXIT(NMI),
	EXIT(INTERNAL_ERROR), EXIT(OSI), EXIT(PAPR_HCALL), EXIT(S390_UCONTROL), EXIT(WATCHDOG),
	EXIT(S390_TSCH), EXIT(EPR), EXIT(SYSTEM_EVENT), EXIT(S390_STSI), EXIT(IOAPIC_EOI),
	EXIT(HYPERV), EXIT(ARM_NISV), EXIT(X86_RDMSR), EXIT(X86_WRMSR), EXIT(DIRTY_RING_FULL),
	EXIT(AP_RESET_HOLD), EXIT(X86_BUS_LOCK), EXIT(XEN), EXIT(RISCV_SBI), EXIT(RISCV_CSR),
	EXIT(NOTIFY), EXIT(LOONGARCH_IOCSR), EXIT(MEMORY_FAULT),
};

/**
 * kvm_exit__name - a name for what KVM_RUN returned with
 * @why: -errno, or a KVM_EXIT_* code (linux/kvm.h)
 * @buf: for what has no name
 *
 * KVM_RUN ends with -EINTR if the VMM's thread has got a signal, the way for
 * other threads to make it stop.
 */
const char *kvm_exit__name(s32 why, char *buf, size_t size)
{
	if (why == -EINTR)
		return "signal";
	for (size_t i = 0; i < ARRAY_SIZE(exits); i++) {
		if (exits[i].why == why)
			return exits[i].name;
	}
	if (why < 0)
		scnprintf(buf, size, "error %u", -(u32)why);
	else
		scnprintf(buf, size, "KVM exit %d", why);
	return buf;
}
