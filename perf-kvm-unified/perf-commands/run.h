/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_PERF_COMMANDS_RUN_H
#define __PERF_KVM_UNIFIED_PERF_COMMANDS_RUN_H

struct kvm_guests_options;

typedef int (*perf_command_fn)(int argc, const char **argv, struct kvm_guests_options *guests);

const char *arg__value(int argc, const char **argv, int i, const char *name);
const char *args__last_value(int argc, const char **argv, const char *name, char letter);

int perf_command__run(int argc, const char **argv, const char *usage, const char *about,
		      perf_command_fn cmd, struct kvm_guests_options *guests);

#endif /* __PERF_KVM_UNIFIED_PERF_COMMANDS_RUN_H */
