/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_KERNEL_H
#define __PERF_KVM_UNIFIED_GUESTS_KERNEL_H

#include <stdbool.h>
#include <linux/types.h>

struct kvm_guest;

/**
 * struct kernel_text - where the text of a kernel is
 * @symbol: that @start is the address of
 */
struct kernel_text {
	u64		start;
	u64		end;
	const char	*symbol;
};

const char *kallsyms__find_text(const char *kallsyms, struct kernel_text *text);

void kvm_guest__use_given_kernel(struct kvm_guest *guest);
bool kvm_guest__use_given_kallsyms(struct kvm_guest *guest);
bool kvm_guest__take_kallsyms(struct kvm_guest *guest, const char *path);
void kvm_guest__end_kernel_at_text(struct kvm_guest *guest);

#endif /* __PERF_KVM_UNIFIED_GUESTS_KERNEL_H */
