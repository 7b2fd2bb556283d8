/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_PERF_COMMANDS_H
#define __PERF_KVM_UNIFIED_PERF_COMMANDS_H

int cmd_kvm_unified_annotate(int argc, const char **argv);
int cmd_kvm_unified_script(int argc, const char **argv);

#endif /* __PERF_KVM_UNIFIED_PERF_COMMANDS_H */
