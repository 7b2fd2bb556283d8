/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_ENVIRONMENT_H
#define __PERF_KVM_UNIFIED_RECORD_ENVIRONMENT_H

int hold_std_fds(void);
int check_pid_namespace(const char *proc);

#endif /* __PERF_KVM_UNIFIED_RECORD_ENVIRONMENT_H */
