/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COMMANDS_H
#define __PERF_KVM_UNIFIED_COMMANDS_H

int cmd_kvm_unified(const char *input, const char *output, int argc, const char **argv);

#endif /* __PERF_KVM_UNIFIED_COMMANDS_H */
